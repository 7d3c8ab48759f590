"""Work on many documents, a chunk at a time: in this process, in several, or on a cluster.

The chunks are the same wherever the work is done, and their results come in their order.
"""

import gc
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from itertools import chain
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from joblib import cpu_count
from threadpoolctl import threadpool_limits

from adbench_text import interrupts
from adbench_text.checks import Whole
from adbench_text.errors import AdbenchTextError
from adbench_text.isolation import starting
from adbench_text.places import FAILURES, described

_SIZE = 2000  # documents of a chunk: with fewer Ctrl-C is heard sooner, with more each takes less time
_LONGEST = 4_000_000  # characters of a chunk
_AHEAD = 3  # chunks that wait for each process
_PRELOADED = "adbench_text.documents.ranking"
_PATIENCE = 2.0  # seconds of work in this process, before others are worth their start


class Mapper(Protocol):
    """Calls a function with chunks, somewhere."""

    def map(self, function: Callable[[Any], Any], chunks: Iterable[Any]) -> Generator[Any]:
        """Yield the results in the order of the chunks; closing the generator ends the work."""


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


class Processes:
    """Processes on this machine, this one included; its first seconds of work are done here alone.

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
        n_others = self._jobs - 1
        n_threads = max(1, cpu_count() // self._jobs)
        others: list[_Other] = []
        idle: SimpleQueue[_Other] = SimpleQueue()

        def call(chunk: Any) -> Any:
            other = idle.get()
            try:
                return other.call(chunk)
            except (EOFError, OSError) as error:
                raise AdbenchTextError(
                    f"One of the {self._jobs} processes has ended, perhaps for lack of memory. With --jobs 1 "
                    "there is only one."
                ) from error
            finally:
                idle.put(other)

        with ExitStack() as stack:
            with _starting():
                file = Path(stack.enter_context(TemporaryDirectory()), "function.pickle")
                file.write_bytes(pickled(function))
            stack.enter_context(threadpool_limits(n_threads))
            threads = stack.enter_context(ThreadPoolExecutor(n_others))  # each waits for a process

            def submit(chunk: Any) -> Future[Any]:
                if len(others) < n_others:
                    others.append(_Other(file, n_threads))
                    idle.put(others[-1])
                return threads.submit(call, chunk)

            try:
                yield from in_order(submit, chunks, _AHEAD * n_others, function)
            finally:
                threads.shutdown(wait=False, cancel_futures=True)
                for other in others:
                    other.end()


class _Other:
    """Another process, which calls a function."""

    def __init__(self, function: Path, n_threads: int) -> None:
        with _starting() as context:
            self._connection, far = context.Pipe()
            self._process = context.Process(target=_work, args=(far, function, n_threads), daemon=True)
            self._process.start()
        far.close()  # so that the end of the process is the end of what it sends

    def call(self, chunk: Any) -> Any:
        """Return the result for a chunk; raise EOFError or OSError if the process has ended."""
        self._connection.send(chunk)
        result, error = self._connection.recv()
        if error is not None:
            raise error
        return result

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()


def pickled(function: Callable[[Any], Any]) -> bytes:
    """Return a function for another process; raise AdbenchTextError if it cannot be pickled."""
    try:
        return pickle.dumps(function)
    except Exception as error:  # of many kinds, also those of plug-ins
        raise _not_sent(error) from error


def _not_sent(error: Exception) -> AdbenchTextError:
    return AdbenchTextError(
        f"The detector cannot be sent to another process: {described(error)}. Give --jobs 1 and no --address."
    )


@contextmanager
def _starting() -> Iterator[Any]:
    """Yield how processes are started; turn errors of the system in the block into one line."""
    try:
        with interrupts.held_back(), starting(_PRELOADED) as context:  # loading libraries takes a second
            yield context
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or described(error)
        raise AdbenchTextError(
            f"Cannot start other processes: {reason}. With --jobs 1 there are none."
        ) from error


def mapper_of(jobs: int | Mapper) -> Mapper:
    """Return where work is done, given a number of processes or that itself."""
    return jobs if hasattr(jobs, "map") else Processes(jobs)


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


def _work(connection: Connection, function: Path, n_threads: int) -> None:
    """Call a function with chunks, in another process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it decides
    gc.freeze()  # a collection would copy the memory that it shares with what it was forked from
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threadpool_limits(n_threads)
    while True:
        chunk = connection.recv()
        try:
            answer = pickle.dumps((_loaded(function)(chunk), None))
        except AdbenchTextError as error:
            answer = pickle.dumps((None, error))
        except FAILURES as error:  # a plug-in's own exception may not survive the way
            answer = pickle.dumps((None, AdbenchTextError(f"Another process failed: {described(error)}")))
        connection.send_bytes(answer)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@lru_cache(maxsize=1)
def _loaded(function: Path) -> Callable[[Any], Any]:
    try:
        found: Callable[[Any], Any] = pickle.loads(function.read_bytes())
    except Exception as error:  # of many kinds, also those of plug-ins
        raise _not_sent(error) from error
    return found
