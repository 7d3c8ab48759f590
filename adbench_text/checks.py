"""Checks of hyper-parameters, whose messages quote the value."""

import math
from collections.abc import Callable, Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

from adbench_text.errors import InvalidValueError, UnknownNameError


def check_choice(name: str, value: Any, known: Collection[str]) -> None:
    """Raise UnknownNameError if a value is not one of the known ones."""
    if value not in tuple(known):
        raise UnknownNameError(name, str(value), known)


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise InvalidValueError if a value is no whole number, or is smaller than `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")


def check_number(
    name: str,
    value: Any,
    range_: str = "a number of at least 0",
    holds: Callable[[float], bool] = lambda value: 0 <= value < math.inf,
) -> None:
    """Raise InvalidValueError if a value is no number, or not in the range that `range_` says."""
    if isinstance(value, bool) or not isinstance(value, Real) or not holds(float(value)):
        raise InvalidValueError(f"{name} must be {range_}, got {value!r}.")


def check_seed(seed: Any) -> None:
    """Raise InvalidValueError if a seed is neither None nor one that NumPy and torch take."""
    if seed is not None and not (isinstance(seed, Integral) and 0 <= int(seed) < 2**32):
        raise InvalidValueError(f"random_state must be None or in 0 ... 2**32 - 1, got {seed!r}.")


def seed_or_draw(seed: int | None) -> int:
    """Return the seed; a fresh one for None."""
    return int(np.random.SeedSequence().generate_state(1)[0] if seed is None else seed)
