"""Documents of a user's file, one at a time: CSV, TSV, JSON lines, Parquet, plain lines, a folder.

Every error names the file and the line.
"""

import codecs
import csv
import gzip
import io
import json
import shutil
import sys
import tempfile
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError, UnnamedColumnError
from adbench_text.escaping import one_line

_STDIN, _STDIN_NAME = "-", "standard input"
_TEXT = "text"  # column of formats without named columns
_LONGEST = 10_000_000  # characters of a document
_LONGEST_LINE = 4 * _LONGEST + 1_000_000  # characters; a row has more than its document
_N_LOOKED_AT = 100  # rows in which the columns are looked for
_N_WORDS = 3  # of a text, on average
_N_UNCHECKED = 1024  # identifiers that are read before they are compared for the first time
_DELIMITERS = ",;\t|"
_GZIP = b"\x1f\x8b"  # the first bytes
_BUFFER = 2**18  # bytes of a compressed file, or of a column of Parquet
_OTHER_SUFFIXES = {"tab": "tsv", "ndjson": "jsonl", "txt": "lines"}  # the others are names of formats
_SPREADSHEETS = ("xlsx", "xls", "xlsm", "xlsb", "ods", "numbers")
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Document(NamedTuple):
    """A document as it was written."""

    id: str  # from its column; otherwise its row, from 0 on
    text: str
    fields: dict[str, Any]  # all columns of its row
    place: str  # for messages: "tickets.csv, line 12"


class DocumentFile:
    """A file of documents, a folder of text files or of Parquet files, or ``"-"`` for standard input.

    Columns and kind that are not given are guessed; an empty `id` numbers the documents
    from 0 on. Several columns of
    `text` are joined by line breaks; those that are missing or empty in a row are left out. Each iteration
    reads the file from its start, and raises DataError if it has changed since the first one. Standard input
    and other pipes are read once, unless `again` copies them to a temporary file first.
    """

    def __init__(
        self,
        path: str,
        text: str | Sequence[str] | None = None,
        id: str | None = None,
        kind: str | None = None,
        encoding: str = "utf-8",
        again: bool = False,
    ) -> None:
        self.notes: list[str] = []  # about files of a folder that are left out
        given = list(filter(None, [text] if isinstance(text, str) else text or ()))
        self._source = _source(path, kind, given, encoding, again, self.notes)
        rows = self._source.read(_Unchanged(), None)
        first: list[_Row] = []
        names: dict[str, None] = {}
        for row in islice(rows, _N_LOOKED_AT):
            first.append(row)
            names |= dict.fromkeys(row.values)
            if len(given) == 1 or (given and names.keys() >= set(given)):
                break  # a pipe gets its first answer with its first document
        if not first:
            raise DataError(" ".join([f"{_capitalized(self._source.name)} has no documents.", *self.notes]))
        self._only_reading = None if self._source.is_lasting else chain(first, rows)
        self._unchanged = _Unchanged()
        self.columns = list(names)
        for column in (*given, id):
            if column and column not in self.columns:
                raise UnknownNameError("column", column, self.columns)
        self.text_columns = given or [_text_column(self.columns, first)]
        others = [name for name in self.columns if name not in self.text_columns]
        guessed = next((name for name in ("id", "file") if name in others), None) if id is None else None
        self.id_column = id or guessed

    def __iter__(self) -> Iterator[Document]:
        for number, row in enumerate(self._rows()):
            text = _as_document(row, self.text_columns)
            name = _as_text(row, self.id_column) if self.id_column else str(number)
            yield Document(name, text, row.values, row.place)

    def texts(self) -> Iterator[str]:
        """Yield the texts alone; this is faster."""
        for row in self._rows(self.text_columns):
            yield _as_document(row, self.text_columns)

    def checked(self) -> Iterator[Document]:
        """Yield all documents; raise DataError if two have the same identifier, at the end at the latest.

        Eight bytes are kept of each. If two are equal, the file is read again to find out the identifier.
        """
        hashes, n_next = array("q"), _N_UNCHECKED
        for document in self:
            if self.id_column:
                hashes.append(hash(document.id))
                if len(hashes) == n_next:
                    self._check(hashes)
                    n_next *= 2
            yield document
        self._check(hashes)

    def _rows(self, only: Sequence[str] | None = None) -> "Iterator[_Row]":
        """Return the rows from the first on; their other columns may be missing if `only` some are needed."""
        if self._source.is_lasting:
            return self._source.read(self._unchanged, only)
        rows, self._only_reading = self._only_reading, None
        if rows is None:
            raise DataError(f"{_capitalized(self._source.name)} can be read once only; save it to a file.")
        return rows

    def _check(self, hashes: "array[int]") -> None:
        """Raise DataError if two documents have the same identifier; the file is read again to name them."""
        import numpy as np

        values, counts = np.unique(np.asarray(hashes), return_counts=True)
        if not (doubled := set(values[counts > 1].tolist())):
            return
        remedy = "Give another --id, or --id '' to number them."
        if not self._source.is_lasting:
            raise DataError(f"Two documents of {self._source.name} have the same {self.id_column}. {remedy}")
        place_of: dict[str, str] = {}
        for document in self:
            if hash(document.id) not in doubled:
                continue
            if (earlier := place_of.setdefault(document.id, document.place)) is not document.place:
                raise DataError(
                    f"Two documents have the {self.id_column} {document.id!r:.40}: {earlier} and "
                    f"{document.place}. {remedy}"
                )


