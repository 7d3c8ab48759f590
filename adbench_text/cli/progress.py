"""Shows the progress of a sweep or of work on documents on stderr: a live bar on a terminal, else lines."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING, NamedTuple, Self

import click

from adbench_text.escaping import one_line, printable
from adbench_text.metrics import MAIN, METRICS
from adbench_text.run.progress import Kind, Progress

if TYPE_CHECKING:
    from rich.console import RenderableType

    from adbench_text.run.result import Result
    from adbench_text.sweep.cell import Cell

_PATIENCE = 0.7  # seconds until a notice of what happens before the first message
_LOADING = "loading the detectors"
_LINE_SECONDS = 10.0  # between two lines about documents, if there is no live bar; of a sweep, the least
_SHARE_OF_SILENCE = 0.05  # of the time so far, between two lines about a sweep: 100 lines in ten hours
_COSTS = (("fit_seconds", "fit", "s"), ("score_seconds", "score", "s"), ("peak_memory_mb", "memory", "MB"))


def duration(seconds: float) -> str:
    """Return a readable duration: ``"8 s"``, ``"3 min 20 s"``, ``"2 h 5 min"``."""
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60} min"


def count(n: int, noun: str = "cell", plural: str = "") -> str:
    """Return ``"1 cell"``, ``"1,024 cells"``."""
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


@dataclass
class _Group:
    """The cells to run of a detector on a dataset."""

    n_left: int
    values: list[float] = field(default_factory=list)  # of the finished cells
    n_ended: int = 0
    seconds: float = 0.0  # of the cells that have ended

    @property
    def is_single(self) -> bool:
        """Whether there is only one cell."""
        return self.n_left + self.n_ended == 1

    def __str__(self) -> str:
        failed = self.n_ended - len(self.values)
        mean = f"mean {MAIN.title} {fmean(self.values):.1%} of {count(len(self.values))}"
        return mean + (f", {failed:,} failed" if failed else "")


class Shown(Progress):
    """Shows the progress of a sweep to the user.

    On a terminal that is a bar, and a line for each dataset. Elsewhere it is a line for each detector on a
    dataset, and in a long silence the last cell. With a verbosity of 1 there is a line for each cell with all
    that was measured; with -1 there are results and errors only, without a bar. Each failed cell has a line;
    `debug` adds its traceback.
    """

    def __init__(self, verbosity: int = 0, debug: bool = False) -> None:
        from rich import progress
        from rich.console import Console
        from rich.table import Column

        self._verbosity, self._debug = verbosity, debug
        self._groups: dict[tuple[str, str], _Group] = {}  # by dataset and detector
        self._n_todo = self._n_done = self._n_failed = 0
        self._begin = self._last_line = time.monotonic()
        self._started: dict[Cell, float] = {}
        self._first_step: tuple[int, float] | None = None
        self._loading = Timer(_PATIENCE, self._print, [_LOADING])
        self._is_live = verbosity >= 0 and sys.stderr.isatty()
        self._bar = progress.Progress(
            progress.BarColumn(bar_width=16),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            # the name of a cell takes the remaining width, and is cut off at its end
            progress.TextColumn(
                "{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True)
            ),
            console=Console(stderr=True, highlight=False, markup=False, emoji=False),
            transient=True,
            expand=True,
            disable=not self._is_live,
        )
        self._task = self._bar.add_task(_LOADING, total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        if self._verbosity >= 0 and not self._is_live:
            self._loading.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._loading.cancel()
        self._bar.stop()

    def message(self, text: str, kind: Kind = "note") -> None:
        """Print a line, above the bar if there is one."""
        if self._verbosity >= 0 or kind != "note":
            self._loading.cancel()
            self._print(text)

    def _print(self, text: str) -> None:
        self._last_line = time.monotonic()
        self._bar.console.print(printable(text), soft_wrap=not self._is_live)

    def _describe(self, text: str) -> None:
        self._bar.update(self._task, description=one_line("; ".join(filter(None, (self._left, text)))))

    @property
    def _is_due(self) -> bool:
        """Whether a log needs a sign of life: the longer a sweep takes, the rarer these are."""
        now = time.monotonic()
        silence = max(_LINE_SECONDS, _SHARE_OF_SILENCE * (now - self._begin))
        return not self._is_live and now - self._last_line >= silence

    @property
    def _left(self) -> str:
        """The time left; empty until a cell of each detector has ended on each dataset where cells wait."""
        waiting = [group for group in self._groups.values() if group.n_left]
        spent = sum(group.seconds for group in self._groups.values())
        if not waiting or not spent or not all(group.n_ended for group in waiting):
            return ""
        expected = sum(group.n_left * group.seconds / group.n_ended for group in waiting)
        # several cells may run at the same time
        return f"{duration((time.monotonic() - self._begin) * expected / spent)} left"

    def begin(self, todo: "Sequence[Cell]", finished: int, failed: int) -> None:
        """Show the number of cells to run, of those finished before, and of these that failed."""
        self._n_todo, self._begin = len(todo), time.monotonic()
        of_groups = Counter((cell.dataset, cell.choice) for cell in todo)
        self._groups = {group: _Group(n_left) for group, n_left in of_groups.items()}
        before = f", {finished:,} finished before" if finished else ""
        if failed:
            before += f" ({failed:,} of them failed; --retry failed runs them again)"
        self.message(f"{count(len(todo))} to run{before}")
        self._bar.reset(self._task, total=len(todo), description="starting")
        self._bar.live.transient = not todo  # the bar of a sweep stays

    def started(self, cell: "Cell") -> None:
        """Show the current cell."""
        self._first_step, self._started[cell] = None, time.monotonic()
        self._describe(str(cell))

    def step(self, cell: "Cell", step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Show the step and the losses of a training, and an estimate of the time left."""
        now = time.monotonic()
        if self._first_step is None:
            self._first_step = step, now
        first, begin = self._first_step
        left = f", {duration((now - begin) / (step - first) * (steps - step))} left" if step > first else ""
        values = ", ".join(f"{name.removeprefix('loss_')} {value:.3g}" for name, value in losses.items())
        status = f"step {step:,}/{steps:,}{left}; {values}"
        self._describe(f"{status}; {cell}")
        if self._is_due:
            self.message(f"    {cell}: {status}")

    def done(self, result: "Result") -> None:
        """Show a cell that has ended, or what it ended: a detector on a dataset, or the dataset."""
        cell, is_ok = result.cell, result.status == "ok"
        group = self._groups[cell.dataset, cell.choice]
        group.n_left, group.n_ended = group.n_left - 1, group.n_ended + 1
        group.seconds += time.monotonic() - self._started.pop(cell, self._begin)
        group.values += [result.metrics[MAIN.name]] if is_ok else []
        self._n_done += 1
        self._n_failed += not is_ok
        place = f"[{self._n_done}/{self._n_todo}]"
        left = "" if self._is_live or not self._left else f", {self._left}"
        if not is_ok:
            self.message(f"{place} failed: {cell}: {result.reason}", "error")
            if self._debug:
                self.message(result.traceback.rstrip(), "error")
        elif self._verbosity > 0 or self._is_due or (group.is_single and not self._is_live):
            value = f"{MAIN.title} {result.metrics[MAIN.name]:.1%}"
            self.message(f"{place} {cell}: {value}{left}", "result")
        if "steps" in result.ran_on and (self._verbosity > 0 or group.n_ended == 1):
            # a training that was shorter than its settings say
            self.message(f"    {cell}: trained for {result.ran_on['steps']}")
        if self._verbosity > 0 and is_ok:
            self.message(f"    {measured(result)}")
        if not group.n_left and group.values and not group.is_single and not self._is_live:
            self.message(f"{place} {cell.choice} on {cell.dataset}: {group}{left}", "result")
        if self._is_live:
            self._end_dataset(cell.dataset)
        self._bar.update(self._task, advance=1)

    def _end_dataset(self, dataset: str) -> None:
        """Show the best and the worst detector of a dataset if all its cells have ended."""
        groups = {choice: group for (of, choice), group in self._groups.items() if of == dataset}
        means = {choice: fmean(group.values) for choice, group in groups.items() if group.values}
        if means and not any(group.n_left for group in groups.values()):
            ordered = sorted(means, key=lambda choice: means[choice])
            ends = [f"{means[choice]:.1%} ({choice})" for choice in dict.fromkeys([ordered[-1], ordered[0]])]
            n_cells = count(sum(group.n_ended for group in groups.values()))
            self.message(f"{dataset}: {n_cells}, mean {MAIN.title} {' to '.join(ends)}", "result")

    def end(self) -> None:
        """Leave the bar as it is, and show the number of cells that were run and the time they took."""
        self._describe("")
        self._bar.stop()
        if self._n_done:
            took = duration(time.monotonic() - self._begin)
            failed = f", {self._n_failed:,} of them failed" if self._n_failed else ""
            self.message(f"{count(self._n_done)} run in {took}{failed}")


