"""Shows how a sweep goes, on stderr: a live bar on a terminal, plain lines elsewhere."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress

    from adbench_text.evaluate import Result
    from adbench_text.sweep import Cell


def duration(seconds: float) -> str:
    """Return a time span for people: ``"8 s"``, ``"3 min 20 s"``, ``"2 h 5 min"``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Watch:
    """Tells the user how a sweep goes; see `adbench_text.run.Watcher`."""

    def __init__(self) -> None:
        self._todo = self._n_done = self._n_failed = 0
        self._begin = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[left]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("", total=None, left="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, message: str) -> None:
        """Show one line that stays."""
        if self._bar is None:
            print(message, file=sys.stderr, flush=True)
        else:
            self._bar.console.print(message, highlight=False, markup=False)

    def begin(self, todo: int, finished: int) -> None:
        """Show how much there is to do."""
        self._todo, self._begin = todo, time.monotonic()
        self.say(f"{todo} cells to run" + (f", {finished} finished before" if finished else ""))
        if self._bar is not None:
            self._bar.update(self._task, total=todo)

    def started(self, cell: "Cell") -> None:
        """Show the current cell."""
        if self._bar is not None:
            self._bar.update(self._task, description=str(cell))

    def done(self, result: "Result") -> None:
        """Count a cell, and show how long the rest may take."""
        self._n_done += 1
        self._n_failed += result.status != "ok"
        left = (time.monotonic() - self._begin) / self._n_done * (self._todo - self._n_done)
        if result.status != "ok":
            self.say(f"failed: {result.cell}: {result.reason}")
        if self._bar is not None:
            self._bar.update(self._task, advance=1, left=f"{duration(left)} left")
        elif result.status == "ok":
            auroc = result.metrics["auroc"]
            self.say(f"[{self._n_done}/{self._todo}] {result.cell}: AUROC {auroc:.1%}, {duration(left)} left")

    def end(self) -> None:
        """Show what became of it all."""
        if self._n_done:
            took = duration(time.monotonic() - self._begin)
            failed = f", {self._n_failed} of them failed" if self._n_failed else ""
            self.say(f"{self._n_done} cells run in {took}{failed}")
