"""The user's own documents, as they were written."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import pandas as pd

from adbench_text.contract.scores import check_texts, checked_texts
from adbench_text.documents import Texts
from adbench_text.documents.chunks import Chunk, Rows, in_chunks, stored_in_chunks
from adbench_text.escaping import without_surrogates
from adbench_text.reading.documents import DocumentTable, table_of

_AT_A_TIME = 10_000  # documents to take at a time


@dataclass(frozen=True)
class TextSource:
    """Documents by row, from 0 on."""

    read: Callable[[], Iterable[str]]  # all documents, from the first one each time
    take: Callable[[Sequence[int]], Iterable[str]]  # the documents of some rows
    table: DocumentTable | None = None  # of all documents, if they come from one

    @classmethod
    def of(cls, texts: "Texts | TextSource | DocumentTable") -> "Self | TextSource":
        """Return the source of texts; raise InvalidValueError if they are not documents.

        The texts of a function are read once into an Arrow table, which is in memory, or in temporary files
        if it is large.
        """
        if isinstance(texts, TextSource):
            return texts
        if callable(texts):
            texts = table_of(checked_texts(texts()))
        if isinstance(texts, DocumentTable):
            return cls(texts.texts, texts.texts_at, texts)
        checked = check_texts(texts)
        return cls(checked.__iter__, lambda rows: [checked[row] for row in rows])

    def __iter__(self) -> Iterator[str]:
        """Yield the documents, with U+FFFD in place of lone surrogates."""
        return map(without_surrogates, self.read())

    def at(self, rows: "Sequence[int] | Rows") -> Iterator[str]:
        """Yield the documents of some rows, in the order of the rows."""
        for begin in range(0, len(rows), _AT_A_TIME):
            yield from map(without_surrogates, self.take([*map(int, rows[begin : begin + _AT_A_TIME])]))

    def chunks(self, rows: Rows | None = None, numbers: Rows | None = None) -> Iterator[Chunk]:
        """Yield all documents or some rows in chunks. `numbers` has a number for each of these documents.

        The texts of a large table are not read here, but where a chunk is processed.
        """
        if self.table is None or self.table.stored is None:
            return in_chunks(self if rows is None else self.at(rows), numbers)
        stored, lengths = self.table.stored, self.table.lengths
        if rows is None:
            return stored_in_chunks(stored, range(len(lengths)), lengths, numbers)
        return stored_in_chunks(stored, rows, lengths[rows], numbers)

    def some(self, rows: "Sequence[int] | Rows") -> Self:
        """Return the source of some documents, which count from 0 on."""
        return type(self)(lambda: self.at(rows), lambda places: self.take([int(rows[n]) for n in places]))

    def raw(self, rows: Iterable[int]) -> "pd.Series[str]":
        """Return the documents of some rows as a series by row, in the order of the rows."""
        wanted = [*rows]
        return pd.Series([*self.at(wanted)], wanted, dtype=object)
