"""Worker processes on one machine, where one bad cell costs one cell."""

import time
from collections import Counter, deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from multiprocessing import connection

from joblib import cpu_count

from adbench_text import interrupts, provenance
from adbench_text.checks import Whole
from adbench_text.errors import InvalidValueError
from adbench_text.run.engine import SECONDS, Limits, Queue, Work
from adbench_text.run.evaluate import scored
from adbench_text.run.progress import Progress
from adbench_text.run.result import Result
from adbench_text.run.worker import Worker, threads
from adbench_text.sweep.cell import Cell


@dataclass(frozen=True)
class Local:
    """Runs cells on this machine."""

    jobs: int = 1  # worker processes; 0 runs all in this one, for a debugger: without limits or isolation
    gpu_jobs: int = 1  # cells that share a GPU

    def __post_init__(self) -> None:
        Whole(0).check("jobs", self.jobs)
        Whole(1).check("gpu_jobs", self.gpu_jobs)

    def check(self, limits: Limits) -> None:
        """Raise InvalidValueError if there are limits, but no processes that could be ended."""
        if self.jobs == 0 and limits != Limits():
            raise InvalidValueError(
                "--cell-timeout and --cell-memory need a worker process: give --jobs 1 or more."
            )

    def run(self, work: Work) -> Generator[Result]:
        """Run cells and yield each result as it is finished; see `Engine`."""
        if self.jobs == 0:
            yield from _run_here(work)
            return
        pool = _Pool(work, self.jobs, self.gpu_jobs)
        try:
            yield from pool.run()
        finally:
            pool.close()


def _run_here(work: Work) -> Generator[Result]:
    """Run cells in this process, in their order, without limits."""
    queue, split = Queue(work.cells, work.claim), None
    while len(queue):
        cell = queue.next(split)
        if cell is None:
            time.sleep(SECONDS)
            continue
        split = cell.split
        work.progress.started(cell)
        corpus = work.corpora[cell.dataset]
        yield work.keep(scored(cell, corpus, work.progress, work.trace_every, work.is_oracle(cell)))


class _Pool:
    """Worker processes, and the cells that they evaluate."""

    def __init__(self, work: Work, jobs: int, gpu_jobs: int) -> None:
        self._work, self._gpu_jobs = work, gpu_jobs
        self._queue = Queue(work.cells if jobs == 1 else work.longest_first(), work.claim)
        self._suspects: deque[Cell] = deque()  # their processes ended beside others
        self._size = min(jobs, len(work.cells))
        self._steps = work.progress if self._size == 1 else Progress()
        # no two workers compete for a core
        self._threads = {} if self._size < 2 else threads(max(1, cpu_count() // self._size))
        # with one process there is no turn to take
        self._gpus = provenance.visible_gpus() if jobs > 1 and any(map(work.may_use_gpu, work.cells)) else []
        self._workers: list[Worker] = []
        self._gpu_of: dict[Worker, str | None] = {}

    def run(self) -> Generator[Result]:
        """Run all cells; yield each result."""
        while len(self._queue) or self._suspects or self._busy():
            self._hand_out()
            # otherwise nothing happens until a worker sends something, or ends
            is_starting = not all(worker.is_ready for worker in self._workers)
            must_look = is_starting or self._work.limits != Limits() or len(self._queue) or not self._busy()
            handles = [handle for worker in self._workers for handle in worker.handles]
            connection.wait(handles, SECONDS if must_look else None)
            for worker in list(self._workers):
                result = self._result_of(worker)
                if result is not None:
                    result = self._work.keep(result)
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
            self._start()
        for worker in self._workers:
            if worker.is_ready and worker.cell is None and (cell := self._next(worker)) is not None:
                self._work.progress.started(cell)
                worker.send(cell, self._work.corpora[cell.dataset], self._work.is_oracle(cell))

    def _start(self) -> None:
        """Start a worker; it sees the GPU that the fewest others see."""
        n_workers = Counter(self._gpu_of.get(worker) for worker in self._workers)
        gpu = min(self._gpus, key=lambda each: n_workers[each], default=None)
        own = {} if gpu is None else {provenance.VISIBLE: gpu}
        with interrupts.held_back():  # a process that has begun is one of those that `close` ends
            worker = Worker(self._threads | own, self._work.trace_every)
            self._workers.append(worker)
        self._gpu_of[worker] = gpu

    def _next(self, worker: Worker) -> Cell | None:
        if len(self._queue):
            return self._queue.next(worker.split, self._may_run(worker))
        return self._suspects.popleft() if self._suspects and not self._busy() else None

    def _may_run(self, worker: Worker) -> Callable[[Cell], bool]:
        """Return the cells that a worker may begin with: those on a GPU wait for their turn."""
        gpu = self._gpu_of[worker]
        n_running = sum(
            self._gpu_of[other] == gpu and other.cell is not None and self._work.may_use_gpu(other.cell)
            for other in self._workers
        )
        is_free = gpu is None or n_running < self._gpu_jobs
        return lambda cell: is_free or not self._work.may_use_gpu(cell)

    def _result_of(self, worker: Worker) -> Result | None:
        """Return the result of a worker if its cell has ended, in one way or another."""
        cell = worker.cell
        result = worker.outcome(self._work.limits, self._steps)
        if worker.is_dead:
            self._workers.remove(worker)
        if cell is not None and result is not None and result.stopped == "killed" and self._busy():
            self._suspects.append(cell)
            return None
        return result
