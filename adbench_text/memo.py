"""Remember values that detectors and cells share, and add their cost to each use.

Word counts and document vectors are computed once and used by many cells. A later detector must not
look faster because of that. So a value is remembered with the seconds that it took, and `Stopwatch` adds
these seconds whenever the value is used again.
"""

import time
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Self, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_of_documents: list[Callable[[], None]] = []  # each forgets the values of a function of documents
_saved = 0.0  # seconds that remembered values have saved in this process so far


class Stopwatch:
    """Measures the seconds that a block would have taken without remembered values."""

    seconds: float

    def __enter__(self) -> Self:
        self._begin, self._saved = time.perf_counter(), _saved
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._begin + _saved - self._saved


def credit(seconds: float) -> None:
    """Add the seconds of work that is not done again, because its result was kept, as vectors on disk."""
    global _saved
    _saved += seconds


def forget_documents() -> None:
    """Forget the values of documents, which take much memory, when no detector needs them any more."""
    for forget in _of_documents:
        forget()


def remember(
    size: int, *, of_documents: bool = False
) -> Callable[[Callable[[Key], Value]], Callable[[Key], Value]]:
    """Remember the last `size` values of a function with one hashable argument.

    With `of_documents`, the argument consists of documents, and `forget_documents` forgets the values.
    """

    def decorate(function: Callable[[Key], Value]) -> Callable[[Key], Value]:
        @lru_cache(size)
        def measured(key: Key) -> tuple[Value, float]:
            with Stopwatch() as watch:
                value = function(key)
            return value, watch.seconds

        @wraps(function)
        def remembering(key: Key) -> Value:
            n_computed = measured.cache_info().misses
            value, seconds = measured(key)
            if measured.cache_info().misses == n_computed:
                credit(seconds)
            return value

        if of_documents:
            _of_documents.append(measured.cache_clear)
        remembering.forget = measured.cache_clear  # type: ignore[attr-defined]
        return remembering

    return decorate
