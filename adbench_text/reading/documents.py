"""Read the documents of the user's file once, into an Arrow table or in batches."""

import gc
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.escaping import without_surrogates
from adbench_text.reading.batch import LONGEST, MOST_ROWS, Batch, ColumnStrings, check_length
from adbench_text.reading.escapes import Unescaped
from adbench_text.reading.options import ReadOptions
from adbench_text.reading.source import TEXT, Source, WholeLines, source_of
from adbench_text.reading.stored import RowNumbers, StoredTexts, by_batch, texts_of, write

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_N_LOOKED_AT = 100  # rows that show the columns
_N_WORDS = 3  # least average number of words in a column of text
_IN_MEMORY = 2**26  # bytes; more documents are written to temporary files


class Document(NamedTuple):
    """A document as it was written."""

    id: str  # from its column, or "row 5" if empty; without a column, its row from 0 on
    text: str


class DocumentFile:
    """A file of documents, a folder of files, ``"-"`` for standard input, or ``"hf:..."``.

    It can be read only once: `table` reads all of it, and an iteration yields the documents of a pipe as they
    come.

    Parameters
    ----------
    path : str
        File, folder, ``"-"`` or the name of a data set.
    text : str or sequence of str, optional
        Columns of the text. Several are joined by line breaks, without missing and empty values. The default
        is the only column with text.
    id : str, optional
        Column of the identifiers. An empty name numbers the documents from 0 on. The default is ``id``.
    group : str, optional
        Column of the groups.
    likely_id : str, optional
        Column of the identifiers, if the file has it and `id` is not given.
    **options
        How the file is read: `ReadOptions`.

    Raises
    ------
    DataError
        If the file cannot be read. The message has the line.
    UnknownNameError
        If a column is missing.
    InvalidValueError
        If several columns may have the text, or an option is wrong.
    """

    def __init__(
        self,
        path: str,
        text: str | Sequence[str] | None = None,
        id: str | None = None,
        group: str | None = None,
        likely_id: str | None = None,
        **options: Any,
    ) -> None:
        names_of_text = [text] if isinstance(text, str) else text or ()
        given = [*map(without_surrogates, filter(None, names_of_text))]
        id = id and without_surrogates(id)
        self.group_column = group and without_surrogates(group)
        others = [*filter(None, [id, self.group_column])]
        self._source = source = source_of(path, [*given, *others], ReadOptions(**options))
        source.chosen = given
        batches = source.batches()
        first = _first_batches(source, batches, given, others)
        if not any(map(len, first)):
            raise DataError(
                " ".join([f"{source.name} has no documents.", *source.notes, *source.losses.notes])
            )
        # these formats are read again from the start, with the needed columns only
        is_read_anew = source.hub is not None or source.kind == "parquet"
        self._reading: Iterator[Batch] | None = (
            None if is_read_anew and not source.pipe else chain(first, batches)
        )
        self._is_read = False
        self.columns = [*dict.fromkeys(chain.from_iterable(batch.columns for batch in first))]
        self.class_columns = [*source.hub.classes] if source.hub else []
        for column in (*given, *others):
            if column and column not in self.columns:
                raise UnknownNameError("column", column, self.columns, source.advice)
        likely = [*source.options.likely]
        if likely and not given and {*likely} <= {*self.columns}:
            given = likely
        self.text_columns = given or [
            source.found_text or _text_column(self.columns, first, source.losses.notes)
        ]
        rest = [name for name in self.columns if name not in self.text_columns]
        if id is None and likely_id in rest:
            id = likely_id
        guessed = named(rest, ("id", "file")) if id is None else None
        self.id_column = id or guessed
        self.is_id_guessed = guessed is not None
        self.is_numbered = id == ""  # because the user asked for it
        self.check_single(*self.text_columns, self.id_column, self.group_column)

    @property
    def description(self) -> str:
        """The guesses: ``comma, header, UTF-8``."""
        return self._source.description

    @property
    def kind(self) -> str | None:
        """The format; None for a data set of Hugging Face, or a pipe whose first line shows it."""
        return self._source.kind

    @property
    def single(self) -> Path | None:
        """The file, if the rows come from one file that can be read again."""
        files = [*self._source.files.values()]
        return files[0] if len(files) == 1 and self.kind != "folder" else None

    @property
    def whole_lines(self) -> WholeLines | None:
        """How the file is cut, if each row is one or several whole lines; None for other formats."""
        return self._source.whole_lines

    @property
    def notes(self) -> list[str]:
        """Notes that are known before the file is read, such as skipped files of a folder."""
        return self._source.notes

    @property
    def late_notes(self) -> list[str]:
        """Notes on losses while the file was read."""
        return self._source.losses.notes

    def check_single(self, *columns: str | None) -> None:
        """Raise DataError if one of these names belongs to several columns."""
        for column in columns:
            if column in self._source.doubled:
                raise DataError(
                    f"{self._source.name} has two columns named {column!r}; rename one, or give the second "
                    f"as {column + '.1'!r}."
                )

    def __iter__(self) -> Iterator[Document]:
        return chain.from_iterable(self.batches())

    def batches(self) -> Iterator[list[Document]]:
        """Yield documents in batches as they are read. A batch of a pipe has the documents that have come."""
        begin = 0
        for rows, _ in self._strings(()):
            table = DocumentTable(rows, self.text_columns, self.id_column, pieces=(), begin=begin)
            yield [*map(Document, table.ids, table.texts())]
            begin += len(table)

    @property
    def is_pipe(self) -> bool:
        """Whether the documents come from a pipe."""
        return self._source.pipe is not None

    def table(
        self,
        columns: Collection[str] | None = None,
        most: float = float("inf"),
        progress: Callable[[int], object] = lambda n: None,
    ) -> "DocumentTable":
        """Return all documents with some other `columns`.

        If `columns` is None, all columns are kept for up to `most` rows. `progress` receives the number of
        documents read.
        """
        store, pieces, n_read = _BatchStore(self.text_columns), [], 0
        with _without_collection():
            for rows, batch in self._strings(columns, most):
                store.add(rows)
                pieces.append(_Piece(n_read, replace(batch, columns={})))
                n_read += rows.num_rows
                progress(n_read)
        return store.table(self.id_column, pieces)

    def _strings(
        self, others: Collection[str] | None, most: float = float("inf")
    ) -> "Iterator[tuple[pa.RecordBatch, Batch]]":
        """Yield rows with columns of strings, and the batch that they come from.

        `others` are columns besides text, identifiers and groups; None for all columns of the first `most`
        rows.
        """
        import pyarrow as pa

        if self._is_read:
            raise DataError(f"{self._source.name} can be read only once.")
        self._is_read = True
        needed = [*filter(None, [*self.text_columns, self.id_column, self.group_column, *(others or ())])]
        source = self._source
        strings = ColumnStrings(
            texts=self.text_columns,
            kept=others or (),
            options=source.options,
            losses=source.losses,
            is_table=source.is_table,
        )
        unescaped = Unescaped(source.losses, source.is_table)
        reading = self._reading or self._source.batches(None if others is None else needed)
        n_read = 0
        for batch in map(_with_clean_names, reading):
            if lacking := self._lacking(batch):
                self._source.skip_part(batch.part, lacking)
                continue
            n_read += len(batch)
            has_all = others is None and n_read <= most
            names = dict.fromkeys([*needed, *batch.columns]) if has_all else needed
            arrays = {}
            for name in names:
                if name not in batch.columns:
                    arrays[name] = pa.nulls(len(batch), pa.string())
                elif (array := strings.strings(batch, name)) is not None:
                    arrays[name] = array
            for name in self.text_columns:
                _check_lengths(arrays[name], batch)
                if not source.options.as_written:
                    arrays[name] = unescaped.texts(arrays[name], batch)
            yield pa.RecordBatch.from_arrays([*arrays.values()], [*arrays]), batch

    def _lacking(self, batch: Batch) -> DataError | None:
        """Return the error for a file that lacks a column of the text, or None; JSON objects may lack it."""
        lacking = [name for name in self.text_columns if name not in batch.columns]
        if not lacking or self._source.kind in ("jsonl", "folder", None):
            return None
        return DataError(
            f"{batch.part} has no column {lacking[0]!r}, which other files have. If the parts have no "
            "header, give --no-header."
        )


