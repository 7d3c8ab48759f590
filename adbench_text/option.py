"""An option, declared once: it becomes an option of click, and reads a key in the file of a sweep."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from operator import methodcaller
from typing import Any

from adbench_text.errors import InvalidValueError, UnknownNameError

_FLAG = {"true": True, "false": False}


@dataclass(frozen=True)
class Option:
    """An option of a command, and a key in the file of a sweep."""

    name: str  # in a file, and after two dashes on the command line
    help: str = ""
    _: KW_ONLY
    field: str = ""  # name of the value in Python; by default `name` with underscores
    short: str = ""  # a short name, as ``-d``
    metavar: str | None = None  # placeholder for the value in the help; None for click's name of the type
    kind: type = str  # type of a value: str, int, float or bool
    least: int | None = None  # the smallest number
    choices: Sequence[str] = ()  # the only values; empty if others are possible
    names: str = ""  # kind of the names that a shell completes, as ``datasets``
    is_several: bool = False  # whether it may have several values
    # splits a list such as ``0,0.05`` into its numbers
    separate: Callable[[str], Sequence[Any]] = methodcaller("split", ",")

    def __post_init__(self) -> None:
        object.__setattr__(self, "field", self.field or self.name.replace("-", "_"))

    @property
    def default(self) -> Any:
        """The value without the option."""
        return () if self.is_several else None

    @property
    def is_list(self) -> bool:
        """Whether one text may be a list of numbers. Lists of names are split where the names are known."""
        return self.is_several and self.kind is not str

    @property
    def is_negated(self) -> bool:
        """Whether this flag turns its field off."""
        return self.name == f"no-{self.field}"

    def value(self, texts: Sequence[str]) -> Any:
        """Return the value, or the list of values, that the texts in a file stand for.

        Raise InvalidValueError if a text is wrong, or if there are no texts or too many.
        """
        if not texts:
            raise InvalidValueError(f"{self.name} must have at least one entry, got an empty list.")
        if len(texts) > 1 and not self.is_several:
            raise InvalidValueError(f"{self.name} must have one value, got {', '.join(texts)}.")
        # one text may be a list, such as 0,0.05
        parts = [part for text in texts for part in self.separate(text)] if self.is_list else texts
        values = list(map(self._read, parts))
        return values if self.is_several else values[0]

    def _read(self, text: str) -> Any:
        """Return the value that one text stands for."""
        if self.kind is bool and text.lower() in _FLAG:
            return _FLAG[text.lower()] != self.is_negated
        choices = _FLAG if self.kind is bool else self.choices
        if choices and text not in choices:
            raise UnknownNameError(f"value of {self.name}", text, choices)
        what = "a whole number" if self.kind is int else "a number"
        try:
            value = self.kind(text)
        except ValueError as error:
            raise InvalidValueError(f"{self.name} must be {what}, got {text!r}.") from error
        if self.least is not None and not value >= self.least:  # NaN is not
            raise InvalidValueError(f"{self.name} must be {what} of at least {self.least}, got {value}.")
        return value
