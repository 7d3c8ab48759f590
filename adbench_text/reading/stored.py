"""Documents in temporary Arrow files: each process reads the rows that it needs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adbench_text.errors import DataError
from adbench_text.reading.batch import MOST_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

RowNumbers = Sequence[int] | NDArray[np.int64]


@dataclass(frozen=True)
class StoredTexts:
    """Documents in Arrow files. The files are not mapped, so that their pages do not count as memory."""

    files: tuple[str, ...]
    n_rows: tuple[int, ...]  # of each file
    text_columns: tuple[str, ...]

    def at(self, rows: RowNumbers) -> list[str]:
        """Return the documents of some rows; raise DataError if the files cannot be read here."""
        texts = np.empty(len(rows), dtype=object)
        try:
            for number, places, rows_of_file in by_batch(rows, np.cumsum(self.n_rows, dtype=np.int64)):
                texts[places] = self._of_file(self.files[number], rows_of_file)
        except OSError as error:
            raise DataError(
                f"Cannot read the documents in the temporary file {self.files[0]}: "
                f"{error.strerror or error}. Set TMPDIR to a folder that all workers share."
            ) from error
        found: list[str] = texts.tolist()
        return found

    def _of_file(self, file: str, rows: NDArray[np.int64]) -> NDArray[np.object_]:
        """Return the documents of some rows of a file."""
        import pyarrow as pa

        texts = np.empty(len(rows), dtype=object)
        with pa.OSFile(file) as source:
            schema = pa.ipc.open_file(source).schema
            fields = sorted({schema.get_field_index(column) for column in self.text_columns})
            reader = pa.ipc.open_file(source, options=pa.ipc.IpcReadOptions(included_fields=fields))
            ends = np.arange(1, reader.num_record_batches + 1) * MOST_ROWS
            for number, places, rows_of_batch in by_batch(rows, ends):
                texts[places] = texts_of(reader.get_batch(number).take(rows_of_batch), self.text_columns)
        return texts


def write(rows: "pa.Table", file: Path) -> None:
    """Write rows in batches of the same size, which `StoredTexts` expects."""
    import pyarrow as pa

    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows.combine_chunks(), max_chunksize=MOST_ROWS)


def texts_of(batch: "pa.RecordBatch", columns: Sequence[str]) -> list[str]:
    """Return the documents of a batch. Several columns are joined by line ends; a missing text is empty."""
    values: list[list[str]] = [batch.column(name).fill_null("").to_pylist() for name in columns]
    return (
        values[0]
        if len(values) == 1
        else ["\n".join(filter(None, each)) for each in zip(*values, strict=True)]
    )


def by_batch(
    rows: RowNumbers, ends: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the number of each batch that has some of the rows, with two arrays.

    They are the places of these rows in `rows`, and their rows in the batch. `ends` has the number of rows up
    to the end of each batch.
    """
    wanted = np.asarray(rows, dtype=np.int64)
    number_of = np.searchsorted(ends, wanted, side="right")
    order = np.argsort(number_of, kind="stable")
    numbers, first = np.unique(number_of[order], return_index=True)
    for number, places in zip(numbers.tolist(), np.split(order, first)[1:], strict=True):
        yield number, places, wanted[places] - (ends[number - 1] if number else 0)
