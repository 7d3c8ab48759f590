"""The rows of a file of documents: their texts, identifiers, columns and marks."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from adbench_text.errors import DataError
from adbench_text.escaping import no_formula
from adbench_text.reading.documents import DocumentFile, DocumentTable
from adbench_text.reading.values import of_categories

if TYPE_CHECKING:
    from adbench_text.documents.marks import Mark

#: The first columns of the table of odd. The columns of the file follow.
COLUMNS_OF_ODD = tuple("rank mark row score p p_form p_both odd why why_form copy_of nearest subject".split())
LANGUAGE = "language"  # the last of our columns, with --language auto
MOST_WRITTEN = 100_000  # largest number of documents that are written with all columns of the file
_LEAST_UNIQUE = 20  # fewest rows that show whether a column is unique
# An identifier has no white space. A fraction or a date may be unique by chance.
_NAME = re.compile(r"(?![+-]?\d*[.,]\d+$)(?!\d{1,4}[-/.]\d{1,2}[-/.]\d)\S{1,80}")


class FileRows:
    """The rows of a file. Duplicate identifiers are an error only if the user chose their column.

    `our_columns` are the first columns of the table that the command writes. `notes` say how documents are
    identified, and what is unusual.
    """

    def __init__(
        self, file: DocumentFile, table: DocumentTable, our_columns: Sequence[str] = COLUMNS_OF_ODD
    ) -> None:
        self._file = file
        self.our_columns = our_columns
        self.table = table
        self.notes: list[str] = []
        self._id_column = file.id_column
        if file.id_column and (pair := table.rows_with_equal_ids()):
            first, second = pair
            alike = (
                f"Two documents have the {file.id_column} {table.ids_at([first])[0]!r:.40}: rows {first:,} "
                f"and {second:,}."
            )
            if not file.is_id_guessed:
                raise DataError(f"{alike} Give another --id, or --id '' to number them.")
            self.notes.append(f"{alike} The documents are numbered instead; --id names another column.")
            self._id_column = None
        if not file.id_column and not file.is_numbered and (column := _unique_column(file, table)):
            self.notes.append(
                f"each row has a different {column!r}; --id {shlex.quote(column)} names the documents by it."
            )
        #: The name of the identifier in lists and on the page: row, or id unless another column is called so.
        self.id_name = "id" if self._id_column else "row"
        if self._id_column and "id" in file.columns:
            self.id_name = self._id_column

    def id(self, row: int) -> str:
        """Return the identifier of a document, or its row if the file has no identifiers."""
        return self.ids_at([row])[0] if row < len(self.table) else str(row)

    def ids_at(self, rows: Sequence[int]) -> list[str]:
        """Return the identifiers of some documents, or their rows if the file has no identifiers."""
        return self.table.ids_at(rows) if self._id_column else [*map(str, rows)]

    def text(self, row: int) -> str:
        """Return a document."""
        return next(self.table.texts_at([row]))

    def row_of(self, name: str) -> int | None:
        """Return the row of an identifier, or None. It may be written as in the table of odd."""
        from adbench_text.documents.marks import row_named

        return self._row_of.get(no_formula(name)) if self._id_column else row_named(name)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        """The row of each identifier, which is written as in our table."""
        return {no_formula(name): row for row, name in enumerate(self.ids_at(range(len(self))))}

    def __len__(self) -> int:
        return len(self.table)

    @property
    def id_titles(self) -> tuple[str, ...]:
        """The columns of our table that can identify a document, the best one first."""
        if not (column := self._id_column):
            return ("row",)
        return tuple(dict.fromkeys([self._titles[column], column, self.id_name, "row"]))

    @property
    def text_title(self) -> str:
        """The column of the text in our table; empty if the text comes from several columns."""
        columns = self._file.text_columns
        return self._titles[columns[0]] if len(columns) == 1 else ""

    @cached_property
    def groups(self) -> list[str | None] | None:
        """The group of each document, where None is a missing group; None without --group.

        Notes on the groups are added to `notes`.
        """
        column = self._file.group_column
        if not column:
            return None
        if column not in self.table.arrow.schema.names:
            raise DataError(f"The column {column!r} holds lists or objects, which cannot be groups.")
        groups, notes = of_categories(self.table.values(column), column)
        self.notes += notes
        return groups

    def marks(self, path: Path) -> "dict[int, Mark]":
        """Return the marks of a file by row."""
        from adbench_text.documents.marks import read_marks

        return read_marks(path, self)

    @property
    def _titles(self) -> dict[str, str]:
        """The names of the columns of the file in our table."""
        titles = column_titles(self._file.columns, self.our_columns)
        return dict(zip(self._file.columns, titles, strict=True))

    def columns(self, keep_all: bool) -> Mapping[str, Callable[[Sequence[int]], Sequence[str | None]]]:
        """Return the columns of the file to write, as functions that return the values of some rows.

        These are all columns, or only the identifiers if there are many rows and `keep_all` is False.
        """
        if keep_all or len(self) <= MOST_WRITTEN:
            names = dict.fromkeys(self.table.arrow.schema.names)
            columns = dict.fromkeys([*filter(names.__contains__, self._file.columns), *names])
            return {name: partial(self.table.values_at, name) for name in columns}
        return {"id": self.ids_at} if self._id_column else {}


def _unique_column(file: DocumentFile, table: DocumentTable) -> str | None:
    """Return the first column that can identify documents: short different values, no fractions and dates."""
    import pyarrow.compute as pc

    if len(table) < _LEAST_UNIQUE:
        return None
    for place, column in enumerate(table.arrow.schema.names):
        if column in file.text_columns:
            continue
        is_unique = pc.count_distinct(table.arrow.column(place), mode="only_valid").as_py() == len(table)
        if is_unique and all(_NAME.fullmatch(value or "") for value in table.values(column)):
            return str(column)
    return None


def column_titles(columns: Sequence[str], ours: Sequence[str] = COLUMNS_OF_ODD) -> list[str]:
    """Return unique names for the columns of the file in our table.

    >>> column_titles(["p", "text", "input_p", "input_input_p"])
    ['input_input_input_p', 'text', 'input_p', 'input_input_p']
    """
    unchanged = {name for name in columns if name not in ours and no_formula(name) == name}
    taken, titles = {*ours, *unchanged}, []
    for name in columns:
        title = no_formula(name)
        while name not in unchanged and title in taken:
            title = f"input_{title}"
        taken.add(title)
        titles.append(title)
    return titles
