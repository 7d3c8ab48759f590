"""Work on many documents, a chunk at a time: in this process, in several, or on a cluster.

The chunks are the same wherever the work is done, and their results come in their order.
"""

import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain
from multiprocessing import active_children, connection, get_context, parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar

from joblib import cpu_count
from threadpoolctl import threadpool_limits

from adbench_text import interrupts
from adbench_text.checks import Whole
from adbench_text.errors import AdbenchTextError
from adbench_text.isolation import without_main

_SIZE = 2000  # documents of a chunk: with fewer Ctrl-C is heard sooner, with more each takes less time
_LONGEST = 4_000_000  # characters of a chunk
_AHEAD = 3  # chunks that wait for each process
# On Linux, processes are forked from one that has loaded the libraries, so that they share their memory.
_HAS_FORKSERVER = sys.platform == "linux"
_PRELOADED = "adbench_text.documents.ranking"
_PATIENCE = 2.0  # seconds of work in this process, before others are worth their start


T = TypeVar("T")


class Mapper(Protocol):
    """Calls a function with chunks, somewhere."""

    def map(self, function: Callable[[Any], Any], chunks: Iterable[Any]) -> Generator[Any]:
        """Yield the results in the order of the chunks; closing the generator ends the work."""


def in_chunks(documents: Iterable[T], length: Callable[[T], int] = len) -> Iterator[list[T]]:  # type: ignore[assignment]
    """Yield documents in chunks of about the same work; `length` is that of a document in characters."""
    chunk: list[T] = []
    n_characters = 0
    for document in documents:
        chunk.append(document)
        n_characters += length(document)
        if len(chunk) == _SIZE or n_characters > _LONGEST:
            yield chunk
            chunk, n_characters = [], 0
    if chunk:
        yield chunk


class Processes:
    """Processes on this machine, of which this is one; the first seconds of work are done in this one alone.

    Parameters
    ----------
    jobs : int
        Number of processes.
    """

    def __init__(self, jobs: int = 1) -> None:
        Whole(1).check("jobs", jobs)
        self._jobs = jobs

    def map(self, function: Callable[[Any], Any], chunks: Iterable[Any]) -> Generator[Any]:
        """Yield the results in the order of the chunks; closing the generator ends the other processes."""
        chunks = iter(chunks)
        end = time.monotonic() + _PATIENCE
        for chunk in chunks:
            if self._jobs > 1 and time.monotonic() >= end:
                yield from self._with_others(function, chain([chunk], chunks))
                return
            yield function(chunk)

    def _with_others(self, function: Callable[[Any], Any], chunks: Iterable[Any]) -> Generator[Any]:
        others = set(active_children())
        context: Any = get_context("forkserver" if _HAS_FORKSERVER else "spawn")
        if _HAS_FORKSERVER:
            context.set_forkserver_preload([_PRELOADED])
        n_threads = max(1, cpu_count() // self._jobs)
        with TemporaryDirectory() as folder, threadpool_limits(n_threads):
            file = Path(folder, "function.pickle")
            file.write_bytes(pickle.dumps(function))
            pool = ProcessPoolExecutor(self._jobs - 1, context, _begin, (file, n_threads))

            def submit(chunk: Any) -> Future[Any]:
                with interrupts.ignored(), without_main():  # a process may be started
                    return pool.submit(_call_installed, chunk)

            try:
                yield from in_order(submit, chunks, _AHEAD * (self._jobs - 1), function)
            except BrokenProcessPool as error:
                raise AdbenchTextError(
                    f"One of the {self._jobs} processes has ended, perhaps for lack of memory. With --jobs 1 "
                    "there is only one."
                ) from error
            finally:
                for process in set(active_children()) - others:
                    process.kill()
                pool.shutdown(wait=False, cancel_futures=True)


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


_installed: list[Callable[[Any], Any]] = []


def _begin(function: Path, n_threads: int) -> None:
    """Prepare a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threadpool_limits(n_threads)
    with function.open("rb") as stream:
        _installed[:] = [pickle.load(stream)]


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _call_installed(chunk: Any) -> Any:
    return _installed[0](chunk)
