"""Runs cells by an engine, and yields each result as it is finished."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from itertools import groupby
from typing import Any

from adbench_text.processes import CallError
from adbench_text.run.engine import Engine, Started, Work
from adbench_text.run.result import Result
from adbench_text.sweep.cell import Cell

_LONG = 10.0  # seconds; values that cells of a split share take less than this


def longest_first(cells: Sequence[Cell], expected: Mapping[Cell, float]) -> list[Cell]:
    """Return cells so that several processes end soonest: long cells, then splits, longest first."""

    def seconds(group: Sequence[Cell]) -> float:
        return sum(expected.get(cell, 0.0) for cell in group)

    long = [[cell] for cell in cells if seconds([cell]) >= _LONG]
    short = [cell for cell in cells if seconds([cell]) < _LONG]
    of_splits = [list(group) for _, group in groupby(short, key=lambda cell: cell.split)]
    groups = sorted(long, key=seconds, reverse=True) + sorted(of_splits, key=seconds, reverse=True)
    return [cell for group in groups for cell in group]


def finished(
    engine: Engine, work: Work, keep: Callable[[Result], Result] = lambda result: result
) -> Generator[Result]:
    """Run cells and yield each result as it is finished; closing the generator ends all processes.

    `keep` is called with each result, before its process begins with another cell; it returns the result with
    its metrics.
    """
    with engine.start(work) as started:
        running = _Running(work, started)
        running.submit()
        while len(running):
            for result in running.ended():
                kept = keep(result)
                if started.runs_ahead:  # the process need not wait until the result is logged
                    running.submit()
                yield kept
            running.submit()


class _Running:
    """The cells of some work that wait, and those that run."""

    def __init__(self, work: Work, started: Started) -> None:
        self._work, self._started = work, started
        # neighbours of one split, which share values
        self._groups = deque(deque(group) for _, group in groupby(work.cells, key=lambda cell: cell.split))
        self._running: dict[Future[Result], tuple[Cell, float]] = {}
        self._split: Any = None  # that the process has worked on which is idle now

    def __len__(self) -> int:
        return sum(map(len, self._groups)) + len(self._running)

    def submit(self) -> None:
        """Let as many cells run as can."""
        n_on_gpu = sum(self._work.may_use_gpu(cell) for cell, _ in self._running.values())
        for _ in range(self._started.size() - len(self._running)):
            cell = self._next(n_on_gpu < self._started.gpu_size())
            if cell is None:
                return
            n_on_gpu += self._work.may_use_gpu(cell)
            self._work.progress.started(cell)
            began = time.time()
            self._running[self._started.submit(cell)] = cell, began

    def _next(self, is_gpu_free: bool) -> Cell | None:
        """Remove a cell of the split that a process remembers, else of the first that nobody works on."""
        for is_own in (True, False):
            for group in self._groups:
                if is_own and group[0].split != self._split:
                    continue
                cell = next((c for c in group if is_gpu_free or not self._work.may_use_gpu(c)), None)
                if cell is None:
                    continue
                self._groups.remove(group)
                group.remove(cell)
                if group:  # the next process begins with another split
                    self._groups.appendleft(group) if is_own else self._groups.append(group)
                return cell
        return None

    def ended(self) -> Iterator[Result]:
        """Wait until cells have ended, in one way or another; yield their results."""
        if not self._running:  # a cluster without workers
            time.sleep(self._started.patience or 0)
        for future in wait(self._running, self._started.patience, FIRST_COMPLETED).done:
            cell, began = self._running.pop(future)
            self._split = cell.split
            yield _result(future, cell, began)


def _result(future: "Future[Result]", cell: Cell, began: float) -> Result:
    """Return the result of a cell; raise an AdbenchTextError that ends the sweep."""
    try:
        return replace(future.result(), cell=cell)
    except CallError as error:
        return Result(cell, began, {}, reason=str(error), stopped=error.stopped)
