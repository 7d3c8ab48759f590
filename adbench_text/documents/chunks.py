"""Process many documents in chunks: in this process, in several processes, or on a Dask cluster.

The chunks do not depend on where they are processed. Results keep the order of the chunks.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adbench_text import memo, own_file
from adbench_text.checks import Whole
from adbench_text.contract.cleaner import Cleaner
from adbench_text.errors import AdbenchTextError
from adbench_text.processes import CallError, Processes, Workers, prepare, threads
from adbench_text.reading.stored import StoredTexts
from adbench_text.text.words import in_blocks

_SIZE = 8000  # documents in a chunk; a smaller chunk reacts to Ctrl-C sooner, a larger one is faster
_LONGEST = 2_000_000  # characters in a chunk
_AHEAD = 3  # chunks in the queue of each process
_PRELOADED = "adbench_text.documents.ranking"
_PATIENCE = 2.0  # seconds that this process works alone; shorter work is done before other processes start

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Chunk:
    """Documents that are processed together: their texts, or where a worker reads them."""

    rows: Rows | range  # of the documents
    numbers: Rows | None  # a number for each document, such as the number of its group
    held: list[str] | StoredTexts

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def texts(self) -> list[str]:
        """The texts of the documents."""
        return self.held.at(self.rows) if isinstance(self.held, StoredTexts) else self.held

    def with_texts(self) -> Self:
        """Return the chunk for workers that cannot read the documents."""
        return replace(self, held=self.texts)


def in_chunks(documents: Iterable[str], numbers: Rows | None = None) -> Iterator[Chunk]:
    """Yield documents in chunks that take about the same time.

    `numbers` has a number for each document, such as the number of its cleaner, which its chunk keeps. The
    rows of a chunk are positions in `documents`.
    """
    begin = 0
    for texts in in_blocks(documents, _LONGEST, _SIZE):
        end = begin + len(texts)
        yield Chunk(range(begin, end), None if numbers is None else numbers[begin:end], texts)
        begin = end


def stored_in_chunks(
    stored: StoredTexts, rows: Rows | range, lengths: NDArray[np.int32], numbers: Rows | None = None
) -> Iterator[Chunk]:
    """Yield stored documents in the same chunks as `in_chunks`.

    So a long chunk ends with the document that makes it longer than `_LONGEST`. `rows` are the rows of the
    documents, and `lengths` their numbers of characters.
    """
    begin, total = 0, np.append(0, np.cumsum(lengths, dtype=np.int64))
    while begin < len(rows):
        end_if_long = int(np.searchsorted(total, total[begin] + _LONGEST, side="right"))
        end = min(begin + _SIZE, end_if_long, len(rows))
        yield Chunk(rows[begin:end], None if numbers is None else numbers[begin:end], stored)
        begin = end


def cleaned_by(cleaners: Sequence[Cleaner], texts: list[str], numbers: Rows | None) -> list[str]:
    """Clean each document by the cleaner with its number; without numbers, by the first cleaner."""
    if numbers is None:
        return cleaners[0].cleaned(texts)
    cleaned = [""] * len(texts)
    for number in np.unique(numbers).tolist():
        places = np.flatnonzero(numbers == number).tolist()
        for place, text in zip(places, cleaners[number].cleaned([texts[i] for i in places]), strict=True):
            cleaned[place] = text
    return cleaned


@dataclass(frozen=True)
class OnTexts:
    """Calls a function with the texts of a chunk. It may run in a worker process."""

    function: Callable[[list[str]], Any]

    def __call__(self, chunk: Chunk) -> Any:
        """Call the function, then forget the words and vectors of these documents."""
        try:
            return self.function(chunk.texts)
        finally:
            memo.forget_documents()


def results_of(function: Callable[[Any], Any], chunks: Iterable[Any], jobs: int | str = 1) -> Generator[Any]:
    """Call a function with each chunk; yield the results in the order of the chunks.

    Closing the generator stops the work.

    `jobs` is the number of processes, or the address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``.
    This process works alone for the first seconds, then it starts the others.
    """
    chunks = iter(chunks)
    if not isinstance(jobs, str):
        Whole(1).check("jobs", jobs)
        begin, is_prepared = time.monotonic(), jobs == 1
        for chunk in chunks:
            seconds = time.monotonic() - begin
            if jobs > 1 and seconds >= _PATIENCE:
                chunks = chain([chunk], chunks)
                break
            if not is_prepared and seconds >= _PATIENCE / 4:
                prepare(_PRELOADED)
                is_prepared = True
            yield function(chunk)
        else:
            return
    with _workers(jobs) as (workers, n_at_once):
        shared = workers.share((function, own_file.known()), "The detector")
        waiting: deque[Future[Any]] = deque()
        for chunk in _readable(chunks, workers):
            waiting.append(workers.submit(_call, shared, chunk))
            while waiting and (waiting[0].done() or len(waiting) > _AHEAD * n_at_once):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _readable(chunks: Iterable[Any], workers: Workers) -> Iterator[Any]:
    """Yield chunks; with the texts, if the workers do not see the file of the documents."""
    is_seen: dict[str, bool] = {}
    for chunk in chunks:
        if isinstance(chunk, Chunk) and isinstance(chunk.held, StoredTexts):
            file = chunk.held.files[0]
            if file not in is_seen:
                is_seen[file] = workers.sees(file)
            yield chunk if is_seen[file] else chunk.with_texts()
        else:
            yield chunk


@contextmanager
def _workers(jobs: int | str) -> Iterator[tuple[Workers, int]]:
    """Yield the workers (processes or a cluster), and how many calls they run at the same time."""
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
    """Call the function with a chunk in a worker, which first learns where the files of the user are."""
    function, files = shared
    own_file.make_known(files)
    with _lock:  # a Dask worker has several threads, and detectors are not thread-safe
        return function(chunk)
