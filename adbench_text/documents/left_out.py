"""Scores of documents by detectors that were fitted without them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import median_abs_deviation
from sklearn.base import clone

from adbench_text.checks import Whole
from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.labels import NOTHING_KNOWN, KnownLabels
from adbench_text.contract.scores import N_TYPICAL, TokenScore, centre
from adbench_text.documents.explanation import Explanation, asked, explain
from adbench_text.errors import DetectorError

if TYPE_CHECKING:
    from adbench_text.contract.detector import TextDetector

# At a nominal 10 %, LOF on the encoder svd called 14 % of normal documents odd with 5 folds, 12.7 % with 10.
N_FOLDS = 10


@dataclass(frozen=True)
class LeftOut:
    """Scores of documents by detectors that were fitted without them.

    `method` is ``"leave-one-out"``, or for example ``"cross-fitted over 10 folds"``. The labels of an index
    identify documents, for example rows of a file. The methods also accept other documents.
    """

    scores: "pd.Series[Any]"  # float64
    method: str
    detector: "TextDetector" = field(repr=False)  # for other documents, once the caller has fitted it on all
    _texts: "pd.Series[str]" = field(repr=False)
    _detectors: "Sequence[TextDetector]" = field(repr=False)  # one, or one for each fold
    _fold_of: "pd.Series[int]" = field(repr=False)

    @property
    def n_learned(self) -> int:
        """Number of documents that the detector learned from."""
        return len(self.scores)

    @cached_property
    def centre(self) -> float:
        """The score of a word that is neither odd nor typical; 0 without scores of words.

        A sample of the documents is enough for it.
        """
        try:
            return centre(self.token_scores(self._texts[:: max(len(self._texts) // N_TYPICAL, 1)]))
        except DetectorError:  # the detector has no scores of words
            return 0.0

    def p_values(self, texts: "pd.Series[str]") -> "pd.Series[Any]":
        """Return for each text the share of the left-out documents that score at least as high."""
        scores, others = self.scores.reindex(texts.index), texts[~texts.index.isin(self.scores.index)]
        if len(others):
            scores[others.index] = self.detector.decision_function(others.tolist())
        n_higher = (self.scores.to_numpy() >= scores.to_numpy()[:, None]).sum(axis=1)
        return pd.Series(np.maximum(n_higher, 1) / len(self.scores), texts.index)

    def token_scores(self, texts: "pd.Series[str]") -> list[list[TokenScore]]:
        """Return the scores of words; raise DetectorError if the detector has no such scores."""
        return self._answers("token_scores", texts)

    def reasons(self, texts: "pd.Series[str]") -> list[list[str]]:
        """Return for each document the reasons why it is odd, the strongest first."""
        return self._answers("reasons", texts)

    def explain(self, texts: list[str], places: "pd.Series[int]", cleaner: Cleaner) -> list[Explanation]:
        """Explain why raw documents are odd by their words, by the detector that left each out."""
        of_places = pd.Series(texts, places, dtype=object)
        return explain(of_places, cleaner, self.token_scores, self.reasons, self.centre)

    def _answers(self, method: str, texts: "pd.Series[str]") -> list[Any]:
        """Call ``token_scores`` or ``reasons``; the detector that left out a document answers for it.

        For documents that are not among the scored ones, the fitted detector answers.
        """
        fold_of = self._fold_of.reindex(texts.index, fill_value=-1)  # -1: not among the scored ones
        answers: dict[Any, Any] = {}
        for fold, detector in [(-1, self.detector), *enumerate(self._detectors)]:
            own = texts[fold_of == fold]
            if own.empty:
                continue
            # a leave-one-out detector learned all documents; asked by their places, it leaves each out
            has_learned = fold >= 0 and detector.leaves_out_self
            places = self._texts.index.get_indexer(own.index).tolist() if has_learned else None
            answers |= zip(own.index, asked(detector, method, own.tolist(), places), strict=True)
        return [answers[label] for label in texts.index]


def left_out(
    detector: "TextDetector",
    texts: "Sequence[str] | pd.Series[str]",
    n_folds: int = N_FOLDS,
    seed: int = 0,
    known: KnownLabels = NOTHING_KNOWN,
) -> LeftOut:
    """Return scores of at least two documents. Each score comes from a detector that was fitted without it.

    If its ``decision_scores_`` are leave-one-out scores, the detector is fitted once, on all documents. Any
    other detector is cloned, and each clone is fitted without one fold; the detector itself stays unfitted.
    """
    Whole(2).check("n_folds", n_folds)
    texts = pd.Series(texts, dtype=object)
    if detector.leaves_out_self:
        scores = known.fit(detector, texts.tolist()).decision_scores_[: len(texts)]  # known outliers follow
        method, detectors, fold_of = "leave-one-out", [detector], np.zeros(len(texts), dtype=np.int64)
    else:
        n_folds = min(n_folds, len(texts))
        fold_of = np.random.default_rng(seed).permutation(len(texts)) % n_folds
        method, detectors, scores = f"cross-fitted over {n_folds} folds", [], np.empty(len(texts))
        for fold in range(n_folds):
            of_fold = clone(detector)
            of_fold.others = detector.others  # clone copies only parameters
            fitted = known.fit(of_fold, texts.tolist(), fold_of != fold)
            scores[fold_of == fold] = fitted.decision_function(texts[fold_of == fold].tolist())
            detectors.append(fitted)
    return LeftOut(
        scores=pd.Series(scores, texts.index),
        method=method,
        detector=detector,
        _texts=texts,
        _detectors=detectors,
        _fold_of=pd.Series(fold_of, texts.index),
    )


def on_robust_scale(scores: NDArray[np.float64], learned: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale scores: subtract the median of `learned`, and divide by its median absolute deviation."""
    deviation = float(median_abs_deviation(learned, scale="normal"))
    deviation = deviation or float(np.std(learned, ddof=1)) or 1.0
    return np.asarray((scores - np.median(learned)) / deviation)
