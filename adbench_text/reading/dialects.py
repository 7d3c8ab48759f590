"""Guess the dialect of a CSV or TSV file from its first lines: the delimiter and the meaning of quotes."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

from adbench_text.reading.options import ReadOptions

#: Delimiters that may be guessed.
DELIMITERS = ",;\t|"
#: Stands for the delimiter of a file with one column.
NONE = "\x1f"
_MANY_ROWS = 6  # lines in a field that look like rows
_OFTEN = 3  # times as many stray quotes as fields of several lines
_DIGITS = re.compile(r"\d+")
#: Names of delimiters.
NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space", NONE: "one column"}
# a field in quotes, with a backslash before a quote inside
_ESCAPED = re.compile(r'(?:^|[,;\t|])\s?"[^"]*\\"(?!["\s,;|]|$)')
_AFTER_QUOTE = re.compile(r'" +(?=[,;\t|\r\n]|$)')
_BEFORE_QUOTE = re.compile(r'(?<!\\)((?:\\\\)*)\\"')
csv.field_size_limit(2**31 - 1)  # `Lines` limits the length of lines


class Dialect(NamedTuple):
    """How fields are separated."""

    delimiter: str
    quotes: bool
    spaces: bool = False  # whether a space follows each delimiter
    escapes: bool = False  # whether a backslash escapes a quote inside quotes
    is_sure: bool = True  # whether the sample shows that quotes enclose fields
    stray_line: int = 0  # number of the first line that shows that quotes are characters; 0 without one

    def __str__(self) -> str:
        facts = {"no quotes": not self.quotes, "spaces": self.spaces, "backslashes": self.escapes}
        return ", ".join([NAMES.get(self.delimiter, repr(self.delimiter)), *(n for n in facts if facts[n])])

    def reader(self, lines: Any, *, strict: bool = False) -> Any:
        """Return Python's parser for some lines. With `strict`, wrong quotes raise an error."""
        quoting: Any = csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE
        if self.escapes:  # csv's own option would remove all other backslashes, too
            lines = (_BEFORE_QUOTE.sub(r'\1""', line) for line in lines)
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=quoting,
            skipinitialspace=self.spaces,
            strict=strict,
        )

    def rows(self, lines: Iterable[str]) -> Iterator[tuple[list[str], list[str]]]:
        """Yield for each row its fields and its lines."""
        raw: list[str] = []

        def noted() -> Iterator[str]:
            """Yield the lines, and note them in `raw` until the reader has a row."""
            for line in lines:
                raw.append(line)
                yield line

        for fields in self.reader(noted()):
            yield fields, [*raw]
            raw.clear()

    def fault(self, lines: Sequence[str]) -> str:
        """Return the error about the quotes of a row, or an empty string; spaces may follow a quote."""
        try:
            list(self.reader([_AFTER_QUOTE.sub('"', line) for line in lines], strict=True))
        except csv.Error as error:
            return str(error)
        return ""

    def joins(self, lines: Sequence[str], n: int) -> bool:
        """Return whether lines look like several rows of `n` fields that a stray quote joins.

        The signs are text after the closing quote of a field, many lines with as many delimiters as a row, or
        a line that begins with the next identifier. Such texts are rare.
        """
        if len(lines) < 2 or not self.quotes:
            return False
        is_wrong = "expected after" in self.fault(lines)
        if is_wrong or n == 1:
            return is_wrong
        begin, *others = (line.split(self.delimiter)[0].strip(' "') for line in lines)
        is_full = [line.count(self.delimiter) == n - 1 for line in lines[1:]]
        return (all(is_full) and len(lines) >= _MANY_ROWS) or any(
            are_alike(other, begin) for other, full in zip(others, is_full, strict=True) if full
        )


def are_alike(one: str, other: str) -> bool:
    """Return whether two fields differ only in digits, such as ``P3`` and ``P12``.

    >>> are_alike("P3", "P12"), are_alike("ham", "ham"), are_alike("Q1", "A3")
    (True, True, False)
    """
    return _DIGITS.sub("0", one) == _DIGITS.sub("0", other)


