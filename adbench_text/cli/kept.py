"""The option ``--kept`` of ``odd``: write FILE without its odd documents."""

import bz2
import gzip
import lzma
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from adbench_text.cli.file_rows import FileRows
from adbench_text.errors import InvalidValueError
from adbench_text.escaping import count
from adbench_text.reading.decoding import BUFFER, PACKED_SUFFIXES, unpacked
from adbench_text.reading.documents import DocumentFile
from adbench_text.reading.source import FORMAT_OF_SUFFIX, kind_of_name
from adbench_text.storage import atomic_path

if TYPE_CHECKING:
    from adbench_text.documents.ranking import OddDocuments

#: What opens the new file, by its suffix.
_COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_NOT_WRITTEN = {*PACKED_SUFFIXES} - _COMPRESSED.keys()

KEPT = click.Option(
    ["--kept"],
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write FILE without its odd documents, or with --marked without the ones marked odd. CSV, JSON "
    "lines, Parquet and plain lines keep their format; others become CSV.",
)


def is_same_format(path: Path, file: DocumentFile) -> bool:
    """Return whether the new file gets the lines or rows of FILE as they are, and not a new CSV.

    Raise InvalidValueError if it can be written in neither format.
    """
    kind = kind_of_name(path.name)
    can_copy = file.single is not None and (file.encoding != "" or file.kind == "parquet")
    if path.suffix.lower() not in _NOT_WRITTEN:
        if can_copy and kind == file.kind:
            return True
        if kind == "csv":
            return False
    kinds = [file.kind] if can_copy else []
    suffixes = [f".{suffix}" for suffix, each in FORMAT_OF_SUFFIX.items() if each in kinds]
    ends = " or ".join(dict.fromkeys([*suffixes[:1], ".csv"]))
    raise InvalidValueError(
        f"--kept cannot write {str(path)!r}: FILE is read as {file.description.partition(',')[0]}. Give a "
        f"path that ends in {ends}, also compressed ({', '.join(_COMPRESSED)})."
    )


def write_kept(path: Path, file: DocumentFile, rows: FileRows, ranked: "OddDocuments") -> str:
    """Write FILE without its odd documents; return a sentence about it.

    Odd are the documents that are called odd. With marks, only documents marked odd, and their copies, are
    left out: whoever marks documents has read the list.
    """
    table = ranked.table.sort_values("row")
    has_marks = len(ranked.marked) > 0
    is_left_out = (table["mark"] == "odd" if has_marks else table["odd"]).to_numpy()
    source, numbers = file.single, rows.table.numbers
    with atomic_path(path) as new:
        if source is None or not is_same_format(path, file):
            columns = rows.columns(len(rows), keep_all=True)
            with _written(new, path) as target:
                columns[~is_left_out].to_csv(target, index=False)
        elif file.kind == "parquet":
            _copy_rows(source, new, numbers[is_left_out])
        else:
            is_table = file.kind in ("csv", "tsv")
            ends = np.append(numbers[1:], np.iinfo(np.int64).max) if is_table else numbers + 1
            left_out = zip(numbers[is_left_out].tolist(), ends[is_left_out].tolist(), strict=True)
            with (
                _opened(source, file.encoding, any_end=is_table) as lines,
                _written(new, path, file.encoding) as target,
            ):
                target.writelines(_without(lines, left_out))
    why = "marked odd" if has_marks else "called odd"
    return f"Left out {count(int(is_left_out.sum()), 'row')} of {len(rows):,} {why}: {path}."


def _without(lines: Iterable[str], left_out: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield lines without some ranges of line numbers, which are sorted and count from 1.

    A row of a table ends where the next one begins, so a blank line belongs to the row before it.
    """
    begin, end = 0, 0
    ranges = iter(left_out)
    for number, line in enumerate(lines, start=1):
        while number >= end and (following := next(ranges, None)):
            begin, end = following
        if not begin <= number < end:
            yield line


def _copy_rows(source: Path, new: Path, left_out: NDArray[np.int64]) -> None:
    """Copy a Parquet file without some rows, which are sorted and count from 1."""
    from pyarrow.parquet import ParquetFile, ParquetWriter

    n_read = 0
    with ParquetFile(source) as table, ParquetWriter(new, table.schema_arrow) as target:
        for batch in table.iter_batches():
            numbers = np.arange(n_read + 1, n_read + 1 + batch.num_rows)
            target.write_batch(batch.filter(~np.isin(numbers, left_out)))
            n_read += batch.num_rows


@contextmanager
def _opened(source: Path, encoding: str, *, any_end: bool) -> Iterator[TextIOWrapper]:
    """Open a file, unpacked, as lines that are numbered as in `Lines`."""
    with source.open("rb") as stream:
        content = unpacked(stream, source.name)
        newline = "" if any_end or b"\n" not in content.peek(BUFFER) else "\n"
        yield TextIOWrapper(content, encoding, "surrogateescape", newline)


@contextmanager
def _written(new: Path, path: Path, encoding: str = "utf-8") -> Iterator[TextIOWrapper]:
    """Open a new file for text, compressed as the suffix of its path says."""
    open_new = _COMPRESSED.get(path.suffix.lower(), open)
    with open_new(new, "wt", encoding=encoding, errors="surrogateescape", newline="") as target:
        yield target
