"""A model: a fitted detector, and scores of normal documents that calibrate it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import Drift, drift, joined, largest_p, p_values
from adbench_text.checks import Number, check_choice
from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.detector import TextDetector
from adbench_text.contract.scores import check_texts
from adbench_text.documents.explanation import Explanation, asked, explain, shows_no_words
from adbench_text.documents.models.drift_evidence import DriftEvidence, KnownFamilies
from adbench_text.documents.models.grown_words import KnownWords
from adbench_text.documents.scores_by_order import Array, is_by_words, scores_by_order
from adbench_text.errors import InvalidValueError
from adbench_text.escaping import count
from adbench_text.orders import ORDERS, P_OF_ORDER, Order
from adbench_text.reading.batch import check_length
from adbench_text.text.calendar_names import calendar_names
from adbench_text.text.copies import N_HASHES, Sketches, sketches
from adbench_text.text.terms import different_terms
from adbench_text.text.words import digest, text_key

#: Kind of `keys` for cleaned texts.
WORDS = b"words"

#: The name of the detector of form.
FORM = "form"


@dataclass(frozen=True)
class TrainingFacts:
    """Facts about the training documents. A model does not contain the documents themselves."""

    n_documents: int
    digest: str  # depends on the documents and their order
    source: str  # name of the dataset or file
    options: dict[str, Any] = field(
        default_factory=dict
    )  # facts of `fit_model`, and how the source was read; JSON values

    @classmethod
    def of(cls, texts: list[str], source: str, options: dict[str, Any] | None = None) -> "TrainingFacts":
        """Return the facts about some documents."""
        return cls(len(texts), digest(texts), source, options or {})


#: Largest median number of words for which documents are called queries. Chosen on ROSTD (6) and one bot of
#: HINT3 (5.5); the questions of BANKING77 have 10, text messages 11 or 12.
MOST_WORDS_OF_QUERIES = 8


@dataclass(frozen=True)
class Model:
    """A fitted detector with its calibration. `save_model` saves it and `load_model` loads it.

    Attributes
    ----------
    detector : TextDetector
    name : str
        The name of the detector in the registry.
    calibrations : mapping of str to float64 array of shape (n,)
        Sorted scores of normal documents by ``"words"``; with `form` also by ``"form"`` and ``"both"``, which
        `adbench_text.calibration.joined` computes.
    calibrated_by : str
        Method of these scores, for example ``"leave-one-out"``.
    training : TrainingFacts
    form : TextDetector or None
        Detector of form, fitted on raw documents; None if `detector` reads raw documents itself.
    known : uint64 array of shape (n_known,)
        Sorted `keys` of the texts that the model was fitted on.
    sketches : uint8 array of shape (n_families, 100)
        MinHash of one document of each family of near-copies. Single documents outside the sample are
        missing.
    sizes : int64 array of shape (n_families,)
        Number of documents of each family.
    words : KnownWords or None
        In how many documents of the sample each word is; None for older models.
    """

    detector: TextDetector
    name: str
    calibrations: Mapping[str, NDArray[np.float64]]
    calibrated_by: str
    training: TrainingFacts
    form: TextDetector | None = None
    known: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    sketches: Sketches = field(default_factory=lambda: np.empty((0, N_HASHES), dtype=np.uint8))
    sizes: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    words: KnownWords | None = None

    def __repr__(self) -> str:
        """Return one line, without the arrays."""
        return f"<Model: {self.name}, fitted on {count(self.training.n_documents, 'document')}>"

    @property
    def calibration(self) -> NDArray[np.float64]:
        """Scores of normal documents by words."""
        return self.calibrations["words"]

    @property
    def families(self) -> KnownFamilies:
        """The families of near-copies among the training documents."""
        facts = self.training.options
        n_documents = facts.get("n_documents", 0) - facts.get("n_empty", 0)
        n_different = n_documents - facts.get("n_copies", 0) - facts.get("n_near_copies", 0)
        share = min(self.training.n_documents / max(n_different, 1), 1.0)
        return KnownFamilies(self.sketches, self.sizes, n_documents, share)


def default_order(model: Model) -> Order:
    """Return the order that decides by default which documents are odd."""
    is_short = model.training.options.get("median_words", np.inf) <= MOST_WORDS_OF_QUERIES
    return "words" if model.form is None or is_short else "both"


def keys(texts: Iterable[str], kind: bytes = b"") -> NDArray[np.uint64]:
    """Return a number for each text, raw or cleaned. Copies have the same number."""
    return np.array([text_key(text.strip(), kind) for text in texts], dtype=np.uint64)


class Scorer:
    """Scores raw documents.

    A text that the model was fitted on is never odd: its p-values are 1. The p-values of a new text are
    relative ranks among the normal documents.

    Parameters
    ----------
    model : Model
        Its training options say how documents are cleaned.
    alpha : float
        Share of normal documents that may be called odd, in (0, 1).
    by : {"words", "form", "both"}, optional
        Which p decides. The default is both if the model has a detector of form, and words otherwise. It is
        also words if the training documents are short queries, because their form depends on the writer. If
        ``"words"`` is given, form is not scored.
    fdr : float, optional
        False discovery rate, in (0, 1): the largest expected share of false alarms among the odd documents of
        one call of `score`. It replaces alpha, by the procedure of Benjamini and Hochberg.

    Examples
    --------
    >>> from adbench_text import fit_model
    >>> tickets = ["cannot log in", "login rejected", "the login fails", "password rejected"]
    >>> scorer = Scorer(fit_model(tickets, "llr", preset="default"), alpha=0.3)
    >>> scorer.score(["login fails again", "a lion sleeps tonight"])["odd"].tolist()
    [False, True]
    """

    def __init__(
        self, model: Model, alpha: float = 0.01, by: Order | None = None, fdr: float | None = None
    ) -> None:
        Number("(0, 1)").check("alpha", alpha)
        if fdr is not None:
            Number("(0, 1)").check("fdr", fdr)
        self.by = by or default_order(model)
        check_choice("order", self.by, ORDERS)
        self.p_name = P_OF_ORDER[self.by]  # the column of the p that decides
        if self.by != "words" and model.form is None:
            raise InvalidValueError(
                f"The model has no part for form, so that nothing is odd by {by!r}. Leave out by (--by)."
            )
        self._model, self._alpha, self._fdr = model, alpha, fdr
        self._form = None if by == "words" else model.form
        options = model.training.options
        self._cleaner = Cleaner(options.get("language", "en") if options.get("clean") else None)
        self.centre = float(options.get("centre", 0.0))
        self._calendar = calendar_names(options.get("language", "en"))

    @property
    def looks_at_form(self) -> bool:
        """Whether documents are scored by form, even if another p decides."""
        return self._form is not None

    @property
    def least_p(self) -> float:
        """The least p that a document can have, given the number of normal documents."""
        return 1 / (1 + len(self._model.calibrations[self.by]))

    def score(self, texts: Iterable[str]) -> pd.DataFrame:
        """Return a table with a row for each document, in the order of the texts.

        - ``score``: abnormality of its words; missing without words
        - ``p``: share of normal documents that score at least as high by words. For a document without words,
          such as ``"??"``: share of documents without words, plus one. Missing for an empty document
        - ``odd``: whether the deciding p is at most alpha, or small enough for fdr
        - ``why``: the words that make an odd document odd, the strongest first
        - ``p_form``, ``p_both``: the same share by form, and by words and form together; missing for an empty
          document, or without form
        - ``why_form``: the facts about form that make an odd document odd, the strongest first
        - ``key``: equal for copies; missing for a text that the model knows
        - ``sketch``: MinHash of 100 bytes; most bytes are equal for near-copies
        - ``terms``: different words, without numbers and the names of months and days

        Raises
        ------
        InvalidValueError
            If `texts` contains anything but strings.
        DataError
            If a text has more than 10 million characters.
        DetectorError
            If the detector returns unusable scores.
        """
        texts = check_texts(texts, may_be_empty=True)
        for number, text in enumerate(texts, start=1):
            check_length(text, f"text {number}")
        cleaned = self._cleaner.cleaned(texts)
        rows = [row for row, text in enumerate(cleaned) if text.strip()]
        text_keys = keys(texts)
        is_known = self._are_known(text_keys)  # by raw text; the words alone may be known, too
        text_keys[rows] = keys([cleaned[row] for row in rows], WORDS)
        knows_words = is_known | self._are_known(text_keys)
        by_form = None if self._form is None else self._form.decision_function
        scores = scores_by_order(texts, cleaned, self._model.detector.decision_function, by_form)
        found = self._p_values(
            scores, knows_words, is_known, np.array([*map(shows_no_words, texts, cleaned)], dtype=np.bool_)
        )
        deciding = found[self.p_name]
        is_odd = deciding <= (self._alpha if self._fdr is None else largest_p(deciding, self._fdr))
        odd_ones = pd.DataFrame({**found, "text": texts, "odd": is_odd})[is_odd]
        explained = iter(self.explain_scored(odd_ones) if len(odd_ones) else ())
        explanations = [next(explained) if odd else Explanation([], [], []) for odd in is_odd]
        columns = {
            **found,
            "odd": is_odd,
            "why": [explanation.why for explanation in explanations],
            "why_form": [explanation.why_form for explanation in explanations],
            "key": pd.arrays.IntegerArray(text_keys, knows_words),
            "sketch": pd.Series(map(bytes, sketches(cleaned)), dtype=object),
            "terms": pd.Series([different_terms(text, self._calendar) for text in cleaned], dtype=object),
        }
        return pd.DataFrame(columns)

    def _p_values(
        self,
        scores: Mapping[str, Array],
        knows_words: NDArray[np.bool_],
        is_known: NDArray[np.bool_],
        is_wordless: NDArray[np.bool_],
    ) -> dict[str, Array]:
        """Return the scores by words and every p. A text that the model knows has a p of 1."""
        calibrations, by_words = self._model.calibrations, scores["words"]
        p, p_form, p_both = np.full((3, len(by_words)), np.nan)
        shows = ~np.isnan(by_words)
        p[shows] = np.where(knows_words[shows], 1, p_values(by_words[shows], calibrations["words"]))
        of_wordless = self._model.training.options.get("p_without_words", np.nan)  # older models lack it
        p[is_wordless] = np.where(is_known[is_wordless], 1, of_wordless)
        if (by_form := scores.get("form")) is not None:
            shows = ~np.isnan(by_form)
            p_form[shows] = np.where(is_known[shows], 1, p_values(by_form[shows], calibrations["form"]))
            p_both[shows] = p_values(joined(p[shows], p_form[shows]), calibrations["both"])
        return {"score": by_words, "p": p, "p_form": p_form, "p_both": p_both}

    def _are_known(self, text_keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        known = self._model.known
        return np.searchsorted(known, text_keys, "right") > np.searchsorted(known, text_keys)

    def evidence(self, table: pd.DataFrame, before: DriftEvidence | None = None) -> DriftEvidence:
        """Return the evidence of drift in a table of `score`. Evidence from `before` grows in place.

        Texts that the model was fitted on look too normal, so they do not count. Copies count once.
        """
        found = DriftEvidence() if before is None else before
        found.add(table, self.p_name)
        return found

    def drift(self, evidence: DriftEvidence) -> Drift:
        """Return whether documents together look like normal documents, given their `evidence`.

        It compares one document of each family of near-copies. Families with a document of the model look too
        normal and are skipped. A cross-fitted detector calibrates with folds, which learned from fewer
        documents than the detector itself: then only the highest scores are compared.
        """
        with_distance = self.by == "form" or self._model.detector.leaves_out_self
        wave = evidence.wave(self._model.families, self._model.words)
        found = drift(wave.p.tolist(), self._model.calibrations[self.by], self._alpha, with_distance)
        return found._replace(families=wave.families, grown=wave.grown)

    def explain(self, texts: Sequence[str]) -> list[Explanation]:
        """Explain documents: words with their scores, and facts about form.

        If the detector has no scores of words, its own facts replace them.
        """
        if not texts:
            return []
        detector = self._model.detector
        found = explain(
            pd.Series(texts, dtype=object),
            self._cleaner,
            lambda cleaned: asked(detector, "token_scores", cleaned.tolist()),
            lambda cleaned: asked(detector, "reasons", cleaned.tolist()),
            self.centre,
        )
        if self._form is None:
            return found
        of_form = self._form.reasons(texts)
        return [each._replace(why_form=facts) for each, facts in zip(found, of_form, strict=True)]

    def explain_scored(self, documents: pd.DataFrame) -> list[Explanation]:
        """Explain rows of `score`, which also have the column ``text``. An odd document has a reason."""
        found = self.explain(documents["text"].tolist())
        if self._model.detector.reads_raw:
            return found
        of_words = documents["odd"] & is_by_words(documents, self.by)
        return [each.with_a_reason() if odd else each for each, odd in zip(found, of_words, strict=True)]
