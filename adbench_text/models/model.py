"""A model: a fitted detector, the scores of normal documents it is judged by, and where it comes from."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.calibration import threshold
from adbench_text.plugins.detector import TextDetector
from adbench_text.text.words import digest

#: Shares of normal documents that the thresholds of a model call odd.
ALPHAS = (0.01, 0.05, 0.1)


@dataclass(frozen=True)
class Training:
    """Facts about the training documents, which a model does not contain.

    Attributes
    ----------
    n_documents : int
    digest : str
        Digest of the documents and their order.
    source : str
        Name of the dataset or file.
    options : dict of str to object
        How the source was read, such as its language and the number of copies left out; values of JSON.

    Examples
    --------
    >>> Training.of(["one", "two"], source="numbers.csv", options={"column": "text"}).n_documents
    2
    """

    n_documents: int
    digest: str
    source: str
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: list[str], source: str, options: dict[str, Any] | None = None) -> "Training":
        """Return the facts about these documents."""
        return cls(len(texts), digest(texts), source, options or {})


@dataclass(frozen=True)
class Model:
    """A fitted detector that is saved and read back by `save` and `load`.

    Attributes
    ----------
    detector : TextDetector
    name : str
        The name of the detector in the registry.
    calibration : float64 array of shape (n,)
        Scores of normal documents.
    calibrated_by : str
        How the scores were found, for example ``"leave-one-out"``.
    training : Training
    """

    detector: TextDetector
    name: str
    calibration: NDArray[np.float64]
    calibrated_by: str
    training: Training

    def thresholds(self) -> dict[str, float | None]:
        """Return for each share in `ALPHAS` the score above which a document has at most this p-value.

        None where there are too few calibration scores for such a p-value.
        """
        return {f"{alpha:g}": threshold(self.calibration, alpha) for alpha in ALPHAS}
