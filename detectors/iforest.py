"""Isolation Forest on document vectors (Liu et al., 2008).

References
----------
F. T. Liu, K. M. Ting, Z.-H. Zhou: Isolation Forest. ICDM 2008.

J. Pennington, R. Socher, C. D. Manning: GloVe: Global Vectors for Word Representation. EMNLP 2014.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest

from adbench_text.checks import Range, Whole
from adbench_text.contract.vector_detector import VectorDetector, VectorParams
from adbench_text.text.encoders import Matrix


class IForest(VectorDetector):
    """Isolation Forest on document vectors.

    The preset ``paper-grid`` is the grid of the paper (DATE section 4.2), on the chosen word vectors: by
    default 50-dimensional GloVe, while the paper uses 300 dimensions.

    Parameters
    ----------
    n_estimators : int, default 256
        Number of trees.
    encoder, vectors, normalize, svd_components
        See `VectorDetector`.
    contamination, random_state
        See `TextDetector`.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> detector = IForest(n_estimators=64, encoder="svd", random_state=0).fit(sea)
    >>> detector.decision_function(["the ship and its crew", "the court heard a witness"]).shape
    (2,)
    """

    ranges: ClassVar[Mapping[str, Range]] = {"n_estimators": Whole(1)}
    trusted_types = frozenset(
        {
            "sklearn.ensemble._iforest.IsolationForest",
            "sklearn.tree._classes.ExtraTreeRegressor",
            "sklearn.tree._tree.Tree",
        }
    )
    test_settings: ClassVar[Mapping[str, Any]] = {"n_estimators": 64}

    def __init__(self, *, n_estimators: int = 256, **shared: Unpack[VectorParams]) -> None:
        super().__init__(**shared)
        self.n_estimators = n_estimators

    @classmethod
    def presets(cls, dataset: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return ``paper-grid``: four numbers of trees, on plain means of word vectors."""
        plain = {"encoder": "mean", "normalize": False}
        return {"paper-grid": [{"n_estimators": n, **plain} for n in (64, 100, 128, 256)]}

    def _fit_vectors(self, X: Matrix) -> None:
        self._forest = IsolationForest(n_estimators=self.n_estimators, random_state=self.random_state).fit(X)

    def _score_vectors(self, X: Matrix) -> NDArray[np.float64]:
        normality: NDArray[np.float64] = self._forest.score_samples(X)
        return -normality
