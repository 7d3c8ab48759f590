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
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, starmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.escaping import one_line, without_surrogates
from adbench_text.text.hub import HUB, HubData

_STDIN, _STDIN_NAME = "-", "standard input"
_TEXT = "text"  # column of formats without named columns
_LONGEST = 10_000_000  # characters of a document
_LONGEST_LINE = 4 * _LONGEST + 1_000_000  # characters; a row has more than its document
_N_LOOKED_AT = 100  # rows in which the columns are looked for
_N_WORDS = 3  # of a text, on average
_DELIMITERS = ",;\t|"
_GZIP = b"\x1f\x8b"  # the first bytes
_BUFFER = 2**18  # bytes of a compressed file, or of a column of Parquet
_OTHER_SUFFIXES = {"tab": "tsv", "ndjson": "jsonl", "txt": "lines"}  # the others are names of formats
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Document(NamedTuple):
    """A document as it was written."""

    id: str  # from its column, "row 5" if it is empty there; without a column, its row from 0 on
    text: str
    fields: dict[str, Any]  # all columns of its row
    place: str  # for messages: "tickets.csv, line 12"
    split: str = ""  # of a data set of Hugging Face


class DocumentFile:
    """A file of documents, a folder of text or Parquet files, ``"-"`` for standard input, or ``"hf:..."``.

    Columns and kind that are not given are guessed; an empty `id` numbers the documents from 0 on. Several
    columns of `text` are joined by line breaks; those that are missing or empty in a row are left out. Each
    iteration reads the file from its start, and raises DataError if it has changed since the first one.
    U+FFFD replaces lone surrogates, which have no UTF-8; `late_notes` counts such documents. Standard input
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
        given = [*map(without_surrogates, filter(None, [text] if isinstance(text, str) else text or ()))]
        id = id and without_surrogates(id)
        self._source = _source(path, kind, given, encoding, again)
        self.notes = self._source.notes  # about files of a folder that are left out
        rows = self._source.rows({})
        first: list[_Row] = []
        names: dict[str, None] = {}
        for row in islice(rows, _N_LOOKED_AT):
            first.append(row)
            names |= dict.fromkeys(row.values)
            if len(given) == 1 or (given and names.keys() >= set(given)):
                break  # a pipe gets its first answer with its first document
        if not first:
            raise DataError(" ".join([f"{self._source.name} has no documents.", *self.notes]))
        self._only_reading = chain(first, rows) if self._source.pipe else None
        self._states: dict[Path, tuple[int, int]] = {}
        self._n_mended = 0
        self.columns = list(names)
        self.class_columns = [*self._source.hub.classes] if self._source.hub else []
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
            name = _as_text(row, self.id_column) or f"row {number}" if self.id_column else str(number)
            yield Document(name, text, row.values, row.place, row.split)

    def texts(self) -> Iterator[str]:
        """Yield the texts alone; of Parquet no other columns are read."""
        for row in self._rows(self.text_columns):
            yield _as_document(row, self.text_columns)

    @property
    def late_notes(self) -> list[str]:
        """What is known once the documents were read."""
        if not self._n_mended:
            return []
        have = "document has" if self._n_mended == 1 else "documents have"
        return [f"{self._n_mended:,} {have} lone surrogates, which are no characters; U+FFFD replaces them."]

    def _rows(self, only: Sequence[str] | None = None) -> "Iterator[_Row]":
        """Yield the rows from the first on; their other columns may be missing if `only` some are needed."""
        rows: Iterator[_Row] | None = self._only_reading
        self._only_reading = None
        if not self._source.pipe:
            rows = self._source.rows(self._states, only)
        if rows is None:
            raise DataError(f"{self._source.name} can be read once only; save it to a file.")
        n_mended = 0
        for row in rows:
            n_mended += row.is_mended
            yield row
        self._n_mended = max(self._n_mended, n_mended)


class _Row(NamedTuple):
    values: dict[str, Any]
    place: str  # "tickets.csv, line 12"
    split: str = ""
    is_mended: bool = False  # whether it had lone surrogates


def _mended(row: _Row) -> _Row:
    """Return a row with U+FFFD in place of lone surrogates; names of files have them, and JSON."""
    if all(each.isascii() for pair in row.values.items() for each in pair if isinstance(each, str)):
        return row
    values = {
        without_surrogates(name): without_surrogates(value) if isinstance(value, str) else value
        for name, value in row.values.items()
    }
    if len(values) < len(row.values):
        raise DataError(f"{row.place} has two columns whose names differ in lone surrogates; rename one.")
    return row._replace(values=values, is_mended=True) if values != row.values else row


def _as_document(row: _Row, columns: Sequence[str]) -> str:
    if len(columns) == 1:  # the usual case, which this makes faster
        text = _as_text(row, columns[0])
    else:
        present = [column for column in columns if column in row.values] or columns[:1]
        text = "\n".join(filter(None, [_as_text(row, column) for column in present]))
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
    raise InvalidValueError(f"Which column holds the text? Give --text with one of: {listed}.")


def _n_words(column: str, first: Sequence[_Row]) -> float:
    values = [row.values.get(column) for row in first]
    return sum(len(value.split()) for value in values if isinstance(value, str)) / len(values)


@dataclass
class _Source:
    """Where rows are read from: a file, the files of a folder, a pipe, or a data set of Hugging Face."""

    name: str
    kind: str | None  # None for a pipe whose first line shows it
    text: Sequence[str]  # columns that the user named
    encoding: str
    files: dict[str, Path] = field(default_factory=dict)  # by their names in messages
    pipe: BinaryIO | None = None  # is read once
    notes: list[str] = field(default_factory=list)
    copy: "TemporaryDirectory[str] | None" = None  # of a pipe; it goes with this object
    hub: HubData | None = None

    def rows(self, states: dict[Path, tuple[int, int]], only: Sequence[str] | None = None) -> Iterator[_Row]:
        """Yield the rows from the first on; see `_opened` for `states`."""
        return map(_mended, self._read(states, only))

    def _read(self, states: dict[Path, tuple[int, int]], only: Sequence[str] | None) -> Iterator[_Row]:
        if self.hub:
            yield from starmap(_Row, self.hub.rows(only))
        if self.pipe:
            with _named_errors(self.name):
                yield from self._parsed(self.pipe, self.name, only)
        for name, file in self.files.items():
            with _opened(file, states) as stream:
                yield from self._parsed(stream, name, only)

    def _parsed(self, stream: BinaryIO, name: str, only: Sequence[str] | None) -> Iterator[_Row]:
        if self.kind == "parquet":
            return _parquet(stream, name, only)
        lines = _lines(stream, name, self.encoding)
        if self.kind == "folder":
            return iter([_Row({"file": name, _TEXT: "".join(lines)}, name)])
        first = list(islice(lines, 1))
        kind = self.kind or _kind_of_line("".join(first), self.text)
        return _PARSERS[kind](chain(first, lines), name)


def _source(path: str, kind: str | None, text: Sequence[str], encoding: str, again: bool) -> _Source:
    if kind is not None and kind not in _KINDS:
        raise UnknownNameError("format of documents", kind, _KINDS)
    if not path:  # of an unset variable of the shell; as a path it is the current folder
        raise InvalidValueError("The path of the documents is empty (''); give a file, a folder, or - .")
    if path.startswith(HUB):
        data = HubData(path)
        return _Source(path, kind, text, encoding, notes=data.notes, hub=data)
    if path == _STDIN:
        return _of_pipe(_Source(_STDIN_NAME, kind, text, encoding), sys.stdin.buffer, again)
    file = Path(path).expanduser()
    source = _Source(path, kind, text, encoding, {file.name: file})
    with _named_errors(file):
        if file.is_dir():
            names = _files_of_folder(file, source.notes)
            tables = [name for name in names if _is_data(name) and _is_parquet(name)]
            is_table = bool(tables) and len(tables) == sum(map(_is_data, names))
            source.kind = kind = kind or ("parquet" if is_table else "folder")
            if kind in ("parquet", "folder"):
                source.files = {str(name): file / name for name in (names if kind == "folder" else tables)}
        elif not file.exists():
            raise DataError(f"There is no file {file}.")
        elif not file.is_file():  # a named pipe, or that of <(command) in a shell
            return _of_pipe(_Source(file.name, kind, text, encoding), file.open("rb"), again)
        else:
            source.kind = kind or _kind_of(file)
    return source


def _of_pipe(source: _Source, pipe: BinaryIO, again: bool) -> _Source:
    """Let a source read a pipe; if it is read `again`, a temporary copy."""
    if not again:
        source.pipe = pipe
        return source
    name = source.name
    try:
        source.copy = TemporaryDirectory()
        source.files = {name: Path(source.copy.name) / "copy"}
        with source.files[name].open("wb") as copy:
            shutil.copyfileobj(pipe, copy, 2**20)
    except OSError as error:
        raise DataError(
            f"Cannot copy {name} to a temporary file: {error.strerror or error}. Save it to a file, or "
            "set TMPDIR to a folder with more space."
        ) from error
    return source


def _is_parquet(file: Path) -> bool:
    return file.suffix.lower() == ".parquet"


def _is_data(name: Path) -> bool:
    """Return whether a file is part of a table; Spark writes others that begin with ``_`` beside it."""
    return not any(part.startswith("_") for part in name.parts)


def _kind_of(file: Path) -> str:
    suffix = Path(file.name.lower().removesuffix(".gz")).suffix.removeprefix(".")
    kind = _OTHER_SUFFIXES.get(suffix, suffix)
    if kind not in _KINDS or kind == "folder":
        raise InvalidValueError(
            f"Cannot guess the format of {file.name} from its suffix; give --format: {', '.join(_KINDS)}. "
            "Export a spreadsheet as CSV first."
        )
    return kind


def _kind_of_line(line: str, text: Sequence[str]) -> str:
    """Return the format of a pipe that begins with a line; only a column in it shows that it is a header."""
    if line.lstrip().startswith("{"):
        return "jsonl"
    header = next(csv.reader([line], delimiter=_delimiter(line)), [])
    # plain lines have the column "text" only: another one must be in a header
    return "csv" if text and (_TEXT in header or [*text] != [_TEXT]) else "lines"


@contextmanager
def _named_errors(file: Path | str) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{file} is not a gzip file, or is damaged: {error}.") from error
    except OSError as error:
        reason = one_line(error.strerror or str(error)).rstrip(".")
        raise DataError(f"Cannot read {file}: {reason}.") from error


@contextmanager
def _opened(file: Path, states: dict[Path, tuple[int, int]]) -> Iterator[BinaryIO]:
    """Yield the bytes of a file, which is named in errors of the block.

    Raise DataError if it has changed since it was opened first with these `states`, or does during the block.
    The first time it may grow, as a log does.
    """
    is_first = file not in states

    def check() -> None:
        status = file.stat()
        state = status.st_size, status.st_mtime_ns
        if states.setdefault(file, state) != state:
            raise DataError(
                f"{file} has changed while it was in use. Start again when no program writes to it, or copy "
                "it first."
            )

    with _named_errors(file), file.open("rb") as stream:
        check()
        yield stream
        if not is_first:
            check()


def _lines(stream: BinaryIO, name: str, encoding: str) -> Iterator[str]:
    """Yield the lines of a file, which may be compressed by gzip."""
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(stream)  # type: ignore[type-var]
    if buffered.peek(2).startswith(_GZIP):
        buffered = io.BufferedReader(gzip.GzipFile(fileobj=buffered), _BUFFER)
    if buffered.peek(2).startswith(_UTF16_MARKS):
        encoding = "utf-16"
    try:
        codec = codecs.lookup(encoding).name
        codec = "utf-8-sig" if codec == "utf-8" else codec
        text = io.TextIOWrapper(buffered, codec, newline="\n")  # other line ends are left as they are
    except LookupError as error:
        raise InvalidValueError(f"There is no encoding {encoding!r}; try utf-8 or latin-1.") from error
    number = 0
    try:
        while line := text.readline(_LONGEST_LINE):
            number += 1
            if len(line) >= _LONGEST_LINE:
                raise DataError(
                    f"{name}, line {number:,} is longer than {_LONGEST_LINE / 1e6:.0f} million characters; "
                    "split the document."
                )
            if "\0" in line:
                raise DataError(f"{name}, line {number:,} has a NUL byte: this is not a text file.")
            yield line
    except UnicodeError as error:  # also one without a reason: there is no byte order mark
        raise DataError(
            f"{name} is not in {encoding}, after line {number:,}: {getattr(error, 'reason', error)}. Give "
            "another --encoding, for example latin-1."
        ) from error


def _json(lines: Iterator[str], name: str) -> Iterator[_Row]:
    for number, line in enumerate(lines, start=1):
        if line.isspace():
            continue
        place = f"{name}, line {number:,}"
        try:
            values = _DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{place} is not JSON: {error}. Each line must be one object.") from error
        if not isinstance(values, dict):
            raise DataError(f"{place} is JSON, but not an object: {line.strip():.40}")
        yield _Row(values, place)


def _constant(name: str) -> float | None:
    """Return what Python writes into JSON as NaN, Infinity or -Infinity; NaN stands for a missing value."""
    return None if name == "NaN" else float(name)


_DECODER = json.JSONDecoder(parse_constant=_constant)  # `json.loads` would make one for each line


def _plain(lines: Iterator[str], name: str) -> Iterator[_Row]:
    for number, line in enumerate(lines, start=1):
        yield _Row({_TEXT: line.rstrip("\r\n")}, f"{name}, line {number:,}")


def _separated(lines: Iterator[str], name: str, delimiter: str | None = None) -> Iterator[_Row]:
    first = next(lines, "")
    delimiter = delimiter or _delimiter(first)
    csv.field_size_limit(_LONGEST_LINE)
    reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    place = f"{name}, line 1"
    try:
        header = next(reader, [])
        _check_header(header, name)
        place = f"{name}, line {reader.line_num + 1:,}"  # a quoted field may run over several lines
        for fields in reader:
            if fields and len(fields) != len(header):
                raise DataError(
                    f"{place} has {len(fields)} fields, but the header has {len(header)}. A field with a "
                    f"{delimiter!r} or a line break in it must be in double quotes."
                )
            if fields:
                yield _Row(dict(zip(header, fields, strict=True)), place)
            place = f"{name}, line {reader.line_num + 1:,}"
    except csv.Error as error:
        raise DataError(f"{place}: {error}.") from error


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)  # the first of equals: a comma


def _check_header(header: Sequence[str], name: str) -> None:
    if doubled := [column for column, n in Counter(header).items() if n > 1]:
        raise DataError(f"{name} has two columns named {min(doubled)!r}; rename one.")


_PARSERS: dict[str, Callable[[Iterator[str], str], Iterator[_Row]]] = {
    "csv": _separated,
    "tsv": partial(_separated, delimiter="\t"),
    "jsonl": _json,
    "lines": _plain,
}
_KINDS = (*_PARSERS, "parquet", "folder")


def _parquet(stream: BinaryIO, name: str, only: Sequence[str] | None) -> Iterator[_Row]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    number = 0
    try:
        with ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False) as table:
            _check_header(table.schema_arrow.names, name)
            for batch in table.iter_batches(batch_size=1000, columns=None if only is None else [*only]):
                values = {column: _values(batch.column(column)) for column in batch.schema.names}
                for index in range(batch.num_rows):
                    number += 1
                    row = {column: of_column[index] for column, of_column in values.items()}
                    yield _Row(row, f"{name}, row {number:,}")
    except (ArrowException, OverflowError, ValueError) as error:
        raise DataError(f"{name} is not a Parquet file, or is damaged: {one_line(str(error))}") from error


def _values(column: Any) -> list[Any]:
    """Return the values of a column; one that Python does not have is bytes, or as Arrow writes it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):  # NaN stands for a missing value
        column = pc.if_else(pc.is_nan(column), None, column)
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):  # a year after 9999, or no UTF-8: perhaps nobody reads this column
        kinds = pa.string(), pa.int64()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            kinds = pa.binary(), pa.large_binary()
        for kind in kinds:
            with suppress(pa.ArrowException):
                return list(map(_as_utf8, column.cast(kind).to_pylist()))
        raise
    return values


def _as_utf8(value: Any) -> Any:
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value


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
