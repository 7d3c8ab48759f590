"""The coherence of a document: how much its words have in common, by their vectors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.detectors.llr.background import by_rank
from adbench_text.detectors.llr.mixture import Counts
from adbench_text.text import vectors

Array = NDArray[np.float64]
_ROUNDING = 1e-12  # relative to a sum of squares


class Directions:
    """Unit vectors of words, without their mean and first principal component in the training documents.

    `name` names the word vectors, see `adbench_text.text.vectors`; the vectors are not kept, so `of` gets it
    again. `words` are the words of the training documents.
    """

    def __init__(self, name: str, words: NDArray[Any], language: str = "en") -> None:
        matrix, rows = _look_up(name, words, language)
        weights = np.sqrt(by_rank(rows)) * (rows >= 0)
        self._mean = weights @ matrix / max(float(weights.sum()), 1e-12)
        centred = (matrix - self._mean) * weights[:, None]
        self._component = np.linalg.eigh(centred.T @ centred)[1][:, -1]

    def of(self, name: str, words: NDArray[Any], language: str = "en") -> Array:
        """Return the direction of each word, of shape (n_words, n_dimensions); zeros for an unknown word.

        `name` names the word vectors, the same as in the constructor.
        """
        matrix, rows = _look_up(name, words, language)
        matrix = matrix - self._mean
        matrix -= np.outer(matrix @ self._component, self._component)
        norms = np.linalg.norm(matrix, axis=1)
        return np.where(((rows >= 0) & (norms > 0))[:, None], matrix / np.maximum(norms, 1e-12)[:, None], 0.0)


def _look_up(name: str, words: NDArray[Any], language: str) -> tuple[Array, NDArray[np.int64]]:
    """Return the vectors of words, zeros for unknown ones, and their rows in the file; -1 is unknown."""
    loaded = vectors.load(name)
    rows = loaded.rows(words, language)
    is_known = rows >= 0
    matrix = np.zeros((len(rows), loaded.matrix.shape[1]))
    matrix[is_known] = loaded.matrix[rows[is_known]]
    return matrix, rows


def coherence(counts: Counts, directions: Array) -> Array:
    """Return the length of the sum of the directions of a document's words, corrected for chance.

    It is sqrt(max(0, |sum n(w) u(w)|^2 - sum n(w)^2)): the coherence is 0 for a single word, and for words
    that have nothing in common. `directions` has the shape (n_words, n_dimensions).
    """
    total = (np.asarray(counts.matrix @ directions) ** 2).sum(axis=1)
    is_known: NDArray[np.bool_] = np.any(directions != 0, axis=1)
    alone = np.bincount(
        counts.rows, counts.values**2 * is_known[counts.columns], minlength=len(counts.lengths)
    )
    # with the root, rounding of 1e-17 would become a difference of 3e-9 between equally odd documents
    shared = np.where(total - alone > _ROUNDING * total, total - alone, 0.0)
    return np.asarray(np.sqrt(shared), dtype=np.float64)
