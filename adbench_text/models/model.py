"""A model: a fitted detector and the scores of normal documents that it is judged by."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.calibration import p_values, threshold
from adbench_text.checks import Number
from adbench_text.errors import AdbenchTextError
from adbench_text.plugins.detector import TextDetector
from adbench_text.plugins.scores import N_WHY, TokenScore, check_texts, odd_words, original_words
from adbench_text.text.cleaning import Cleaner
from adbench_text.text.words import digest

#: Shares of normal documents that the thresholds of a model call odd.
ALPHAS = (0.01, 0.05, 0.1)


@dataclass(frozen=True)
class Training:
    """Facts about the training documents, which a model does not contain."""

    n_documents: int
    digest: str  # of the documents and their order
    source: str  # name of the dataset or file
    options: dict[str, Any] = field(default_factory=dict)  # how it was read, in values of JSON

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


class ScoredDocument(NamedTuple):
    """The result of a document; `score` and `p` are None where it has no words."""

    score: float | None
    p: float | None  # share of normal documents that score at least as high
    is_odd: bool  # whether p is at most alpha
    why: list[str]  # the words, or other facts, that make an odd document odd, the strongest first


class Scorer:
    """Scores documents as they were written.

    Parameters
    ----------
    model : Model
        Its training options say how documents are cleaned.
    alpha : float
        Share of normal documents that may be called odd, in (0, 1).

    Examples
    --------
    >>> from adbench_text import fit_model
    >>> tickets = ["cannot log in", "login rejected", "the login fails", "cannot log in again"]
    >>> scorer = Scorer(fit_model(tickets, "llr", preset="default"), alpha=0.3)
    >>> [document.is_odd for document in scorer.score(["login fails again", "a lion sleeps tonight"])]
    [False, True]
    """

    def __init__(self, model: Model, alpha: float = 0.01) -> None:
        Number("(0, 1)").check("alpha", alpha)
        self._model, self._alpha = model, alpha
        options = model.training.options
        self._cleaner = Cleaner(options.get("language", "en") if options.get("clean") else None)
        self.centre = float(options.get("centre", 0.0))
        self._has_words = True

    def score(self, texts: Sequence[str]) -> list[ScoredDocument]:
        """Return the result of each document, in their order.

        Raises
        ------
        InvalidValueError
            If `texts` holds anything but strings.
        DetectorError
            If the detector returns unusable scores.
        """
        texts = check_texts(texts, may_be_empty=True)
        cleaned = [self._cleaner(text) for text in texts]
        rows = [row for row, text in enumerate(cleaned) if text and not text.isspace()]
        results = [ScoredDocument(None, None, False, [])] * len(texts)
        if not rows:
            return results
        scores = self._model.detector.decision_function([cleaned[row] for row in rows])
        p = p_values(scores, self._model.calibration)
        is_odd = p <= self._alpha
        for row, score, p_value, odd in zip(rows, scores.tolist(), p.tolist(), is_odd.tolist(), strict=True):
            results[row] = ScoredDocument(score, p_value, odd, [])
        odd_rows = [row for row in rows if results[row].is_odd]
        if not odd_rows:
            return results
        reasons = self._model.detector.reasons([cleaned[row] for row in odd_rows])
        words_of = self.words([texts[row] for row in odd_rows])
        for row, words, facts in zip(odd_rows, words_of, reasons, strict=True):
            results[row] = results[row]._replace(why=odd_words(words, self.centre, N_WHY) or facts[:N_WHY])
        return results

    def words(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the words of documents with their scores; none if the detector has no such scores."""
        if not texts or not self._has_words:
            return [[] for _ in texts]
        try:
            scored = self._model.detector.token_scores([self._cleaner(text) for text in texts])
        except AdbenchTextError:  # it scores a document as a unit
            self._has_words = False
            return [[] for _ in texts]
        return [
            original_words(text, self._cleaner, tokens) for text, tokens in zip(texts, scored, strict=True)
        ]