class _Row(NamedTuple):
    values: dict[str, Any]
    source: str  # "tickets.csv, line"
    number: int | None = None

    @property
    def place(self) -> str:
        return self.source if self.number is None else f"{self.source} {self.number:,}"


def _as_document(row: _Row, columns: Sequence[str]) -> str:
    first, *others = columns
    if others:
        present = [column for column in columns if column in row.values] or [first]
        text = "\n".join(filter(None, [_as_text(row, column) for column in present]))
    else:
        text = _as_text(row, first)
    check_length(text, row.place)
    return text


def check_length(text: str, place: str) -> None:
    """Raise DataError, which names the place of a document, if it is too long."""
    if len(text) > _LONGEST:
        raise DataError(
            f"{place}: a document of {len(text):,} characters; at most {_LONGEST:,} are allowed. Split it."
        )


def _as_text(row: _Row, column: str) -> str:
    if column not in row.values:
        raise DataError(f"{row.place} has no {column!r}.")
    value = row.values[column]
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    raise DataError(f"{row.place}: {column!r} must be text, got {type(value).__name__}: {value!r:.40}")


def _text_column(columns: Sequence[str], first: Sequence[_Row]) -> str:
    """Return the only column, one of the name ``text``, or the only one that holds more than a few words."""
    if len(columns) == 1:
        return columns[0]
    if _TEXT in columns:
        return _TEXT
    candidates = [name for name in columns if _n_words(name, first) >= _N_WORDS]
    if len(candidates) == 1:
        return candidates[0]
    listed = ", ".join(candidates or columns)
    raise UnnamedColumnError(f"Which column holds the text? Give --text with one of: {listed}.", "text")


def _n_words(column: str, first: Sequence[_Row]) -> float:
    values = [row.values.get(column) for row in first]
    return sum(len(value.split()) for value in values if isinstance(value, str)) / len(values)


class _Source(NamedTuple):
    """Where rows are read from."""

    name: str
    read: "Callable[[_Unchanged, Sequence[str] | None], Iterator[_Row]]"  # from the first row on
    is_lasting: bool = True  # `read` may be called again


