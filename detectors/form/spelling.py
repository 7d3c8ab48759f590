"""How surprising the letters of a word are, given the words of the training documents.

With c(...) the number of times that letters follow each other in the training words, V one more than the
number of different letters, and B = 3, a letter z after the letters x and y has the probability P(z | x, y):

    P(z) = (c(z) + B / V) / (c() + B)
    P(z | y) = (c(yz) + B P(z)) / (c(y) + B)
    P(z | x, y) = (c(xyz) + B P(z | y)) / (c(xy) + B)

where two blanks come before each word, and c(), c(y), c(xy) count the letters that follow (MacKay and Bauman
Peto, 1995, "A hierarchical Dirichlet language model"). The surprise of a word of n letters is

    sum over its letters of (-log P(z | x, y) - mean) / (deviation * sqrt(n + 3))

with the mean and the standard deviation over all letters of the training words: about 0 for a usual word. A
training document is judged by counts without its own. Words are in lower case; numbers are left out.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from adbench_text.text.words import words

_PRIOR = 3.0  # B
_ADDED = 3.0  # to the length of a word: two odd letters are no proof
_BASE = sys.maxunicode + 1  # three letters are one number
_ORDERS = (1, 2, 3)  # letters of an n-gram

Array = NDArray[np.float64]
Keys = NDArray[np.int64]


def spelled_words(text: str) -> list[str]:
    """Return the words of a document that are not numbers."""
    return [word for word in words(text) if not word.isdecimal()]


class _Counts(NamedTuple):
    """How often each key occurs; the keys are in order."""

    keys: Keys
    counts: Array

    @classmethod
    def fit(cls, keys: Keys) -> Self:
        """Count keys."""
        different, counts = np.unique(keys, return_counts=True)
        return cls(different, counts.astype(np.float64))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the counts of all parts together."""
        keys, places = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
        counts = np.concatenate([part.counts for part in parts])
        return cls(keys, np.bincount(places, counts, len(keys)).astype(np.float64))

    def of(self, keys: Keys, rows: Keys | None) -> Array:
        """Return how often each key occurs; with rows, how often in other rows."""
        if not len(self.keys):  # no training document has a word
            return np.zeros(len(keys))
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        counts = np.where(self.keys[places] == keys, self.counts[places], 0.0)
        if rows is not None:
            of_row = np.unique(rows * len(self.keys) + places, return_inverse=True, return_counts=True)
            counts = np.maximum(counts - of_row[2][of_row[1]].astype(np.float64), 0.0)
        return counts


class _Spelled(NamedTuple):
    """The letters of words, each with the two before it."""

    triples: Keys
    word: Keys  # number of the word of each letter
    lengths: Keys  # of the words

    @classmethod
    def of(cls, found: Sequence[str]) -> Self:
        """Spell words."""
        text = "".join(f"\0\0{word}" for word in found)
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
        triples = (codes[:-2] * _BASE + codes[1:-1]) * _BASE + codes[2:]
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        return cls(triples[codes[2:] > 0], np.repeat(np.arange(len(found)), lengths), lengths)


def _n_grams(triples: Keys) -> Iterator[Keys]:
    """Yield the n-grams of each order, and what comes before their last letters."""
    for order in _ORDERS:
        n_grams = triples % _BASE**order
        yield n_grams
        yield n_grams // _BASE


class Spelling(NamedTuple):
    """What is known of the letters of the training words."""

    counts: list[_Counts]  # of `_n_grams`
    mean: float = 0.0
    deviation: float = 1.0

    @classmethod
    def fit(cls, blocks: Sequence[Sequence[str]]) -> tuple[Self, Array]:
        """Learn from blocks of documents; also return `highest` of each, itself left out."""
        counted = [
            [
                _Counts.fit(keys)
                for keys in _n_grams(_Spelled.of(list(chain(*map(spelled_words, block)))).triples)
            ]
            for block in blocks
        ]
        spelling = cls([_Counts.joined(parts) for parts in zip(*counted, strict=True)])
        triples = spelling.counts[-2]
        if len(triples.keys):
            information = spelling._information(triples.keys)
            mean = np.average(information, weights=triples.counts)
            variance = np.average((information - mean) ** 2, weights=triples.counts)
            spelling = spelling._replace(mean=float(mean), deviation=float(np.sqrt(variance)) or 1.0)
        return spelling, np.concatenate([spelling.highest(block, leave_out=True) for block in blocks])

    def highest(self, texts: Sequence[str], *, leave_out: bool = False) -> Array:
        """Return the surprise of the most surprising word of each document, at least 0."""
        surprises = self.of_documents(list(map(spelled_words, texts)), leave_out=leave_out)
        return np.array([max([0.0, *of_text]) for of_text in surprises])

    def of_documents(self, listed: Sequence[Sequence[str]], *, leave_out: bool = False) -> list[list[float]]:
        """Return the surprise of the words of documents, in lower case.

        With `leave_out`, they are training documents, and each is left out of what is known.
        """
        if leave_out:
            lengths = list(map(len, listed))
            surprise = self._surprise(list(chain(*listed)), np.repeat(np.arange(len(listed)), lengths))
            return [of_text.tolist() for of_text in np.split(surprise, np.cumsum(lengths)[:-1])]
        different = list(dict.fromkeys(chain(*listed)))  # most words are repeated
        of_word = dict(zip(different, self._surprise(different).tolist(), strict=True))
        return [[of_word[word] for word in found] for found in listed]

    def _surprise(self, found: Sequence[str], rows: Keys | None = None) -> Array:
        """Return the surprise of words; with the rows of their documents, by the letters of the others."""
        spelled = _Spelled.of(found)
        information = self._information(spelled.triples, None if rows is None else rows[spelled.word])
        excess = np.bincount(spelled.word, information - self.mean, len(found))
        return np.asarray(excess / (self.deviation * np.sqrt(spelled.lengths + _ADDED)))

    def _information(self, triples: Keys, rows: Keys | None = None) -> Array:
        """Return -log P of letters."""
        share: Array | float = 1 / (len(self.counts[0].keys) + 1)
        counts = (table.of(keys, rows) for table, keys in zip(self.counts, _n_grams(triples), strict=True))
        for n_gram, before in zip(counts, counts, strict=True):  # two at a time
            share = (n_gram + _PRIOR * share) / (before + _PRIOR)
        return np.asarray(-np.log(share))
