"""Run the cells of a sweep in this process, in processes of this machine, or on a Dask cluster."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from adbench_text import provenance
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split_key import AXES
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.failures import FAILURES
from adbench_text.plugins import registry
from adbench_text.processes import Limits, Processes, Workers, notify, threads
from adbench_text.run.cell import Cell
from adbench_text.run.evaluate import scored
from adbench_text.run.measure import checked_step
from adbench_text.run.preparation import prepare
from adbench_text.run.progress import Progress
from adbench_text.run.result import Result
from adbench_text.text.own_encoder import is_same

_STEP_SECONDS = 0.1  # minimum time between two messages about a training
_LOOK_SECONDS = 1.0  # how often a worker of a cluster checks whether the client still waits


@dataclass(frozen=True)
class Work:
    """Cells to run, with their corpora, definitions and limits."""

    cells: Sequence[Cell]  # cells on the same split should be neighbours: they share values
    corpora: Mapping[str, Corpus]  # by dataset
    # see `definition.definition`; the workers of a cluster compare them with their definitions
    definitions: Mapping[Cell, Mapping[str, str]] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    limits: Limits = field(default_factory=Limits)

    def is_oracle(self, cell: Cell) -> bool | None:
        """Return whether the detector declared before all cells that it is an oracle; None if unknown."""
        known = self.definitions.get(cell)
        return None if known is None else "oracle" in known

    def may_use_gpu(self, cell: Cell) -> bool:
        """Return whether the detector of a cell uses a GPU if there is one."""
        return self.definitions.get(cell, {}).get("detector.device", "cpu") != "cpu"


class Started(NamedTuple):
    """Workers that are ready to run cells."""

    # lets a worker score a cell; see `Processes.submit` for the errors of the future
    submit: Callable[[Cell], "Future[Result]"]
    # returns how many cells can run at the same time, and how many of them may use a GPU
    sizes: Callable[[], tuple[int, int]]


def _shared_corpora(workers: Workers, work: Work) -> dict[str, Any]:
    """Return a handle for each corpus, to pass to calls."""
    names = dict.fromkeys(cell.split.dataset for cell in work.cells)
    return {name: workers.share(work.corpora[name], f"The corpus {name}") for name in names}


# On this machine


@dataclass(frozen=True)
class Local:
    """Runs cells on this machine."""

    jobs: int = 1  # worker processes; with 0, cells run here without limits or isolation, for a debugger
    gpu_jobs: int = 1  # cells that share a GPU

    def check(self, limits: Limits) -> None:
        """Raise InvalidValueError if there are limits, but no process to kill."""
        if self.jobs == 0 and limits != Limits():
            raise InvalidValueError(
                "--cell-timeout and --cell-memory need a worker process: give --jobs 1 or more."
            )

    @contextmanager
    def start(self, work: Work) -> Iterator[Started]:
        """Yield processes for cells; they end with the block."""
        n = min(self.jobs, len(work.cells)) or 1
        # no two processes compete for a core
        variables = threads(n) if n > 1 else {}
        # a single process runs one cell at a time, so the GPU needs no separate processes
        gpus = provenance.visible_gpus() if n > 1 and any(map(work.may_use_gpu, work.cells)) else []
        n_on_gpu = min(n, self.gpu_jobs * len(gpus)) or n
        on_gpus = [{**variables, provenance.VISIBLE: gpu} for gpu in gpus]
        options = {"limits": work.limits, "on_notice": partial(_tell, work.progress)}
        with (
            _processes(n, variables=[variables], **options) as processes,
            _processes(n_on_gpu, variables=on_gpus, **options) as gpu_processes,
        ):
            corpora = _shared_corpora(processes, work)

            def submit(cell: Cell) -> "Future[Result]":
                """Run a cell in one of the processes."""
                workers = gpu_processes if gpus and work.may_use_gpu(cell) else processes
                return workers.submit(
                    scored, cell, corpora[cell.split.dataset], _Steps(), work.is_oracle(cell)
                )

            yield Started(submit, lambda: (n, n_on_gpu))


def _processes(n: int, **options: Any) -> Processes:
    """Return processes that score cells; a process ends after a cell with third-party code."""
    options["is_spent"] = registry.has_loaded_others
    return Processes(n, "adbench_text.run.engine", **options)


def _tell(progress: Progress, notice: Any) -> None:
    """Report a step of a training that a process has sent; ignore anything else."""
    with suppress(*FAILURES):
        cell, *step = notice
        progress.step(cell, *checked_step(*step))


class _Steps(Progress):
    """Reports training steps to the process that waits for the result, at a limited rate."""

    def __init__(self) -> None:
        self._last = 0.0

    def step(self, cell: Cell, step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Report a step, unless the last one was reported a moment ago."""
        if time.monotonic() - self._last >= _STEP_SECONDS:
            self._last = time.monotonic()
            notify((cell, step, steps, dict(losses)))


