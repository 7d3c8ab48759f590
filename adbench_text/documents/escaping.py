"""Texts of other people, made harmless for terminals and spreadsheets."""

import re
import unicodedata
from typing import Any

_SPACE = re.compile(r"\s+")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def one_line(text: str) -> str:
    r"""Return a text for a terminal: in one line, without control characters and changes of direction.

    Examples
    --------
    >>> print(one_line("red: \x1b[31m,\n next \u202eline"))
    red: �[31m, next �line
    """
    spaced = _SPACE.sub(" ", text).strip()
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") else c for c in spaced)


def cell(value: Any) -> Any:
    """Return a value for a cell of CSV; a spreadsheet must not take text for a formula.

    Examples
    --------
    >>> cell("=1+1"), cell("-3.5"), cell("plain"), cell(None)
    ("'=1+1", '-3.5', 'plain', '')
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    value = value.encode("utf-8", "replace").decode()  # lone surrogates have no UTF-8
    if value.startswith(_FORMULA) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
