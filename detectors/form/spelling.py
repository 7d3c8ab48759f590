"""The surprise of the letters of a word, given the words of the training documents.

c(...) counts how often letters follow each other in the training words, V is one more than the number of
unique letters, and B = 3. A letter z after the letters x and y has the probability P(z | x, y):

    P(z) = (c(z) + B / V) / (c() + B)
    P(z | y) = (c(yz) + B P(z)) / (c(y) + B)
    P(z | x, y) = (c(xyz) + B P(z | y)) / (c(xy) + B)

Two blanks come before each word, and c(), c(y), c(xy) count the letters that follow (MacKay and Bauman
Peto, 1995, "A hierarchical Dirichlet language model"). The surprise of a word with n letters is

    sum over its letters of (-log P(z | x, y) - mean) / (deviation * sqrt(n + 3))

with the mean and the standard deviation over all letters of the training words: about 0 for a usual word. A
training document is judged by the counts of the others. Words are in lower case; numbers are left out.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from adbench_text.text.words import count_words

_PRIOR = 3.0  # B
_ADDED = 3.0  # to the length of a word, because two odd letters prove little
_BASE = sys.maxunicode + 1  # in this base, three letters become one number
_ORDERS = (1, 2, 3)  # letters of an n-gram
_MOST_CELLS = 2**22  # of a table of documents and n-grams

Array = NDArray[np.float64]
Keys = NDArray[np.int64]


class _Counts(NamedTuple):
    """The counts of keys; the keys are in order, and the first one, -1, stands for all unknown keys."""

    keys: Keys
    counts: Array

    @classmethod
    def fit(cls, keys: Keys, times: Array) -> Self:
        """Count keys; `times` says how often each counts."""
        different, places = np.unique(np.append(keys, -1), return_inverse=True)
        counts = np.bincount(places, np.append(times, 0.0), len(different))
        return cls(different, counts.astype(np.float64))

    def places(self, keys: Keys) -> Keys:
        """Return the places of keys."""
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, 0)


class Spelling(NamedTuple):
    """The statistics of the letters of the training words."""

    counts: list[_Counts]  # of the results of `_n_grams`
    mean: float = 0.0
    deviation: float = 1.0

    @classmethod
    def fit(cls, texts: Sequence[str]) -> Self:
        """Learn from documents."""
        counts, found = _counted(texts)
        triples, lengths = _spelled(found)
        times = np.repeat(counts.sum(axis=0), lengths).astype(np.float64)
        spelling = cls([_Counts.fit(keys, times) for keys in _n_grams(triples)])
        if not len(times):  # no document has a word
            return spelling
        information = spelling._information(spelling._places(triples))
        mean = np.average(information, weights=times)
        variance = np.average((information - mean) ** 2, weights=times)
        return spelling._replace(mean=float(mean), deviation=float(np.sqrt(variance)) or 1.0)

    def surprise(
        self, texts: Sequence[str], *, leave_out: bool = False
    ) -> tuple["csr_array[Any]", list[str]]:
        """Return the surprise of the words of documents, of shape (n_texts, n_words), and the words.

        With `leave_out`, they are training documents, and each is left out of the counts.
        """
        counts, found = _counted(texts)
        triples, lengths = _spelled(found)
        places = self._places(triples)
        if leave_out:
            n_rows = max(_MOST_CELLS // len(self.counts[-2].keys), 1)
            blocks = [
                self._left_out(counts[begin : begin + n_rows], lengths, places)
                for begin in range(0, len(texts), n_rows)
            ]
            data = np.concatenate(blocks)
        else:
            word = np.repeat(np.arange(len(found)), lengths)
            data = self._standard(self._information(places), word, lengths)[counts.indices]
        return csr_array((data, counts.indices, counts.indptr), shape=counts.shape), found

    def _left_out(self, counts: "csr_array[Any]", of_words: Keys, places: list[Keys]) -> Array:
        """Return the surprise of each entry of `counts`, by the words of the other training documents."""
        lengths, starts = of_words[counts.indices], (np.cumsum(of_words) - of_words)[counts.indices]
        entry = np.repeat(np.arange(len(lengths)), lengths)
        letter = np.arange(len(entry)) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))[entry]
        of_letters = [each[letter] for each in places]
        own = []
        for table, of_table in zip(self.counts, of_letters, strict=True):
            cells = row * len(table.keys) + of_table
            own.append(np.bincount(cells, counts.data[entry])[cells])
        return self._standard(self._information(of_letters, own), entry, lengths)

    def _places(self, triples: Keys) -> list[Keys]:
        return [table.places(keys) for table, keys in zip(self.counts, _n_grams(triples), strict=True)]

    def _information(self, places: list[Keys], own: list[Array] | None = None) -> Array:
        """Return -log P of letters, by the counts of `_n_grams` minus `own`."""
        counts = [table.counts[of_table] for table, of_table in zip(self.counts, places, strict=True)]
        if own is not None:
            counts = [of_all - of_own for of_all, of_own in zip(counts, own, strict=True)]
        share: Array | float = 1 / len(self.counts[0].keys)
        # in the order of `_n_grams`: counts of n-grams, then counts of the same without their last letters
        for n_gram, before in zip(counts[::2], counts[1::2], strict=True):
            share = (n_gram + _PRIOR * share) / (before + _PRIOR)
        return np.asarray(-np.log(share))

    def _standard(self, information: Array, word: Keys, lengths: Keys) -> Array:
        """Return the surprise of words, given the information of their letters."""
        excess = np.bincount(word, information - self.mean, len(lengths))
        return np.asarray(excess / (self.deviation * np.sqrt(lengths + _ADDED)))


def _counted(texts: Sequence[str]) -> tuple["csr_array[Any]", list[str]]:
    """Return how often each word occurs in each document, and the words; numbers are left out."""
    counts, found = count_words(texts)
    is_word = np.array([not word.isdecimal() for word in found], dtype=np.bool_)
    return csr_array(counts[:, is_word]), found[is_word].tolist()


def _spelled(found: Sequence[str]) -> tuple[Keys, Keys]:
    """Return the letters of words, with the two letters before each, and the lengths of the words."""
    text = "".join([f"\0\0{word}" for word in found])
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    triples = (codes[:-2] * _BASE + codes[1:-1]) * _BASE + codes[2:]
    return triples[codes[2:] > 0], np.fromiter(map(len, found), np.int64, len(found))


def _n_grams(triples: Keys) -> Iterator[Keys]:
    """Yield the n-grams of each order, then the same without their last letters; the shortest order first."""
    for order in _ORDERS:
        n_grams = triples % _BASE**order
        yield n_grams
        yield n_grams // _BASE
