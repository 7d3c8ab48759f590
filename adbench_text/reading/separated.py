"""Read CSV and TSV files. The rows are the same as in `pandas.read_csv`.

Python's ``csv`` parses the rows. This module guesses the delimiter, quotes and header, and handles rows that
do not fit.
"""

import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from itertools import chain, repeat
from pathlib import Path

from adbench_text.errors import DataError
from adbench_text.escaping import count
from adbench_text.reading.batch import Batch, in_sizes
from adbench_text.reading.decoding import UTF16_MARKS, Lines
from adbench_text.reading.dialects import (
    DELIMITERS,
    NAMES,
    NONE,
    Dialect,
    dialect_of,
    likely_delimiter,
)
from adbench_text.reading.headers import as_in_pandas, is_like_a_row, n_lines_above, n_rows_below
from adbench_text.reading.options import Losses, ReadOptions
from adbench_text.storage import content_of

_N_LOOKED_AT = 1000  # lines in the sample
_MANY_LINES = 20  # of rows with one field: if so many are never blank, quotes may join several rows
_EXCEL = re.compile(r"sep=(.)\s*")  # the line with the delimiter that some files for Excel begin with


class SeparatedFile:
    """The rows of a CSV or TSV file.

    The constructor reads the header, or the first row without one. It also reads the rows below the header
    that describe columns. The header is the first row with the `wanted` columns; without them it is guessed.
    """

    def __init__(
        self, lines: Lines, name: str, options: ReadOptions, losses: Losses, wanted: Collection[str] = ()
    ) -> None:
        self._lines, self._name, self._options, self._losses = lines, name, options, losses
        sample = lines.ahead()[:_N_LOOKED_AT]
        if sample and (stated := _EXCEL.fullmatch(sample[0])):
            options = replace(options, delimiter=options.delimiter or stated[1])
            sample = self._skipped(1, sample)
        may_have_titles = options.header and options.skip_lines is None
        if may_have_titles and (n := n_lines_above(sample, options, wanted)):
            sample = self._skipped(n, sample)
            losses.note(
                f"Skipped {count(n, 'line')} above the header of {name}. If the first line is the header, "
                "give --skip-lines 0.",
                "title",
            )
        self.dialect = dialect_of(sample, options)
        self._likely = Losses()  # rows with one field and several lines that may be several rows
        self._n_lines_of_likely = 0
        self._has_blank_lines = False  # whether quotes enclose blank lines
        self._raw: list[str] = []  # lines that are read but not `_taken` yet
        self._n_taken = self._n_lines_of_row = 0
        self._reader = self.dialect.reader(chain.from_iterable(self._noted()))
        first = self._next_row()
        self._first_line = self._line_number() - self._n_lines_of_row + 1
        # the rows after the first one; they come from the sample, so the reader does not take them
        blank_lines = {line.rstrip("\r\n") for line in sample if line.isspace()}
        rows = [fields for fields in self.dialect.reader(sample) if fields]
        self._next_rows = [fields for fields in rows if len(fields) > 1 or fields[0] not in blank_lines][1:]
        self._first = None if options.header else first  # a document, not the names of the columns
        # the header as written; equal rows are left out, but with --skip-lines 0 every row below it stays
        self._repeated = first if options.header and options.skip_lines != 0 else None
        self.doubled: set[str] = set()  # names of several columns
        if options.header:
            first = self._with_index(first, sample)
            self.doubled = {name for name, n in Counter(first).items() if name and n > 1}
            self.names = as_in_pandas(first) if first else []
        else:
            self.names = [f"column{number}" for number in range(len(first))]
        self._header = first
        self._skip_descriptions()
        self._note_guesses(sample)

    def _skipped(self, n: int, sample: list[str]) -> list[str]:
        """Skip the next `n` lines of the file; return the sample without them."""
        self._lines.skip(n)
        return sample[n:]

    def _next_row(self) -> list[str]:
        """Return the fields of the next row that is not blank, or an empty list at the end."""
        for fields in self._reader:
            lines = self._taken()
            self._n_lines_of_row = len(lines)
            if not _is_blank(fields, "".join(lines)):
                return [*fields]
        return []

    def note_header(self) -> None:
        """Add a note if the header may be a row."""
        if is_like_a_row(self._header, self._next_rows):
            self._losses.note(
                f"The first line of {self._name} is read as the header. If it is a row, give --no-header.",
                "header",
            )

    def _skip_descriptions(self) -> None:
        """Skip rows below the header that describe the columns."""
        n = n_rows_below(self._repeated, self._next_rows) if self._repeated else 0
        described = [", ".join(filter(None, self._next_row())) for _ in range(n)]
        if described:
            self._losses.note(
                f"Skipped {count(n, 'row')} below the header of {self._name} that describe columns "
                f"({described[0]:.60}). To read them as documents, give --skip-lines 0.",
                "below",
            )

    def _note_guesses(self, sample: list[str]) -> None:
        """Add notes if quotes are read as characters, or if the first line may be a title."""
        if self.dialect.stray_line:
            line = self._lines.n_skipped + self.dialect.stray_line
            self._losses.note(
                f"Quotes in {self._name} are read as characters, because as enclosing quotes they would join "
                f"rows (first in line {line:,}). If they enclose fields, give --quotes.",
                "quotes",
            )
        if self.dialect.delimiter != NONE:
            return
        for delimiter in DELIMITERS:  # one that separates all lines but the first
            widths = [len(fields) for fields in Dialect(delimiter, quotes=True).reader(sample[1:]) if fields]
            if len(widths) > 1 and len(set(widths)) == 1 and widths[0] > 1:
                self._losses.note(
                    f"The first line of {self._name} has one field, and the other lines have {widths[0]}, "
                    f"separated by {NAMES[delimiter]}. If it is a title or a comment, give --skip-lines 1.",
                    "title",
                )

    def batches(self, sizes: Iterator[int]) -> Iterator[Batch]:
        """Yield the rows in batches of these sizes; add losses that are known only at the end."""
        if self._first:
            yield self._batch([self._first], range(self._first_line, self._first_line + 1))
        last_line = self._line_number()
        for rows in in_sizes(self._reader, sizes, self._is_waiting if self._lines.is_pipe else None):
            raw = self._taken()
            if self._needs_checks(rows, raw):
                # one batch; if a row is wrong, its error comes after a batch with the rows before it
                for checked in in_sizes(self._checked(raw, last_line), repeat(len(raw))):
                    numbers = array("q", [number for _, number in checked])
                    yield self._batch([fields for fields, _ in checked], numbers)
            else:
                yield self._batch(rows, range(last_line + 1, last_line + 1 + len(rows)))
            last_line = self._line_number()
        # many lines without a blank one are probably rows, because long texts usually have blank lines
        if self._n_lines_of_likely >= _MANY_LINES and not self._has_blank_lines:
            self._losses.add("merged", self._likely.first["merged"], self._likely.numbers["merged"])

    def _needs_checks(self, rows: list[list[str]], raw: list[str]) -> bool:
        """Return whether some rows are not one line with all fields, or may be blank or a repeated header."""
        n = len(self.names)
        if len(raw) != len(rows) or {*map(len, rows)} != {n} or self._repeated in rows:
            return True
        return n == 1 and any(map(_is_spaces, rows))

    def _batch(self, rows: list[list[str]], numbers: Sequence[int]) -> Batch:
        """Return complete rows, and the numbers of their first lines, as a batch."""
        columns = dict(zip(self.names, zip(*rows, strict=True), strict=True))
        return Batch(columns, numbers, self._name)

    def _noted(self) -> Iterator[list[str]]:
        """Yield the lines for the reader, and note them until `_taken` returns them."""
        for lines in self._lines.groups():
            self._raw += lines
            yield lines

    def _is_waiting(self) -> bool:
        """Return whether the next line of a pipe has not come yet."""
        return bool(self._reader.line_num == self._n_taken + len(self._raw))

    def _line_number(self) -> int:
        """Return the number of the last taken line."""
        return self._lines.n_skipped + self._n_taken

    def _taken(self) -> list[str]:
        """Return the lines of the rows since the last call."""
        n = self._reader.line_num - self._n_taken
        taken, self._n_taken = self._raw[:n], self._reader.line_num
        del self._raw[:n]
        return taken

    def _checked(self, lines: list[str], last_line: int) -> Iterator[tuple[list[str], int]]:
        """Check each row in some lines; yield its fields and the number of its first line.

        `last_line` is the number of the line before them.
        """
        n = len(self.names)
        for fields, raw in self.dialect.rows(lines):
            number = last_line + 1
            if len(raw) > 1 and self.dialect.quotes:
                self._check_merged(raw, number)
            if _is_blank(fields, raw[0]):
                pass
            elif fields == self._repeated:
                self._losses.add("repeated", f"{self._name}, line {number:,}")
            elif len(fields) == n:
                yield fields, number
            elif fitted := self._fitted(fields, number):
                yield fitted, number
            last_line += len(raw)

    def _fitted(self, fields: list[str], number: int) -> list[str] | None:
        """Fit a row to the length of the header; return None to leave it out."""
        n, where = len(self.names), f"{self._name}, line {number:,}"
        if len(fields) < n:
            self._losses.add("short", where)
            return fields + [""] * (n - len(fields))
        if not any(fields[n:]):
            return fields[:n]
        if self._options.goes_on:
            self._losses.add("left out", where)
            return None
        advice = (
            f"A field with a {self.dialect.delimiter!r} or a line break in it must be in double quotes. Give "
            "another --delimiter"
            if self.dialect.quotes
            else "A quote is a character here; give --quotes if fields are in quotes"
        )
        raise DataError(
            f"{where} has {len(fields)} fields, but the header has {n}. {advice}, or --errors replace to "
            "skip such rows."
        )

    def _check_merged(self, raw: list[str], first: int) -> None:
        """Count a row if its lines `raw` look like several rows; raise DataError if a quote is not closed.

        `first` is the number of the first line.
        """
        if "unexpected end" in self.dialect.fault(raw):
            raise DataError(
                f"{self._name}, line {first:,}: a quote opens here, and nothing closes it in the "
                f"{count(len(raw), 'line')} to the end of the file. If a quote is a character in this file, "
                "give --no-quotes."
            )
        where = f"{self._name}, line {first:,}, and {count(len(raw) - 1, 'line')} after it"
        if self.dialect.joins(raw, len(self.names)):
            self._losses.add("merged", where)
        elif len(self.names) == 1 and not self.dialect.is_sure:
            self._likely.add("merged", where)
            self._n_lines_of_likely += len(raw)
        self._has_blank_lines |= any(map(str.isspace, raw))

    def _with_index(self, header: list[str], sample: list[str]) -> list[str]:
        """Return the header, with a first column without a name if all rows have one more field."""
        widths = {len(fields) for fields in self.dialect.reader(sample[1:]) if fields}
        is_filled = any(fields[-1] for fields in self.dialect.reader(sample[1:]) if fields)
        if widths != {len(header) + 1} or not is_filled or len(header) < 2:
            return header
        self._losses.note(
            f"Each row of {self._name} has one more field than the header: the first column has no name. A "
            f"field with a {self.dialect.delimiter!r} in it must be in double quotes.",
            "index",
        )
        return ["", *header]


