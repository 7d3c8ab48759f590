"""Detectors that a reader can compute by hand, to hold other detectors against.

    adbench-text run --sweep real -d ./benchmarks/rulers.py:Words,./benchmarks/rulers.py:WordLength

They read raw documents; a word is what stands between spaces.
"""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import NearestNeighbors

from adbench_text.contract.scores import FROM_SCRATCH


class Words:
    """The number of words of a document; more is odder.

    With `two_sided`, the score is the distance from the median of the training documents.
    """

    reads_raw = True
    regime = FROM_SCRATCH

    def __init__(self, two_sided: bool = False) -> None:
        self.two_sided = two_sided

    def fit(self, texts: list[str]) -> "Words":
        """Keep the median."""
        self._median = np.median([self._measured(text) for text in texts])
        return self

    def decision_function(self, texts: list[str]) -> np.ndarray:
        """Return what is measured of each document, or its distance from the median."""
        measured = np.array([self._measured(text) for text in texts], dtype=float)
        return np.abs(measured - self._median) if self.two_sided else measured

    def _measured(self, text: str) -> float:
        return len(text.split())


class WordLength(Words):
    """The mean number of characters of the words of a document, with their punctuation; more is odder."""

    def _measured(self, text: str) -> float:
        words = text.split()
        return sum(map(len, words)) / max(1, len(words))


class TFIDFNeighbours:
    """The mean cosine distance to the nearest five of the other documents, by scikit-learn's defaults."""

    reads_raw = True
    regime = FROM_SCRATCH

    def fit(self, texts: list[str]) -> "TFIDFNeighbours":
        """Learn the weights of words, and keep the training documents."""
        self._vectorizer = TfidfVectorizer()
        rows = self._vectorizer.fit_transform(texts)
        self._search = NearestNeighbors(n_neighbors=min(5, len(texts) - 1), metric="cosine").fit(rows)
        self.decision_scores_ = self._search.kneighbors()[0].mean(axis=1)  # each without itself
        return self

    def decision_function(self, texts: list[str]) -> np.ndarray:
        """Return the distance of each document."""
        return np.asarray(self._search.kneighbors(self._vectorizer.transform(texts))[0].mean(axis=1))
