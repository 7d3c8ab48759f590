"""Make untrusted text safe for terminals, tables and file names; write numbers with nouns."""

import hashlib
import os
import re
import unicodedata
from typing import Any

_SPACE = re.compile(r"\s+")
_FORMULA = ("=", "+", "-", "@")  # see CSV injection at owasp.org, also for the spaces
_SPACES_OF_CELLS = ("\t", "\r", "\n")
_EQUALS, _SIGNS = "=＝﹦⁼₌⩵⩶@＠﹫", r"\-－﹣+＋﹢⁺₊﬩"  # also characters that NFKC turns into these
_INVISIBLE = r"\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
_SKIPPED = rf'(?:[^\S\t\r\n]|["{_INVISIBLE}])*+'
_NUMBER = r"(?:\d++(?:[.,]\d++)?+|[.,]\d++)[^\S\t\r\n]*+(?:[;\t|\r\n]|$)"  # fills the cell
# Some spreadsheets separate cells by semicolons, tabs or bars, and then ignore quotes around line breaks. So
# a cell, and a formula, can begin within a text. A sign before a number is harmless. After a line break, a
# sign is also harmless before a space (an item of a list) or before another sign (a horizontal rule).
# Skipped characters and numbers match in one way only: a pattern that tries several takes quadratic time.
_FORMULA_INSIDE = re.compile(
    rf"(?<=[;\t|]){_SKIPPED}(?=[{_EQUALS}]|[{_SIGNS}](?!{_NUMBER}))"
    rf"|(?<=[\r\n]){_SKIPPED}(?=[{_EQUALS}]|[{_SIGNS}](?![\s{_SIGNS}]|{_NUMBER}))"
)
_HARMFUL = ("Cc", "Cf", "Cs", "Co")  # controls, changes of direction, lone surrogates, private characters
_HARMLESS = "\n\t\u200c\u200d"  # exceptions; Persian words and emoji have joiners
# control characters of terminals, characters that HTML forbids, and lone surrogates
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# On Windows "a:b" is a hidden part of a file "a".
_NO_FILE_NAME = frozenset('/\\\0<>"|?*' + (":" if os.name == "nt" else ""))
# User and password, which may contain / and @. After a colon, a number before a / is a port.
# Text without an @ has no login. The pattern matches it all the same, so that no part is read twice.
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
_LONGEST_NAME = 100  # bytes of a file name, before prefixes and suffixes


def one_line(text: str) -> str:
    """Return a text as one line for a terminal; see `printable`."""
    return printable(_SPACE.sub(" ", text).strip())


def printable(text: str) -> str:
    """Return a text for a terminal: U+FFFD replaces control characters and changes of direction.

    Line ends, tabs and spaces stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "\ufffd" if c not in _HARMLESS and unicodedata.category(c) in _HARMFUL else c for c in text
    )


def markdown(text: str) -> str:
    r"""Return one line of Markdown that shows a text literally, without links, pictures and HTML.

    >>> print(markdown("ocsvm(svd_components=50) on [news](http://here)"))
    ocsvm(svd\_components=50) on \[news\](http://here)
    """
    text = one_line(text)
    for character in "\\|*_`<>[]":
        text = text.replace(character, f"\\{character}")
    return text


def without_password(text: str) -> str:
    """Return a text without the users, passwords and secrets that its addresses have.

    >>> without_password("report --tracking-uri postgresql://me:s3cret@host/db?sslmode=require")
    'report --tracking-uri postgresql://***@host/db?sslmode=require'
    """
    text = _LOGIN.sub(lambda found: "://***@" if found[1] or found[2] else found[0], text)
    return _SECRET.sub(r"\1***", text)


def without_surrogates(text: str) -> str:
    """Return a text with U+FFFD in place of lone surrogates, which UTF-8 cannot encode."""
    try:
        text.encode()  # ten times as fast as the pattern
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def without_controls(text: str) -> str:
    """Return a text for a file, with U+FFFD in place of control characters and lone surrogates.

    Keep line ends, form feeds and tabs.
    """
    return _CONTROL.sub("\ufffd", text)


def encodable(text: str) -> str:
    """Return a text without lone surrogates and NUL, so that databases accept it."""
    return without_surrogates(text).replace("\0", "\ufffd")


def utf8(text: str) -> bytes:
    """Encode a text as UTF-8, also lone surrogates; `from_utf8` decodes it."""
    return text.encode("utf-8", "surrogatepass")


def from_utf8(data: bytes | memoryview) -> str:
    """Decode a text that `utf8` encoded."""
    return str(data, "utf-8", "surrogatepass")


def file_name(name: str) -> str:
    """Turn a name into the name of a file or folder, never a path; different names stay different.

    >>> file_name("files:own tickets.csv"), file_name("../../evil")
    ('files:own tickets.csv', '_.._evil-0fbfd372')
    """
    safe = "".join("_" if c in _NO_FILE_NAME or not c.isprintable() else c for c in name).lstrip(".")
    safe = safe.encode()[:_LONGEST_NAME].decode(errors="ignore")
    if safe == name and name:
        return name
    return f"{safe}-{hashlib.sha256(utf8(name)).hexdigest()[:8]}"


def no_formula(value: Any) -> Any:
    """Return a value for a cell of CSV, without spreadsheet formulas and terminal commands.

    Some spreadsheets separate cells by semicolons or tabs, so a formula may begin within a text.

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
    # spreadsheets skip spaces, and read full-width signs as plain ones
    first = next((c for c in value if not c.isspace() and unicodedata.category(c) not in _HARMFUL), "")
    is_formula = unicodedata.normalize("NFKC", first).startswith(_FORMULA)
    if (is_formula or value.startswith(_SPACES_OF_CELLS)) and not _is_number(value):
        return f"'{value}"
    return value


def from_formula(text: str) -> str:
    """Return the value that a cell of CSV had before `no_formula`.

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
