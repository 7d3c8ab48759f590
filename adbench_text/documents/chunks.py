"""Work on many documents, a chunk at a time: in this process, in several, or on a cluster.

The chunks are the same wherever the work is done, and their results come in their order.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from itertools import chain
from threading import Lock
from typing import Any

from threadpoolctl import threadpool_limits

from adbench_text.checks import Whole
from adbench_text.errors import AdbenchTextError
from adbench_text.processes import CallError, Processes, Workers, n_threads, threads

_SIZE = 2000  # documents of a chunk: with fewer Ctrl-C is heard sooner, with more each takes less time
_LONGEST = 4_000_000  # characters of a chunk
_AHEAD = 3  # chunks that wait for each process
_PRELOADED = "adbench_text.documents.ranking"
_PATIENCE = 2.0  # seconds of work in this process, before others are worth their start


def in_chunks(documents: Iterable[str]) -> Iterator[list[str]]:
    """Yield documents in chunks of about the same work."""
    chunk: list[str] = []
    n_characters = 0
    for document in documents:
        chunk.append(document)
        n_characters += len(document)
        if len(chunk) == _SIZE or n_characters > _LONGEST:
            yield chunk
            chunk, n_characters = [], 0
    if chunk:
        yield chunk


def results_of(function: Callable[[Any], Any], chunks: Iterable[Any], jobs: int | str = 1) -> Generator[Any]:
    """Yield what a function returns for each chunk, in their order; closing the generator ends the work.

    Parameters
    ----------
    function : callable
        Is called with one chunk at a time.
    chunks : iterable
        What it is called with.
    jobs : int or str
        Number of processes, this one included, which does the first seconds of work alone; or the address of
        the scheduler of a Dask cluster, such as ``"tcp://10.0.0.1:8786"``.
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
            yield from _with_others(function, chain([chunk], chunks), jobs)
            return
        yield function(chunk)


def _with_others(function: Callable[[Any], Any], chunks: Iterable[Any], jobs: int) -> Generator[Any]:
    """Yield the results of this process and others."""
    with ExitStack() as stack:
        others = stack.enter_context(Processes(jobs - 1, _PRELOADED, "--jobs 1", variables=[threads(jobs)]))
        submit = _submitting(others, function)
        stack.enter_context(threadpool_limits(n_threads(jobs)))
        try:
            yield from in_order(submit, chunks, _AHEAD * (jobs - 1), function)
        except CallError as error:
            raise AdbenchTextError(
                f"One of the {jobs} processes has ended, perhaps for lack of memory. With --jobs 1 there is "
                "only one."
            ) from error


def _submitting(workers: Workers, function: Callable[[Any], Any]) -> "Callable[[Any], Future[Any]]":
    """Return a function that lets workers call a function with a chunk."""
    shared = workers.share(function, "The detector")
    return lambda chunk: workers.submit(_call, shared, chunk)


_lock = Lock()


def _call(function: Callable[[Any], Any], chunk: Any) -> Any:
    with _lock:  # a worker of a cluster has several threads, and detectors are not made for them
        return function(chunk)


def in_order(
    submit: Callable[[Any], Any],
    chunks: Iterable[Any],
    n_ahead: int,
    here: Callable[[Any], Any] | None = None,
) -> Generator[Any]:
    """Yield the results of chunks in their order, while `n_ahead` of them wait elsewhere.

    With `here`, this process does not only wait for them.
    """
    waiting: deque[Any] = deque()
    for chunk in chunks:
        n_unfinished = sum(not future.done() for future in waiting)
        if here and n_unfinished >= n_ahead:
            future: Any = Future()
            future.set_result(here(chunk))
        else:
            future = submit(chunk)
        waiting.append(future)
        while waiting and (waiting[0].done() or (len(waiting) > n_ahead and not here)):
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
