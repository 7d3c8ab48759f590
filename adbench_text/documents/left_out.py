"""Scores of documents by detectors that were fitted without them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import Whole
from adbench_text.errors import AdbenchTextError
from adbench_text.plugins.labels import NOTHING_KNOWN, Known
from adbench_text.plugins.scores import N_TYPICAL, TokenScore, centre

if TYPE_CHECKING:
    from adbench_text.plugins.detector import TextDetector

# LOF on the encoder svd, at a nominal 10 %, called 14 % of normal documents odd with 5 folds, 12.7 % with 10.
N_FOLDS = 10


@dataclass(frozen=True)
class LeftOut:
    """Scores of documents by detectors that were fitted without them.

    `method` is ``"leave-one-out"``, or for example ``"cross-fitted over 10 folds"``. The methods take
    texts and their positions among the training documents; the position of any other document is -1.
    """

    scores: NDArray[np.float64]
    method: str
    detector: "TextDetector" = field(repr=False)  # answers about other documents, once fitted on all of these
    _texts: Sequence[str] = field(repr=False)
    _detectors: "Sequence[TextDetector]" = field(repr=False)  # one, or one for each fold
    _fold_of: NDArray[np.int64] = field(repr=False)

    @cached_property
    def centre(self) -> float:
        """Score above which a word speaks for odd; 0 if the detector has no scores of words."""
        n = len(self.scores)
        typical = range(0, n, max(n // N_TYPICAL, 1))
        try:
            return centre(self.token_scores([self._texts[position] for position in typical], typical))
        except AdbenchTextError:  # it scores a document as a unit
            return 0.0

    def token_scores(self, texts: Sequence[str], positions: Sequence[int]) -> list[list[TokenScore]]:
        """Return the scores of the words of documents; raise DetectorError if there are none."""
        return self._answers("token_scores", texts, positions)

    def reasons(self, texts: Sequence[str], positions: Sequence[int]) -> list[list[str]]:
        """Return for each document the reasons why it is odd, the strongest first."""
        return self._answers("reasons", texts, positions)

    def _answers(self, method: str, texts: Sequence[str], positions: Sequence[int]) -> list[Any]:
        """Ask the detector about documents; about those it learned from, the fit that left them out."""
        fold_of = np.append(self._fold_of, -1)[np.asarray(positions, dtype=np.int64)]
        answers: dict[int, Any] = {}
        for fold, detector in [(-1, self.detector), *enumerate(self._detectors)]:
            if not (asked := np.flatnonzero(fold_of == fold).tolist()):
                continue
            if fold >= 0 and detector.leaves_out_self:
                found = getattr(detector, f"training_{method}")([positions[number] for number in asked])
            else:
                found = getattr(detector, method)([texts[number] for number in asked])
            answers |= zip(asked, found, strict=True)
        return [answers[number] for number in range(len(texts))]


def left_out(
    detector: "TextDetector",
    texts: Sequence[str],
    n_folds: int = N_FOLDS,
    seed: int = 0,
    known: Known = NOTHING_KNOWN,
) -> LeftOut:
    """Return scores of at least two documents, each by a detector that was fitted without it.

    A detector whose ``decision_scores_`` leave each document out is fitted once, on all of them; any other
    is cloned, and fitted once without each fold.
    """
    Whole(2).check("n_folds", n_folds)
    if detector.leaves_out_self:
        scores = known.fit(detector, texts).decision_scores_[: len(texts)]
        fold_of = np.zeros(len(texts), dtype=np.int64)
        return LeftOut(scores, "leave-one-out", detector, texts, [detector], fold_of)
    from sklearn.base import clone

    n_folds = min(n_folds, len(texts))
    fold_of = np.random.default_rng(seed).permutation(len(texts)) % n_folds
    scores = np.empty(len(texts))
    detectors = []
    for fold in range(n_folds):
        fitted = known.fit(clone(detector), texts, fold_of != fold)
        rows = np.flatnonzero(fold_of == fold).tolist()
        scores[rows] = fitted.decision_function([texts[row] for row in rows])
        detectors.append(fitted)
    return LeftOut(scores, f"cross-fitted over {n_folds} folds", detector, texts, detectors, fold_of)
