"""The option ``--kept`` of ``odd``: write FILE without its odd documents."""

import bz2
import codecs
import gzip
import lzma
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.cli.file_rows import FileRows
from adbench_text.errors import InvalidValueError
from adbench_text.escaping import count
from adbench_text.reading.decoding import PACKED_SUFFIXES, unpacked
from adbench_text.reading.documents import DocumentFile
from adbench_text.reading.source import FORMAT_OF_SUFFIX, WholeLines, kind_of_name
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
    is_parquet = file.kind == "parquet"
    can_copy = file.single is not None and (file.whole_lines is not None or is_parquet)
    is_packed = path.suffix.lower() in PACKED_SUFFIXES
    if path.suffix.lower() not in _NOT_WRITTEN:
        if can_copy and kind == file.kind and not (is_parquet and is_packed):
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
            kept = np.flatnonzero(~is_left_out).tolist()
            columns = {name: values_at(kept) for name, values_at in rows.columns(keep_all=True).items()}
            with _written(new, path) as target:
                pd.DataFrame(columns, dtype=object).to_csv(target, index=False)
        elif file.kind == "parquet":
            _copy_rows(source, new, numbers[is_left_out])
        elif file.whole_lines is not None:
            left_out = frozenset(numbers[is_left_out].tolist())
            _copy_lines(source, file.whole_lines, left_out, new, path)
    why = "marked odd" if has_marks else "called odd"
    return f"Left out {count(int(is_left_out.sum()), 'row')} of {len(rows):,} {why}: {path}."


def _copy_lines(source: Path, cut: WholeLines, left_out: Collection[int], new: Path, path: Path) -> None:
    """Copy a file without the rows that begin in some lines, which count from 1.

    Bytes that are not in the encoding stay as they are.
    """
    # with this name, Python would write a byte order mark
    encoding = "utf-8" if codecs.lookup(cut.lines.encoding).name == "utf-8-sig" else cut.lines.encoding
    with source.open("rb") as stream, _written(new, path, encoding) as target:
        lines = TextIOWrapper(unpacked(stream, source.name), encoding, "surrogateescape", cut.lines.newline)
        target.writelines(islice(lines, cut.lines.n_skipped))
        number = cut.lines.n_skipped + 1
        rows = (
            ([line] for line in lines) if cut.dialect is None else (raw for _, raw in cut.dialect.rows(lines))
        )
        for row in rows:
            if number not in left_out:
                target.writelines(row)
            number += len(row)


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
def _written(new: Path, path: Path, encoding: str = "utf-8") -> Iterator[TextIOWrapper]:
    """Open a new file for text, compressed as the suffix of its path says."""
    open_new = _COMPRESSED.get(path.suffix.lower(), open)
    with open_new(new, "wt", encoding=encoding, errors="surrogateescape", newline="") as target:
        yield target