class _Piece(NamedTuple):
    """Rows of a table that come from one batch, which names their places."""

    begin: int  # the first row
    batch: Batch  # without its columns


@dataclass
class DocumentTable:
    """Documents, their identifiers and other columns, as strings. Rows count from 0."""

    arrow: Any  # an Arrow table or record batch
    text_columns: Sequence[str]
    id_column: str | None
    pieces: Sequence[_Piece]
    begin: int = 0  # the number of the first row
    folder: "TemporaryDirectory[str] | None" = None  # of the files, which are deleted with the table
    stored: StoredTexts | None = None  # the documents for other processes, if they are in files
    lengths: Any = None  # an array of the number of characters of each document, if they are in files

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def __iter__(self) -> Iterator[str]:
        return self.texts()

    def texts(self) -> Iterator[str]:
        """Yield the documents; a missing document is empty."""
        for batch in self._batches:
            yield from texts_of(batch, self.text_columns)

    def texts_at(self, rows: RowNumbers) -> Iterator[str]:
        """Yield the documents of some rows. Other rows are not read."""
        if self.stored is not None:
            return iter(self.stored.at(rows))
        texts = np.empty(len(rows), dtype=object)
        for number, places, taken in by_batch(rows, self._ends):
            texts[places] = texts_of(self._batches[number].take(taken), self.text_columns)
        return iter(texts.tolist())

    @property
    def ids(self) -> list[str]:
        """The identifier of each document."""
        names = self.values(self.id_column) if self.id_column else None
        return self._named(names, range(len(self)))

    def ids_at(self, rows: Sequence[int]) -> list[str]:
        """Return the identifiers of some documents."""
        names = self.values_at(self.id_column, rows) if self.id_column else None
        return self._named(names, rows)

    def _named(self, names: list[str | None] | None, rows: Iterable[int]) -> list[str]:
        """Return the identifiers of rows, given the values of their column if there is one."""
        numbers = (self.begin + row for row in rows)
        if names is None:
            return [*map(str, numbers)]
        return [name or f"row {number}" for number, name in zip(numbers, names, strict=True)]

    def rows_with_equal_ids(self) -> tuple[int, int] | None:
        """Return the first two rows that have the same identifier, or None."""
        import pandas as pd
        import pyarrow.compute as pc

        if (place := self.arrow.schema.get_field_index(self.id_column)) >= 0:
            column = self.arrow.column(place)
            # an empty identifier is replaced by a name that another document may have
            has_all = pc.min(pc.binary_length(column.fill_null(""))).as_py()
            if has_all and pc.count_distinct(column).as_py() == len(self):
                return None  # Arrow needs much less memory than all names in Python
        names = self.ids
        is_copy = pd.Series(names, dtype=object).duplicated()
        if not is_copy.any():
            return None
        second = int(is_copy.argmax())
        return names.index(names[second]), second

    def values(self, column: str) -> list[str | None]:
        """Return the values of a column, with None for missing values or a missing column."""
        if (place := self.arrow.schema.get_field_index(column)) < 0:  # faster than a list of all names
            return [None] * len(self)
        values: list[str | None] = self.arrow.column(place).to_pylist()
        return values

    def values_at(self, column: str, rows: RowNumbers) -> list[str | None]:
        """Return the values of a column in some rows. Other rows are not read."""
        values = np.empty(len(rows), dtype=object)  # of None
        if (place := self.arrow.schema.get_field_index(column)) >= 0:
            for number, places, taken in by_batch(rows, self._ends):
                values[places] = self._batches[number].column(place).take(taken).to_pylist()
        found: list[str | None] = values.tolist()
        return found

    @cached_property
    def _batches(self) -> "list[pa.RecordBatch]":
        """All rows in batches."""
        return self.arrow.to_batches() if hasattr(self.arrow, "to_batches") else [self.arrow]

    @cached_property
    def _ends(self) -> "NDArray[np.int64]":
        """The number of rows up to the end of each batch."""
        return np.cumsum([batch.num_rows for batch in self._batches], dtype=np.int64)

    @property
    def numbers(self) -> "NDArray[np.int64]":
        """The line or the row of its file where each document begins, from 1 on."""
        return np.concatenate([np.asarray(piece.batch.numbers, np.int64) for piece in self.pieces])

    def place(self, row: int) -> str:
        """Return the place of a document, for messages: ``"tickets.csv, line 12"``."""
        piece = self.pieces[bisect_right(self.pieces, row, key=lambda each: each.begin) - 1]
        return piece.batch.place(row - piece.begin)

    @property
    def splits(self) -> list[str]:
        """The split of each document in a data set of Hugging Face; empty strings otherwise."""
        return [piece.batch.split for piece in self.pieces for _ in range(len(piece.batch))]


