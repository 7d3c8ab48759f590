"""Detectors for the loops of ADBench (Han et al., NeurIPS 2022)."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adbench_text.plugins.configure import detector


class ADBenchDetector:
    """A detector for ADBench: ``RunPipeline.run(dataset, clf=ADBenchDetector("llr:robust"))``.

    ADBench calls ``clf(seed, model_name="Customized")``, or the class with a name of its ``model_dict``.

    Parameters
    ----------
    model_name : str
        Name of a detector, or of a detector and a preset: ``"llr:robust"``.
    seed : int
    **settings
        Its hyper-parameters, on top of the preset.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> clf = ADBenchDetector("knn-words", k=5)
    >>> model = clf(seed=1, model_name="Customized").fit(X_train=sea, y_train=[0] * 30)
    >>> near, far = model.predict_score(["the ship and its crew", "the court heard a witness"])
    >>> bool(far > near)
    True
    """

    def __init__(self, model_name: str, seed: int = 0, **settings: Any) -> None:
        self.model_name, self.seed, self.settings = model_name, seed, settings

    def __call__(self, seed: int, model_name: str) -> Self:
        """Return the detector with another seed, not fitted; ADBench's name for it is not used."""
        return type(self)(self.model_name, seed, **self.settings)

    def fit(self, X_train: ArrayLike, y_train: object = None) -> Self:
        """Fit on documents; labels are ignored, as by ADBench's unsupervised models."""
        made = detector(self.model_name)(**self.settings)
        if "random_state" in made.get_params():
            made.set_params(random_state=self.seed)
        self._detector = made.fit(_texts(X_train))
        return self

    def predict_score(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the abnormality of each document."""
        return self._detector.decision_function(_texts(X))


def _texts(X: ArrayLike) -> list[str]:
    """Return documents as a list; ADBench prints ``X.shape[1]``, so they may be a column."""
    return np.asarray(X, dtype=object).ravel().tolist()
