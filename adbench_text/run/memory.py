"""How much memory a block of code holds at most."""

import threading
from types import TracebackType
from typing import Self

import psutil

_SECONDS = 0.02  # between two looks


class PeakMemory:
    """Watches the resident memory of this process while a block runs.

    Attributes
    ----------
    megabytes : float
        The most that was held at a look (fifty a second), in 10^6 bytes; that of the whole process,
        its libraries and the corpus included, but not that of a GPU.
    """

    def __enter__(self) -> Self:
        self._process = psutil.Process()
        self._ended = threading.Event()
        self._bytes = self._process.memory_info().rss
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._ended.wait(_SECONDS):
            self._look()

    def _look(self) -> None:
        self._bytes = max(self._bytes, self._process.memory_info().rss)

    @property
    def megabytes(self) -> float:  # noqa: D102  # see the class
        return float(self._bytes / 1e6)