def measured(result: "Result") -> str:
    """Return what was measured of a cell in one line."""
    values = result.metrics
    others = [metric for metric in METRICS.values() if metric is not MAIN and metric.name in values]
    parts = [f"{metric.title} {values[metric.name]:.1%}" for metric in others]
    parts += [f"{title} {values[name]:.3g} {unit}" for name, title, unit in _COSTS if name in values]
    if "n_train" in values and "n_test" in values:
        parts.append(f"{values['n_train']:,.0f} training and {values['n_test']:,.0f} test documents")
    return ", ".join(parts + [f"{name} {value}" for name, value in result.ran_on.items()])


class _Work(NamedTuple):
    """What is done, and the number of documents that were done when this began."""

    what: str
    n_done: int
    n_total: int | None
    n_first: int
    begin: float

    def __str__(self) -> str:
        seconds = time.monotonic() - self.begin
        n_new = self.n_done - self.n_first
        if not n_new or not seconds:
            return f"{self.what}: {duration(seconds)} so far"
        rate = f"{float(f'{n_new / seconds:.2g}'):,}".removesuffix(".0")
        if self.n_total is None:
            return f"{self.what}: {count(self.n_done, 'document')}, {rate} a second"
        done = f"{self.n_done:,} of {count(self.n_total, 'document')}"
        left = duration(seconds / n_new * max(self.n_total - self.n_done, 0))
        return f"{self.what}: {done}, {rate} a second, {left} left"


