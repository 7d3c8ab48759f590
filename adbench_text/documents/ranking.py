"""Documents of a user: each is scored by what a detector learned from the others."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.calibration import joined, p_values_within
from adbench_text.checks import Number, check_choice
from adbench_text.documents import DEFAULT_DETECTOR
from adbench_text.documents.left_out import N_FOLDS, LeftOut, left_out
from adbench_text.documents.own_detector import OwnDetector, own_detector
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.models.model import FORM, FormPart, Model, Training
from adbench_text.orders import ORDERS
from adbench_text.plugins import registry
from adbench_text.plugins.scores import (
    N_TYPICAL,
    N_WHY,
    TEST_BATCH,
    TokenScore,
    centre,
    check_texts,
    odd_words,
    original_words,
)
from adbench_text.text.cleaning import Cleaner, likely_language, share_of_common_words
from adbench_text.text.words import count_words

_MOST_TYPICAL = 50  # documents that are searched for near-copies, at most a tenth of all
_SHARED = 0.7  # of the words of two documents (Jaccard similarity), from which they are near-copies
_LEAST_WORDS = 4  # of a near-copy: shorter documents are alike by chance
_LEAST_COMMON = 0.6  # of the words; English corpora have 0.83 and more, other languages less than 0.45


def _different(cleaned: Iterable[str], purpose: str) -> tuple[list[str], dict[int, int]]:
    """Return texts without copies and empty ones, and the row among them of each place with words."""
    row_of_text: dict[str, int] = {}
    row_of = {
        place: row_of_text.setdefault(text, len(row_of_text))
        for place, text in enumerate(cleaned)
        if text and not text.isspace()
    }
    if len(row_of_text) < 2:
        raise InvalidValueError(
            f"At least 2 different documents with words are needed {purpose}, got {len(row_of_text)}."
        )
    return list(row_of_text), row_of


def _has_form(own: OwnDetector) -> bool:
    """Return whether form is looked at beside a detector: not if that reads it, or form was deleted."""
    return not own.detector.reads_raw and FORM in registry.plugins("detectors")


def _form(
    texts: Sequence[str], row_of: Mapping[int, int], language: str, seed: int
) -> tuple[LeftOut, dict[int, int]]:
    """Return the scores by form, and the row among them of each place that shows anything.

    The rows of documents with words are those of `row_of`. Documents without words follow, such as a line of
    digits: they are different from each other as they were written.
    """
    n_with_words = max(row_of.values()) + 1
    row_of_text: dict[str, int] = {}
    rows = {
        place: n_with_words + row_of_text.setdefault(text.strip(), len(row_of_text))
        for place, text in enumerate(texts)
        if place not in row_of and text.strip()
    } | dict(row_of)
    first = _first(rows)
    own = own_detector(FORM, language=language, seed=seed)
    with own.errors():
        return left_out(own.detector, [texts[first[row]] for row in range(len(first))]), rows


def _first(row_of: Mapping[int, int]) -> dict[int, int]:
    """Return the first place of each row."""
    return {row: place for place, row in sorted(row_of.items(), reverse=True)}


def _both(p_words: NDArray[np.float64], form: LeftOut) -> NDArray[np.float64]:
    """Return the joined scores of all rows of form; no word of a document without words is odd."""
    p_form = p_values_within(form.scores)
    return joined(np.append(p_words, np.ones(len(p_form) - len(p_words))), p_form)


@dataclass(frozen=True)
class RankedDocument:
    """A document among the others.

    Each p is the share of the different documents that are at least as abnormal; copies count once. It is
    None if it was not asked for. A document without words has `p_form` and `p_both` only.
    """

    place: int  # in the input, from 0 on
    rank: int  # 1 for the most abnormal of its list; copies of a document share its rank
    score: float | None  # abnormality of its words, by detectors that were fitted without the document
    p: float | None  # by words
    is_odd: bool  # whether the p of its list is at most alpha
    copy_of: int | None = None  # place of the first document with the same words
    n_copies: int = 0  # number of later documents with the same words
    p_form: float | None = None  # by form: length, characters and kinds of words of the first copy as written
    p_both: float | None = None  # by both, joined as in `adbench_text.calibration.joined`
    _row: int = field(default=0, repr=False)  # among the different documents


@dataclass(frozen=True)
class OddDocuments:
    """Documents ranked against each other, the most abnormal first."""

    detector: str  # name and configuration: "llr (robust)"
    method: str  # how a document is left out of what its detector learns, as in `LeftOut`
    alpha: float  # largest p of a document that is called odd
    by: str  # "words", "form" or "both": which p gives the order, what is odd and why
    empty: list[int]  # places of the documents without words
    other_language: str | None  # the likely one, if only few of the words are common in the given one
    n_typical: int  # documents with the lowest scores that are searched for near-copies
    n_near_copies: int  # of them: those that share most of their words with another document
    seconds: float
    _texts: Sequence[str] = field(repr=False)
    _cleaner: Cleaner = field(repr=False)
    _left_out: LeftOut = field(repr=False)
    _form: LeftOut | None = field(repr=False)
    _all: list[RankedDocument] = field(repr=False)  # in no order
    _words: dict[int, list[TokenScore]] = field(default_factory=dict, repr=False)

    @cached_property
    def documents(self) -> list[RankedDocument]:
        """The documents, the most abnormal first: all with words, and by form those without too."""
        p_of = {document.place: p for document in self._all if (p := self.p_of(document)) is not None}
        order = sorted(
            (document for document in self._all if document.place in p_of),
            key=lambda document: (p_of[document.place], document._row, document.place),
        )
        rank_of = {row: rank for rank, row in enumerate(dict.fromkeys(each._row for each in order), 1)}
        return [
            replace(each, rank=rank_of[each._row], is_odd=p_of[each.place] <= self.alpha) for each in order
        ]

    @property
    def has_form(self) -> bool:
        """Whether there are p-values by form, and by both."""
        return self._form is not None

    def p_of(self, document: RankedDocument) -> float | None:
        """Return the p of a document that gives the order."""
        return {"words": document.p, "form": document.p_form, "both": document.p_both}[self.by]

    def ordered(self, by: str) -> "OddDocuments":
        """Return the same documents in another order; raise InvalidValueError if it was not asked for."""
        check_choice("order", by, ORDERS)
        if by != "words" and not self.has_form:
            raise InvalidValueError(
                f"These documents were ranked by words only, not by {by}; leave out by=..."
            )
        return replace(self, by=by)

    @property
    def odd(self) -> list[RankedDocument]:
        """The documents with a p-value of at most alpha."""
        return [document for document in self.documents if document.is_odd]

    @property
    def different(self) -> list[RankedDocument]:
        """The documents without the copies of earlier ones."""
        return [document for document in self.documents if document.copy_of is None]

    @property
    def n_copies(self) -> int:
        """Number of documents with the words of an earlier one."""
        return len(self.documents) - len(self.different)

    def words(self, document: RankedDocument) -> list[TokenScore]:
        """Return the words of a document as it was written, with their scores; none if there are none.

        The document has no part in them either.
        """
        self.explain([document])
        return self._words[document.place]

    def explain(self, documents: Sequence[RankedDocument]) -> None:
        """Look up the words of many documents at once, which takes less time than one after the other."""
        self._words.update((each.place, []) for each in documents if each.p is None)
        new = [document for document in documents if document.place not in self._words]
        try:
            scored = self._left_out.token_scores([document._row for document in new])
        except AdbenchTextError:  # the detector scores a document as a unit
            scored = [[] for _ in new]
        for document, words in zip(new, scored, strict=True):
            place = document.place
            self._words[place] = original_words(self._texts[place], self._cleaner, words)

    @cached_property
    def centre(self) -> float:
        """Score above which a word speaks for odd."""
        step = max(len(self.documents) // N_TYPICAL, 1)
        sample = self.documents[::step]
        self.explain(sample)
        return centre([self.words(document) for document in sample])

    def why(self, document: RankedDocument, n: int = N_WHY) -> list[str]:
        """Return what makes a document odd, the strongest first: words, or facts about its form.

        By both, it is what has the smaller p-value.
        """
        p, p_form = document.p, document.p_form
        if self.by == "form" or (self.by == "both" and (p is None or (p_form is not None and p_form < p))):
            return self.why_form(document, n)
        return self.why_words(document, n)

    def why_words(self, document: RankedDocument, n: int = N_WHY) -> list[str]:
        """Return the words that make a document odd, the strongest first.

        Where the detector has no scores of words, its own facts replace them.
        """
        if (words := self.words(document)) or document.p is None:
            return odd_words(words, self.centre, n)
        return self._left_out.reasons([document._row])[0][:n]

    def why_form(self, document: RankedDocument, n: int = N_WHY) -> list[str]:
        """Return the facts that make the form of a document odd, the strongest first."""
        return self._form.reasons([document._row])[0][:n] if self._form else []


def odd_documents(
    texts: Sequence[str],
    detector: str = DEFAULT_DETECTOR,
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    language: str = "en",
    alpha: float = 0.01,
    by: str | None = None,
    clean: bool = True,
    n_folds: int = N_FOLDS,
    seed: int = 0,
) -> OddDocuments:
    """Rank documents against each other; each is scored by what was learned from the others.

    Parameters
    ----------
    texts : sequence of str
        At least two different documents with words.
    detector : str
        Name of a detector.
    preset : str, optional
        Its configuration; by default the one that it offers for the language.
    settings : mapping, optional
        Hyper-parameters that override it.
    language : str
        Language of the documents, for the cleaning and the detector.
    alpha : float
        Share of the different documents that is called odd, in (0, 1), with or without outliers among them.
    by : {"words", "form", "both"}, optional
        Which p gives the order, what is odd and why. With ``"words"`` form is not looked at. By default words
        give the order, and the other p-values are known: `OddDocuments.ordered` gives the other orders. A
        detector that reads documents as they were written, such as ``form``, has one order, by itself.
    clean : bool
        Whether to remove stop words, punctuation and digits before; never for form, or a detector that reads
        documents as they were written.
    n_folds : int
        How many times a detector is fitted that does not leave documents out by itself.
    seed : int

    Returns
    -------
    OddDocuments

    Raises
    ------
    InvalidValueError
        If there are fewer than two different documents with words, or an argument is out of range.
    DetectorError
        If the detector fails.

    Examples
    --------
    >>> reasons = ["password", "token", "code", "card", "key", "certificate", "address"]
    >>> tickets = [f"cannot log in to my account, the {reason} was rejected" for reason in reasons]
    >>> result = odd_documents([*tickets, "preheat the oven, then beat the eggs"], alpha=0.2)
    >>> [(document.place, document.p) for document in result.odd]
    [(7, 0.125)]
    >>> sorted(result.why(result.odd[0]))
    ['beat', 'eggs', 'oven', 'preheat']
    """
    begin = time.perf_counter()
    texts = check_texts(texts)
    Number("(0, 1)").check("alpha", alpha)
    own = own_detector(detector, preset, settings, language, seed)
    if by is not None:
        check_choice("order", by, ORDERS)
    if own.detector.reads_raw and by in ("form", "both"):
        raise InvalidValueError(
            f"{own.label} reads the form of documents itself; it has no order by {by!r}. Leave out by (--by)."
        )
    cleaner = Cleaner(language if clean and not own.detector.reads_raw else None)
    different, row_of = _different(map(cleaner, texts), "to rank them")
    with own.errors():
        own.detector.prepare(different)
        scored = left_out(own.detector, different, n_folds, seed)
    form, rows = None, row_of
    if by in ("form", "both") or (by is None and _has_form(own)):
        form, rows = _form(texts, row_of, language, seed)
    typical = np.argsort(scored.scores, kind="stable")[: min(_MOST_TYPICAL, len(different) // 10)].tolist()
    return OddDocuments(
        detector=own.label,
        method=scored.method,
        alpha=alpha,
        by=by or "words",
        empty=[place for place in range(len(texts)) if place not in row_of],
        other_language=_other_language(different, language),
        n_typical=len(typical),
        n_near_copies=_n_near_copies(different, typical),
        seconds=time.perf_counter() - begin,
        _texts=texts,
        _cleaner=cleaner,
        _left_out=scored,
        _form=form,
        _all=_unranked(scored, form, rows),
    )


def _unranked(scored: LeftOut, form: LeftOut | None, row_of: Mapping[int, int]) -> list[RankedDocument]:
    """Return the documents with their p-values; `row_of` has the row of the scores of each place."""
    p = p_values_within(scored.scores)
    n_missing = len(set(row_of.values())) - len(p)
    missing: list[Any] = [None] * n_missing
    scores, p_words = ([*values.tolist(), *missing] for values in (scored.scores, p))
    p_form = p_both = [None] * len(p_words)
    if form is not None:
        p_form, p_both = p_values_within(form.scores).tolist(), p_values_within(_both(p, form)).tolist()
    first, n_documents = _first(row_of), Counter(row_of.values())
    return [
        RankedDocument(
            place,
            0,
            scores[row],
            p_words[row],
            False,
            copy_of=None if place == first[row] else first[row],
            n_copies=n_documents[row] - 1 if place == first[row] else 0,
            p_form=p_form[row],
            p_both=p_both[row],
            _row=row,
        )
        for place, row in row_of.items()
    ]


def _other_language(texts: Sequence[str], language: str) -> str | None:
    share = share_of_common_words(texts, language)
    if share >= _LEAST_COMMON:
        return None
    likely = likely_language(texts)
    return likely if share_of_common_words(texts, likely) > share else None


def _n_near_copies(texts: Sequence[str], rows: Sequence[int]) -> int:
    """Return how many of some documents share most of their different words with another document."""
    if not rows:
        return 0
    has_word = count_words(texts).counts.astype(bool).astype(np.int64)
    size = np.asarray(has_word.sum(axis=1))
    shared = (has_word @ has_word[rows].T).tocoo()  # of each document with each of some
    one, other = shared.coords
    other = np.asarray(rows)[other]
    share = shared.data / (size[one] + size[other] - shared.data)
    is_near = (share >= _SHARED) & (one != other) & (size[other] >= _LEAST_WORDS)
    return len(np.unique(other[is_near]))


def fit_model(
    texts: Sequence[str],
    detector: str = DEFAULT_DETECTOR,
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    language: str = "en",
    clean: bool = True,
    n_folds: int = N_FOLDS,
    seed: int = 0,
    source: str = "",
) -> Model:
    """Return a detector that was fitted on documents, calibrated by scores of documents that were left out.

    Parameters
    ----------
    texts : sequence of str
        Normal documents; outliers among them make the model more lenient. Those without words are left out,
        and so are copies of a document. The form of documents without words is learned too.
    detector, preset, settings, language, clean, n_folds, seed
        See `odd_documents`. By default `llr` and `mean` have their preset ``topics``: no normal document is
        set aside.
    source : str
        Name of the documents, for the facts of the model.

    Raises
    ------
    InvalidValueError
        If there are fewer than two different documents with words, or the detector scores by the batch.
    DetectorError
        If the detector fails.

    Examples
    --------
    >>> tickets = ["cannot log in", "password rejected again", "login fails since the update"]
    >>> model = fit_model([*tickets, "Cannot log in!"])
    >>> model.calibrated_by, len(model.calibration)
    ('leave-one-out', 3)
    """
    own = own_detector(detector, preset, settings, language, seed, normal=True)
    if own.detector.regime == TEST_BATCH:
        raise InvalidValueError(
            f"{own.label} scores documents by the batch that they come in, so its scores cannot be compared "
            "with those of earlier documents. Choose another --detector or --preset."
        )
    texts = check_texts(texts)
    clean = clean and not own.detector.reads_raw
    cleaner = Cleaner(language if clean else None)
    # Without copies, or else they would take part in each other's score: all would look too normal.
    different, row_of = _different(map(cleaner, texts), "for a model")
    with own.errors():
        own.detector.prepare(different)
        scored = left_out(own.detector, different, n_folds, seed)
        if not own.detector.leaves_out_self:
            own.detector.fit(different)
    form = None
    if _has_form(own):
        by_form, _ = _form(texts, row_of, language, seed)
        both = _both(p_values_within(scored.scores), by_form)
        form = FormPart(by_form.detector, np.sort(by_form.scores), np.sort(both))
    n_documents = len(different)
    options = {
        "configuration": own.label,
        "language": language,
        "clean": clean,
        "centre": _centre(scored, n_documents),
        "n_copies": len(row_of) - n_documents,
        "n_empty": len(texts) - len(row_of),
    }
    training = Training.of(different, source, options)
    return Model(own.detector, own.name, np.sort(scored.scores), scored.method, training, form)


def _centre(scored: LeftOut, n_documents: int) -> float:
    try:
        return centre(scored.token_scores(range(0, n_documents, max(n_documents // N_TYPICAL, 1))))
    except AdbenchTextError:  # the detector scores a document as a unit
        return 0.0
