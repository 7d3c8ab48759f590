"""Detectors with the methods that ADBench asks of a model (Han et al., NeurIPS 2022)."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adbench_text.plugins import registry


class ADBenchDetector:
    """A detector for ADBench's loops: ``fit(X_train, y_train)``, then ``predict_score(X_test)``.

    Parameters
    ----------
    seed : int
    model_name : str
        Name of a detector.
    **settings
        Its hyper-parameters.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> model = ADBenchDetector(seed=0, model_name="knn-words", k=5).fit(sea, y_train=None)
    >>> near, far = model.predict_score(["the ship and its crew", "the court heard a witness"])
    >>> bool(far > near)
    True
    """

    def __init__(self, seed: int, model_name: str, **settings: Any) -> None:
        self.seed, self.model_name, self.settings = seed, model_name, settings

    def fit(self, X_train: Sequence[str], y_train: object = None) -> Self:
        """Fit on documents; labels are ignored, as by ADBench's unsupervised models."""
        kind = registry.detector(self.model_name)
        seed = {"random_state": self.seed} if "random_state" in kind.default_params() else {}
        self._detector = kind(**self.settings, **seed).fit(list(X_train))
        return self

    def predict_score(self, X: Sequence[str]) -> NDArray[np.float64]:
        """Return the abnormality of each document."""
        return self._detector.decision_function(list(X))
