"""Documents of a user's file, one at a time: CSV, TSV, JSON lines, Parquet, plain lines, a folder.

Every error names the file and the line.
"""

import codecs
import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError, UnnamedColumnError

_STDIN = "-"
_TEXT = "text"  # column of formats without named columns
_LONGEST = 10_000_000  # characters of a document
_LONGEST_LINE = 4 * _LONGEST + 1_000_000  # bytes; UTF-8 takes up to four for a character
_N_LOOKED_AT = 100  # rows from which the column of the text is guessed
_N_WORDS = 3  # of a text, on average
_DELIMITERS = ",;\t|"
_OTHER_SUFFIXES = {"tab": "tsv", "ndjson": "jsonl", "txt": "lines"}  # the others are names of formats


class Document(NamedTuple):
    """A document as it was written."""

    id: str  # from its column; otherwise its number, from 1 on
    text: str
    fields: dict[str, Any]  # all columns of its row
    place: str  # for messages: "tickets.csv, line 12"


class DocumentFile:
    """A file of documents, a folder of text files, or ``"-"`` for standard input; it is read once.

    Columns and kind that are not given are guessed; an empty `id` numbers the documents.
    """

    def __init__(
        self,
        path: str,
        text: str | None = None,
        id: str | None = None,
        kind: str | None = None,
        encoding: str = "utf-8",
    ) -> None:
        self.notes: list[str] = []  # about files of a folder that are left out
        source = _rows(path, kind, encoding, self.notes)
        # A given column needs no look ahead: a pipe gets its first answer with its first document.
        first = list(islice(source, 1 if text else _N_LOOKED_AT))
        if not first:
            named = "Standard input" if path == _STDIN else path
            raise DataError(" ".join([f"{named} has no documents.", *self.notes]))
        self._rows: Iterator[_Row] = chain(first, source)
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
            text = _as_text(values, self.text_column, place)
            if len(text) > _LONGEST:
                raise DataError(
                    f"{place}: a document of {len(text):,} characters; at most {_LONGEST:,} are allowed. "
                    "Split it."
                )
            name = _as_text(values, self.id_column, place) if self.id_column else str(number)
            yield Document(name, text, values, place)

    def all(self) -> list[Document]:
        """Return all documents; raise DataError if two have the same identifier."""
        documents = list(self)
        place_of: dict[str, str] = {}
        for document in documents:
            if (earlier := place_of.setdefault(document.id, document.place)) is not document.place:
                raise DataError(
                    f"Two documents have the {self.id_column} {document.id!r:.40}: {earlier} and "
                    f"{document.place}. Give another --id, or --id '' to number them."
                )
        return documents


class _Row(NamedTuple):
    values: dict[str, Any]
    place: str


def _as_text(values: dict[str, Any], column: str, place: str) -> str:
    if column not in values:
        raise DataError(f"{place} has no {column!r}.")
    value = values[column]
    if value is None:
        return ""
    if isinstance(value, str | int | float):
        return str(value)
    raise DataError(f"{place}: {column!r} must be text, got {type(value).__name__}: {value!r:.40}")


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


def _rows(path: str, kind: str | None, encoding: str, notes: list[str]) -> Iterator[_Row]:
    """Return the rows of a file, of a folder, or of standard input; notes are added before the first row."""
    _check_encoding(encoding)
    if not path:  # of an unset variable of the shell; as a path it is the current folder
        raise InvalidValueError("The path of the documents is empty (''); give a file, a folder, or - .")
    if path == _STDIN:
        return _rows_of_stream(sys.stdin.buffer, "standard input", kind, encoding)
    file = Path(path).expanduser()
    kind = kind or _kind_of(file)
    if kind not in _KINDS:
        raise UnknownNameError("format of documents", kind, _KINDS)
    with _named_errors(file):
        if not file.exists():
            raise DataError(f"There is no file {file}.")
    if kind == "folder":
        return _rows_of_folder(file, encoding, notes)
    return _rows_of_parquet(file) if kind == "parquet" else _rows_of_file(file, kind, encoding)


def _kind_of(file: Path) -> str:
    if file.is_dir():
        return "folder"
    suffix = file.suffix.lower().removeprefix(".")
    kind = _OTHER_SUFFIXES.get(suffix, suffix)
    if kind not in _KINDS or kind == "folder":
        raise InvalidValueError(
            f"Cannot guess the format of {file.name} from its suffix; give --format: {', '.join(_KINDS)}."
        )
    return kind


def _check_encoding(encoding: str) -> None:
    try:
        is_line_based = "\n".encode(encoding) == b"\n"
    except (LookupError, ValueError) as error:
        raise InvalidValueError(f"There is no encoding {encoding!r}; try utf-8 or latin-1.") from error
    if not is_line_based:
        raise InvalidValueError(
            f"Text in {encoding} cannot be read by lines; convert it: iconv -f {encoding} -t utf-8."
        )


@contextmanager
def _named_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"Cannot read {file}: {error.strerror or error}.") from error


