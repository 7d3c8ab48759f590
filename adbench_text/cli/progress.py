"""Show the progress of a sweep, or of work on documents, on stderr: a bar on a terminal, otherwise lines."""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from statistics import fmean
from typing import TYPE_CHECKING, Self

from adbench_text.cli.options import is_quiet
from adbench_text.cli.remaining import Remaining, as_text
from adbench_text.escaping import count, one_line, printable
from adbench_text.metrics import MAIN, TIED, note_on_ties
from adbench_text.run.progress import MessageKind, Progress

if TYPE_CHECKING:
    from adbench_text.documents import OnProgress
    from adbench_text.run.cell import Cell
    from adbench_text.run.result import Result

_LINE_SECONDS = 10.0  # shortest time between two lines without a bar
_LONG = 1800.0  # seconds; a longer sweep gets advice on how to shorten it
_SHARE_OF_SILENCE = 0.05  # time between two lines, as a share of the time so far: 100 lines in ten hours


class ProgressDisplay(Progress):
    """Shows the progress of a sweep, or of work on documents, to the user.

    A sweep prints one line for each detector on a dataset. A terminal also has a bar; without a terminal, a
    line about the last cell breaks a long silence. A line begins with the number of its cell, or of the cells
    done. A verbosity of 1 prints every cell with all measurements; -1 prints only results and errors, without
    a bar. Each failed cell has a line, and `debug` adds its traceback.
    """

    def __init__(self, verbosity: int = 0, debug: bool = False) -> None:
        from rich import progress
        from rich.console import Console
        from rich.table import Column

        self._verbosity, self._debug = verbosity, debug
        # by dataset and detector: number of cells to run; ended cells with their values (None: failed)
        self._n_cells: Counter[tuple[str, str]] = Counter()
        self._ended: dict[tuple[str, str], list[tuple[Cell, float | None]]] = defaultdict(list)
        self._tied: dict[str, list[float]] = defaultdict(list)  # by detector and dataset
        self._n_done = self._n_failed = 0
        self._begin = self._last_line = time.monotonic()
        self._remaining, self._is_advised = Remaining(), False
        # the text takes the remaining width; a long text is cut
        column = Column(ratio=1, no_wrap=True)
        self._bar = progress.Progress(
            progress.BarColumn(bar_width=16),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.fields[left]}", style="progress.remaining", markup=False),
            progress.TextColumn("{task.fields[text]}", markup=False, table_column=column),
            console=Console(stderr=True, highlight=False, markup=False, emoji=False),
            transient=True,
            expand=True,
            disable=verbosity < 0 or not sys.stderr.isatty(),
            redirect_stdout=sys.stdout.isatty(),  # a file gets stdout directly, not through the bar
        )
        self._task = self._bar.add_task("", total=None, text="loading", left="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def message(self, text: str, kind: MessageKind = "note") -> None:
        """Print a line, above the bar if there is one."""
        if self._verbosity >= 0 or kind != "note":
            self._last_line = time.monotonic()
            self._bar.console.print(printable(text), soft_wrap=self._bar.disable)

    @property
    def _is_due(self) -> bool:
        """Whether to print a line after a long silence. The longer a sweep takes, the fewer lines."""
        now = time.monotonic()
        silence = max(_LINE_SECONDS, _SHARE_OF_SILENCE * (now - self._begin))
        return self._bar.disable and now - self._last_line >= silence

    def begin(self, todo: "Sequence[Cell]", finished: int, failed: int) -> None:
        """Show the number of cells to run, of cells finished before, and of failed ones among these."""
        self._begin = time.monotonic()
        self._remaining = Remaining(todo)
        self._n_cells = Counter((cell.split.dataset, cell.choice) for cell in todo)
        before = f", {finished:,} finished before" if finished else ""
        if failed:
            before += f" ({failed:,} of them failed; --retry failed runs them again)"
        self.message(f"{count(len(todo))} to run{before}")
        self._bar.reset(self._task, total=len(todo), text="starting", left="")
        self._bar.live.transient = not todo  # the bar of a sweep stays

    def started(self, cell: "Cell") -> None:
        """Show the current cell."""
        self._remaining.started(cell)
        self._bar.update(self._task, text=one_line(str(cell)))

    def step(self, cell: "Cell", step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Show the step and the losses of a training, and the estimated time left for all cells.

        Once in a long sweep, also show advice on how to shorten it, if there is any.
        """
        self._remaining.step(cell, step, steps)
        values = ", ".join(f"{name.removeprefix('loss_')} {value:.3g}" for name, value in losses.items())
        status, left = f"step {step:,}/{steps:,}", self._show_left()
        self._bar.update(self._task, text=one_line(f"{status}; {values}; {cell}"))
        if self._is_due:
            scope = " for all cells" if left and self._n_cells.total() > 1 else ""
            self.message(f"    {cell}: {', '.join(filter(None, (status, left)))}{scope}; {values}")

    def _show_left(self) -> str:
        """Show and return the time left for all cells; empty if it is not known yet.

        Once in a long sweep, also show advice on how to shorten it, if there is any.
        """
        seconds = sum(self._remaining.by_group().values())
        left = f"{as_text(seconds)} left" if seconds else ""
        self._bar.update(self._task, left=left)
        if seconds > _LONG and not self._is_advised:
            self._is_advised = True
            if advice := self._remaining.advice():
                self.message(f"Note: {advice}")
        return left

    def done(self, result: "Result") -> None:
        """Count and show a cell that has ended; after the last one of a detector on a dataset, show means."""
        cell = result.cell
        dataset, choice = group = cell.split.dataset, cell.choice
        is_ok, ended, n_cells = result.status == "ok", self._ended[group], self._n_cells[group]
        self._remaining.ended(cell)
        ended.append((cell, result.metrics[MAIN.name] if is_ok else None))
        self._n_done += 1
        self._n_failed += 0 if is_ok else 1
        if TIED in result.metrics:
            self._tied[f"{choice} on {dataset}"].append(result.metrics[TIED])
        so_far = f"{self._n_done}/{self._n_cells.total()}"
        if is_ok:
            self._show_finished(result, so_far, is_first=len(ended) == 1, is_only=n_cells == 1)
        else:
            self._show_failed(result, so_far)
        if len(ended) == n_cells > 1 and (means := _means(ended)):
            self.message(f"[{so_far} done] {choice} on {dataset}: {means}", "result")
        self._bar.update(self._task, advance=1)
        self._show_left()

    def _show_failed(self, result: "Result", n_done: str) -> None:
        self.message(f"[{n_done}] failed: {result.cell}: {result.reason}", "error")
        if self._debug:
            self.message(result.traceback.rstrip(), "error")

    def _show_finished(self, result: "Result", n_done: str, *, is_first: bool, is_only: bool) -> None:
        """Show a finished cell: always if it is the only one of its detector on its dataset.

        For the first one, also say if the training was shorter than the settings of the detector.
        """
        cell = result.cell
        if self._verbosity > 0 or self._is_due or is_only:
            self.message(f"[{n_done}] {cell}: {MAIN.title} {result.metrics[MAIN.name]:.1%}", "result")
        if self._verbosity > 0:
            numbers = [f"{name} {value:.4g}" for name, value in result.metrics.items()]
            facts = [f"{name} {value}" for name, value in result.ran_on.items()]
            self.message(f"    {', '.join(numbers + facts)}")
        elif is_first and "steps" in result.ran_on:  # only a shorter training has the key "steps"
            self.message(f"    {cell}: trained for {result.ran_on['steps']}")

    def documents(self, what: str, n_done: int, n_total: int | None) -> None:
        """Show how many documents a step (`what`) has processed; a step without a count has 0."""
        self._bar.update(self._task, completed=n_done, total=n_total, text=what)
        seconds = self._bar.tasks[0].time_remaining
        self._bar.update(self._task, left=f"{as_text(seconds)} left" if seconds else "")
        if self._is_due:
            done = "" if n_total is None else f"{n_done:,} of "
            self.message(f"{what}: {done}{count(n_total or n_done, 'document')}" if n_done else what)

    def end(self) -> None:
        """Stop the bar, and show the number of cells run and the time."""
        self._bar.update(self._task, text="", left="")
        self._bar.stop()
        if self._n_done:
            took = timedelta(seconds=round(time.monotonic() - self._begin))
            failed = f", {self._n_failed:,} of them failed" if self._n_failed else ""
            self.message(f"{count(self._n_done)} run in {took}{failed}")
        if note := note_on_ties({name: fmean(shares) for name, shares in self._tied.items()}):
            self.message(f"Note: {note}")


def _means(ended: "Sequence[tuple[Cell, float | None]]") -> str:
    """Return the mean of each level, and how many cells failed; empty if all failed.

    The value of a failed cell is None. For a grid, return only the number of cells, because the best counts.
    """
    finished = [(cell, value) for cell, value in ended if value is not None]
    n_failed = len(ended) - len(finished)
    failed = f", {n_failed:,} failed" if n_failed else ""
    if not finished:
        return ""
    if any(cell.n_configurations > 1 for cell, _ in finished):
        return f"{count(len(finished))}{failed}"
    of_levels = defaultdict(list)
    for cell, value in finished:
        of_levels[cell.split.level].append(value)
    means = [f"{fmean(each):.1%} of {count(len(each))} at {level}" for level, each in of_levels.items()]
    return f"mean {MAIN.title} {'; '.join(means)}{failed}"


@contextmanager
def shown_documents() -> "Iterator[OnProgress]":
    """Yield a function that shows the progress of work on documents."""
    with ProgressDisplay(-1 if is_quiet() else 0) as shown:
        yield shown.documents
