"""The documents of a user, as they were written."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.contract.scores import check_texts
from adbench_text.documents import Texts
from adbench_text.errors import DataError
from adbench_text.escaping import without_surrogates

Rows = Sequence[int] | NDArray[np.int64]


@dataclass(frozen=True)
class TextSource:
    """Documents that can be read again; a document is identified by its row, from 0 on."""

    read: Callable[[], Iterable[str]]

    @classmethod
    def of(cls, texts: Texts) -> Self:
        """Return the source of texts; raise InvalidValueError if these are no documents."""
        return cls(texts if callable(texts) else check_texts(texts).__iter__)

    def __iter__(self) -> Iterator[str]:
        """Yield the documents, with U+FFFD in place of lone surrogates."""
        return map(without_surrogates, self.read())

    def at(self, rows: Rows) -> Iterator[str]:
        """Return the documents of rows, in order; fewer if the documents have changed."""
        is_wanted = np.zeros(max(rows, default=-1) + 1, dtype=np.bool_)
        is_wanted[rows] = True
        return compress(self, is_wanted.tobytes())

    def raw(self, rows: Iterable[int]) -> "pd.Series[str]":
        """Return the documents of rows, by row; raise DataError if the documents have changed."""
        ordered = sorted(rows)
        found = list(self.at(ordered))
        check_all_read(len(found), len(ordered))
        return pd.Series(found, ordered, dtype=object)


def check_all_read(n_read: int, n_wanted: int) -> None:
    """Raise DataError if documents are missing that were there before."""
    if n_read < n_wanted:
        raise DataError("The documents have changed while they were read: some are missing. Run it again.")
