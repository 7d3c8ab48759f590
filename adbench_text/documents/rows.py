"""Rows of a file of documents, one at a time: CSV, TSV, JSON lines, Parquet, plain lines, a folder.

Every error names the file and the line. Nothing is kept in memory except the row at hand.
"""

import codecs
import csv
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError

STDIN = "-"
TEXT = "text"  # column of formats without named columns
LONGEST = 10_000_000  # characters of a document
_LONGEST_LINE = 4 * LONGEST + 1_000_000  # bytes; UTF-8 takes up to four for a character

_SUFFIXES = {
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "txt": "lines",
}
_DELIMITERS = ",;\t|"


class Row(NamedTuple):
    """Values of a row by column, and where it is: ``"tickets.csv, line 12"``."""

    values: dict[str, Any]
    place: str


def rows(
    path: str,
    kind: str | None = None,
    encoding: str = "utf-8",
    note: Callable[[str], object] = lambda text: None,
) -> Iterator[Row]:
    """Yield the rows of a file, of a folder of text files, or of standard input.

    Parameters
    ----------
    path : str
        ``"-"`` for standard input.
    kind : {"csv", "tsv", "jsonl", "parquet", "lines", "folder"}, optional
        By default what the suffix says; for standard input JSON lines if the first character is ``{``,
        otherwise plain lines, one document each.
    encoding : str
        Of the text.
    note : callable
        Receives a line about files that are left out, before the first row.

    Raises
    ------
    DataError
        If the file cannot be read; the message names the line.
    InvalidValueError
        If the path is empty, the kind cannot be guessed, or the encoding is not known.
    """
    _check_encoding(encoding)
    if not path:  # of an unset variable of the shell; as a path it is the current folder
        raise InvalidValueError("The path of the documents is empty (''); give a file, a folder, or - .")
    if path == STDIN:
        return _Reader("standard input", encoding).rows(sys.stdin.buffer, kind)
    file = Path(path).expanduser()
    kind = kind or _kind(file)
    if kind not in KINDS:
        raise UnknownNameError("format of documents", kind, KINDS)
    with _named_errors(file):
        if not file.exists():
            raise DataError(f"There is no file {file}.")
    if kind == "folder":
        return _folder(file, encoding, note)
    return _parquet(file) if kind == "parquet" else _file(file, kind, encoding)


def _kind(file: Path) -> str:
    if file.is_dir():
        return "folder"
    suffix = file.suffix.lower().removeprefix(".")
    if suffix not in _SUFFIXES:
        raise InvalidValueError(
            f"Cannot guess the format of {file.name} from its suffix; give --format: {', '.join(KINDS)}."
        )
    return _SUFFIXES[suffix]


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


def _file(file: Path, kind: str, encoding: str) -> Iterator[Row]:
    with _named_errors(file), file.open("rb") as stream:
        yield from _Reader(file.name, encoding).rows(stream, kind)


