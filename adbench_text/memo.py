"""Work that detectors and cells share, and what it would have cost each of them alone.

Word counts and document vectors are computed once and used by many cells. A detector that comes
second must not look faster for it: each remembered value knows the seconds it took, and
`Stopwatch` adds them back whenever it is used again.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Self, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_saved = 0.0  # seconds that remembered values have saved in this process so far


class Stopwatch:
    """Measures the seconds that a block would have taken without anything remembered.

    Examples
    --------
    >>> with Stopwatch() as watch:
    ...     ...
    >>> watch.seconds
    """

    seconds: float

    def __enter__(self) -> Self:
        self._begin, self._saved = time.perf_counter(), _saved
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._begin + _saved - self._saved


def credit(seconds: float) -> None:
    """Count seconds of work that was done before this process began (it goes on from a checkpoint)."""
    global _saved
    _saved += seconds


def remember(size: int) -> Callable[[Callable[[Key], Value]], Callable[[Key], Value]]:
    """Remember the last `size` values of a function of one hashable argument."""

    def decorate(function: Callable[[Key], Value]) -> Callable[[Key], Value]:
        memory: OrderedDict[Key, tuple[Value, float]] = OrderedDict()

        @wraps(function)
        def remembering(key: Key) -> Value:
            global _saved
            if key in memory:
                memory.move_to_end(key)
                value, seconds = memory[key]
                _saved += seconds
                return value
            with Stopwatch() as watch:
                value = function(key)
            memory[key] = value, watch.seconds
            if len(memory) > size:
                memory.popitem(last=False)
            return value

        remembering.forget = memory.clear  # type: ignore[attr-defined]
        return remembering

    return decorate
