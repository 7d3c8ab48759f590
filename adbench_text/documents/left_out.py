"""Scores of documents by detectors that were fitted without them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import Whole
from adbench_text.errors import AdbenchTextError
from adbench_text.plugins.scores import N_TYPICAL, TokenScore, centre

if TYPE_CHECKING:
    from adbench_text.plugins.detector import TextDetector

N_FOLDS = 10  # with five, LOF on the encoder svd called 14 % of normal documents odd at 10 %, with ten 12.7 %


@dataclass(frozen=True)
class LeftOut:
    """Scores of documents by detectors that were fitted without them.

    `method` is ``"leave-one-out"``, or for example ``"cross-fitted over 10 folds"``.
    """

    scores: NDArray[np.float64]
    method: str
    _texts: Sequence[str] = field(repr=False)
    _detectors: "Sequence[TextDetector]" = field(repr=False)  # one, or one for each fold
    _fold_of: NDArray[np.int64] | None = field(default=None, repr=False)

    @property
    def detector(self) -> "TextDetector":
        """The detector that was fitted on all documents; only if each is left out by itself."""
        return self._detectors[0]

    @cached_property
    def centre(self) -> float:
        """Score above which a word speaks for odd; 0 if the detector has no scores of words."""
        n = len(self.scores)
        try:
            return centre(self.token_scores(range(0, n, max(n // N_TYPICAL, 1))))
        except AdbenchTextError:  # it scores a document as a unit
            return 0.0

    def token_scores(self, rows: Sequence[int]) -> list[list[TokenScore]]:
        """Return the scores of the words of some documents; raise DetectorError if there are none."""
        return self._looked_up("token_scores", rows)

    def reasons(self, rows: Sequence[int]) -> list[list[str]]:
        """Return the facts that make some documents odd, the strongest first."""
        return self._looked_up("reasons", rows)

    def _looked_up(self, what: str, rows: Sequence[int]) -> list[Any]:
        if self._fold_of is None:
            found: list[Any] = getattr(self._detectors[0], f"training_{what}")(rows)
            return found
        of_row: dict[int, Any] = {}
        for fold, detector in enumerate(self._detectors):
            if own := [row for row in rows if self._fold_of[row] == fold]:
                of_row |= zip(own, getattr(detector, what)([self._texts[row] for row in own]), strict=True)
        return [of_row[row] for row in rows]


def left_out(
    detector: "TextDetector", texts: Sequence[str], n_folds: int = N_FOLDS, seed: int = 0
) -> LeftOut:
    """Return scores of at least two documents, each by a detector that was fitted without it.

    A detector whose ``decision_scores_`` leave each document out is fitted once, on all of them; any other
    is cloned, and fitted once without each fold.
    """
    Whole(2).check("n_folds", n_folds)
    if detector.leaves_out_self:
        return LeftOut(detector.fit(texts).decision_scores_, "leave-one-out", texts, [detector])
    from sklearn.base import clone

    n_folds = min(n_folds, len(texts))
    fold_of = np.random.default_rng(seed).permutation(len(texts)) % n_folds
    scores = np.empty(len(texts))
    detectors = []
    for fold in range(n_folds):
        fitted = clone(detector).fit([text for text, own in zip(texts, fold_of, strict=True) if own != fold])
        rows = np.flatnonzero(fold_of == fold).tolist()
        scores[rows] = fitted.decision_function([texts[row] for row in rows])
        detectors.append(fitted)
    return LeftOut(scores, f"cross-fitted over {n_folds} folds", texts, detectors, fold_of)
