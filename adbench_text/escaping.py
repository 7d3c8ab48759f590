"""Text for people: untrusted text made safe for terminals, tables and file names, numbers with nouns."""

import hashlib
import os
import re
import unicodedata
from typing import Any

_SPACE = re.compile(r"\s+")
_FORMULA = ("=", "+", "-", "@")  # see CSV injection at owasp.org, also for the spaces
_SPACES_OF_CELLS = ("\t", "\r", "\n")
_EQUALS, _SIGNS = "=＝﹦⁼₌⩵⩶@＠﹫", r"\-－﹣+＋﹢⁺₊﬩"  # also those that are plain ones in NFKC
_INVISIBLE = r"\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
_SKIPPED = rf'(?:[^\S\t\r\n]|["{_INVISIBLE}])*+'
_NUMBER = r"(?:\d++(?:[.,]\d++)?+|[.,]\d++)[^\S\t\r\n]*+(?:[;\t|\r\n]|$)"  # all of a cell
# Some spreadsheets separate cells by semicolons, tabs or bars, and then ignore quotes around line breaks: a
# cell, and so a formula, can begin within a text. A sign before a number begins no formula. After a line
# break, neither does a sign before a space (an item of a list) or before another sign (a horizontal rule).
# What is skipped, and a number, are matched in one way: to try several takes quadratic time and longer.
_FORMULA_INSIDE = re.compile(
    rf"(?<=[;\t|]){_SKIPPED}(?=[{_EQUALS}]|[{_SIGNS}](?!{_NUMBER}))"
    rf"|(?<=[\r\n]){_SKIPPED}(?=[{_EQUALS}]|[{_SIGNS}](?![\s{_SIGNS}]|{_NUMBER}))"
)
_HARMFUL = ("Cc", "Cf", "Cs", "Co")  # controls, changes of direction, lone surrogates, private characters
_HARMLESS = "\n\t\u200c\u200d"  # among these; words of Persian and emoji have joiners
# what a terminal obeys, HTML forbids, or UTF-8 lacks
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# On Windows "a:b" is a hidden part of a file "a".
_NO_FILE_NAME = frozenset('/\\\0<>"|?*' + (":" if os.name == "nt" else ""))
# User and password, which may contain / and @; after a colon, a number before a / is a port. A text without
# An @ alone names no login. It is matched all the same, so that no part of the text is read twice.
_LOGIN = re.compile(r"://(?:[^/\s]*(@)|[^/\s:@]*:(?!\d+/)[^\s@]*(@?))")
_OF_SECRET = (
    "(?:pass|pwd|token|secret|signature|credential|auth|"
    "(?:api|access|private|ssl|client|server|account)[-_]?key)"
)
_SECRET = re.compile(
    rf"([?&;#](?:(?:(?!{_OF_SECRET})[\w.%-])*+{_OF_SECRET}[\w.%-]*+|sig|key|odbc_connect)=)[^\s&;#'\"`]+",
    re.IGNORECASE,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_NAME = 100  # bytes of a name of a file, which gets prefixes and suffixes


def one_line(text: str) -> str:
    r"""Return a text for a terminal: in one line, without control characters and changes of direction."""
    return printable(_SPACE.sub(" ", text).strip())


def printable(text: str) -> str:
    r"""Return a text for a terminal: like `one_line`, but line ends, tabs and spaces are kept."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "\ufffd" if c not in _HARMLESS and unicodedata.category(c) in _HARMFUL else c for c in text
    )


def markdown(text: str) -> str:
    r"""Return a text as Markdown of one line that shows it as it is: no link, no picture, no HTML.

    >>> print(markdown("ocsvm(svd_components=50) on [news](http://here)"))
    ocsvm(svd\_components=50) on \[news\](http://here)
    """
    text = one_line(text)
    for character in "\\|*_`<>[]":
        text = text.replace(character, f"\\{character}")
    return text


def without_password(text: str) -> str:
    """Return an address, or a text with addresses, without users, passwords and secrets of a query.

    >>> without_password("report --tracking-uri postgresql://me:s3cret@host/db?sslmode=require")
    'report --tracking-uri postgresql://***@host/db?sslmode=require'
    """
    text = _LOGIN.sub(lambda found: "://***@" if found[1] or found[2] else found[0], text)
    return _SECRET.sub(r"\1***", text)


def without_surrogates(text: str) -> str:
    """Return a text with U+FFFD in place of lone surrogates, which have no UTF-8."""
    try:
        text.encode()  # ten times as fast as the pattern
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def without_controls(text: str) -> str:
    """Return a text for a file: with U+FFFD in place of control characters and lone surrogates.

    Line ends, form feeds and tabs are kept.
    """
    return _CONTROL.sub("\ufffd", text)


def encodable(text: str) -> str:
    """Return a text that databases accept: without lone surrogates and NUL."""
    return without_surrogates(text).replace("\0", "\ufffd")


def utf8(text: str) -> bytes:
    """Return a text in UTF-8 that is read back by `from_utf8`, also with lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def from_utf8(data: bytes | memoryview) -> str:
    """Return the text that `utf8` encoded."""
    return str(data, "utf-8", "surrogatepass")


def file_name(name: str) -> str:
    """Return a name as the name of a file or folder in its folder, never a path; different names stay so.

    >>> file_name("files:own tickets.csv"), file_name("../../evil")
    ('files:own tickets.csv', '_.._evil-0fbfd372')
    """
    safe = "".join("_" if c in _NO_FILE_NAME or not c.isprintable() else c for c in name).lstrip(".")
    safe = safe.encode()[:_LONGEST_NAME].decode(errors="ignore")
    if safe == name and name:
        return name
    return f"{safe}-{hashlib.sha256(utf8(name)).hexdigest()[:8]}"


def no_formula(value: Any) -> Any:
    """Return a value for a cell of CSV: no formula of a spreadsheet, and no command of a terminal.

    Some spreadsheets separate cells by semicolons or tabs, so that a formula may begin within a text.

    >>> no_formula("=1+1"), no_formula("-3.5"), no_formula("a;=1+1"), no_formula(None)
    ("'=1+1", '-3.5', "a;'=1+1", '')
    """
    if value is None:
        return ""
    if isinstance(value, list | dict):  # of JSON
        value = str(value)
    if not isinstance(value, str) or not value or (value.isascii() and value.isalnum()):
        return value
    value = _FORMULA_INSIDE.sub(lambda skipped: f"'{skipped.group()}", without_controls(value))
    # spreadsheets skip spaces, and take full-width signs for plain ones
    first = next((c for c in value if not c.isspace() and unicodedata.category(c) not in _HARMFUL), "")
    is_formula = unicodedata.normalize("NFKC", first).startswith(_FORMULA)
    if (is_formula or value.startswith(_SPACES_OF_CELLS)) and not _is_number(value):
        return f"'{value}"
    return value


def from_formula(text: str) -> str:
    """Return the value of a cell of CSV as it was before `no_formula`.

    >>> from_formula("'=1+1"), from_formula("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and no_formula(text[1:]) == text else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()


def count(n: int, noun: str = "cell", plural: str = "") -> str:
    """Return ``"1 cell"``, ``"1,024 cells"``."""
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"
