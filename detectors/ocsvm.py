"""One-class SVM on document vectors (Schoelkopf et al., 2001).

References
----------
B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola, R. C. Williamson: Estimating the Support of a
High-Dimensional Distribution. Neural Computation 13, 2001.

J. Pennington, R. Socher, C. D. Manning: GloVe: Global Vectors for Word Representation. EMNLP 2014.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, ClassVar, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import OneClassSVM

from adbench_text.checks import Choice, Number, Range
from adbench_text.contract.vector_detector import VectorDetector, VectorParams
from adbench_text.text.encoders import Matrix

Kernel = Literal["rbf", "linear"]
KERNELS: tuple[Kernel, ...] = get_args(Kernel)


class OCSVM(VectorDetector):
    """One-class SVM on document vectors.

    The preset ``paper-grid`` is the grid of the papers (CVDD section 5.1; DATE section 4.2) over kernels
    and nu, on normalised means and tf-idf-weighted means of the chosen word vectors: by default
    50-dimensional GloVe, while the papers use 300 dimensions.

    Parameters
    ----------
    kernel : {"rbf", "linear"}, default "rbf"
        Kernel; for ``rbf`` gamma is 1 / (largest distance of two training vectors) ** 2, as in
        CVDD's released code.
    nu : float, default 0.1
        Upper bound on the share of training errors, in (0, 1].
    encoder, vectors, normalize, svd_components
        See `VectorDetector`.
    contamination, random_state
        See `TextDetector`; only the encoder's SVD is random.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> detector = OCSVM(kernel="linear", nu=0.2, encoder="svd", random_state=0).fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "the court heard a witness"])
    >>> bool(far > near)
    True
    """

    ranges: ClassVar[Mapping[str, Range]] = {"kernel": Choice(KERNELS), "nu": Number("(0, 1]")}
    trusted_types = frozenset({"sklearn.svm._classes.OneClassSVM"})

    def __init__(self, *, kernel: Kernel = "rbf", nu: float = 0.1, **shared: Unpack[VectorParams]) -> None:
        super().__init__(**shared)
        self.kernel = kernel
        self.nu = nu

    @classmethod
    def presets(cls, dataset: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return ``paper-grid``: both kernels, four values of nu, mean and tf-idf-weighted mean."""
        grid = product(KERNELS, (0.05, 0.1, 0.2, 0.5), ("mean", "tfidf"))
        return {
            "paper-grid": [{"kernel": kernel, "nu": nu, "encoder": encoder} for kernel, nu, encoder in grid]
        }

    def _fit_vectors(self, X: Matrix) -> None:
        gamma = 1 / max(_largest_squared_distance(X), 1e-12)
        self._svm = OneClassSVM(kernel=self.kernel, nu=self.nu, gamma=gamma, cache_size=1000).fit(X)

    def _score_vectors(self, X: Matrix) -> NDArray[np.float64]:
        normality: NDArray[np.float64] = self._svm.decision_function(X)
        return -normality


def _largest_squared_distance(X: Matrix, rows: int = 2048) -> float:
    """Return the largest squared Euclidean distance of two rows; compute it by blocks of rows."""
    squares = np.einsum("ij,ij->i", X, X)
    largest = 0.0
    for start in range(0, len(X), rows):
        block = slice(start, start + rows)
        distances = squares[block, None] - 2 * X[block] @ X[start:].T + squares[start:]
        largest = max(largest, float(distances.max()))
    return largest
