"""A Dask cluster as its client sees it: which worker runs which cell, and what becomes of it."""

import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from importlib.metadata import version
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from adbench_text.errors import AdbenchTextError
from adbench_text.places import described
from adbench_text.run.engine import Queue, Work
from adbench_text.run.engines import _remote
from adbench_text.run.result import Result
from adbench_text.sweep.cell import Cell

_PACKAGE = "adbench-text"
_SECONDS = 1.0  # between two looks at the workers


@dataclass
class _Slots:
    """A worker that is ready for cells.

    Attributes
    ----------
    host : str
        Its machine.
    n_threads : int
        Number of cells that it runs at the same time.
    n_gpu : int
        Number of these that may use its GPUs.
    split : tuple or None
        The split of its last cell.
    """

    host: str
    n_threads: int
    n_gpu: int
    split: Any = None


@dataclass(frozen=True)
class _Running:
    """A cell on its way through a worker."""

    cell: Cell
    address: str
    host: str
    future: Any
    is_alone: bool


class Cluster:
    """Runs the cells of a sweep on the workers of a cluster.

    The client chooses the worker of each cell: it knows which values a worker shares already, and which cells
    were lost together with their worker.

    Parameters
    ----------
    client : distributed.Client
    address : str
        Of its scheduler, for messages.
    work : Work
    gpu_jobs : int
        Number of cells that share a GPU.
    """

    def __init__(self, client: Any, address: str, work: Work, gpu_jobs: int) -> None:
        self._client, self._address, self._work, self._gpu_jobs = client, address, work, gpu_jobs
        self._queue = Queue(work.longest_first(), work.hooks.claim)
        self._again: deque[Cell] = deque()  # their worker did not know the job
        self._suspects: deque[Cell] = deque()  # their processes, or their workers, ended beside others
        self._gpu_cells = {cell for cell in work.cells if work.may_use_gpu(cell)}
        self._has_gpus = False
        self._token = f"adbench-text-{uuid.uuid4().hex}"
        self._workers: dict[str, _Slots] = {}  # that are ready, by their addresses
        self._asked: set[str] = set()
        self._refused: dict[str, str] = {}
        self._running: dict[str, _Running] = {}  # by the key of the future
        self._n_submitted = 0
        self._is_waiting = False
        self._events: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        client.subscribe_topic(self._token, lambda event: self._events.put(("step", event[1])))

    def run(self) -> Generator[Result]:
        """Run all cells; yield each result."""
        look = 0.0
        while self._waiting() or self._running:
            results = []
            if time.monotonic() >= look:
                results += self._look_at_workers()
                look = time.monotonic() + _SECONDS
            self._hand_out()
            results += self._next_event()
            for result in results:
                self._work.hooks.keep(result)
                self._gpu_cells.discard(result.cell)
                self._hand_out()  # the worker need not wait until the result is logged
                yield result

    def close(self) -> None:
        """Stop all cells, and remove everything from the workers."""
        ending = Thread(target=self._end, daemon=True)
        ending.start()
        ending.join(10)  # a scheduler that is lost never answers

    def _end(self) -> None:
        self._client.cancel([running.future for running in self._running.values()])
        self._client.run(_remote.forget, self._token, on_error="ignore")
        self._client.close()

    def _waiting(self) -> int:
        return len(self._queue) + len(self._again) + len(self._suspects)

    def _next_event(self) -> list[Result]:
        """Wait for an event, not for long; return the result of a cell that has ended."""
        try:
            kind, value = self._events.get(timeout=_SECONDS)
        except Empty:
            return []
        if kind == "done" and value in self._running:
            return self._ended(self._running.pop(value))
        if kind == "asked":
            self._receive(value)
        elif kind == "step" and len(self._running) == 1 and value[0] in self._running:
            key, *step = value
            self._work.hooks.step(self._running[key].cell, *step)
        return []

    def _ended(self, running: _Running) -> list[Result]:
        """Return the result of a cell that has ended; none if the cell is run once more."""
        try:
            result = running.future.result(timeout=60)
        except Exception as error:  # the worker was lost, or something between it and this process
            return self._lost(running, described(error))
        if result is None:  # the worker was started again, at the same address
            self._workers.pop(running.address, None)
            self._asked.discard(running.address)
            self._again.append(running.cell)
            return []
        is_beside = any(other.host == running.host for other in self._running.values())
        if result.stopped == "killed" and is_beside:
            self._suspects.append(running.cell)
            return []
        return [result]

    def _lost(self, running: _Running, reason: str) -> list[Result]:
        """Let a cell whose worker was lost run alone; the second time, it has failed."""
        if not running.is_alone:
            self._suspects.append(running.cell)
            return []
        reason = f"its worker was lost twice, the second time while nothing else ran there: {reason}"
        return [Result(running.cell, time.time(), {}, reason=reason, stopped="killed")]

    def _hand_out(self) -> None:
        """Give cells to the workers that have less than they can run."""
        for address, slots in self._workers.items():
            while (cell := self._next(address, slots)) is not None:
                self._submit(cell, address, slots, is_alone=False)
        if len(self._queue) or self._again:
            return
        for address, slots in self._workers.items():
            is_idle = not any(running.host == slots.host for running in self._running.values())
            for cell in filter(self._may_run(slots, 0), list(self._suspects) if is_idle else []):
                self._suspects.remove(cell)
                self._submit(cell, address, slots, is_alone=True)
                break

    def _next(self, address: str, slots: _Slots) -> Cell | None:
        of_host = [running for running in self._running.values() if running.host == slots.host]
        own = [running for running in of_host if running.address == address]
        if len(own) >= slots.n_threads or any(running.is_alone for running in of_host):
            return None
        may_run = self._may_run(slots, sum(running.cell in self._gpu_cells for running in own))
        for cell in filter(may_run, self._again):
            self._again.remove(cell)
            return cell
        return self._queue.next(slots.split, may_run)

    def _may_run(self, slots: _Slots, n_on_gpu: int) -> Callable[[Cell], bool]:
        """Return which cells a worker may run, of whose cells some are on its GPU."""
        n_without = sum(not other.n_gpu for other in self._workers.values())
        leaves_others = bool(slots.n_gpu and self._gpu_cells and n_without)

        def may_run(cell: Cell) -> bool:
            if self._has_gpus and cell in self._gpu_cells:
                return n_on_gpu < slots.n_gpu
            return not leaves_others

        return may_run

    def _submit(self, cell: Cell, address: str, slots: _Slots, is_alone: bool) -> None:
        self._n_submitted += 1
        key = f"{self._token}-{self._n_submitted}"
        on_gpu = self._has_gpus and cell in self._gpu_cells
        future = self._client.submit(
            _remote.evaluate_cell,
            *(self._token, cell),
            key=key,
            workers=[address],
            resources={"GPU": 1 / self._gpu_jobs} if on_gpu else None,  # other runs share the GPU too
            pure=False,
        )
        self._running[key] = _Running(cell, address, slots.host, future, is_alone)
        slots.split = cell.split
        self._work.hooks.started(cell)
        future.add_done_callback(lambda future: self._events.put(("done", future.key)))

    def _look_at_workers(self) -> list[Result]:
        """Notice workers that have come or gone; return the results of cells that went with them."""
        try:
            workers: dict[str, Any] = dict(self._client.scheduler_info(n_workers=-1)["workers"])
        except Exception as error:  # of many kinds
            raise AdbenchTextError(
                f"The Dask scheduler at {self._address} does not answer any more: {described(error)}. "
                "Finished cells are kept; run the same command again to continue."
            ) from error
        self._has_gpus = self._has_gpus or any(each["resources"].get("GPU") for each in workers.values())
        if not workers and not self._is_waiting:
            self._work.hooks.message(f"waiting for a worker of {self._address}")
        self._is_waiting = not workers
        if new := workers.keys() - self._asked:
            self._asked |= new
            Thread(target=self._ask, args=(sorted(new), workers), daemon=True).start()
        results = []
        for key, running in list(self._running.items()):
            if running.address not in workers:
                del self._running[key]
                running.future.cancel()
                results += self._lost(running, f"{running.address} is gone")
        for address in self._workers.keys() - workers.keys():
            del self._workers[address]
        self._asked &= workers.keys()
        if workers.keys() <= self._refused.keys() and workers:
            raise AdbenchTextError(f"No worker of {self._address} can run these cells; see above.")
        return results

    def _ask(self, addresses: list[str], workers: dict[str, Any]) -> None:
        """Prepare workers, which may take minutes; the answers become an event."""
        expected = version(_PACKAGE)
        of_host = Counter[str]()
        for each in workers.values():
            of_host[each["host"]] += each["nthreads"]
        one_each = {(cell.detector, cell.configuration, cell.dataset): cell for cell in self._work.cells}
        answers = {}
        try:
            versions = self._client.run(version, _PACKAGE, workers=addresses, on_error="return")
            for address, found in versions.items():
                if isinstance(found, Exception):
                    answers[address] = f"{_PACKAGE} cannot be found there: {described(found)}"
                elif found != expected:
                    answers[address] = f"it has {_PACKAGE} {found}, this command {expected}"
            job = _remote.Job(
                self._token,
                self._work.corpora,
                [(cell, self._work.definitions[cell]) for cell in one_each.values()],
                self._work.limits,
                self._work.trace_every,
                {address: of_host[each["host"]] for address, each in workers.items()},
            )
            suitable = [address for address in addresses if address not in answers]
            if suitable:
                installed = self._client.run(_remote.install, job, workers=suitable, on_error="return")
                answers |= {
                    address: answer if isinstance(answer, str) else described(answer)
                    for address, answer in installed.items()
                }
        except Exception as error:  # of many kinds; a lost scheduler is noticed elsewhere
            answers |= {address: described(error) for address in addresses if address not in answers}
        self._events.put(("asked", {address: (workers[address], answers[address]) for address in answers}))

    def _receive(self, answers: dict[str, tuple[Any, str]]) -> None:
        """Use workers that are suitable, and report the others."""
        for address, (facts, reason) in answers.items():
            if reason:
                self._refused[address] = reason
                self._work.hooks.message(f"{address} is not used: {reason}")
                continue
            n_threads = facts["nthreads"]
            n_gpu = min(n_threads, round(facts["resources"].get("GPU", 0) * self._gpu_jobs))
            self._workers[address] = _Slots(facts["host"], n_threads, n_gpu)
