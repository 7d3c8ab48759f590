"""Runs cells: in this process, or in worker processes, where one bad cell costs one cell."""

import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from multiprocessing import connection
from typing import Any

from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import AdbenchTextError
from adbench_text.run.evaluate import OnStep, evaluate
from adbench_text.run.result import Result
from adbench_text.run.worker import READY, RESULT, STEP, Worker
from adbench_text.sweep.cell import Cell

_SECONDS = 0.2  # between two looks at limits, and at cells that another run holds


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
    """What is called while cells run.

    Parameters
    ----------
    started : callable
        With each cell that begins.
    step : callable
        With the progress of each training; with several processes, never.
    claim : callable
        With each cell before it begins. It returns whether the cell may run; None while another run
        holds it.
    keep : callable
        With each result, before the process that made it begins with another cell.
    """

    started: Callable[[Cell], object] = lambda cell: None
    step: OnStep = lambda *_: None
    claim: Callable[[Cell], bool | None] = lambda cell: True
    keep: Callable[[Result], object] = lambda result: None


def run(
    cells: Sequence[Cell],
    corpora: Mapping[str, Corpus],
    jobs: int = 0,
    hooks: Hooks | None = None,
    limits: Limits | None = None,
    trace_every: int = 0,
) -> Generator[Result]:
    """Run cells and yield each result as it is finished.

    A cell whose process exceeds a limit has failed. So has one whose process ended by itself while no other
    cell was running. Otherwise another cell may be the cause, for example by its use of memory: the
    cell is run once more, alone, after all others.

    Parameters
    ----------
    cells : sequence of Cell
        Cells that share a split should be neighbours: they run in one process, one after the
        other, and share the values computed from the split's texts.
    corpora : mapping of str to Corpus
        The corpus of each dataset.
    jobs : int
        Number of worker processes; 0 to run everything in this process, without limits.
    hooks : Hooks, optional
    limits : Limits, optional
    trace_every : int
        See `evaluate`.
    """
    hooks = hooks or Hooks()
    if jobs == 0:
        yield from _run_here(cells, corpora, hooks, trace_every)
        return
    pool = _Pool(cells, corpora, jobs, hooks, limits or Limits(), trace_every)
    try:
        yield from pool.run()
    finally:
        pool.close()


def _run_here(
    cells: Sequence[Cell], corpora: Mapping[str, Corpus], hooks: Hooks, trace_every: int
) -> Generator[Result]:
    queue = _Queue(cells, hooks.claim)
    split = None
    while len(queue):
        cell = queue.next(split)
        if cell is None:
            time.sleep(_SECONDS)
            continue
        split = cell.split
        hooks.started(cell)
        result = evaluate(cell, corpora[cell.dataset], hooks.step, trace_every)
        hooks.keep(result)
        yield result


class _Queue:
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

    def next(self, split: Any) -> Cell | None:
        """Return a cell that may run, if possible of this split; None if another run holds all of them."""
        while cell := self._pop(split):
            may_run = self._claim(cell)
            if may_run:
                return cell
            if may_run is None:
                self._held.append(cell)
        for _ in range(len(self._held)):
            cell = self._held.popleft()
            may_run = self._claim(cell)
            if may_run:
                return cell
            if may_run is None:
                self._held.append(cell)
        return None

    def _pop(self, split: Any) -> Cell | None:
        """Remove a cell from the group of this split; from the first group that nobody works on otherwise."""
        own = next((group for group in self._groups if group and group[0].split == split), None)
        if own is None and self._groups:
            own = self._groups[0]
            self._groups.rotate(-1)  # the next worker begins with another split
        if own is None:
            return None
        cell = own.popleft()
        if not own:
            self._groups.remove(own)
        return cell


class _Pool:
    """Worker processes, and the cells that they evaluate."""

    def __init__(
        self,
        cells: Sequence[Cell],
        corpora: Mapping[str, Corpus],
        jobs: int,
        hooks: Hooks,
        limits: Limits,
        trace_every: int,
    ) -> None:
        from joblib import cpu_count

        self._corpora, self._hooks, self._limits = corpora, hooks, limits
        self._queue = _Queue(cells, hooks.claim)
        self._suspects: deque[Cell] = deque()  # their processes ended beside others
        self._size = min(jobs, len(cells))
        # no two workers compete for a core
        n_threads = None if jobs == 1 else max(1, cpu_count() // jobs)
        self._new_worker = partial(Worker, n_threads, trace_every)
        self._workers: list[Worker] = []

    def run(self) -> Generator[Result]:
        """Run all cells; yield each result."""
        while len(self._queue) or self._suspects or self._busy():
            self._hand_out()
            # otherwise nothing happens until a worker sends something, or ends
            must_look = self._limits != Limits() or len(self._queue) or not self._busy()
            handles = [handle for worker in self._workers for handle in worker.handles]
            connection.wait(handles, _SECONDS if must_look else None)
            for worker in list(self._workers):
                result = self._result_of(worker)
                if result is not None:
                    self._hooks.keep(result)
                    self._hand_out()  # the process need not wait until the result is logged
                    yield result

    def close(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.kill()
        self._workers.clear()

    def _busy(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.cell is not None]

    def _hand_out(self) -> None:
        """Give a cell to each worker that has none; start workers if there are too few."""
        n_waiting = len(self._queue) + len(self._suspects)
        n_idle = len(self._workers) - len(self._busy())
        for _ in range(min(self._size - len(self._workers), n_waiting - n_idle)):
            self._workers.append(self._new_worker())
        for worker in self._workers:
            if worker.is_ready and worker.cell is None and (cell := self._next(worker)) is not None:
                self._hooks.started(cell)
                worker.send(cell, self._corpora[cell.dataset])

    def _next(self, worker: Worker) -> Cell | None:
        if len(self._queue):
            return self._queue.next(worker.split)
        return self._suspects.popleft() if self._suspects and not self._busy() else None

    def _result_of(self, worker: Worker) -> Result | None:
        """Return the result of a worker if its cell has ended, in one way or another."""
        try:
            while worker.connection.poll():
                kind, value = worker.connection.recv()
                if kind == RESULT:
                    worker.cell = None
                    result: Result = value
                    return result
                if kind == STEP and self._size == 1 and worker.cell is not None:
                    self._hooks.step(worker.cell, *value)
                worker.is_ready = worker.is_ready or kind == READY
        except (EOFError, OSError):
            return self._after_death(worker)
        return self._at_limit(worker)

    def _after_death(self, worker: Worker) -> Result | None:
        self._workers.remove(worker)
        reason = worker.wait_for_end()
        if not worker.is_ready:
            raise AdbenchTextError(
                f"A worker process did not start: {reason}. Its message is above; --jobs 0 uses none."
            )
        if worker.cell is not None and self._busy():
            self._suspects.append(worker.cell)
            return None
        return worker.failed("killed", reason)

    def _at_limit(self, worker: Worker) -> Result | None:
        """Kill a worker whose cell exceeds a limit, and return the result."""
        seconds, megabytes = self._limits.seconds, self._limits.megabytes
        if worker.cell is None:
            return None
        if seconds is not None and worker.seconds() > seconds:
            result = worker.failed("timed out", f"stopped after {seconds:g} s (--cell-timeout)")
        elif megabytes is not None and worker.megabytes() > megabytes:
            result = worker.failed("out of memory", f"stopped at more than {megabytes:g} MB (--cell-memory)")
        else:
            return None
        self._workers.remove(worker)
        worker.kill()
        return result
