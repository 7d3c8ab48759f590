"""Number the words of documents: a number is the column of the word in a matrix."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.escaping import from_utf8, utf8
from adbench_text.text.words import count_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Vocabulary:
    """Unique words, numbered in order.

    A vocabulary is pickled and saved as two arrays: UTF-8, and the ends of the words in characters.

    >>> Vocabulary(["ship", "crew"]).numbers(["crew", "court"])
    array([ 1, -1])
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._number_of = {word: number for number, word in enumerate(words)}

    def __len__(self) -> int:
        return len(self._number_of)

    @property
    def words(self) -> list[str]:
        """All words, in order."""
        return list(self._number_of)

    def numbers(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Return the numbers of words, -1 for an unknown one."""
        return np.array([self._number_of.get(word, -1) for word in words], dtype=np.int64)

    def count(self, texts: Sequence[str]) -> "csr_array[Any]":
        """Return how often each word occurs in each document, of shape (n_texts, n_words)."""
        from scipy.sparse import csr_array  # imported here, because it takes a third of a second

        counts, words = count_words(texts)
        entries = counts.tocoo()
        rows, columns = entries.coords
        numbers = self.numbers(words)[columns]
        is_known = numbers >= 0
        places = rows[is_known], numbers[is_known]
        known = csr_array((entries.data[is_known], places), shape=(len(texts), len(self)))
        known.sort_indices()  # the last bit of a sum depends on its order
        return known

    def __getstate__(self) -> dict[str, NDArray[Any]]:
        ends = np.cumsum([len(word) for word in self._number_of], dtype=np.int64)
        return {"utf8": np.frombuffer(utf8("".join(self._number_of)), dtype=np.uint8), "ends": ends}

    def __setstate__(self, state: dict[str, NDArray[Any]]) -> None:
        joined, ends = from_utf8(state["utf8"].tobytes()), state["ends"].tolist()
        self.__init__(joined[begin:end] for begin, end in pairwise([0, *ends]))  # type: ignore[misc]