def table_of(texts: Iterable[str]) -> DocumentTable:
    """Return a table of some texts."""
    import pyarrow as pa

    store, remaining = _BatchStore([TEXT]), iter(texts)
    while batch := [*islice(remaining, MOST_ROWS)]:
        store.add(pa.RecordBatch.from_arrays([pa.array(batch, pa.string())], [TEXT]))
    return store.table(id_column=None, pieces=())


class _BatchStore:
    """Keeps record batches in memory, or above some size in temporary files."""

    def __init__(self, text_columns: Sequence[str]) -> None:
        self._text_columns = text_columns
        self._folder: TemporaryDirectory[str] | None = None
        self._batches: list[pa.Table] = []
        self._n_bytes = 0
        self._files: list[Path] = []
        self._lengths: list[NDArray[np.int32]] = []  # of the documents in files

    def add(self, batch: "pa.RecordBatch") -> None:
        """Keep a batch."""
        import pyarrow as pa

        self._batches.append(pa.Table.from_batches([batch]))
        self._n_bytes += batch.nbytes
        if self._n_bytes > _IN_MEMORY:
            with _disk_errors():
                self._write()

    def table(self, id_column: str | None, pieces: Sequence[_Piece]) -> DocumentTable:
        """Return all rows as a table. If a batch lacks a column, its values are missing.

        If some batches are in files, the others are written, too, and the table maps the files.
        """
        import pyarrow as pa

        if not self._files:
            rows = pa.concat_tables(self._batches, promote_options="default")
            return DocumentTable(rows, self._text_columns, id_column, pieces)
        if self._batches:
            with _disk_errors():
                self._write()
        mapped = [pa.ipc.open_file(pa.memory_map(str(file))).read_all() for file in self._files]
        return DocumentTable(
            pa.concat_tables(mapped, promote_options="default"),
            self._text_columns,
            id_column,
            pieces,
            folder=self._folder,
            stored=StoredTexts(
                files=tuple(map(str, self._files)),
                n_rows=tuple(map(len, self._lengths)),
                text_columns=tuple(self._text_columns),
            ),
            lengths=np.concatenate(self._lengths),
        )

    def _write(self) -> None:
        """Move the batches from memory to another temporary file."""
        import pyarrow as pa

        self._folder = self._folder or TemporaryDirectory(
            prefix="adbench-text-",
            ignore_cleanup_errors=True,  # Windows cannot delete mapped files
        )
        file = Path(self._folder.name) / f"{len(self._files)}.arrow"
        rows = pa.concat_tables(self._batches, promote_options="default")
        write(rows, file)
        self._files.append(file)
        texts = chain.from_iterable(texts_of(batch, self._text_columns) for batch in rows.to_batches())
        self._lengths.append(np.fromiter(map(len, texts), np.int32, len(rows)))
        self._batches, self._n_bytes = [], 0


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause garbage collection. Rows have no cycles, and each collection visits all imported modules."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