def _source(
    path: str, kind: str | None, text: Sequence[str], encoding: str, again: bool, notes: list[str]
) -> _Source:
    _check_encoding(encoding)
    if not path:  # of an unset variable of the shell; as a path it is the current folder
        raise InvalidValueError("The path of the documents is empty (''); give a file, a folder, or - .")
    if path == _STDIN:
        return _source_of_pipe(sys.stdin.buffer, _STDIN_NAME, kind, text, encoding, again)
    file = Path(path).expanduser()
    with _named_errors(file):
        is_folder = file.is_dir()
        names = _files_of_folder(file, notes) if is_folder else []
        kind = kind or (_kind_of_folder(names) if is_folder else _kind_of(file))
        if kind not in _KINDS:
            raise UnknownNameError("format of documents", kind, _KINDS)
        if not file.exists():
            raise DataError(f"There is no file {file}.")
        if not is_folder and not file.is_file():  # a named pipe, or that of <(command) in a shell
            return _source_of_pipe(file.open("rb"), file.name, kind, text, encoding, again)
    if kind == "folder":
        return _Source(path, partial(_rows_of_folder, file, names, encoding))
    if kind == "parquet":
        if _is_packed(file):
            raise InvalidValueError(f"{file.name} is Parquet in gzip; unpack it: gunzip {file.name}")
        tables = {str(name): file / name for name in names if _is_data(name) and _is_parquet(name)}
        return _Source(path, partial(_rows_of_parquet, tables if is_folder else {file.name: file}))
    return _Source(path, partial(_rows_of_file, file, kind, encoding))


def _source_of_pipe(
    stream: BinaryIO, name: str, kind: str | None, text: Sequence[str], encoding: str, again: bool
) -> _Source:
    if kind is not None and kind not in _PARSERS:
        raise InvalidValueError(
            f"{_capitalized(name)} cannot be read as {kind}; give --format: {', '.join(_PARSERS)}."
        )
    copy = _copied(stream, name) if again else None

    def read(unchanged: _Unchanged, only: Sequence[str] | None) -> Iterator[_Row]:
        with _named_errors(name):
            lines = _Lines(io.BufferedReader(_Reader(copy), _BUFFER) if copy else stream, name, encoding)
            try:
                yield from _PARSERS[kind or _kind_of_line(lines.first, text)](lines, only)
            finally:
                lines.release()

    return _Source(name, read, is_lasting=again)


def _copied(stream: BinaryIO, name: str) -> BinaryIO:
    """Return a temporary file with the bytes of a pipe; the system removes it when it is closed."""
    try:
        copy = tempfile.TemporaryFile()  # noqa: SIM115
        shutil.copyfileobj(stream, copy, 2**20)
        copy.flush()
    except OSError as error:
        raise DataError(
            f"Cannot copy {name} to a temporary file: {error.strerror or error}. Save it to a file, or set "
            "TMPDIR to a folder with more space."
        ) from error
    return copy


