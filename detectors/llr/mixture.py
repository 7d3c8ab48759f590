"""Two unigram models: one of the inliers, one of the documents that are set aside.

n(w) is the count of a word in the inliers and N their number of words; m(w) and M are the same for the
documents that are set aside. q(w) is the background frequency; a and A are the smoothing in words:

    p(w) = (n(w) + a q(w)) / (N + a)        b(w) = (m(w) + A q(w)) / (M + A)

The evidence of a word is min(log[ p(w) / b(w) ], cap). The ratio of a document is the sum of the evidence of
its words over (length + 5); its score is the negative ratio. A document of either set is judged by the counts
of the others, because a text must not be evidence for itself.
"""

from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Weight of the background in the frequencies of the documents that are set aside, as a share of the training
# words, or of its weight in the frequencies of the inliers if this is more.
_ASIDE_WEIGHT = 0.3
_SHRINKAGE = 5.0  # words
_LEAST, _MOST = 0.05, 0.2  # shares of the documents that are set aside
_LEAST_SHARE = 0.01  # of documents that are set aside, for the prior odds


class Counts:
    """Sparse word counts of documents: a CSR array of shape (n_texts, n_words)."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.lengths: Array = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()

    @property
    def columns(self) -> NDArray[Any]:
        """The word of each entry."""
        return np.asarray(self.matrix.indices)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The document of each entry."""
        return np.repeat(np.arange(self.matrix.shape[0]), np.diff(self.matrix.indptr))

    @cached_property
    def values(self) -> Array:
        """The count of each entry."""
        return np.asarray(self.matrix.data, dtype=np.float64)

    def of_entries(self) -> "Counts":
        """Return the same counts, with a separate column for each entry."""
        n_entries = len(self.columns)
        matrix = (self.matrix.data, np.arange(n_entries), self.matrix.indptr)
        return Counts(csr_array(matrix, shape=(len(self.lengths), n_entries)))

    def totals(self, chosen: Mask) -> Array:
        """Return the count of each word in the chosen documents."""
        return np.asarray(self.matrix.T @ chosen.astype(np.float64), dtype=np.float64)

    def sums(self, of_entries: Array) -> Array:
        """Return for each document the sum over its entries, weighted by their counts."""
        sums = np.bincount(self.rows, self.values * of_entries, minlength=self.matrix.shape[0])
        return sums.astype(np.float64)


class Side(NamedTuple):
    """Word counts of one set: `total` words, and `smoothing` words of the background."""

    counts: Array
    total: float
    smoothing: float


class Mixture(NamedTuple):
    """Two models: one of the inliers, and one of the documents that are set aside.

    `background` has the frequencies q of all words.
    """

    inliers: Side
    aside: Side
    background: Array
    cap: float

    @classmethod
    def fit(cls, counts: Counts, is_aside: Mask, background: Array, smoothing: float, cap: float) -> Self:
        """Count the words of training documents; `is_aside` says which ones are set aside."""
        n_inliers, n_aside = counts.totals(~is_aside), counts.totals(is_aside)
        total, total_aside = float(n_inliers.sum()), float(n_aside.sum())
        # at least a share of `smoothing`: with few training words, the few words set aside are weak evidence
        aside_smoothing = _ASIDE_WEIGHT * max(total + total_aside, smoothing)
        sides = Side(n_inliers, total, smoothing), Side(n_aside, total_aside, aside_smoothing)
        return cls(*sides, background, cap)

    def of_words(self, training_words: NDArray[np.int64], background: Array) -> Self:
        """Return the mixture for other words, with their background frequencies.

        Word i is the training word number ``training_words[i]``; -1 is an unknown word, with a count of 0.
        """
        inliers, aside = (
            side._replace(counts=np.append(side.counts, 0.0)[training_words])
            for side in (self.inliers, self.aside)
        )
        return self._replace(inliers=inliers, aside=aside, background=background)

    def evidence(self) -> Array:
        """Return the evidence of each word."""
        return np.minimum(np.log(self._frequencies(self.inliers) / self.other()), self.cap)

    def other(self) -> Array:
        """Return the frequency b of each word in the documents that are set aside."""
        return self._frequencies(self.aside)

    def _frequencies(self, side: Side) -> Array:
        return (side.counts + side.smoothing * self.background) / (side.total + side.smoothing)

    def evidence_left_out(self, counts: Counts, of_inliers: Mask, of_aside: Mask) -> Array:
        """Return the evidence of the word of each entry; its document is left out of the counts."""
        p = self.left_out(counts, self.inliers, of_inliers)
        b = self.left_out(counts, self.aside, of_aside)
        return np.asarray(np.minimum(np.log(p / b), self.cap), dtype=np.float64)

    def left_out(self, counts: Counts, side: Side, contains: Mask) -> Array:
        """Return the frequency of the word of each entry in a side; its document is left out."""
        own = contains[counts.rows]
        n = side.counts[counts.columns] - np.where(own, counts.values, 0.0)
        total = side.total - np.where(own, counts.lengths[counts.rows], 0.0)
        frequency = n + side.smoothing * self.background[counts.columns]
        return np.asarray(frequency / (total + side.smoothing), dtype=np.float64)


def per_word(evidence: Array | float, counts: Counts) -> Array:
    """Return the evidence of documents per word; every document gets five more words without evidence."""
    return np.asarray(evidence / (counts.lengths + _SHRINKAGE), dtype=np.float64)


def cap_of(evidence: Array, counts: Array, capped: float) -> float:
    """Return a cap: the share `capped` of all words of documents has at least this evidence.

    `evidence` and `counts` have one entry for each unique word, or for each topic and unique word. A
    word counts as often as it occurs. Without words the cap is infinite.
    """
    if not evidence.size:
        return np.inf
    order = np.argsort(evidence, axis=None)
    cumulative = np.cumsum(counts.ravel()[order])
    place = np.searchsorted(cumulative, (1 - capped) * cumulative[-1])
    return float(evidence.ravel()[order[min(place, len(order) - 1)]])


def set_aside(counts: Counts, mixture: Mixture, aside: Mask) -> Mask:
    """Choose the training documents that the other model explains better: one round of hard EM.

    Every document is judged by the counts of the others. It is set aside if its evidence for the other model
    outweighs the prior odds of being set aside. At least the 5 % with the highest scores are set aside, so
    that the other model can learn from them, and at most 20 %, because otherwise the two models could change
    places. `aside` are the documents that were set aside before.
    """
    scores = per_word(-counts.sums(mixture.evidence_left_out(counts, ~aside, aside)), counts)
    share = max(float(aside.mean()), _LEAST_SHARE)
    prior = per_word(np.log((1 - share) / share), counts)
    chosen: Mask = (scores > prior) & (scores > np.quantile(scores, 1 - _MOST))
    chosen |= scores > np.quantile(scores, 1 - _LEAST)
    return chosen