@contextmanager
def _disk_errors() -> Iterator[None]:
    """Turn errors of the system into DataError with advice."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"Cannot keep the documents in a temporary file: {error.strerror or error}. Set TMPDIR to a "
            "folder with more space."
        ) from error


def _with_clean_names(batch: Batch) -> Batch:
    """Replace lone surrogates in the names of columns by U+FFFD."""
    if all(name.isascii() for name in batch.columns):
        return batch
    columns = {without_surrogates(name): values for name, values in batch.columns.items()}
    if len(columns) < len(batch.columns):
        raise DataError(f"{batch.part} has columns whose names differ only in lone surrogates; rename one.")
    return replace(batch, columns=columns)


def _check_lengths(texts: "pa.Array", batch: Batch) -> None:
    """Raise DataError if a document of a batch is too long."""
    import pyarrow.compute as pc

    if (pc.max(pc.binary_length(texts)).as_py() or 0) > LONGEST:
        for index, text in enumerate(texts.to_pylist()):
            check_length(text or "", batch.place(index))


def named(columns: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Return the first wanted name that a column has, in any case, or None.

    >>> named(["ID", "Text"], ("id", "file")), named(["text", "TEXT"], ("text",)), named(["a"], ("text",))
    ('ID', 'text', None)
    """
    for name in wanted:
        if name in columns:
            return name
        if len(alike := [column for column in columns if column.strip().lower() == name]) == 1:
            return alike[0]
    return None


