"""Runs cells by an engine, and yields each result as it is finished."""

import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from itertools import groupby
from typing import Any

from adbench_text.processes import CallError, WorkersLostError
from adbench_text.run.engine import Engine, Local, Work
from adbench_text.run.evaluate import scored
from adbench_text.run.result import Result
from adbench_text.sweep.cell import Cell

_LONG = 10.0  # seconds; values that cells of a split share take less than this
_LOOK_SECONDS = 1.0  # between two looks at the number of workers


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
    its metrics. AdbenchTextError ends the sweep.
    """
    if isinstance(engine, Local) and not engine.jobs:
        for cell in work.cells:
            work.progress.started(cell)
            corpus, is_oracle = work.corpora[cell.dataset], work.is_oracle(cell)
            yield keep(scored(cell, corpus, work.progress, work.trace_every, is_oracle))
        return
    waiting, kept = _Waiting(work), deque[Result]()
    running: dict[Future[Result], tuple[Cell, float]] = {}
    suspects: set[Cell] = set()  # whose workers were lost; they run once more, when no other cell does
    with engine.start(work) as started:
        while waiting or running or kept:
            n, n_on_gpu = started.sizes()
            while len(running) < n:
                next_cell = waiting.take([cell for cell, _ in running.values()], n_on_gpu)
                if next_cell is None:
                    break
                work.progress.started(next_cell)
                began = time.time()
                running[started.submit(next_cell)] = next_cell, began
            if kept:  # now: its process need not wait until the result is logged
                yield kept.popleft()
            elif not running:  # a cluster without workers
                time.sleep(_LOOK_SECONDS)
            else:
                for future in [*wait(running, _LOOK_SECONDS, FIRST_COMPLETED).done][:1]:
                    cell, began = running.pop(future)
                    waiting.split = cell.split
                    try:
                        result = replace(future.result(), cell=cell)
                    except CallError as error:
                        if isinstance(error, WorkersLostError) and cell not in suspects:
                            suspects.add(cell)  # perhaps a cell beside it was to blame
                            waiting.alone.append(cell)
                            continue
                        result = Result(cell, began, {}, reason=str(error), stopped=error.stopped)
                    kept.append(keep(result))


class _Waiting:
    """The cells of some work that wait."""

    def __init__(self, work: Work) -> None:
        self._may_use_gpu = work.may_use_gpu
        # neighbours of one split, which share values
        self._groups = deque(deque(group) for _, group in groupby(work.cells, key=lambda cell: cell.split))
        self.alone = deque[Cell]()  # those that wait until no other cell runs
        self.split: Any = None  # that the process has worked on which is idle now

    def __bool__(self) -> bool:
        return bool(self._groups or self.alone)

    def take(self, running: Collection[Cell], n_on_gpu: int) -> Cell | None:
        """Remove and return a cell that can begin while others run; None if there is none.

        Take it from the split that a process remembers, else from the first that nobody works on. `n_on_gpu`
        is the number of cells that may use a GPU at the same time.
        """
        is_gpu_free = sum(map(self._may_use_gpu, running)) < n_on_gpu
        for is_own in (True, False):
            for group in self._groups:
                if is_own and group[0].split != self.split:
                    continue
                cell = next((c for c in group if is_gpu_free or not self._may_use_gpu(c)), None)
                if cell is None:
                    continue
                self._groups.remove(group)
                group.remove(cell)
                if group:  # the next process begins with another split
                    self._groups.appendleft(group) if is_own else self._groups.append(group)
                return cell
        is_alone = not self._groups and not running
        return self.alone.popleft() if is_alone and self.alone else None
