"""The adapter that puts a detector of PyOD behind the interface for documents."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from importlib.metadata import version
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import check_shapes
from adbench_text.errors import DetectorError
from adbench_text.isolation import seed_generators
from adbench_text.plugins import pyod_state
from adbench_text.plugins.detector import Scores
from adbench_text.plugins.pyod_batch import scores_by_batch
from adbench_text.plugins.regimes import TEST_BATCH
from adbench_text.plugins.state import State
from adbench_text.plugins.vector_detector import VectorDetector
from adbench_text.plugins.wrapped import WrappedDetector
from adbench_text.text.encoders import Matrix


class PyODDetector(WrappedDetector, VectorDetector):
    """A detector of PyOD on document vectors.

    Parameters
    ----------
    encoder, vectors, normalize, svd_components
        See `VectorDetector`.
    contamination, random_state
        See `TextDetector`; passed on to PyOD's detector where it takes them.
    **params
        PyOD's own hyper-parameters, by PyOD's names.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> from adbench_text.plugins import registry
    >>> detector = registry.detector("pyod-knn")(n_neighbors=3, encoder="svd").fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "the court heard a witness"])
    >>> bool(far > near)
    True
    """

    fixed: ClassVar[frozenset[str]] = frozenset({"contamination", "random_state", "n_features"})

    @property
    def regime(self) -> str:
        """Whether it uses the unlabelled test batch; otherwise the knowledge of its encoder."""
        wrapped: type = self.wrapped
        return TEST_BATCH if scores_by_batch(wrapped) else super().regime

    def resources(self) -> dict[str, str]:
        """Return the version of PyOD, and the digest of the file of word vectors if one is read."""
        return {**super().resources(), "pyod": version("pyod")}

    def _fit_vectors(self, X: Matrix) -> None:
        # some draw from NumPy's or torch's global generators only
        if self.random_state is not None:
            seed_generators(self.random_state)
        self._n_features = int(X.shape[1])
        try:
            self._detector = self._wrapped(self._n_features)
            with redirect_stdout(sys.stderr):  # PyOD prints its epochs
                self._detector.fit(np.asarray(X, dtype=np.float64))
        except ImportError as error:
            raise DetectorError(
                f"PyOD's {self.wrapped.__name__} needs a package that is not installed: {error}"
            ) from error

    def _wrapped(self, n_features: int) -> Any:
        """Return PyOD's detector, not fitted."""
        accepted = signature(self.wrapped).parameters
        shared: Mapping[str, Any] = {
            "contamination": self.contamination,
            "random_state": self.random_state,
            "n_features": n_features,
        }
        given = {name: value for name, value in shared.items() if name in accepted}
        return self.wrapped(**given, **self._params)

    def needed_resources(self) -> dict[str, str]:
        """Return the digest of the file of word vectors; of PyOD, another version is only a warning."""
        return super().resources()

    @property
    def trusted_types(self) -> frozenset[str]:
        """The classes of scikit-learn that PyOD's detectors use."""
        return pyod_state.TRUSTED

    def _get_state_of_vectors(self) -> State:
        n_features = self._n_features
        attributes = pyod_state.take_apart(self._detector, self._wrapped(n_features))
        return {"n_features": n_features, "attributes": attributes}

    def _set_state_of_vectors(self, state: State) -> None:
        self._n_features = state["n_features"]
        self._detector = pyod_state.put_together(self._wrapped(self._n_features), state["attributes"])
        check_shapes(vars(self._detector), decision_scores_="texts", labels_="texts")
        self._check_width(self._n_features)

    def _score_vectors(self, X: Matrix) -> NDArray[np.float64]:
        return np.asarray(self._detector.decision_function(np.asarray(X, dtype=np.float64)), dtype=np.float64)

    def _score_training(self, texts: list[str]) -> Scores:
        # neighbours and the like leave a training text itself out
        return np.asarray(self._detector.decision_scores_, dtype=np.float64)
