"""The workers of a Dask cluster; a cell whose worker is lost runs on another one."""

import asyncio
import logging
import pickle
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from multiprocessing import connection, current_process
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import dask
from distributed import Client, get_worker
from distributed.comm.core import connect
from distributed.security import Security
from joblib import cpu_count

from adbench_text.checks import Whole
from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.escaping import without_password
from adbench_text.places import described
from adbench_text.run.engine import SECONDS, Limits, Queue, Work
from adbench_text.run.progress import Progress
from adbench_text.run.result import Result
from adbench_text.run.runner import prepare
from adbench_text.run.worker import THREADS, Worker
from adbench_text.sweep.cell import Cell

_PATIENCE = 10.0  # seconds to wait for the scheduler, which may be starting
_NO_SCHEDULER = "what answers is no scheduler."
_PACKAGE = "adbench-text"
_LOOK_SECONDS = 1.0  # between two looks at the workers
_IDLE_SECONDS = 300.0  # until a worker removes a job of which no cell comes: the client may have been killed


@dataclass(frozen=True)
class Dask:
    """Runs cells on an existing Dask cluster, one for each thread of its workers.

    Each cell runs in a process of its own below a worker, as on one machine. Cells on a GPU go to workers
    that were started with ``--resources GPU=1``; if there are such workers, the others take the other cells.
    """

    # of the scheduler, such as tcp://10.0.0.1:8786; None for that of Dask's configuration
    address: str | None = None
    gpu_jobs: int = 1  # cells that share a GPU

    def __post_init__(self) -> None:
        Whole(1).check("gpu_jobs", self.gpu_jobs)

    def check(self, limits: Limits) -> None:
        """Raise an error if no scheduler answers, or for a limit of memory; see `Engine`."""
        if limits.megabytes is not None:
            raise InvalidValueError(
                "--cell-memory is for cells on this machine; limit the memory of Dask's workers where they "
                "are started, for example by Slurm or Kubernetes."
            )
        address = self._found_address()
        answer: SimpleQueue[str] = SimpleQueue()
        # a thread: `connect` waits for ever for a server that speaks another protocol
        Thread(target=lambda: answer.put(_refusal(address)), daemon=True).start()
        try:
            refusal = answer.get(timeout=_PATIENCE + 1)
        except Empty:
            refusal = _NO_SCHEDULER
        if refusal:
            raise AdbenchTextError(without_password(f"No Dask scheduler answers at {address}: {refusal}"))

    def _found_address(self) -> str:
        address: str | None = self.address or dask.config.get("scheduler-address", None)
        if not address:
            raise InvalidValueError(
                "The engine dask needs the address of a scheduler: give --address tcp://HOST:8786."
            )
        return address

    def run(self, work: Work) -> Generator[Result]:
        """Run cells and yield each result as it is finished; see `Engine`."""
        address = self._found_address()
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # errors are one line here
        try:
            client = Client(address, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError, pickle.PickleError) as error:
            reason = without_password(f"No Dask scheduler answers at {address}: {error}")
            raise AdbenchTextError(reason) from error
        cluster = _Cluster(client, without_password(address), work, self.gpu_jobs)
        try:
            yield from cluster.run()
        finally:
            cluster.close()


def _refusal(address: str) -> str:
    """Return why no connection to a scheduler can be made; an empty string if it can."""

    async def greet() -> None:
        arguments = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
        comm = await connect(address, timeout=_PATIENCE, **arguments)  # type: ignore[no-untyped-call]
        await comm.close()

    try:
        asyncio.run(greet())
    except (OSError, ValueError) as error:  # a wrong address, nobody there, or a certificate
        return str(error)
    except Exception:  # of any kind, even a lack of memory: it took another protocol for its own
        return _NO_SCHEDULER
    return ""


@dataclass
class _Slots:
    """A worker that is ready for cells."""

    host: str
    n_threads: int  # cells that it runs at the same time
    n_gpu: int  # of these, cells that may use its GPUs
    split: Any = None  # of its last cell


@dataclass(frozen=True)
class _Running:
    """A cell on its way through a worker."""

    cell: Cell
    address: str
    host: str
    future: Any
    is_alone: bool