class Rows:
    """Shows the progress of work on documents, as an `OnProgress`. Lines come every ten seconds only.

    A call only keeps what it gets. A thread looks at it now and then, also while no call comes.
    """

    def __init__(self) -> None:
        self._work: _Work | None = None
        self._is_over = Event()
        self._end: Callable[[], None]

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            live = Live(
                get_renderable=self._drawn,
                console=Console(stderr=True),
                refresh_per_second=10,
                transient=True,
                redirect_stdout=sys.stdout.isatty(),  # what goes to a file is not printed above the bar
            )
            live.start()
            self._end = live.stop
        else:
            lines = Thread(target=self._print, daemon=True)
            lines.start()
            self._end = lines.join
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._end()

    def __call__(self, what: str, n_done: int, n_total: int | None) -> None:
        """Keep what is done, the number of documents done, and that of all if it is known."""
        last = self._work
        if last is None or what != last.what or n_done < last.n_done:
            self._work = _Work(what, n_done, n_total, n_done, time.monotonic())
        else:
            self._work = _Work(what, n_done, n_total, last.n_first, last.begin)

    def _print(self) -> None:
        while not self._is_over.wait(_LINE_SECONDS):
            if self._work:
                click.echo(self._work, err=True)

    def _drawn(self) -> "RenderableType":
        from rich.progress_bar import ProgressBar
        from rich.table import Column, Table
        from rich.text import Text

        work = self._work
        if work is None:
            return ""
        line = Table.grid("", Column(ratio=1, no_wrap=True), padding=(0, 1), expand=True)
        line.add_row(ProgressBar(work.n_total, work.n_done, width=16), Text(str(work)))
        return line
