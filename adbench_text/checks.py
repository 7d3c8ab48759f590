"""Checks of the types and ranges of hyper-parameters, and of the shapes of arrays; messages quote the value.

Numbers must be finite, and a boolean is not a number.

Examples
--------
>>> from adbench_text.checks import check_number
>>> check_number("nu", 0.5, "(0, 1]")
>>> check_number("nu", 0, "(0, 1]")
Traceback (most recent call last):
    ...
adbench_text.errors.InvalidValueError: nu must be in (0, 1], got 0.
"""

import math
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from adbench_text.errors import InvalidValueError, UnknownNameError

_WORDS = {"[0, inf)": "a number of at least 0", "(0, inf)": "positive"}  # for intervals without an upper end


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raise UnknownNameError if a value, of any type, is not one of the known names."""
    if not isinstance(value, str) or value not in choices:
        raise UnknownNameError(name, str(value), choices)


def check_boolean(name: str, value: Any) -> None:
    """Raise InvalidValueError if a value is neither True nor False."""
    if not isinstance(value, bool):
        raise InvalidValueError(f"{name} must be true or false, got {value!r}.")


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise InvalidValueError if a value is not a whole number, or is smaller than `least`."""
    if not _is_whole(value) or value < least:
        raise InvalidValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")


def check_number(name: str, value: Any, interval: str = "[0, inf)") -> None:
    """Raise InvalidValueError if a value is not a finite number, or lies outside an interval.

    Parameters
    ----------
    name : str
        Name of the hyper-parameter.
    value : object
        Value of any type.
    interval : str, default "[0, inf)"
        Interval in the usual notation: ``"(0, 1]"`` excludes 0 and includes 1.
    """
    if not _is_finite(value) or not _lies_in(interval, value):
        raise InvalidValueError(f"{name} must be {_WORDS.get(interval, f'in {interval}')}, got {value!r}.")


def check_seed(seed: Any) -> None:
    """Raise InvalidValueError if a seed is neither None nor valid for both NumPy and torch."""
    if seed is not None and not (_is_whole(seed) and 0 <= seed < 2**32):
        raise InvalidValueError(f"random_state must be None or in 0 ... 2**32 - 1, got {seed!r}.")


def seed_or_draw(seed: int | None) -> int:
    """Return the seed, or a random one for None."""
    return int(np.random.SeedSequence().generate_state(1)[0] if seed is None else seed)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the range of floats
        return False


def _lies_in(interval: str, value: Any) -> bool:
    low, high = map(float, interval[1:-1].split(","))
    above = low <= value if interval[0] == "[" else low < value
    below = value <= high if interval[-1] == "]" else value < high
    return bool(above and below)


def check_shapes(arrays: Mapping[str, Any], **expected: str) -> None:
    """Raise InvalidValueError unless arrays, such as those of a state that is read back, fit each other.

    Parameters
    ----------
    arrays : mapping of str to array
    **expected : str
        The shape of each array: its dimensions by name or as numbers, separated by spaces. A dimension has
        the same length wherever it is named.

    Examples
    --------
    >>> import numpy as np
    >>> check_shapes({"idf": np.ones(3), "vectors": np.ones((3, 50))}, idf="words", vectors="words 50")
    >>> check_shapes({"idf": np.ones(2), "vectors": np.ones((3, 50))}, idf="words", vectors="words 50")
    Traceback (most recent call last):
        ...
    adbench_text.errors.InvalidValueError: vectors must have the shape (2, 50), got (3, 50).
    """
    lengths: dict[str, int] = {}
    for name, dimensions in expected.items():
        named, shape = dimensions.split(), getattr(arrays[name], "shape", ())
        for dimension, length in zip(named, shape, strict=False):
            lengths.setdefault(dimension, int(dimension) if dimension.isdecimal() else length)
        fitting = tuple(lengths.get(dimension) for dimension in named)
        if shape != fitting:
            raise InvalidValueError(f"{name} must have the shape {fitting}, got {shape}.")
