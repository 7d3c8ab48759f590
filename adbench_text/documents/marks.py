"""Marks: the user reads some documents and marks them as odd or fine."""

import csv
import math
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import form_weight
from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.labels import KnownLabels
from adbench_text.documents.left_out import LeftOut
from adbench_text.errors import DataError, InvalidValueError
from adbench_text.escaping import one_line
from adbench_text.reading import spreadsheets
from adbench_text.reading.headers import as_in_pandas, n_lines_above
from adbench_text.reading.options import ReadOptions
from adbench_text.reading.separated import delimiter_of, opened

Mark = Literal["odd", "fine"]
MARKS: tuple[Mark, ...] = get_args(Mark)
ODD, FINE = MARKS
MARK = "mark"  # the column
LIKE_MARKED = "like those you marked"  # a reason
_ROW = "row"  # the column that numbers documents
_REPLACED = "\ufffd"
_NOT_ASCII = re.compile("[^a-z0-9]+")
_NO_OTHER_LETTERS = re.compile(r"[\W\d_\u0000-\u02ff\u1e00-\u1eff]+")  # letters that are not Latin remain
_N_LINES = 1000  # of a table to read at a time, and to find its delimiter
_N_ROWS = 100_000  # of a table to keep in memory
_N_COMPARED = 60  # number of characters that remain to compare

Rows = NDArray[np.int64]


def marked_representatives(marks: Mapping[int, str], representative: Rows) -> "pd.Series[str]":
    """Return the mark of each marked representative, by row, given marks by row.

    The mark of one document counts for its family. A family with both marks is odd. Raise InvalidValueError
    if a row or a mark is wrong.
    """
    if not isinstance(marks, Mapping):
        raise InvalidValueError(f"marks must map rows to odd or fine, got a {type(marks).__name__}.")
    for row, mark in marks.items():
        if isinstance(row, bool) or not isinstance(row, Integral) or not 0 <= row < len(representative):
            raise InvalidValueError(
                f"Row {row!r} is marked, but there are {len(representative):,} documents, from row 0 on."
            )
        if mark not in MARKS:
            raise InvalidValueError(f"The mark of row {row} is {mark!r}; a mark is odd or fine.")
    given = pd.Series([*marks.values()], representative[[*marks]] if marks else [], dtype=object)
    # "odd" sorts after "fine", so it is the last; -1 stands for empty documents
    return given.sort_values().groupby(level=0).last().drop(-1, errors="ignore")