def _rows_of_file(file: Path, kind: str, encoding: str) -> Iterator[_Row]:
    with _named_errors(file), file.open("rb") as stream:
        yield from _rows_of_stream(stream, file.name, kind, encoding)


def _rows_of_stream(stream: BinaryIO, name: str, kind: str | None, encoding: str) -> Iterator[_Row]:
    lines = _Lines(stream, name, encoding)
    kind = kind or ("jsonl" if lines.first.lstrip().startswith("{") else "lines")
    if kind not in _PARSERS:
        raise InvalidValueError(
            f"Standard input cannot be read as {kind}; give --format: {', '.join(_PARSERS)}."
        )
    return _PARSERS[kind](lines)


class _Lines:
    """The lines of a stream as text; `number` is that of the last one, `first` is known beforehand."""

    def __init__(self, stream: BinaryIO, name: str, encoding: str) -> None:
        self.name = name
        self.number = 0
        self._stream = stream
        self._encoding = codecs.lookup(encoding).name.removesuffix("-sig")
        self.first = self._next()

    @property
    def place(self) -> str:
        return f"{self.name}, line {self.number:,}"

    def __iter__(self) -> Iterator[str]:
        line = self.first
        while line:
            yield line
            line = self._next()

    def _next(self) -> str:
        line = self._stream.readline(_LONGEST_LINE)
        if not line:
            return ""
        self.number += 1
        if len(line) == _LONGEST_LINE:
            raise DataError(f"{self.place} is longer than {_LONGEST_LINE // 10**6} MB; split the document.")
        if line.startswith((b"\xff\xfe", b"\xfe\xff")) and self.number == 1:
            raise DataError(f"{self.name} is in UTF-16; convert it: iconv -f utf-16 -t utf-8.")
        if b"\0" in line:
            raise DataError(f"{self.place} has a NUL byte: this is not a text file.")
        if self.number == 1 and self._encoding == "utf-8":
            line = line.removeprefix(codecs.BOM_UTF8) or b"\n"
        try:
            return line.decode(self._encoding)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.place} is not in {self._encoding}: byte 0x{line[error.start]:02x} at position "
                f"{error.start + 1}. Give --encoding, for example latin-1."
            ) from error


def _json(lines: _Lines) -> Iterator[_Row]:
    for line in lines:
        if line.isspace():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{lines.place} is not JSON: {error}. Each line must be one object.") from error
        if not isinstance(values, dict):
            raise DataError(f"{lines.place} is JSON, but not an object: {line.strip():.40}")
        yield _Row(values, lines.place)


def _plain(lines: _Lines) -> Iterator[_Row]:
    for line in lines:
        yield _Row({_TEXT: line.rstrip("\r\n")}, lines.place)


def _separated(lines: _Lines, delimiter: str | None = None) -> Iterator[_Row]:
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=lines.first.count)  # the first of equals: a comma
    csv.field_size_limit(_LONGEST_LINE)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    start = 1
    try:
        header = next(reader, [])
        if doubled := {name for name in header if header.count(name) > 1}:
            raise DataError(f"{lines.name} has two columns named {min(doubled)!r}; rename one.")
        while True:
            start = lines.number + 1  # a quoted field may run over several lines
            values = next(reader, None)
            if values is None:
                return
            place = f"{lines.name}, line {start:,}"
            if not values:
                continue
            if len(values) != len(header):
                raise DataError(
                    f"{place} has {len(values)} fields, but the header has {len(header)}. A field with a "
                    f"{delimiter!r} or a line break in it must be in double quotes."
                )
            yield _Row(dict(zip(header, values, strict=True)), place)
    except csv.Error as error:
        raise DataError(f"{lines.name}, line {start:,}: {error}.") from error


_PARSERS: dict[str, Callable[[_Lines], Iterator[_Row]]] = {
    "csv": _separated,
    "tsv": lambda lines: _separated(lines, "\t"),
    "jsonl": _json,
    "lines": _plain,
}
_KINDS = (*_PARSERS, "parquet", "folder")


def _rows_of_parquet(file: Path) -> Iterator[_Row]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    with _named_errors(file):
        try:
            number = 0
            for batch in ParquetFile(file).iter_batches(batch_size=1000):
                for values in batch.to_pylist():
                    number += 1
                    yield _Row(values, f"{file.name}, row {number:,}")
        except ArrowException as error:
            raise DataError(f"{file} is not a Parquet file, or is damaged: {error}") from error


def _rows_of_folder(folder: Path, encoding: str, notes: list[str]) -> Iterator[_Row]:
    """Yield one document for each file in a folder and its folders, in the order of their paths.

    A link may be anybody's, and lead to any file of this machine: one that leaves the folder is left out.
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
    for name in files:
        with _named_errors(folder / name), (folder / name).open("rb") as stream:
            text = "".join(_Lines(stream, str(name), encoding))
        yield _Row({"file": str(name), _TEXT: text}, str(name))
