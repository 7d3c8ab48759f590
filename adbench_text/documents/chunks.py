"""Work on many documents, a chunk at a time: in this process, in several, or on a cluster.

The chunks are the same wherever the work is done, and their results come in their order.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from itertools import chain
from threading import Lock
from typing import Any

from adbench_text.checks import Whole
from adbench_text.errors import AdbenchTextError
from adbench_text.processes import CallError, Processes, Workers, threads
from adbench_text.text.words import in_blocks

_SIZE = 2000  # documents of a chunk: with fewer Ctrl-C is heard sooner, with more each takes less time
_LONGEST = 4_000_000  # characters of a chunk
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
    if isinstance(jobs, str):
        from adbench_text.cluster import Cluster

        with Cluster(jobs) as cluster:
            cluster.wait_for_a_worker()
            yield from in_order(_submitting(cluster, function), chunks, _AHEAD * cluster.size())
        return
    Whole(1).check("jobs", jobs)
    chunks = iter(chunks)
    end = time.monotonic() + _PATIENCE
    for chunk in chunks:
        if jobs > 1 and time.monotonic() >= end:
            yield from _elsewhere(function, chain([chunk], chunks), jobs)
            return
        yield function(chunk)


def _elsewhere(function: Callable[[Any], Any], chunks: Iterable[Any], jobs: int) -> Generator[Any]:
    """Yield the results of other processes."""
    with Processes(jobs, _PRELOADED, variables=[threads(jobs)]) as processes:
        try:
            yield from in_order(_submitting(processes, function), chunks, _AHEAD * jobs)
        except CallError as error:
            raise AdbenchTextError(
                f"One of the {jobs} processes has ended, perhaps for lack of memory. With --jobs 1 there are "
                "no others."
            ) from error


def _submitting(workers: Workers, function: Callable[[Any], Any]) -> "Callable[[Any], Future[Any]]":
    """Return a function that lets workers call a function with a chunk."""
    shared = workers.share(function, "The detector")
    return lambda chunk: workers.submit(_call, shared, chunk)


_lock = Lock()


def _call(function: Callable[[Any], Any], chunk: Any) -> Any:
    with _lock:  # a worker of a cluster has several threads, and detectors are not made for them
        return function(chunk)


def in_order(submit: Callable[[Any], Any], chunks: Iterable[Any], n_ahead: int) -> Generator[Any]:
    """Yield the results of chunks in their order, while `n_ahead` of them wait elsewhere."""
    waiting: deque[Any] = deque()
    for chunk in chunks:
        waiting.append(submit(chunk))
        while waiting and (waiting[0].done() or len(waiting) > n_ahead):
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
