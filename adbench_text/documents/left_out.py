"""Scores of documents by detectors that were fitted without them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import Whole
from adbench_text.errors import AdbenchTextError
from adbench_text.plugins.scores import N_TYPICAL, TokenScore, centre

if TYPE_CHECKING:
    from adbench_text.plugins.detector import TextDetector

T = TypeVar("T")

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
    _fold_of: NDArray[np.int64] = field(repr=False)

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
        if self.detector.leaves_out_self:
            return self.detector.training_token_scores(rows)
        return self._by_fold(rows, lambda detector, texts: detector.token_scores(texts))

    def reasons(self, rows: Sequence[int]) -> list[list[str]]:
        """Return the facts that make some documents odd, the strongest first."""
        return self._by_fold(rows, lambda detector, texts: detector.reasons(texts))

    def _by_fold(self, rows: Sequence[int], ask: "Callable[[TextDetector, list[str]], list[T]]") -> list[T]:
        """Return what the detectors that did not learn from some documents answer about them."""
        of_row: dict[int, T] = {}
        for fold, detector in enumerate(self._detectors):
            if own := [row for row in rows if self._fold_of[row] == fold]:
                of_row |= zip(own, ask(detector, [self._texts[row] for row in own]), strict=True)
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
        scores = detector.fit(texts).decision_scores_
        return LeftOut(scores, "leave-one-out", texts, [detector], np.zeros(len(texts), dtype=np.int64))
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
