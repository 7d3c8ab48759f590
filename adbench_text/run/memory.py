"""The peak memory of a block of code."""

import ctypes
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

import psutil

_SECONDS = 0.02  # between two samples


class PeakMemory:
    """Samples the resident memory of this process while a block runs, fifty times a second.

    Memory that was freed before is first given back to the system, so that a cell is not charged for the
    cell before it.

    Attributes
    ----------
    megabytes : float
        Highest sample, in 10^6 bytes. It covers the complete process, with its libraries and the
        corpus, but not the memory of a GPU.

    Examples
    --------
    >>> from adbench_text.run.memory import PeakMemory
    >>> with PeakMemory() as memory:
    ...     numbers = list(range(1000))
    >>> memory.megabytes > 1
    True
    """

    def __enter__(self) -> Self:
        _give_back()
        self._process = psutil.Process()
        self._ended = threading.Event()
        self._bytes = self._process.memory_info().rss
        self._thread = threading.Thread(target=self._sample_until_ended, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._sample()

    def _sample_until_ended(self) -> None:
        while not self._ended.wait(_SECONDS):
            self._sample()

    def _sample(self) -> None:
        self._bytes = max(self._bytes, self._process.memory_info().rss)

    @property
    def megabytes(self) -> float:  # noqa: D102  # see the class
        return float(self._bytes / 1e6)


def _give_back() -> None:
    """Give memory that is free back to the system; glibc would keep what lies below memory in use."""
    with suppress(OSError, AttributeError, TypeError):  # another C library, or Windows
        ctypes.CDLL(None).malloc_trim(0)