class _Reader:
    """Reads rows of text from a stream of bytes; knows the number of the last line for its errors."""

    def __init__(self, name: str, encoding: str) -> None:
        self._name = name
        self._encoding = codecs.lookup(encoding).name.removesuffix("-sig")
        self._number = 0

    @property
    def _place(self) -> str:
        return f"{self._name}, line {self._number:,}"

    def rows(self, stream: BinaryIO, kind: str | None) -> Iterator[Row]:
        """Yield the rows of a stream."""
        lines = self._lines(stream)
        if kind is None:
            first = next(lines, "")
            lines = _chained(first, lines)
            kind = "jsonl" if first.lstrip().startswith("{") else "lines"
        if kind not in _READERS:
            raise InvalidValueError(
                f"Standard input cannot be read as {kind}; give --format: {', '.join(_READERS)}."
            )
        return _READERS[kind](self, lines)

    def _lines(self, stream: BinaryIO) -> Iterator[str]:
        while line := stream.readline(_LONGEST_LINE):
            self._number += 1
            if len(line) == _LONGEST_LINE:
                raise DataError(
                    f"{self._place} is longer than {_LONGEST_LINE // 10**6} MB; split the document."
                )
            if line.startswith((b"\xff\xfe", b"\xfe\xff")) and self._number == 1:
                raise DataError(f"{self._name} is in UTF-16; convert it: iconv -f utf-16 -t utf-8.")
            if b"\0" in line:
                raise DataError(f"{self._place} has a NUL byte: this is not a text file.")
            if self._number == 1 and self._encoding == "utf-8":
                line = line.removeprefix(codecs.BOM_UTF8)
            try:
                yield line.decode(self._encoding)
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{self._place} is not in {self._encoding}: byte 0x{line[error.start]:02x} at position "
                    f"{error.start + 1}. Give --encoding, for example latin-1."
                ) from error

    def _json(self, lines: Iterator[str]) -> Iterator[Row]:
        for line in lines:
            if line.isspace():
                continue
            try:
                values = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(
                    f"{self._place} is not JSON: {error}. Each line must be one object."
                ) from error
            if not isinstance(values, dict):
                raise DataError(f"{self._place} is JSON, but not an object: {line.strip():.40}")
            yield Row(values, self._place)

    def _plain(self, lines: Iterator[str]) -> Iterator[Row]:
        for line in lines:
            yield Row({TEXT: line.rstrip("\r\n")}, self._place)

    def _separated(self, lines: Iterator[str], delimiter: str | None = None) -> Iterator[Row]:
        first = next(lines, None)
        if first is None:
            return
        if delimiter is None:
            delimiter = max(_DELIMITERS, key=first.count)  # the first of equals: a comma
        csv.field_size_limit(_LONGEST_LINE)
        reader = csv.reader(_chained(first, lines), delimiter=delimiter, strict=True)
        start = 1
        try:
            header = next(reader)
            if doubled := {name for name in header if header.count(name) > 1}:
                raise DataError(f"{self._name} has two columns named {min(doubled)!r}; rename one.")
            while True:
                start = self._number + 1  # a quoted field may run over several lines
                values = next(reader, None)
                if values is None:
                    return
                place = f"{self._name}, line {start:,}"
                if not values:
                    continue
                if len(values) != len(header):
                    raise DataError(
                        f"{place} has {len(values)} fields, but the header has {len(header)}. A field with a "
                        f"{delimiter!r} or a line break in it must be in double quotes."
                    )
                yield Row(dict(zip(header, values, strict=True)), place)
        except csv.Error as error:
            raise DataError(f"{self._name}, line {start:,}: {error}.") from error

    def _tabs(self, lines: Iterator[str]) -> Iterator[Row]:
        return self._separated(lines, "\t")


_READERS: dict[str, Callable[[_Reader, Iterator[str]], Iterator[Row]]] = {
    "csv": _Reader._separated,
    "tsv": _Reader._tabs,
    "jsonl": _Reader._json,
    "lines": _Reader._plain,
}
KINDS = (*_READERS, "parquet", "folder")


def _chained(first: str, rest: Iterator[str]) -> Iterator[str]:
    # not itertools.chain: without any line there is none to begin with
    if first:
        yield first
    yield from rest


def _parquet(file: Path) -> Iterator[Row]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    with _named_errors(file):
        try:
            number = 0
            for batch in ParquetFile(file).iter_batches(batch_size=1000):
                for values in batch.to_pylist():
                    number += 1
                    yield Row(values, f"{file.name}, row {number:,}")
        except ArrowException as error:
            raise DataError(f"{file} is not a Parquet file, or is damaged: {error}") from error


def _folder(folder: Path, encoding: str, note: Callable[[str], object]) -> Iterator[Row]:
    """Yield one document for each file in a folder and its folders, in the order of their paths.

    A link may be anybody's, and lead to any file of this machine: one that leaves the folder is left out.
    """
    names = [file.relative_to(folder) for file in sorted(folder.rglob("*"))]
    visible = [name for name in names if not any(part.startswith(".") for part in name.parts)]
    root = folder.resolve()
    files = [name for name in visible if _is_within(folder / name, root)]
    n_links = sum((folder / name).is_symlink() for name in set(visible).difference(files))
    if n_links:
        note(f"{n_links:,} links of {folder} are left out: they lead out of it, to a folder, or nowhere.")
    for name in files:
        with _named_errors(folder / name), (folder / name).open("rb") as stream:
            text = "".join(_Reader(str(name), encoding)._lines(stream))
        yield Row({"file": str(name), TEXT: text}, str(name))


def _is_within(path: Path, folder: Path) -> bool:
    """Return whether a path is that of a file, or of a link to a file, in a folder."""
    return path.is_file() and (not path.is_symlink() or folder in path.resolve().parents)