@dataclass(frozen=True)
class MarkEvidence:
    """Marked documents: labels for the detector, and evidence for how to join words and form."""

    is_odd: "pd.Series[bool]"  # for each marked document, by row; False means fine
    raw: "pd.Series[str]"  # the marked documents, by row
    cleaner: Cleaner
    before: LeftOut  # scores of the sample by words, learned without marks
    of_form: LeftOut | None  # scores of the sample by form, learned without marks

    @cached_property
    def odd(self) -> "pd.Series[str]":
        """The documents marked odd, cleaned, without those that have no words."""
        return self._with_words(self.raw[self.is_odd])

    @property
    def odd_rows(self) -> "pd.Index[int]":
        """The rows of the documents marked odd."""
        return self.is_odd.index[self.is_odd]

    def known(self, normal: "pd.Series[str]") -> KnownLabels:
        """Return the documents marked odd, and which documents of `normal` are marked fine."""
        return KnownLabels(self.odd.tolist(), normal.index.isin(self.is_odd.index[~self.is_odd]))

    def p_before(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the p of marked documents by words and by form, both learned without marks."""
        assert self.of_form is not None
        return self._p_before(self.raw).to_numpy(), self.of_form.p_values(self.raw).to_numpy()

    def is_like(self, p: "pd.Series[float]", raw: "pd.Series[str]") -> "pd.Series[bool]":
        """Return by row whether marks reduced the p of a document by words to half or less."""
        return (p <= self._p_before(raw) / 2) & bool(self.is_odd.any())

    def _p_before(self, raw: "pd.Series[str]") -> "pd.Series[Any]":
        """Return the p by words, learned without marks; NaN for a document without words."""
        return self.before.p_values(self._with_words(raw)).reindex(raw.index)

    def _with_words(self, raw: "pd.Series[str]") -> "pd.Series[str]":
        """Return the documents that have words, cleaned."""
        cleaned = self.cleaner.cleaned_series(raw)
        return cleaned[cleaned.map(str.strip) != ""]


def weight_of_form(evidence: Sequence[MarkEvidence]) -> float:
    """Return the weight of form if words have the weight 1, found by the marks of all parts.

    It is 1 if no part has marks and scores by form.
    """
    with_form = [of_part for of_part in evidence if of_part.of_form is not None]
    if not with_form:
        return 1.0
    p_words, p_form = map(np.concatenate, zip(*(of_part.p_before() for of_part in with_form), strict=True))
    return form_weight(p_words, p_form, np.concatenate([of_part.is_odd.to_numpy() for of_part in with_form]))


class NamedDocuments(Protocol):
    """Documents that can be marked: rows from 0 on, identifiers and texts."""

    @property
    def id_titles(self) -> tuple[str, ...]:
        """The columns that can identify a document, the best one first."""

    @property
    def text_title(self) -> str:
        """The column of the text, or an empty string."""

    def __len__(self) -> int: ...

    def id(self, row: int) -> str:
        """Return the identifier of a document."""

    def row_of(self, name: str) -> int | None:
        """Return the row of an identifier, or None."""

    def text(self, row: int) -> str:
        """Return a document."""


def read_marks(path: Path, documents: NamedDocuments) -> dict[int, Mark]:
    """Return the marks of a CSV or a spreadsheet by row.

    Usually ``odd`` wrote the table and a spreadsheet saved it. The column ``mark`` is odd, fine or empty. The
    first column of `id_titles` that the table has identifies the documents. If a spreadsheet wrote 23 for
    00023, or the identifier is empty, the column ``row`` identifies the document; then its text must be the
    same, too.

    Raise DataError if the file cannot be read, a column is missing, a mark is wrong, or identifier, row and
    text contradict each other.
    """
    titles, text_title = documents.id_titles, documents.text_title
    try:
        table = _table(path, _is_marked)
    except (OSError, ValueError) as error:  # errors of pandas' parser are ValueErrors
        reason = getattr(error, "strerror", None) or one_line(str(error))
        raise DataError(f"{path} cannot be read as a CSV of marks: {reason}") from error
    title = next((title for title in titles if title in table), None)
    if MARK not in table or title is None:
        hint = " Is one of them the identifier? Give --id." if titles == (_ROW,) and MARK in table else ""
        raise DataError(
            f"{path} needs the columns {MARK!r} and {' or '.join(map(repr, titles))}, as in a table written "
            f"by odd; it has {', '.join(map(repr, table.columns))}.{hint}"
        )
    marks: dict[int, Mark] = {}
    marked = table.assign(mark=table[MARK].str.strip().str.lower())
    rows = marked[_ROW] if _ROW in marked and title != _ROW else [""] * len(marked)
    texts = marked[text_title] if text_title in marked else [""] * len(marked)
    texts_of_rows: dict[int, str] = {}  # of documents that only the column `row` identifies
    find = row_named if title == _ROW != titles[0] else documents.row_of
    for name, mark, row_cell, text in zip(marked[title], marked[MARK], rows, texts, strict=True):
        row, stated_row = find(name), row_named(row_cell)
        if (
            row is None
            and stated_row is not None
            and _may_be_saved_from(name, documents.id(stated_row) if stated_row < len(documents) else "")
        ):
            row, stated_row = stated_row, None
            texts_of_rows[row] = text
        elif row is not None and title == _ROW:
            texts_of_rows[row] = text
        wrong = ""
        if mark not in MARKS:
            wrong = f"has the mark {mark!r}; a mark is odd, fine or empty"
        elif _REPLACED in name:
            wrong = f"is marked {mark}, but the file is not in UTF-8; save it so"
        elif row is None:
            wrong = f"is marked {mark}, but there is no such document"
        elif stated_row not in (None, row):
            wrong = f"is row {row:,}, but its column {_ROW!r} says {stated_row:,}. Delete the wrong column"
        elif marks.setdefault(row, mark) != mark:
            wrong = "is marked odd and fine"
        if wrong:
            raise DataError(f"{path}: {title} {name!r} {wrong}.")
    for row, text in texts_of_rows.items():
        _check_text(path, row, text, documents)
    return marks


def _check_text(path: Path, row: int, given: str, documents: NamedDocuments) -> None:
    """Raise DataError if a row does not exist, or if its text differs from `given`.

    An empty text is not compared. A spreadsheet may cut a text, and may change characters that are not ASCII.
    So texts are compared by their first letters and digits of ASCII. Letters of other scripts are compared if
    `given` has some: if a spreadsheet changes them, none remain.
    """
    if row >= len(documents):
        raise DataError(f"{path}: row {row:,} is marked, but there is no such document.")
    document = documents.text(row)
    others = _NO_OTHER_LETTERS.sub("", given)
    kinds = [_NOT_ASCII, _NO_OTHER_LETTERS] if others else [_NOT_ASCII]
    if given and not all(_begin_alike(given, document, ignored) for ignored in kinds):
        raise DataError(
            f"{path}: row {row:,} has the text {given[:40]!r}, but the document there is {document[:40]!r}. "
            "Is it the table of another file?"
        )


def _begin_alike(given: str, document: str, ignored: "re.Pattern[str]") -> bool:
    """Return whether two texts begin with the same characters besides `ignored` ones; `given` may be cut."""
    given, document = (
        ignored.sub("", unicodedata.normalize("NFC", text).lower()) for text in (given, document)
    )
    return document.startswith(given) or (document != "" and given.startswith(document[:_N_COMPARED]))


def _table(path: Path, is_wanted: "Callable[[pd.DataFrame], pd.Series[bool]]") -> pd.DataFrame:
    """Return the wanted rows of a spreadsheet, or of a CSV with any separator; no row without marks.

    In a CSV, U+FFFD replaces bytes that are not UTF-8. The table may have millions of rows, so the others are
    not kept.
    """
    if spreadsheets.has_suffix(path):
        names, cells = spreadsheets.table(path, [MARK])
        table = pd.DataFrame(cells, columns=names, dtype=str)
        return table[is_wanted(table)] if MARK in names else table[:0]
    with opened(path, "replace") as text, warnings.catch_warnings():
        first = [*islice(text, _N_LINES)]
        n_above = n_lines_above(first, ReadOptions(), [MARK])
        delimiter, lines = delimiter_of("".join(first[n_above:])), chain(first[n_above:], text)
        reader = csv.reader(lines, delimiter=delimiter)
        header = [name.strip() for name in next(filter(None, reader), [])]
        if header and MARK not in header:
            return pd.DataFrame(columns=as_in_pandas(header))
        # with as many lines before them, so that an error has the right line number
        rows: Any = _Text(chain(["\n"] * (n_above + reader.line_num), lines))
        warnings.simplefilter("ignore", pd.errors.ParserWarning)  # pandas warns if rows end with a comma
        pieces = pd.read_csv(
            rows,
            sep=delimiter,
            names=as_in_pandas(header),
            header=None,
            dtype=object,
            keep_default_na=False,
            index_col=False,
            chunksize=_N_ROWS,
        )
        return pd.concat([piece[is_wanted(piece)] for piece in pieces])


class _Text:
    """The text of lines, as pandas reads it."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def read(self, size: int = -1) -> str:
        """Return some of the next lines; an empty text at the end."""
        return "".join(islice(self._lines, _N_LINES))


def _is_marked(table: pd.DataFrame) -> "pd.Series[bool]":
    """Return which rows of a table have a mark."""
    return table[MARK].str.strip() != ""


def _may_be_saved_from(text: str, identifier: str) -> bool:
    """Return whether a spreadsheet may have changed an identifier into this text.

    A spreadsheet reads identifiers such as 00023 as numbers.

    >>> _may_be_saved_from("23", "00023"), _may_be_saved_from("1.23457E+11", "123456789012")
    (True, True)
    >>> _may_be_saved_from("24", "00023")
    False
    """
    if not text.strip():  # the identifier was deleted
        return True
    try:
        saved, number = float(text.replace(",", ".")), float(identifier)  # a decimal comma
    except ValueError:
        return False
    # 1.23457E+11 has six digits, other numbers have fifteen
    return math.isclose(saved, number, rel_tol=1e-5 if "e" in text.lower() else 1e-14)


def row_named(text: str) -> int | None:
    """Return the row that a text names, or None."""
    text = text.removesuffix(".0")  # pandas writes rows so if some are missing
    return int(text) if text.isdecimal() and len(text) < 20 else None  # int refuses thousands of digits


def lost_marks(path: Path, given: Iterable[int], name_of: Callable[[int], str]) -> list[str]:
    """Return the marked rows of a table of ``odd`` whose marks are not in `given`, the rows marked now.

    A mark of a row replaces the marks of its copies. `name_of` returns the identifier of a row as the column
    ``copy_of`` has it. A file that cannot be opened, or has no column ``mark``, has no marks. Raise DataError
    if it has this column, but is not a table.
    """
    given_rows = {form.format(row) for row in given for form in ("{}", "{}.0")}  # see `row_named`

    def is_given(table: pd.DataFrame) -> "pd.Series[bool]":
        return table[_ROW].isin(given_rows) if _ROW in table else pd.Series(False, table.index)

    try:
        table = _table(path, lambda table: is_given(table) | _is_marked(table))
    except (OSError, pd.errors.EmptyDataError):
        return []
    except ValueError as error:  # of pandas' parser
        raise DataError(
            f"{path} cannot be read, and may have marks that would be lost: {one_line(str(error))}. "
            "Correct it, or give another --output."
        ) from error
    table = table.reindex(columns=[MARK, _ROW, "copy_of"], fill_value="")
    table = table.assign(given=is_given, marked=_is_marked)
    own_name = table[_ROW].map(lambda text: text if (row := row_named(text)) is None else name_of(row))
    # a family has the name of its representative: the document that a copy names, or the document itself
    family = table["copy_of"].where(table["copy_of"] != "", own_name)
    return list(table[_ROW][table["marked"] & ~family.isin(family[table["given"]])])
