"""Read the needed columns of Parquet files in batches."""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from adbench_text.errors import DataError
from adbench_text.escaping import one_line
from adbench_text.reading.batch import MOST_ROWS, Batch
from adbench_text.reading.decoding import BUFFER, PACKED_SUFFIXES


def batches(stream: Any, name: str, only: Collection[str] | None, doubled: set[str]) -> Iterator[Batch]:
    """Yield the rows of a file, with the columns `only` if given. Add duplicate names to `doubled`."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    number = 1
    try:
        with ParquetFile(stream, buffer_size=BUFFER, pre_buffer=False) as table:
            names = table.schema_arrow.names
            doubled |= {column for column, n in Counter(names).items() if n > 1}
            chosen = None if only is None else [column for column in names if column in only]
            for batch in table.iter_batches(batch_size=MOST_ROWS, columns=chosen):
                columns: dict[str, Any] = {}
                for place, column in enumerate(batch.schema.names):
                    columns.setdefault(column, batch.column(place))
                yield Batch(columns, range(number, number + batch.num_rows), name, "row")
                number += batch.num_rows
    except (ArrowException, OverflowError, ValueError) as error:
        packed = " Unpack it first." if name.lower().endswith(PACKED_SUFFIXES) else ""
        raise DataError(
            f"{name} is not a Parquet file, or is damaged: {one_line(str(error)).rstrip('.')}.{packed}"
        ) from error
