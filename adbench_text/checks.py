"""Check the values of hyper-parameters; messages quote the wrong value.

A detector declares one range for each hyper-parameter (`TextDetector.ranges`).

Examples
--------
>>> from adbench_text.checks import Number, Whole
>>> ranges = {"nu": Number("(0, 1]"), "k": Whole(least=1), "cap": Number("(0, inf)", nullable=True)}
>>> ranges["cap"].check("cap", None)
>>> ranges["nu"].check("nu", 0)
Traceback (most recent call last):
    ...
adbench_text.errors.InvalidValueError: nu must be in (0, 1], got 0.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from adbench_text.errors import InvalidValueError, UnknownNameError

_WORDS = {"[0, inf)": "a number of at least 0", "(0, inf)": "positive"}  # for intervals without an upper end


class Range:
    """The values that a hyper-parameter may have; it may be None if `nullable`.

    A subclass implements `_accepts`, or overrides `check` to write another message.
    """

    text: str = ""  # what follows "must be" in a message
    choices: Sequence[str] = ()  # the names to choose from; empty for other values

    def __init__(self, *, nullable: bool = False) -> None:
        self.nullable = nullable

    def _accepts(self, value: Any) -> bool:
        raise NotImplementedError

    def check(self, name: str, value: Any) -> None:
        """Raise InvalidValueError if a value, of any type, is outside the range."""
        if (value is None and self.nullable) or self._accepts(value):
            return
        none = "None or " if self.nullable else ""
        raise InvalidValueError(f"{name} must be {none}{self.text}, got {value!r}.")


class Number(Range):
    """Finite numbers in an interval: ``"(0, 1]"`` excludes 0 and includes 1. Booleans are refused."""

    def __init__(self, interval: str = "[0, inf)", *, nullable: bool = False) -> None:
        super().__init__(nullable=nullable)
        self.text = _WORDS.get(interval, f"in {interval}")
        self._interval = interval

    def _accepts(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        number: Any = value
        low, high = map(float, self._interval[1:-1].split(","))
        above = low <= number if self._interval[0] == "[" else low < number
        below = number <= high if self._interval[-1] == "]" else number < high
        try:
            return bool(above and below and math.isfinite(value))
        except OverflowError:  # a whole number beyond the range of floats
            return False


class Whole(Range):
    """Whole numbers, of any size unless `most` is given. Booleans are refused."""

    def __init__(self, least: int = 0, most: int | None = None, *, nullable: bool = False) -> None:
        super().__init__(nullable=nullable)
        self._least, self._most = least, most
        self.text = f"a whole number of at least {least}" if most is None else f"in {least} ... {most}"

    def _accepts(self, value: Any) -> bool:
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        return is_whole and self._least <= value and (self._most is None or value <= self._most)


class Boolean(Range):
    """True and False."""

    text = "true or false"

    def _accepts(self, value: Any) -> bool:
        return isinstance(value, bool)


class Text(Range):
    """Text of any kind."""

    text = "text"

    def _accepts(self, value: Any) -> bool:
        return isinstance(value, str)


class Names(Range):
    """Sets and lists of names. A string is refused, because its letters would be the names."""

    text = "a set of names"

    def _accepts(self, value: Any) -> bool:
        is_several = isinstance(value, Collection) and not isinstance(value, str | bytes)
        return is_several and all(isinstance(name, str) for name in value)


class Named(Range):
    """Mappings with names as keys, and with values of another range, or of any kind."""

    text = "a mapping with names as keys"

    def __init__(self, values: Range | None = None) -> None:
        super().__init__()
        self._values = values

    def check(self, name: str, value: Any) -> None:
        """Raise InvalidValueError if a value is not a mapping of names; the message quotes the entry."""
        super().check(name, value)
        if self._values:
            for key, entry in value.items():
                self._values.check(f"{name}[{key!r}]", entry)

    def _accepts(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


class Choice(Range):
    """Names, for example ``Choice(("rbf", "linear"))``.

    `names` may be a function that returns them. If another value is possible, such as a path, `look_up` takes
    the value, and raises InvalidValueError if it is neither a name nor such a value. `text` describes both.
    """

    def __init__(
        self,
        names: Collection[str] | Callable[[], Collection[str]],
        look_up: Callable[[Any], object] | None = None,
        text: str = "a path",
        *,
        nullable: bool = False,
    ) -> None:
        super().__init__(nullable=nullable)
        self._names, self._look_up = names, look_up
        self.text = text if look_up else ""

    @property
    def choices(self) -> Sequence[str]:  # type: ignore[override]
        """The names."""
        return list(self._names() if callable(self._names) else self._names)

    def check(self, name: str, value: Any) -> None:
        """Raise UnknownNameError if a value, of any type, is not one of the names."""
        if value is None and self.nullable:
            return
        if self._look_up:
            self._look_up(value)
        else:
            check_choice(name, value, self.choices)


#: Seeds that are valid for both NumPy and torch.
SEED = Whole(0, 2**32 - 1, nullable=True)


def declared_ranges(kind: Any) -> dict[str, Range]:
    """Return the ranges that the attributes `ranges` of a class and of its bases declare."""
    ranges: dict[str, Range] = {}
    for base in reversed(getattr(kind, "__mro__", ())):
        declared = vars(base).get("ranges")
        if isinstance(declared, Mapping):  # in other packages, `ranges` may be something else
            ranges |= {name: values for name, values in declared.items() if isinstance(values, Range)}
    return ranges


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raise UnknownNameError if a value, of any type, is not one of the known names."""
    if not isinstance(value, str) or value not in choices:
        raise UnknownNameError(name, str(value), choices)


def seed_or_draw(seed: int | None) -> int:
    """Return the seed, or a random one for None."""
    return int(np.random.SeedSequence().generate_state(1)[0] if seed is None else seed)
