"""Shows the progress of a sweep on stderr: a live bar on a terminal, plain lines otherwise."""

import sys
import time
from collections.abc import Mapping
from threading import Timer
from types import TracebackType
from typing import TYPE_CHECKING, Self

from adbench_text.cli.time_left import TimeLeft
from adbench_text.escaping import one_line, printable
from adbench_text.metrics import MAIN

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.text import Text

    from adbench_text.run.expected import Expected
    from adbench_text.run.result import Result
    from adbench_text.sweep.cell import Cell


_PATIENCE = 0.7  # seconds until a notice of what happens before the first message
_LOADING = "loading the detectors"
_QUIET_SECONDS = 30.0  # minimum time between two lines about a training, if there is no live bar


def duration(seconds: float) -> str:
    """Return a readable duration: ``"8 s"``, ``"3 min 20 s"``, ``"2 h 5 min"``."""
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60} min"


def count(n: int, noun: str = "cell") -> str:
    """Return ``"1 cell"``, ``"1,024 cells"``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


class Watch:
    """Shows the progress of a sweep to the user; see `adbench_text.run.runner.Watcher`.

    Parameters
    ----------
    debug : bool, default False
        Show the traceback of each failed cell.
    """

    def __init__(self, debug: bool = False) -> None:
        self._debug = debug
        self._todo = self._n_done = self._n_failed = 0
        self._begin = self._last_line = time.monotonic()
        self._time_left = TimeLeft()
        self._loading = Timer(_PATIENCE, self._print, [_LOADING])
        self._first_step: tuple[int, float] | None = None
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        if not sys.stderr.isatty():
            self._loading.start()
            return self
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn
        from rich.table import Column

        watch = self

        class Left(ProgressColumn):
            """The time left; it counts down between two events."""

            max_refresh = 0.5

            def render(self, task: object) -> "Text":
                from rich.text import Text

                return Text(watch._left())

        self._bar = Progress(
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            Left(),
            # the name of a cell takes the remaining width, and is cut off at its end
            TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
            console=Console(stderr=True),
            transient=True,
            expand=True,
        )
        self._task = self._bar.add_task(_LOADING, total=None)
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loading.cancel()
        if self._bar is not None:
            self._bar.stop()

    def message(self, text: str) -> None:
        """Print a line, above the bar if there is one."""
        self._loading.cancel()
        self._print(text)

    def _print(self, text: str) -> None:
        text = printable(text)
        if self._bar is None:
            print(text, file=sys.stderr, flush=True)
        else:
            self._bar.console.print(text, highlight=False, markup=False, emoji=False)

    def begin(self, todo: int, finished: int, failed: int) -> None:
        """Show the number of cells to run, of those finished before, and of these that failed."""
        self._todo, self._begin = todo, time.monotonic()
        self._time_left.begin(todo)
        before = f", {finished} finished before" if finished else ""
        if failed:
            before += f" ({failed} of them failed; --retry failed runs them again)"
        self.message(f"{count(todo)} to run{before}")
        if self._bar is not None:
            self._bar.update(self._task, description="starting", total=todo)

    def expect(self, seconds: "Mapping[Cell, Expected]") -> None:
        """Receive the time that each cell is expected to take."""
        self._time_left.expect(seconds)

    def _left(self) -> str:
        """Return the time left, for people; empty without a basis for it."""
        left = self._time_left.seconds()
        if left is None or (self._time_left.is_minimum() and left < 1):
            return ""
        return f"{'more than ' if self._time_left.is_minimum() else ''}{duration(left)} left"

    def started(self, cell: "Cell") -> None:
        """Show the current cell."""
        self._time_left.started(cell)
        self._first_step, self._last_line = None, time.monotonic()
        if self._bar is not None:
            self._bar.update(self._task, description=one_line(str(cell)))

    def step(self, cell: "Cell", step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Show the step and the losses of a training, and an estimate of the time left."""
        self._time_left.step(cell, step, steps)
        now = time.monotonic()
        if self._first_step is None:  # not the very first if the training continues from a checkpoint
            self._first_step = step, now
        first, begin = self._first_step
        left = f", {duration((now - begin) / (step - first) * (steps - step))} left" if step > first else ""
        values = ", ".join(f"{name.removeprefix('loss_')} {value:.3g}" for name, value in losses.items())
        status = f"step {step:,}/{steps:,}{left}; {values}"
        if self._bar is not None:
            self._bar.update(self._task, description=one_line(f"{status}; {cell}"))
        elif now - self._last_line > _QUIET_SECONDS:
            self._last_line = now
            self.message(f"    {status}")

    def done(self, result: "Result") -> None:
        """Count a finished cell, and show an estimate of the time left."""
        self._n_done += 1
        self._time_left.done(result.cell)
        place = f"[{self._n_done}/{self._todo}]"
        if result.status != "ok":
            self._n_failed += 1
            self.message(f"{place} failed: {result.cell}: {result.reason}")
            if self._debug:
                self.message(result.traceback.rstrip())
        else:
            left = [self._left()] if self._bar is None else []  # otherwise the bar shows it
            parts = f"{result.cell}: {MAIN.title} {result.metrics[MAIN.name]:.1%}", *left
            self.message(f"{place} {', '.join(filter(None, parts))}")
        if "steps" in result.ran_on:  # a training that was shorter than its settings say
            self.message(f"    {result.cell}: trained for {result.ran_on['steps']}")
        if self._bar is not None:
            self._bar.update(self._task, advance=1)

    def end(self) -> None:
        """Show the number of cells that were run, and the time they took."""
        if self._n_done:
            took = duration(time.monotonic() - self._begin)
            failed = f", {self._n_failed} of them failed" if self._n_failed else ""
            self.message(f"{count(self._n_done)} run in {took}{failed}")
