"""Runs in the workers of a Dask cluster: evaluates cells in processes of their own."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection, current_process
from typing import Any

from distributed import get_worker
from joblib import cpu_count

from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import AdbenchTextError
from adbench_text.places import described
from adbench_text.run.engine import SECONDS, Limits
from adbench_text.run.result import Result
from adbench_text.run.runner import prepare
from adbench_text.run.worker import THREADS, Worker
from adbench_text.sweep.cell import Cell
from adbench_text.sweep.definition import definition

_IDLE_SECONDS = 300.0  # until what was installed is removed: the client may have been killed


@dataclass(frozen=True)
class Job:
    """What a client sends once to each worker, before the cells.

    Parameters
    ----------
    token : str
        Identifies the run of the client; a cluster may have several.
    corpora : mapping of str to Corpus
    checked : sequence of (Cell, mapping)
        A cell of each configuration and dataset, and its definition, which must be the same here.
    limits : Limits
    trace_every : int
    n_jobs : mapping of str to int
        Number of cells that run at the same time on the machine of each worker, by the worker's address.
    """

    token: str
    corpora: Mapping[str, Corpus]
    checked: Sequence[tuple[Cell, Mapping[str, str]]]
    limits: Limits
    trace_every: int
    n_jobs: Mapping[str, int]


@dataclass
class _Installed:
    """A job in this worker, and its processes that wait for a cell."""

    job: Job
    variables: Mapping[str, str]
    idle: list[Worker] = field(default_factory=list)
    n_running: int = 0
    is_over: bool = False
    timer: threading.Timer | None = None


_installed: dict[str, _Installed] = {}  # by token
_lock = threading.Lock()


async def install(job: Job, dask_worker: Any) -> str:
    """Prepare this worker for a job; return why it is unsuitable, or an empty string."""
    return await asyncio.to_thread(_install, job, job.n_jobs.get(dask_worker.address, 1))


def _install(job: Job, n_jobs: int) -> str:
    try:
        prepare([cell for cell, _ in job.checked], job.corpora)
        for cell, expected in job.checked:
            own = definition(cell, job.corpora[cell.dataset])
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


def evaluate_cell(token: str, cell: Cell) -> Result | None:
    """Return the result of a cell; None if its job is not, or no longer, installed."""
    with _lock:
        installed = _installed.get(token)
        if installed is None:
            return None
        installed.n_running += 1
        process = installed.idle.pop() if installed.idle else None
    process = process or Worker(installed.variables, installed.job.trace_every)
    try:
        result = _result_of(process, cell, installed)
        if result is not None and process.is_spent:
            process = Worker(installed.variables, installed.job.trace_every)
            result = process.measure(result, installed.job.corpora[cell.dataset])
        return result
    finally:
        with _lock:
            installed.n_running -= 1
            if installed.is_over:
                process.kill()
            elif not process.is_dead:
                installed.idle.append(process)
            _watch(installed)


def _result_of(process: Worker, cell: Cell, installed: _Installed) -> Result | None:
    worker = get_worker()
    key, topic = worker.get_current_task(), installed.job.token

    def on_step(cell: Cell, step: int, steps: int, losses: Mapping[str, float]) -> None:
        worker.log_event(topic, [key, step, steps, {name: float(loss) for name, loss in losses.items()}])

    while True:
        if process.is_ready and process.cell is None:  # its start is not part of its time
            process.send(cell, installed.job.corpora[cell.dataset])
        result = process.outcome(installed.job.limits, on_step)
        if result is not None:
            return result
        task = worker.state.tasks.get(key)
        if installed.is_over or task is None or task.state != "executing":  # nobody wants it any more
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