class _Cluster:
    """Runs the cells of a sweep on the workers of a cluster.

    The client chooses the worker of each cell: it knows which values a worker shares already, and which cells
    were lost together with their worker.
    """

    def __init__(self, client: Any, address: str, work: Work, gpu_jobs: int) -> None:
        self._client, self._address, self._work, self._gpu_jobs = client, address, work, gpu_jobs
        self._queue = Queue(work.longest_first(), work.claim)
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
                look = time.monotonic() + _LOOK_SECONDS
            self._hand_out()
            results += self._next_event()
            for result in results:
                result = self._work.keep(result)
                self._gpu_cells.discard(result.cell)
                self._hand_out()  # the worker need not wait until the result is logged
                yield result

    def close(self) -> None:
        """Stop all cells, and remove everything from the workers."""
        ending = Thread(target=self._end, daemon=True)
        ending.start()
        ending.join(10)  # a scheduler that is lost never answers

    def _end(self) -> None:
        with suppress(Exception):  # a lost scheduler raises many kinds
            self._client.cancel([running.future for running in self._running.values()])
            self._client.run(forget, self._token, on_error="ignore")
            self._client.close()

    def _waiting(self) -> int:
        return len(self._queue) + len(self._again) + len(self._suspects)

    def _next_event(self) -> list[Result]:
        """Wait for an event, not for long; return the result of a cell that has ended."""
        try:
            kind, value = self._events.get(timeout=_LOOK_SECONDS)
        except Empty:
            return []
        if kind == "done" and value in self._running:
            return self._ended(self._running.pop(value))
        if kind == "asked":
            self._receive(value)
        elif kind == "step" and len(self._running) == 1 and value[0] in self._running:
            key, *step = value
            self._work.progress.step(self._running[key].cell, *step)
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
            evaluate_cell,
            *(self._token, cell, self._work.is_oracle(cell)),
            key=key,
            workers=[address],
            resources={"GPU": 1 / self._gpu_jobs} if on_gpu else None,  # other runs share the GPU too
            pure=False,
        )
        self._running[key] = _Running(cell, address, slots.host, future, is_alone)
        slots.split = cell.split
        self._work.progress.started(cell)
        future.add_done_callback(lambda future: self._events.put(("done", future.key)))

    def _look_at_workers(self) -> list[Result]:
        """Notice workers that have come or gone; return the results of cells that went with them."""
        try:
            workers: dict[str, Any] = dict(self._client.scheduler_info(n_workers=-1)["workers"])
        except Exception as error:  # of many kinds, none of which names the scheduler
            raise AdbenchTextError(
                f"The Dask scheduler at {self._address} does not answer any more. Finished cells are kept; "
                "run the same command again to continue."
            ) from error
        self._has_gpus = self._has_gpus or any(each["resources"].get("GPU") for each in workers.values())
        if not workers and not self._is_waiting:
            self._work.progress.message(f"waiting for a worker of {self._address}")
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
            job = _Job(
                self._token,
                self._work.corpora,
                [(cell, self._work.definitions[cell]) for cell in one_each.values()],
                self._work.limits,
                self._work.trace_every,
                {address: of_host[each["host"]] for address, each in workers.items()},
            )
            suitable = [address for address in addresses if address not in answers]
            if suitable:
                installed = self._client.run(install, job, workers=suitable, on_error="return")
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
                self._work.progress.message(f"{address} is not used: {reason}")
                continue
            n_threads = facts["nthreads"]
            n_gpu = min(n_threads, round(facts["resources"].get("GPU", 0) * self._gpu_jobs))
            self._workers[address] = _Slots(facts["host"], n_threads, n_gpu)


# What follows runs in the workers of the cluster.


@dataclass(frozen=True)
class _Job:
    """What a client sends once to each worker, before the cells."""

    token: str  # of the run of the client; a cluster may have several
    corpora: Mapping[str, Corpus]
    checked: Sequence[tuple[Cell, Mapping[str, str]]]  # one of each configuration, with its definition
    limits: Limits
    trace_every: int
    n_jobs: Mapping[str, int]  # cells at the same time on the machine of each worker, by its address