class _Reader(io.RawIOBase):
    """Reads an open file from its start, also while others read it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._position = file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._position)
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


def _capitalized(name: str) -> str:
    return name.capitalize() if name == _STDIN_NAME else name


def _is_packed(file: Path) -> bool:
    return file.suffix.lower() == ".gz"


def _is_parquet(file: Path) -> bool:
    return file.suffix.lower() == ".parquet"


def _kind_of(file: Path) -> str:
    inner = file.with_suffix("") if _is_packed(file) else file
    suffix = inner.suffix.lower().removeprefix(".")
    kind = _OTHER_SUFFIXES.get(suffix, suffix)
    if suffix in _SPREADSHEETS:
        raise InvalidValueError(f"{file.name} is a spreadsheet; export it as CSV, and give that file.")
    if kind not in _KINDS or kind == "folder":
        raise InvalidValueError(
            f"Cannot guess the format of {file.name} from its suffix; give --format: {', '.join(_KINDS)}."
        )
    return kind


def _kind_of_line(line: str, text: Sequence[str]) -> str:
    """Return the format of a pipe that begins with a line; only a column in it shows that it is a header."""
    if line.lstrip().startswith("{"):
        return "jsonl"
    header = next(csv.reader([line], delimiter=_delimiter(line)), [])
    # plain lines have the column "text" only: another one must be in a header
    return "csv" if text and (_TEXT in header or [*text] != [_TEXT]) else "lines"


def _kind_of_folder(names: Sequence[Path]) -> str:
    data = list(filter(_is_data, names))
    return "parquet" if data and all(map(_is_parquet, data)) else "folder"


def _is_data(name: Path) -> bool:
    """Return whether a file is part of a table; Spark writes others that begin with ``_`` beside it."""
    return not any(part.startswith("_") for part in name.parts)


def _check_encoding(encoding: str) -> None:
    try:
        "\n".encode(encoding)
    except (LookupError, ValueError) as error:
        raise InvalidValueError(f"There is no encoding {encoding!r}; try utf-8 or latin-1.") from error


@contextmanager
def _named_errors(file: Path | str) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{file} is not a gzip file, or is damaged: {error}.") from error
    except OSError as error:
        reason = one_line(error.strerror or str(error)).rstrip(".")
        raise DataError(f"Cannot read {file}: {reason}.") from error


class _Unchanged:
    """Files that are read several times: none may change after it was opened first."""

    def __init__(self) -> None:
        self._states: dict[Path, tuple[int, int]] = {}

    @contextmanager
    def reading(self, file: Path) -> Iterator[None]:
        """Name the file in errors of the block; raise DataError if it has changed, or does during the block.

        The first time it may grow, as a log does.
        """
        is_first = file not in self._states
        with _named_errors(file):
            self._check(file)
            yield
            if not is_first:
                self._check(file)

    @contextmanager
    def opened(self, file: Path) -> Iterator[BinaryIO]:
        """Yield the bytes of a file, which are unpacked if its name ends in .gz."""
        with self.reading(file), file.open("rb") as stream:
            yield io.BufferedReader(gzip.GzipFile(fileobj=stream), _BUFFER) if _is_packed(file) else stream

    def _check(self, file: Path) -> None:
        status = file.stat()
        state = status.st_size, status.st_mtime_ns
        if self._states.setdefault(file, state) != state:
            raise DataError(
                f"{file} has changed while it was in use. Start again when no program writes to it, or copy "
                "it first."
            )


def _rows_of_file(
    file: Path, kind: str, encoding: str, unchanged: _Unchanged, only: Sequence[str] | None
) -> Iterator[_Row]:
    with unchanged.opened(file) as stream:
        yield from _PARSERS[kind](_Lines(stream, file.name, encoding), only)


class _Lines:
    """The lines of a stream as text; `number` is that of the last one, `first` is known beforehand."""

    def __init__(self, stream: BinaryIO, name: str, encoding: str) -> None:
        self.name = name
        self.source = f"{name}, line"  # of rows
        self.number = 0
        buffered = stream if hasattr(stream, "peek") else io.BufferedReader(stream)  # type: ignore[type-var]
        begin = buffered.peek(len(_GZIP))
        if begin.startswith(_GZIP):
            raise DataError(f"{name} is compressed by gzip; unpack it, or end its name in .gz.")
        if begin.startswith(_UTF16_MARKS):
            encoding = "utf-16"
        self._encoding = codecs.lookup(encoding).name.removesuffix("-sig")
        codec = "utf-8-sig" if self._encoding == "utf-8" else self._encoding
        self._text = io.TextIOWrapper(buffered, codec, newline="\n")  # other line ends are left as they are
        self.first = self._next()

    @property
    def place(self) -> str:
        return f"{self.source} {self.number:,}"

    def __iter__(self) -> Iterator[str]:
        line = self.first
        while line:
            self.number += 1
            yield line
            line = self._next()

    def release(self) -> None:
        """Leave the stream open when this object goes."""
        self._text.detach()

    def _next(self) -> str:
        """Return the next line, an empty string at the end."""
        try:
            line = self._text.readline(_LONGEST_LINE)
        except UnicodeError as error:  # also one without a reason: there is no byte order mark
            raise DataError(
                f"{self.name} is not in {self._encoding}, after line {self.number:,}: "
                f"{getattr(error, 'reason', error)}. Give another --encoding, for example latin-1."
            ) from error
        if len(line) >= _LONGEST_LINE:
            raise DataError(
                f"{self.source} {self.number + 1:,} is longer than {_LONGEST_LINE / 1e6:.0f} million "
                "characters; split the document."
            )
        if "\0" in line:
            raise DataError(f"{self.source} {self.number + 1:,} has a NUL byte: this is not a text file.")
        return line


def _json(lines: _Lines, only: Sequence[str] | None) -> Iterator[_Row]:
    for line in lines:
        if line.isspace():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{lines.place} is not JSON: {error}. Each line must be one object.") from error
        if not isinstance(values, dict):
            raise DataError(f"{lines.place} is JSON, but not an object: {line.strip():.40}")
        yield _Row(values, lines.source, lines.number)


def _plain(lines: _Lines, only: Sequence[str] | None) -> Iterator[_Row]:
    for line in lines:
        yield _Row({_TEXT: line.rstrip("\r\n")}, lines.source, lines.number)


def _separated(lines: _Lines, only: Sequence[str] | None, delimiter: str | None = None) -> Iterator[_Row]:
    delimiter = delimiter or _delimiter(lines.first)
    csv.field_size_limit(_LONGEST_LINE)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    start = 1
    try:
        header = next(reader, [])
        _check_header(header, lines.name)
        kept = [header.index(name) for name in only or () if name in header]
        start = lines.number + 1  # a quoted field may run over several lines
        for fields in reader:
            if fields and len(fields) != len(header):
                raise DataError(
                    f"{lines.source} {start:,} has {len(fields)} fields, but the header has {len(header)}. A "
                    f"field with a {delimiter!r} or a line break in it must be in double quotes."
                )
            if fields:
                values = (
                    dict(zip(header, fields, strict=True))
                    if only is None
                    else {header[place]: fields[place] for place in kept}
                )
                yield _Row(values, lines.source, start)
            start = lines.number + 1
    except csv.Error as error:
        raise DataError(f"{lines.source} {start:,}: {error}.") from error


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)  # the first of equals: a comma


def _check_header(header: Sequence[str], name: str) -> None:
    if doubled := {column for column in header if header.count(column) > 1}:
        raise DataError(f"{name} has two columns named {min(doubled)!r}; rename one.")


_PARSERS: dict[str, Callable[[_Lines, Sequence[str] | None], Iterator[_Row]]] = {
    "csv": _separated,
    "tsv": partial(_separated, delimiter="\t"),
    "jsonl": _json,
    "lines": _plain,
}
_KINDS = (*_PARSERS, "parquet", "folder")


def _rows_of_parquet(
    tables: Mapping[str, Path], unchanged: _Unchanged, only: Sequence[str] | None
) -> Iterator[_Row]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    columns = None if only is None else [*only]
    for name, file in tables.items():
        source, number = f"{name}, row", 0
        with unchanged.reading(file):
            try:
                with ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False) as table:
                    _check_header(table.schema_arrow.names, name)
                    for batch in table.iter_batches(batch_size=1000, columns=columns):
                        for values in batch.to_pylist():
                            number += 1
                            yield _Row(values, source, number)
            except (ArrowException, OverflowError, ValueError) as error:  # also of UTF-8, and of dates
                raise DataError(
                    f"{file} is not a Parquet file, or is damaged: {one_line(str(error))}"
                ) from error


def _files_of_folder(folder: Path, notes: list[str]) -> list[Path]:
    """Return the visible files of a folder and of its folders, in the order of their paths.

    A link may be anybody's, and lead to any file of this machine: one that leaves the folder is left out, and
    noted.
    """
    names = [file.relative_to(folder) for file in sorted(folder.rglob("*"))]
    visible = [name for name in names if not any(part.startswith(".") for part in name.parts)]
    root = folder.resolve()
    files = [
        name
        for name in visible
        if (path := folder / name).is_file() and (not path.is_symlink() or root in path.resolve().parents)
    ]
    n_links = sum((folder / name).is_symlink() for name in set(visible).difference(files))
    if n_links:
        notes.append(
            f"{n_links:,} links of {folder} are left out: they lead out of it, to a folder, or nowhere."
        )
    return files


def _rows_of_folder(
    folder: Path, names: Sequence[Path], encoding: str, unchanged: _Unchanged, only: Sequence[str] | None
) -> Iterator[_Row]:
    for name in names:
        with unchanged.opened(folder / name) as stream:
            text = "".join(_Lines(stream, str(name), encoding))
        yield _Row({"file": str(name), _TEXT: text}, str(name))