def _first_batches(
    source: Source, batches: Iterator[Batch], text: Sequence[str], others: Sequence[str]
) -> list[Batch]:
    """Read batches until the column of the text is known or can be guessed.

    The user named the columns `text`, or none, and the columns `others`.
    """
    first, names, likely = list[Batch](), set[str](), source.options.likely
    for batch in batches:
        first.append(_with_clean_names(batch))
        names.update(first[-1].columns)
        has_all = names >= {*text, *others}
        has_likely = bool(likely) and ({*likely} <= names or TEXT in names)
        is_known = text or source.found_text or has_likely
        # the first of several files may lack a column
        is_enough = sum(map(len, first)) >= _N_LOOKED_AT and (has_all or not source.goes_on)
        if is_enough or (is_known and has_all):
            break  # a pipe must get an answer after its first document
    return first


def _text_column(columns: Sequence[str], first: Sequence[Batch], notes: Sequence[str]) -> str:
    """Return the column of the text: the only one, ``text``, or the only one with several words a value."""
    if len(columns) == 1:
        return columns[0]
    if name := named(columns, (TEXT,)):
        return name
    candidates = [name for name in columns if _n_words(name, first) >= _N_WORDS]
    if len(candidates) == 1:
        return candidates[0]
    listed = ", ".join(candidates or columns)
    raise InvalidValueError(
        " ".join([f"Which column holds the text? Give --text with one of: {listed}.", *notes])
    )


def _n_words(column: str, first: Sequence[Batch]) -> float:
    """Return the average number of words in a column."""
    values: list[Any] = []
    for batch in first:
        of_batch = batch.columns.get(column, ())
        some = of_batch[: _N_LOOKED_AT - len(values)]
        values += some.to_pylist() if hasattr(some, "to_pylist") else some
    texts = [value.decode(errors="replace") if isinstance(value, bytes) else value for value in values]
    return sum(len(text.split()) for text in texts if isinstance(text, str)) / max(len(values), 1)
