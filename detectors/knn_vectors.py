"""k nearest neighbours by cosine distance on document vectors: `knn-words` in a space of few dimensions.

A document is abnormal if its vector points in another direction than the nearest training documents. Its
score is the mean cosine distance to its k nearest training documents (as in PyOD's KNN with
``method="mean"``; Angiulli and Pizzuti, 2002). A document without a known word has distance 1 from
everything.

References
----------
F. Angiulli, C. Pizzuti: Fast Outlier Detection in High Dimensional Spaces. PKDD 2002.

J. Pennington, R. Socher, C. D. Manning: GloVe: Global Vectors for Word Representation. EMNLP 2014.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import Range, Whole
from adbench_text.contract.vector_detector import VectorDetector, VectorParams
from adbench_text.detectors._references import places_of_references, smallest
from adbench_text.detectors._robust_scale import RobustScale
from adbench_text.text.encoders import Matrix, find_method

_ROWS = 100  # of a block of distances, so that it stays in the cache


class KNNVectors(VectorDetector):
    """k nearest neighbours by cosine distance on document vectors; see the head of the module.

    Parameters
    ----------
    k : int, default 20
        Number of neighbours; all training documents if there are fewer.
    references : int or None, default None
        Number of training documents to search for neighbours, drawn by the seed; None for all. The time grows
        with it. Fewer references are further apart, so that a few similar outliers have less effect.
    encoder, vectors, normalize, svd_components
        See `VectorDetector`. Cosine distances do not depend on `normalize`.
    contamination, random_state
        See `TextDetector`; the references and the draws of the encoder are random.

    Attributes
    ----------
    decision_scores_ : float64 array of shape (n_train,)
        Scores of the training documents; a document is not its own neighbour.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> detector = KNNVectors(k=5, encoder="svd", random_state=0).fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "a court heard the witness"])
    >>> bool(far > near)
    True
    """

    name = "knn-vectors"
    ranges: ClassVar[Mapping[str, Range]] = {"k": Whole(1), "references": Whole(2, nullable=True)}
    takes_labels: ClassVar[bool] = True
    trusted_types = frozenset[str]()
    not_saved: ClassVar[frozenset[str]] = frozenset({"_places"})

    def __init__(self, *, k: int = 20, references: int | None = None, **shared: Unpack[VectorParams]) -> None:
        super().__init__(**shared)
        self.k = k
        self.references = references

    @property
    def leaves_out_self(self) -> bool:  # type: ignore[override]  # a class attribute of other classes
        """Whether each training document is scored without itself: the encoder must not learn from it."""
        return not find_method(self.encoder).learns

    def _fit_vectors(self, X: Matrix) -> None:
        self._places = places_of_references(len(X), self.references, self.random_state)
        self._neighbours = _unit(X)[self._places]
        self._towards = np.zeros(X.shape[1])
        if len(self._known_labels.odd) > 1:
            odd = _unit(self._encoder(list(self._known_labels.odd)))
            fine = X[:0] if self._known_labels.is_fine is None else _unit(X)[self._known_labels.is_fine]
            scale = RobustScale.fit(self._left_out(X)).scale
            self._towards = scale * _direction(odd, fine, self._neighbours)
        self._offset = float((self._neighbours @ self._towards).mean())

    def _score_vectors(self, X: Matrix) -> NDArray[np.float64]:
        return self._towards_outliers(X, self._mean_distances(X))

    def _score_training(self, texts: list[str]) -> NDArray[np.float64]:
        X = self._encoder(texts)
        return self._towards_outliers(X, self._left_out(X))

    def _towards_outliers(self, X: Matrix, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self._towards.any():
            return distances
        along = _unit(X) @ self._towards - self._offset
        return np.asarray(distances + np.maximum(along, 0), dtype=np.float64)

    def _left_out(self, X: Matrix) -> NDArray[np.float64]:
        """Return the mean distances of the training documents; a document is not its own neighbour."""
        own = np.full(len(X), -1)
        own[self._places] = np.arange(len(self._places))
        return self._mean_distances(X, own)

    def _mean_distances(self, X: Matrix, own: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return the mean cosine distance of each vector to its nearest references.

        `own` is the number of each document among the references, or -1; it is left out of its neighbours.
        """
        vectors, references = _unit(X), -self._neighbours.T.astype(np.float64)
        k = min(self.k, len(self._neighbours) - (own is not None))
        scores = np.ones(len(X))
        if k == 0:  # a single training document has no neighbours
            return scores
        for start in range(0, len(X), _ROWS):
            block = slice(start, start + _ROWS)
            # in float32, a distance would depend on the other documents of the block
            opposite = vectors[block].astype(np.float64) @ references  # minus the cosine
            if own is not None:
                rows = np.flatnonzero(own[block] >= 0)
                opposite[rows, own[block][rows]] = np.inf
            scores[block] = 1 + smallest(opposite, k).mean(axis=1)
        return np.maximum(scores, 0)  # rounding may give -1e-7


def _direction(odd: Matrix, fine: Matrix, others: Matrix) -> NDArray[np.float64]:
    """Return the direction from other documents to known outliers; its length says how reliable it is.

    `fine` are documents known to be normal. The scores of others along the direction have the standard
    deviation

        w = (sum of z of the outliers / (k + 3) - sum of z of the normal ones / (m + 3)) / 2, from 0 to 1

    where k and m are the numbers of outliers and normal documents. z is the score of a document along a
    direction found without it, in standard deviations of the others. So a single outlier, or several
    dissimilar ones, have no effect.
    """
    centre, k = others.mean(axis=0), len(odd)

    def scaled(towards: NDArray[Any]) -> NDArray[Any]:
        deviation = float((others @ towards).std())
        return towards / deviation if deviation else np.zeros_like(towards)

    towards = scaled(odd.mean(axis=0) - centre)
    of_odd = [(own - centre) @ scaled((odd.sum(axis=0) - own) / (k - 1) - centre) for own in odd]
    of_fine = (fine - centre) @ towards
    weight = (sum(of_odd) / (k + 3) - of_fine.sum() / (len(fine) + 3)) / 2
    return np.asarray(min(max(weight, 0.0), 1.0) * towards, dtype=np.float64)


def _unit(X: Matrix) -> Matrix:
    """Scale vectors to length 1; a zero vector stays 0."""
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return (X / np.where(length > 0, length, 1)).astype(np.float32)
