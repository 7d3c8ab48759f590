"""How the members of a detector that is made of others are given.

Members are given as one text: names, separated by commas, each with settings in brackets if it needs
some: ``llr, knn-words(k=5), ocsvm(encoder=svd, nu=0.2)``. A value that is not JSON is text.
"""

import json
from typing import Any

from adbench_text.checks import Range
from adbench_text.errors import InvalidValueError


class Members(Range):
    """Detectors with their settings in brackets; see the head of the module."""

    text = "detectors as in 'llr, knn-words(k=5)'"

    def check(self, name: str, value: Any) -> None:
        """Raise InvalidValueError if a value is not a list of members."""
        parse_members(value)


def parse_members(text: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return name and settings of each member, as in ``[("llr", {}), ("ocsvm", {"nu": 0.2})]``."""
    expected = f"expected {Members.text}, got {text!r}."
    if not isinstance(text, str):
        raise InvalidValueError(expected)
    members = []
    for part in _split(text):
        name, bracket, inner = part.partition("(")
        settings: dict[str, Any] = {}
        if not name or (bracket and not inner.endswith(")")):
            raise InvalidValueError(expected)
        for setting in _split(inner[:-1]) if bracket else []:
            key, equals, value = setting.partition("=")
            if not equals or not key.strip():
                raise InvalidValueError(expected)
            settings[key.strip()] = _read(value.strip())
        members.append((name.strip(), settings))
    return members


def _split(text: str) -> list[str]:
    """Split at the commas that are not in brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _read(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value