def dialect_of(sample: list[str], options: ReadOptions) -> Dialect:
    """Return the dialect for which the rows of a sample have as many fields as its first row."""
    is_tsv = options.kind == "tsv" and (not sample or "\t" in sample[0])
    delimiter = options.delimiter or ("\t" if is_tsv else likely_delimiter(sample))
    quotes = options.quotes
    is_sure, stray_line = True, 0
    if quotes is None and delimiter == "\t":
        quotes = _tabs_are_quoted(sample)
    elif quotes is None:
        is_sure, stray_line = _quotes(sample, delimiter)
        quotes = not stray_line
        if stray_line and not options.delimiter:
            delimiter = likely_delimiter(sample, quotes=False)
    lines = [line for line in sample if delimiter in line] if delimiter not in (" ", NONE) else []
    following = [after for before, after in pairwise(lines[0] if lines else "") if before == delimiter]
    spaces = bool(lines) and all(map(str.isspace, following))
    spaces = spaces and all(line.partition(delimiter)[2].startswith(" ") for line in lines)
    return Dialect(
        delimiter=delimiter,
        quotes=quotes,
        spaces=spaces,
        escapes=quotes and any(map(_ESCAPED.search, sample)),
        is_sure=is_sure,
        stray_line=stray_line,
    )


def likely_delimiter(sample: list[str], *, quotes: bool = True) -> str:
    """Return the delimiter for which the rows of a sample have as many fields as its first row.

    A sample with one column has a comma, or `NONE` if a comma is in its texts.
    """
    candidates = []
    for delimiter in DELIMITERS:
        widths = [len(fields) for fields in Dialect(delimiter, quotes).reader(sample) if fields]
        if widths and widths[0] > 1:
            others = widths[1:]
            share = sum(width in (widths[0], widths[0] + 1) for width in others) / max(len(others), 1)
            candidates.append((share if others else 1.0, widths[0], -DELIMITERS.index(delimiter), delimiter))
    if candidates:
        return max(candidates)[-1]
    widths = [len(fields) for fields in Dialect(",", quotes).reader(sample) if fields]
    return NONE if max(widths, default=1) > 1 else ","


def _quotes(sample: list[str], delimiter: str) -> tuple[bool, int]:
    """Return whether quotes certainly enclose fields, and the first line where they certainly do not.

    Quotes are characters if some of them cannot enclose a field, no row needs them to enclose fields, and
    without them all rows have as many fields as the first row. Otherwise the line is 0.
    """
    if not any('"' in line for line in sample):
        return False, 0
    quoted = Dialect(delimiter, quotes=True, escapes=any(map(_ESCAPED.search, sample)))
    plain = Dialect(delimiter, quotes=False)
    n = next((len(fields) for fields in plain.reader(sample) if fields), 1)
    if '"' in sample[0] or (n > 1 and any(len(fields) != n for fields in plain.reader(sample) if fields)):
        return True, 0
    n_rows = n_in_quotes = n_several = 0  # rows; with a field in quotes; of several lines
    number, strays = 1, list[int]()  # of the line, and of lines where a stray quote joins rows
    for _, lines in quoted.rows(sample):
        fault, is_long = quoted.fault(lines), len(lines) > 1
        if quoted.joins(lines, n):
            strays += [number] if fault else []
        elif not fault:
            fields: list[str] = next(plain.reader(lines), [])
            is_blank_inside = is_long and any(map(str.isspace, lines))
            if '""' in lines[0] or is_blank_inside or (not is_long and len(fields) > n):
                return True, 0
            n_several += 1 if is_long else 0
            n_in_quotes += 1 if any(map(_is_in_quotes, fields)) else 0
        n_rows, number = n_rows + 1, number + len(lines)
    is_sure = 2 * n_in_quotes >= n_rows
    are_characters = bool(strays) and not is_sure and len(strays) > _OFTEN * n_several
    return is_sure, strays[0] if are_characters else 0


def _tabs_are_quoted(sample: list[str]) -> bool:
    """Return whether the fields of a TSV are in quotes, as some programs write them.

    Usually a quote is a character. It encloses fields if the header and the first row are in quotes, a field
    has doubled quotes inside quotes, or rows have as many fields as the header only if quotes are parsed.
    """
    plain = [fields for fields in Dialect("\t", False).reader(sample) if fields]
    if not any('"' in line for line in sample) or not plain:
        return False
    n = len(plain[0])
    if all(_is_in_quotes(field) for field in plain[0]) and any(map(_is_in_quotes, chain(*plain[1:2]))):
        return True
    for field in (field for fields in plain for field in fields):
        if _is_in_quotes(field):
            inner = field[1:-1]
            if '""' in inner and '"' not in inner.replace('""', ""):
                return True
    if all(len(fields) == n for fields in plain):
        return False
    return all(len(fields) == n for fields in Dialect("\t", True).reader(sample) if fields)


def _is_in_quotes(field: str) -> bool:
    """Return whether a field begins and ends with a quote."""
    return len(field) > 1 and field[0] == field[-1] == '"'
