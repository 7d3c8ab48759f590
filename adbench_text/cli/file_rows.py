"""The rows of a file of documents: their texts, identifiers, columns and marks."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adbench_text.errors import DataError
from adbench_text.escaping import no_formula
from adbench_text.text.reading import DocumentFile

if TYPE_CHECKING:
    import pandas as pd

#: The columns of the table of odd, before those of the file.
COLUMNS_OF_ODD = tuple("rank mark row score p p_form p_both odd why why_form copy_of".split())
MOST_WRITTEN = 100_000  # documents with all columns of the file


class FileRows:
    """The rows of FILE: their texts, identifiers and columns. The file is read again each time."""

    def __init__(self, source: DocumentFile) -> None:
        self._source = source
        self._ids: list[str] = []
        has_other = "id" in source.columns and source.id_column != "id"
        #: What identifies a document in lists and on the page.
        self.id_name = "row" if not source.id_column else source.id_column if has_other else "id"

    def id(self, row: int) -> str:
        """Return the identifier of a document."""
        return self._ids[row] if row < len(self._ids) else str(row)

    def texts(self) -> Iterator[str]:
        """Yield the documents; the first time, keep their identifiers, of which no two may be equal."""
        import pandas as pd

        if self._ids or not self._source.id_column:
            yield from self._source.texts()
            return
        ids = []
        for document in self._source:
            ids.append(document.id)
            yield document.text
        is_copy = pd.Index(ids, dtype=object).duplicated()
        for row in is_copy.nonzero()[0]:
            raise DataError(
                f"Two documents have the {self._source.id_column} {ids[row]!r:.40}: rows "
                f"{ids.index(ids[row]):,} and {row:,}. Give another --id, or --id '' to number them."
            )
        self._ids = ids

    def marks(self, path: Path) -> dict[int, str]:
        """Return the marks of a file by row."""
        from adbench_text.documents.marks import read_marks, row_named

        column = self._source.id_column
        text = self._titles[self._source.text_columns[0]] if len(self._source.text_columns) == 1 else ""
        if not column:
            return read_marks(path, row_named, ("row",), text=text, texts=self.texts)
        for _ in self.texts():  # the identifiers are not known before
            pass
        rows = {no_formula(name): row for row, name in enumerate(self._ids)}
        names = tuple(dict.fromkeys([self._titles[column], column, self.id_name, "row"]))
        return read_marks(path, lambda name: rows.get(no_formula(name)), names, self.id, text, self.texts)

    @property
    def _titles(self) -> dict[str, str]:
        """The names that the columns of the file have in our table."""
        return dict(zip(self._source.columns, column_titles(self._source.columns), strict=True))

    def columns(self, n_rows: int, keep_all: bool) -> "pd.DataFrame":
        """Return the columns to write: all, or only the identifiers if there are many rows."""
        import pandas as pd

        if keep_all or n_rows <= MOST_WRITTEN:
            return pd.DataFrame((document.fields for document in self._source), dtype=object)
        return pd.DataFrame({"id": self._ids} if self._ids else {}, index=range(n_rows))


def column_titles(columns: Sequence[str]) -> list[str]:
    """Return the names of the columns of the file in our table, where no two are equal.

    >>> column_titles(["p", "text", "input_p", "input_input_p"])
    ['input_input_input_p', 'text', 'input_p', 'input_input_p']
    """
    kept = {name for name in columns if name not in COLUMNS_OF_ODD and no_formula(name) == name}
    taken, titles = {*COLUMNS_OF_ODD, *kept}, []
    for name in columns:
        title = no_formula(name)
        while name not in kept and title in taken:
            title = f"input_{title}"
        taken.add(title)
        titles.append(title)
    return titles
