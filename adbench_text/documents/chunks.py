"""Work on many documents, a chunk at a time: in this process, in several, or on a cluster.

The chunks are the same wherever the work is done, and their results come in their order.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any

from adbench_text import own_file
from adbench_text.checks import Whole
from adbench_text.errors import AdbenchTextError
from adbench_text.processes import CallError, Processes, Workers, threads
from adbench_text.text.words import in_blocks

_SIZE = 4000  # documents of a chunk: with fewer Ctrl-C is heard sooner, in more each takes less time
_LONGEST = 2_000_000  # characters of a chunk
_AHEAD = 3  # chunks that wait for each process
_PRELOADED = "adbench_text.documents.ranking"
_PATIENCE = 2.0  # seconds of work in this process, before others are worth their start


def in_chunks(documents: Iterable[str]) -> Iterator[list[str]]:
    """Return documents in chunks of about the same work."""
    return in_blocks(documents, _LONGEST, _SIZE)


def results_of(function: Callable[[Any], Any], chunks: Iterable[Any], jobs: int | str = 1) -> Generator[Any]:
    """Yield what a function returns for each chunk, in their order; closing the generator ends the work.

    `jobs` is a number of processes; this one does the first seconds of work alone, before it starts them. Or
    it is the address of the scheduler of a Dask cluster, such as ``"tcp://10.0.0.1:8786"``.
    """
    chunks = iter(chunks)
    if not isinstance(jobs, str):
        Whole(1).check("jobs", jobs)
        end = time.monotonic() + _PATIENCE
        for chunk in chunks:
            if jobs > 1 and time.monotonic() >= end:
                chunks = chain([chunk], chunks)
                break
            yield function(chunk)
        else:
            return
    with _workers(jobs) as (workers, n):
        shared = workers.share((function, own_file.known()), "The detector")
        waiting: deque[Future[Any]] = deque()
        for chunk in chunks:
            waiting.append(workers.submit(_call, shared, chunk))
            while waiting and (waiting[0].done() or len(waiting) > _AHEAD * n):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def _workers(jobs: int | str) -> Iterator[tuple[Workers, int]]:
    """Yield processes or the workers of a cluster, and how many calls they make at the same time."""
    if isinstance(jobs, str):
        from adbench_text.cluster import Cluster

        with Cluster(jobs) as cluster:
            cluster.wait_for_a_worker()
            yield cluster, cluster.size()
        return
    try:
        with Processes(jobs, _PRELOADED, variables=[threads(jobs)]) as processes:
            yield processes, jobs
    except CallError as error:
        raise AdbenchTextError(f"One of {jobs} workers died, perhaps out of memory; try --jobs 1.") from error


_lock = Lock()


def _call(shared: tuple[Callable[[Any], Any], dict[str, Path]], chunk: Any) -> Any:
    function, files = shared
    own_file.make_known(files)
    with _lock:  # a worker of a cluster has several threads, and detectors are not made for them
        return function(chunk)