# On a cluster


@dataclass(frozen=True)
class Dask:
    """Runs cells on an existing Dask cluster, one for each thread of its workers.

    A worker starts a separate process for each cell. Cells on a GPU go to workers that were started with
    ``--resources GPU=1``, if there are any.
    """

    address: str  # of the scheduler, such as tcp://10.0.0.1:8786
    gpu_jobs: int = 1  # cells that share a GPU

    def check(self, limits: Limits) -> None:
        """Raise an error if no scheduler answers, or if there is a limit of memory."""
        if limits.megabytes is not None:
            raise InvalidValueError(
                "--cell-memory is for cells on this machine; limit the memory of Dask's workers where they "
                "are started, for example by Slurm or Kubernetes."
            )
        from adbench_text import cluster

        cluster.check(self.address)

    @contextmanager
    def start(self, work: Work) -> Iterator[Started]:
        """Yield the workers of the cluster; their calls end with the block."""
        from adbench_text.cluster import Cluster

        with Cluster(self.address) as cluster:
            corpora = _shared_corpora(cluster, work)
            was_empty = False

            def submit(cell: Cell) -> "Future[Result]":
                """Let the cluster run a cell."""
                is_on_gpu = cluster.n_gpus > 0 and work.may_use_gpu(cell)
                return cluster.submit(
                    _scored_on_cluster,
                    cell,
                    corpora[cell.split.dataset],
                    work.definitions[cell],
                    work.limits,
                    # a cell takes a share of a GPU; Dask adds up the shares, also for other commands
                    gpus=1 / self.gpu_jobs if is_on_gpu else 0,
                )

            def sizes() -> tuple[int, int]:
                """Return the sizes, see `Started`; report when the cluster has no worker yet, or no more."""
                nonlocal was_empty
                n = cluster.size()  # also updates `n_gpus`
                if not n and not was_empty:
                    work.progress.message(f"waiting for a worker of {cluster.address}")
                was_empty = not n
                # without GPUs, any worker takes a cell that may use one
                return n, round(cluster.n_gpus * self.gpu_jobs) or n

            yield Started(submit, sizes)


def _scored_on_cluster(
    cell: Cell, corpus: Corpus, definition: Mapping[str, str], limits: Limits
) -> Result | None:
    """Return the result of a cell, without its metrics; None if the client does not wait for it any more."""
    from adbench_text.cluster import is_wanted, n_threads

    _check_definition(cell, corpus, definition)
    variables = threads(n_threads(), is_override=True)  # Dask allows one thread
    with _processes(1, limits=limits, variables=[variables]) as processes:
        shared = processes.share(corpus, f"The corpus {cell.split.dataset}")
        future = processes.submit(scored, cell, shared, Progress(), "oracle" in definition)
        while is_wanted():
            if wait([future], _LOOK_SECONDS).done:
                result: Result = future.result()
                return result
    return None


_lock = threading.Lock()
_checked: set[frozenset[tuple[str, str]]] = set()  # definitions, without the columns that name a split


def _check_definition(cell: Cell, corpus: Corpus, expected: Mapping[str, str]) -> None:
    """Raise AdbenchTextError if this worker of a cluster would not compute the same as the client.

    A definition is checked once: its cells on other splits have the same detector.
    """
    of_split = {"inlier", "contamination", "seed", *AXES}
    key = frozenset((name, value) for name, value in expected.items() if name not in of_split)
    with _lock:
        if key in _checked:
            return
        definitions, failed = prepare([cell], {cell.split.dataset: corpus})
        for result in failed:
            raise AdbenchTextError(result.reason)
        own = definitions[cell]
        for name in sorted(own.keys() | expected.keys()):
            if not is_same(own.get(name), expected.get(name)):
                raise AdbenchTextError(
                    f"A Dask worker cannot run these cells: {cell.detector} has {name} {own.get(name)} "
                    f"there, {expected.get(name)} here."
                )
        _checked.add(key)


Engine = Local | Dask
