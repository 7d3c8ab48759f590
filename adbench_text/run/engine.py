"""What an engine is: it runs cells, somewhere, and yields their results."""

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Protocol

from adbench_text.corpora.corpus import Corpus
from adbench_text.run.progress import Progress
from adbench_text.run.result import Result
from adbench_text.sweep.cell import Cell

SECONDS = 0.2  # between two looks at limits, and at cells that another run holds
_LONG = 10.0  # seconds; values that cells of a split share take less than this


@dataclass(frozen=True)
class Limits:
    """What a cell may use; None for no limit."""

    seconds: float | None = None  # wall time of training and scoring together
    # resident memory of the cell's process, with libraries and corpus, in 10^6 bytes
    megabytes: float | None = None


@dataclass(frozen=True)
class Work:
    """Cells to run, and what an engine calls meanwhile."""

    # cells of one split should be neighbours: one process runs them, so they share values
    cells: Sequence[Cell]
    corpora: Mapping[str, Corpus]  # by dataset
    progress: Progress = field(default_factory=Progress)
    limits: Limits = field(default_factory=Limits)
    trace_every: int = 0  # see `scored`
    # see `construct.definition`; other machines compare them with their own
    definitions: Mapping[Cell, Mapping[str, str]] = field(default_factory=dict)
    # how long similar cells took; not needed to run one cell after the other
    seconds: Callable[[], Mapping[Cell, float]] = dict
    # called before a cell begins: may it run? None while another run holds it
    claim: Callable[[Cell], bool | None] = lambda cell: True
    # called with each result, before its process begins with another cell; returns it with its metrics
    keep: Callable[[Result], Result] = lambda result: result

    def is_oracle(self, cell: Cell) -> bool | None:
        """Return whether the detector is an oracle, as it said before all cells; None if it was not asked."""
        known = self.definitions.get(cell)
        return None if known is None else "oracle" in known

    def may_use_gpu(self, cell: Cell) -> bool:
        """Return whether the detector of a cell computes on a GPU where there is one."""
        return self.definitions.get(cell, {}).get("detector.device", "cpu") != "cpu"

    def longest_first(self) -> list[Cell]:
        """Return the cells so that several processes end soonest: long cells, then splits, longest first."""
        expected = self.seconds()

        def seconds(cells: Sequence[Cell]) -> float:
            return sum(expected.get(cell, 0.0) for cell in cells)

        long = [[cell] for cell in self.cells if seconds([cell]) >= _LONG]
        short = [cell for cell in self.cells if seconds([cell]) < _LONG]
        of_splits = [list(group) for _, group in groupby(short, key=lambda cell: cell.split)]
        groups = sorted(long, key=seconds, reverse=True) + sorted(of_splits, key=seconds, reverse=True)
        return [cell for group in groups for cell in group]


class Engine(Protocol):
    """Runs cells. Its constructor takes the settings of ``[engine]`` in the file of a sweep as keywords."""

    def check(self, limits: Limits) -> None:
        """Raise an error if it cannot run cells, or not with these limits; called before all else."""

    def run(self, work: Work) -> Generator[Result]:
        """Run cells and yield each result as `keep` returns it; closing the generator ends all processes.

        A cell that exceeds a limit has failed. So has one whose process ended by itself while no other
        cell was running. Otherwise another cell may be the cause, for example by its use of memory: the
        cell is run once more, alone, after all others.
        """


class Queue:
    """The cells that wait, in groups that share a split; `claim` is that of `Work`."""

    def __init__(self, cells: Sequence[Cell], claim: Callable[[Cell], bool | None]) -> None:
        self._groups = deque(deque(group) for _, group in groupby(cells, key=lambda cell: cell.split))
        self._claim = claim
        self._held: deque[Cell] = deque()  # by another run, when they were asked for

    def __len__(self) -> int:
        return sum(map(len, self._groups)) + len(self._held)

    def next(self, split: Any = None, may_run: Callable[[Cell], bool] = lambda cell: True) -> Cell | None:
        """Return a cell that may run, if possible of this split; None if there is none at the moment."""
        while cell := self._pop(split, may_run):
            claimed = self._claim(cell)
            if claimed:
                return cell
            if claimed is None:
                self._held.append(cell)
        for _ in range(len(self._held)):
            cell = self._held.popleft()
            claimed = self._claim(cell) if may_run(cell) else None
            if claimed:
                return cell
            if claimed is None:
                self._held.append(cell)
        return None

    def _pop(self, split: Any, may_run: Callable[[Cell], bool]) -> Cell | None:
        """Remove a cell from the group of this split; from the first group that nobody works on otherwise."""
        for is_own in (True, False):
            for group in self._groups:
                if is_own and group[0].split != split:
                    continue
                cell = next(filter(may_run, group), None)
                if cell is None:
                    continue
                self._groups.remove(group)
                group.remove(cell)
                if group:  # the next worker begins with another split
                    self._groups.appendleft(group) if is_own else self._groups.append(group)
                return cell
        return None