def _is_blank(fields: Sequence[str], line: str) -> bool:
    """Return whether a row is an empty line or has only white space. pandas skips these, too."""
    return not fields or (_is_spaces(fields) and '"' not in line)


def _is_spaces(fields: Sequence[str]) -> bool:
    """Return whether a row has only one field, of spaces and tabs."""
    return len(fields) == 1 and bool(fields[0]) and not fields[0].strip(" \t")


def opened(path: Path, errors: str = "strict") -> TextIOWrapper:
    """Open a table in UTF-8 or UTF-16 to read its text, after a first line such as ``sep=;``.

    `errors` is passed to `TextIOWrapper`.
    """
    content = content_of(path)
    encoding = "utf-16" if content.startswith(UTF16_MARKS) else "utf-8-sig"
    stream = TextIOWrapper(BytesIO(content), encoding, errors, newline="")
    if not _EXCEL.fullmatch(stream.readline()):
        stream.seek(0)
    return stream


def delimiter_of(text: str) -> str:
    """Return the delimiter of a CSV; a comma if it has one column.

    >>> delimiter_of('id;"size, in mm";text'), delimiter_of("id,text"), delimiter_of("text")
    (';', ',', ',')
    """
    delimiter = likely_delimiter(text.splitlines(keepends=True)[:_N_LOOKED_AT])
    return "," if delimiter == NONE else delimiter


def header_of(sample: list[str], wanted: Collection[str]) -> list[str]:
    """Return the fields of the header with the `wanted` columns, or of the first line."""
    sample = sample[n_lines_above(sample, ReadOptions(), wanted) :]
    return next(iter(dialect_of(sample, ReadOptions()).reader(sample)), [])
