"""Batches: rows of a file that are read together, stored as columns, and converted to text."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from adbench_text.errors import AdbenchTextError, DataError
from adbench_text.escaping import without_surrogates
from adbench_text.reading.options import Losses, ReadOptions
from adbench_text.reading.values import MISSING

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
MOST_ROWS = 4096  # rows in a batch
MOST_CHARACTERS = 2**24  # characters in a batch
LONGEST = 10_000_000  # characters in a document
_EXACT = 2**53  # floats below it represent all integers


@dataclass(frozen=True)
class Batch:
    """Rows as they were read. `columns` has the values of each column: of any type, None if missing."""

    columns: Mapping[str, "Sequence[Any] | pa.Array"]
    numbers: Sequence[int]  # the number of each line or row in its file
    part: str  # the name of the file, for messages
    unit: str = "line"
    split: str = ""  # for data sets of Hugging Face

    def place(self, index: int) -> str:
        """Return the place of a row, for messages."""
        return f"{self.part}, {self.unit} {self.numbers[index]:,}"

    def __len__(self) -> int:
        return len(self.numbers)


def batch_of(
    rows: Sequence[Mapping[str, Any]], numbers: Sequence[int], part: str, unit: str = "line"
) -> Batch:
    """Return rows as a batch. If a row lacks a column, the value is missing."""
    names = dict.fromkeys(name for row in rows for name in row)
    return Batch({name: [row.get(name) for row in rows] for name in names}, numbers, part, unit)


def in_sizes(
    rows: Iterator[T], sizes: Iterable[int], is_waiting: Callable[[], bool] | None = None
) -> Iterator[list[T]]:
    """Yield rows in lists of some sizes. An error is raised after the rows before it are yielded.

    If given, `is_waiting` returns whether the next row has not come yet. Then the list ends.
    """
    for size in sizes:
        taken: list[T] = []
        failure = None
        try:
            if is_waiting is None:
                taken.extend(islice(rows, size))  # if the iterator fails, the list keeps its rows
            else:
                for row in islice(rows, size):
                    taken.append(row)
                    if is_waiting():
                        break
        except AdbenchTextError as error:
            failure = error
        if taken:
            yield taken
        if failure:
            raise failure
        if not taken:
            return


def check_length(text: str, place: str) -> None:
    """Raise DataError if a document is too long; the error names its place."""
    if len(text) > LONGEST:
        raise DataError(
            f"{place}: a document has {len(text):,} characters; at most {LONGEST:,} are allowed. Split it."
        )


@dataclass(frozen=True)
class ColumnStrings:
    """Converts the columns of batches to Arrow strings.

    `texts` are the columns of the text, where any other type is an error. A column with lists or objects is
    kept as JSON if it is in `kept`, and otherwise left out.
    """

    texts: Collection[str]
    kept: Collection[str]
    options: ReadOptions
    losses: Losses
    is_table: bool  # whether words such as NULL are missing values in a text

    def strings(self, batch: Batch, name: str) -> "pa.Array | None":
        """Return the values of a column as strings; None if the column is left out."""
        array = self._strings(batch, name)
        return self._without_missing(batch, array) if name in self.texts and self.is_table else array

    def _without_missing(self, batch: Batch, texts: "pa.Array") -> "pa.Array":
        """Return texts where words such as NULL are missing values, which are counted as losses."""
        import pyarrow as pa
        import pyarrow.compute as pc

        is_missing = pc.is_in(texts, pa.array(sorted(MISSING), pa.string()))
        if not pc.any(is_missing).as_py():
            return texts
        for index in pc.indices_nonzero(is_missing).to_pylist():
            self.losses.add("missing", batch.place(index), value=texts[index].as_py())
        return pc.if_else(is_missing, pa.scalar(None, pa.string()), texts)

    def _strings(self, batch: Batch, name: str) -> "pa.Array | None":
        """Return the values of a column as strings; words such as NULL stay."""
        import pyarrow as pa

        values = batch.columns[name]
        if isinstance(values, pa.Array):
            values = self._of_arrow(values)
            if isinstance(values, pa.Array):
                return values
        try:
            return pa.array(values, pa.string())
        except (pa.ArrowException, TypeError, UnicodeError):
            return self._mixed(batch, name, values)

    def _of_arrow(self, values: "pa.Array") -> "Sequence[Any] | pa.Array":
        """Return a column of Arrow as Arrow strings if it has text, or else as a list of values."""
        import pyarrow as pa

        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        kind = values.type
        try:
            if pa.types.is_string(kind) or pa.types.is_large_string(kind):
                values.validate(full=True)
                return values.cast(pa.string())
            if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
                return values.cast(pa.string())
        except pa.ArrowException:  # not UTF-8: another encoding, or a column that is not needed
            return [self._decoded(each) for each in values.cast(pa.large_binary()).to_pylist()]
        try:
            listed: list[Any] = values.to_pylist()
        except (OverflowError, ValueError):  # Python has no years after 9999
            width = pa.int32() if kind.bit_width == 32 else pa.int64()
            listed = values.cast(width).cast(pa.string()).to_pylist()
        return listed

    def _decoded(self, value: bytes | None) -> str | bytes | None:
        """Return the text of some bytes; if they are not in the encoding, return the bytes."""
        try:
            return value if value is None else value.decode(self.options.encoding)
        except UnicodeDecodeError:
            return value

    def _mixed(self, batch: Batch, name: str, values: Sequence[Any]) -> "pa.Array | None":
        """Return values of several types as strings; None to leave the column out."""
        import pyarrow as pa

        is_text, is_kept = name in self.texts, name in self.kept
        strings: list[str | None] = []
        for index, value in enumerate(values):
            if isinstance(value, str):
                text = without_surrogates(value)
                if text != value:
                    self.losses.add("surrogates", batch.place(index))
                strings.append(text)
            elif is_text:
                strings.append(self._text_of_other_type(batch, index, name, value))
            elif isinstance(value, list | dict) and not is_kept:
                self.losses.note(f"Left out the column {name!r}, which holds lists or objects.")
                return None
            else:
                strings.append(as_string(value))
        return pa.array(strings, pa.string())

    def _text_of_other_type(self, batch: Batch, index: int, name: str, value: Any) -> str | None:
        """Return the text for a value that is not a string; None if it counts as missing.

        Raise DataError unless the value is missing, or reading goes on after unreadable input. In this case,
        bytes are decoded, and any other value counts as missing.
        """
        if as_string(value) is None:
            return None
        if self.options.goes_on:
            if isinstance(value, bytes):
                self.losses.add("bytes", batch.place(index))
                return value.decode(self.options.encoding, "replace")
            self.losses.add("no text", batch.place(index))
            return None
        advice = "another --text, or --errors replace to count it as missing"
        if isinstance(value, bytes):
            advice = "another --encoding, such as cp1252, or --errors replace to go on"
        raise DataError(
            f"{batch.place(index)}: {name!r} must be text, got {type(value).__name__}: {value!r:.40}. Give "
            f"{advice}."
        )


def as_string(value: Any) -> str | None:
    """Return any value as text; None if it is missing.

    >>> [as_string(value) for value in (1.0, 0.5, float("nan"), True, [1, "é"])]
    ['1', '0.5', None, 'True', '[1, "é"]']
    """
    if isinstance(value, str):
        return value
    if value is None or value != value:  # NaN, or NaT of pandas
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))  # integers become floats in a column with missing values
    if isinstance(value, list | dict):
        return without_surrogates(json.dumps(value, ensure_ascii=False, default=str))
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value)