@dataclass
class _Installed:
    """A job in this worker, and its processes that wait for a cell."""

    job: _Job
    variables: Mapping[str, str]
    idle: list[Worker] = field(default_factory=list)
    n_running: int = 0
    is_over: bool = False
    timer: threading.Timer | None = None


_installed: dict[str, _Installed] = {}  # by token
_lock = threading.Lock()


async def install(job: _Job, dask_worker: Any) -> str:
    """Prepare this worker for a job; return why it is unsuitable, or an empty string."""
    return await asyncio.to_thread(_install, job, job.n_jobs.get(dask_worker.address, 1))


def _install(job: _Job, n_jobs: int) -> str:
    try:
        definitions, failed = prepare([cell for cell, _ in job.checked], job.corpora)
        for result in failed:
            return result.reason
        for cell, expected in job.checked:
            own = definitions[cell]
            for name in sorted(own.keys() | expected.keys()):
                if own.get(name) != expected.get(name):
                    return f"{cell.detector} has {name} {own.get(name)} there, {expected.get(name)} here"
    except AdbenchTextError as error:
        return str(error)
    except Exception as error:  # of any kind: it concerns this worker alone
        return described(error)
    # a worker below a nanny is a daemon, which may have no processes of its own; ours end with it
    current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    variables = dict.fromkeys(THREADS, str(max(1, cpu_count() // n_jobs)))
    with _lock:
        _installed[job.token] = _Installed(job, variables)
    return ""


def forget(token: str) -> None:
    """Remove a job; cells of it that are running are stopped."""
    with _lock:
        installed = _installed.pop(token, None)
        if installed is not None:
            installed.is_over = True
    for process in installed.idle if installed is not None else ():
        process.kill()


def evaluate_cell(token: str, cell: Cell, is_oracle: bool | None) -> Result | None:
    """Return the result of a cell, not measured; None if its job is not, or no longer, installed."""
    with _lock:
        installed = _installed.get(token)
        if installed is None:
            return None
        installed.n_running += 1
        process = installed.idle.pop() if installed.idle else None
    process = process or Worker(installed.variables, installed.job.trace_every)
    try:
        return _result_of(process, cell, is_oracle, installed)
    finally:
        with _lock:
            installed.n_running -= 1
            if installed.is_over:
                process.kill()
            elif not process.is_dead:
                installed.idle.append(process)
            _watch(installed)


class _Steps(Progress):
    """Sends the steps of a training to the client."""

    def __init__(self, topic: str) -> None:
        self._worker, self._topic = get_worker(), topic
        self.key = self._worker.get_current_task()

    @property
    def is_wanted(self) -> bool:
        """Whether the client still waits for the cell."""
        task = self._worker.state.tasks.get(self.key)
        return task is not None and task.state == "executing"

    def step(self, cell: Cell, step: int, steps: int, losses: Mapping[str, float]) -> None:
        numbers = {name: float(loss) for name, loss in losses.items()}
        self._worker.log_event(self._topic, [self.key, step, steps, numbers])


def _result_of(process: Worker, cell: Cell, is_oracle: bool | None, installed: _Installed) -> Result | None:
    """Return the result of a cell; None if nobody wants it any more."""
    progress = _Steps(installed.job.token)
    while True:
        if process.is_ready and process.cell is None:  # its start is not part of its time
            process.send(cell, installed.job.corpora[cell.dataset], is_oracle)
        result = process.outcome(installed.job.limits, progress)
        if result is not None:
            return result
        if installed.is_over or not progress.is_wanted:
            process.kill()
            return None
        connection.wait(process.handles, SECONDS)


def _watch(installed: _Installed) -> None:
    """Remove a job some time after its last cell."""
    if installed.timer is not None:
        installed.timer.cancel()
    installed.timer = threading.Timer(_IDLE_SECONDS, _forget_if_idle, [installed])
    installed.timer.daemon = True
    installed.timer.start()


def _forget_if_idle(installed: _Installed) -> None:
    if not installed.n_running and not installed.is_over:
        forget(installed.job.token)
