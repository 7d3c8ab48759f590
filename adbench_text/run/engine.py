"""What an engine is: it runs cells, somewhere, and yields their results."""

import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Protocol

from adbench_text.corpora.corpus import Corpus
from adbench_text.run.evaluate import OnStep, evaluate
from adbench_text.run.result import Result
from adbench_text.sweep.cell import Cell

SECONDS = 0.2  # between two looks at limits, and at cells that another run holds
_LONG = 10.0  # seconds; values that cells of a split share take less than this


@dataclass(frozen=True)
class Limits:
    """What a cell may use; None for no limit.

    Parameters
    ----------
    seconds : float, optional
        Wall time, with training and scoring.
    megabytes : float, optional
        Resident memory of the process of the cell, in 10^6 bytes, with its libraries and the corpus.
    """

    seconds: float | None = None
    megabytes: float | None = None


@dataclass(frozen=True)
class Hooks:
    """What is called while cells run, in the thread that iterates over the results.

    Parameters
    ----------
    started : callable
        With each cell that begins; again if it is restarted because its process was lost.
    step : callable
        With the progress of each training; never while several cells run at the same time.
    claim : callable
        With each cell before it begins. It returns whether the cell may run; None while another run
        holds it.
    keep : callable
        With each result, before the process that made it begins with another cell.
    message : callable
        With a line for the user.
    """

    started: Callable[[Cell], object] = lambda cell: None
    step: OnStep = lambda *_: None
    claim: Callable[[Cell], bool | None] = lambda cell: True
    keep: Callable[[Result], object] = lambda result: None
    message: Callable[[str], object] = lambda text: None


@dataclass(frozen=True)
class Work:
    """Cells to run.

    Parameters
    ----------
    cells : sequence of Cell
        Cells that share a split should be neighbours: they run in one process, one after the
        other, and share the values computed from the split's texts.
    corpora : mapping of str to Corpus
        The corpus of each dataset.
    hooks : Hooks, optional
    limits : Limits, optional
    trace_every : int
        See `adbench_text.run.evaluate.evaluate`.
    seconds : callable, optional
        Returns the time that each cell is expected to take; an engine that runs one cell after the other
        need not know it.
    definitions : mapping of Cell to mapping, optional
        See `adbench_text.sweep.definition.definition`; other machines compare them with their own.
    """

    cells: Sequence[Cell]
    corpora: Mapping[str, Corpus]
    hooks: Hooks = field(default_factory=Hooks)
    limits: Limits = field(default_factory=Limits)
    trace_every: int = 0
    seconds: Callable[[], Mapping[Cell, float]] = dict
    definitions: Mapping[Cell, Mapping[str, str]] = field(default_factory=dict)

    def may_use_gpu(self, cell: Cell) -> bool:
        """Return whether the detector of a cell computes on a GPU where there is one."""
        return self.definitions.get(cell, {}).get("detector.device", "cpu") != "cpu"

    def longest_first(self) -> list[Cell]:
        """Return the cells in the order in which several processes end soonest.

        Long cells come first. The others follow by split, so that they can share values; long splits first.
        """
        expected = self.seconds()

        def seconds(cells: Sequence[Cell]) -> float:
            return sum(expected.get(cell, 0.0) for cell in cells)

        long = [[cell] for cell in self.cells if seconds([cell]) >= _LONG]
        short = [cell for cell in self.cells if seconds([cell]) < _LONG]
        of_splits = [list(group) for _, group in groupby(short, key=lambda cell: cell.split)]
        groups = sorted(long, key=seconds, reverse=True) + sorted(of_splits, key=seconds, reverse=True)
        return [cell for group in groups for cell in group]


class Engine(Protocol):
    """Runs cells. Its constructor takes the settings of ``[engine]`` in the file of a sweep as keywords.

    It may have a method ``check()``, which raises an error if it cannot run cells, for example because a
    server does not answer. It is called first, because preparing the documents may take minutes.
    """

    def run(self, work: Work) -> Generator[Result]:
        """Run cells and yield each result as it is finished.

        A cell that exceeds a limit has failed. So has one whose process ended by itself while no other
        cell was running. Otherwise another cell may be the cause, for example by its use of memory: the
        cell is run once more, alone, after all others. Closing the generator ends all processes.
        """


class Queue:
    """The cells that wait, in groups that share a split.

    Parameters
    ----------
    cells : sequence of Cell
    claim : callable
        See `Hooks`.
    """

    def __init__(self, cells: Sequence[Cell], claim: Callable[[Cell], bool | None]) -> None:
        self._groups = deque(deque(group) for _, group in groupby(cells, key=lambda cell: cell.split))
        self._claim = claim
        self._held: deque[Cell] = deque()  # by another run, when they were asked for

    def __len__(self) -> int:
        return sum(map(len, self._groups)) + len(self._held)

    def next(self, split: Any = None, may_run: Callable[[Cell], bool] = lambda cell: True) -> Cell | None:
        """Return a cell, if possible of this split; None if another run holds all of them.

        Parameters
        ----------
        split : tuple, optional
        may_run : callable
            Cells for which it returns False are left in the queue.
        """
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


def run_here(work: Work) -> Generator[Result]:
    """Run cells in this process, in their order, without limits."""
    queue, split = Queue(work.cells, work.hooks.claim), None
    while len(queue):
        cell = queue.next(split)
        if cell is None:
            time.sleep(SECONDS)
            continue
        split = cell.split
        work.hooks.started(cell)
        result = evaluate(cell, work.corpora[cell.dataset], work.hooks.step, work.trace_every)
        work.hooks.keep(result)
        yield result
