"""Progress of a sweep with fewer or more lines than usual."""

from typing import TYPE_CHECKING, Self

from adbench_text.cli.progress import Watch
from adbench_text.metrics import MAIN, METRICS

if TYPE_CHECKING:
    from adbench_text.run.result import Result

_IMPORTANT = ("failed", "Interrupted")  # messages that are printed before the first cell runs too
_NEWS = ("writing the report ", "    ")  # messages between two cells that are no results and no errors


class QuietWatch(Watch):
    """Prints results and errors only, each in a line; there is no live bar."""

    _is_running = False

    def __enter__(self) -> Self:
        return self

    def message(self, text: str) -> None:
        """Print a line, unless it is about the progress."""
        if (self._is_running or text.startswith(_IMPORTANT)) and not text.startswith(_NEWS):
            super().message(text)

    def begin(self, todo: int, finished: int, failed: int) -> None:
        """Print nothing; what follows are results and errors."""
        super().begin(todo, finished, failed)
        self._is_running = True

    def end(self) -> None:
        """Print nothing, also from here on."""
        self._is_running = False


class VerboseWatch(Watch):
    """Prints the times, the memory and the other metrics of each cell too."""

    def done(self, result: "Result") -> None:
        """Count a finished cell, and show what was measured."""
        super().done(result)
        if result.status == "ok":
            self.message(f"    {measured(result)}")


def measured(result: "Result") -> str:
    """Return what was measured of a cell in one line."""
    metrics = result.metrics
    parts = [
        f"{metric.title} {metrics[metric.name]:.1%}"
        for metric in METRICS.values()
        if metric is not MAIN and metric.name in metrics
    ]
    parts += [
        f"{title} {metrics[name]:.3g} {unit}"
        for name, title, unit in (
            ("fit_seconds", "fit", "s"),
            ("score_seconds", "score", "s"),
            ("peak_memory_mb", "memory", "MB"),
        )
        if name in metrics
    ]
    if "n_train" in metrics and "n_test" in metrics:
        parts.append(f"{metrics['n_train']:,.0f} training and {metrics['n_test']:,.0f} test documents")
    return ", ".join(parts + [f"{name} {value}" for name, value in result.ran_on.items()])
