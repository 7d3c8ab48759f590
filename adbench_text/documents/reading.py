"""Documents of a file, with their identifiers and other columns."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from adbench_text.documents.rows import LONGEST, TEXT, Row, rows
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError

_N_LOOKED_AT = 100  # rows from which the column of the text is guessed
_N_WORDS = 3  # of a text, on average


class Document(NamedTuple):
    """A document as it was written.

    Attributes
    ----------
    id : str
        From its column; otherwise its number, from 1 on.
    text : str
    fields : dict of str to object
        All columns of its row.
    place : str
        Where it is, for messages: ``"tickets.csv, line 12"``.
    """

    id: str
    text: str
    fields: dict[str, Any]
    place: str


class Documents:
    """The documents of a file, read one at a time, once.

    Parameters
    ----------
    path : str
        A file, a folder, or ``"-"`` for standard input.
    text : str, optional
        Column of the text; by default the one of that name, or the only one that looks like text.
    id : str, optional
        Column of the identifiers, empty to number the documents; by default the column ``id`` or ``file``,
        if there is one.
    kind : str, optional
        See `adbench_text.documents.rows.rows`.
    encoding : str

    Attributes
    ----------
    columns : list of str
        Of the first row.
    text_column : str
    id_column : str or None
    notes : list of str
        About files of a folder that are left out.

    Raises
    ------
    DataError
        If the file is missing, empty or damaged.
    InvalidValueError
        If a column is missing, or that of the text cannot be guessed.
    """

    def __init__(
        self,
        path: str,
        text: str | None = None,
        id: str | None = None,
        kind: str | None = None,
        encoding: str = "utf-8",
    ) -> None:
        self.path = path
        self.notes: list[str] = []
        source = iter(rows(path, kind, encoding, self.notes.append))
        # A given column needs no look ahead: a pipe gets its first answer with its first document.
        first = list(islice(source, 1 if text else _N_LOOKED_AT))
        if not first:
            named = "Standard input" if path == "-" else path
            raise DataError(" ".join([f"{named} has no documents.", *self.notes]))
        self._rows: Iterator[Row] = chain(first, source)
        self.columns = list(first[0].values)
        for column in (text, id):
            if column and column not in self.columns:
                raise UnknownNameError("column", column, self.columns)
        self.text_column = text or _text_column(self.columns, first)
        others = [name for name in self.columns if name != self.text_column]
        guessed = next((name for name in ("id", "file") if name in others), None) if id is None else None
        self.id_column = id or guessed

    def __iter__(self) -> Iterator[Document]:
        for number, (values, place) in enumerate(self._rows, start=1):
            text = self._value(values, self.text_column, place)
            if len(text) > LONGEST:
                raise DataError(
                    f"{place}: a document of {len(text):,} characters; at most {LONGEST:,} are allowed. "
                    "Split it."
                )
            name = self._value(values, self.id_column, place) if self.id_column else str(number)
            yield Document(name, text, values, place)

    @staticmethod
    def _value(values: dict[str, Any], column: str, place: str) -> str:
        if column not in values:
            raise DataError(f"{place} has no {column!r}.")
        value = values[column]
        if value is None:
            return ""
        if isinstance(value, str | int | float):
            return str(value)
        raise DataError(f"{place}: {column!r} must be text, got {type(value).__name__}: {value!r:.40}")


def _text_column(columns: Sequence[str], first: Sequence[Row]) -> str:
    """Return the only column, one of the name ``text``, or the only one that holds more than a few words."""
    if len(columns) == 1:
        return columns[0]
    if TEXT in columns:
        return TEXT
    candidates = [name for name in columns if _n_words(name, first) >= _N_WORDS]
    if len(candidates) == 1:
        return candidates[0]
    listed = ", ".join(candidates or columns)
    raise InvalidValueError(f"Which column holds the text? Give --text with one of: {listed}.")


def _n_words(column: str, first: Sequence[Row]) -> float:
    values = [row.values.get(column) for row in first]
    return sum(len(value.split()) for value in values if isinstance(value, str)) / len(values)


def check_unique(documents: Sequence[Document], column: str) -> None:
    """Raise DataError if two documents have the same identifier; `column` is that of the identifiers."""
    place_of: dict[str, str] = {}
    for document in documents:
        if (earlier := place_of.setdefault(document.id, document.place)) is not document.place:
            raise DataError(
                f"Two documents have the {column} {document.id!r:.40}: {earlier} and {document.place}. "
                "Give another --id, or --id '' to number them."
            )
