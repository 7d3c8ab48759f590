"""The detector of words and the detector of form that score the user's documents."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Self

import pandas as pd
from sklearn.base import clone

from adbench_text.checks import check_choice
from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.labels import NOTHING_KNOWN, KnownLabels
from adbench_text.contract.other_words import OtherWords
from adbench_text.documents.left_out import N_FOLDS, LeftOut, left_out
from adbench_text.documents.models.model import FORM
from adbench_text.documents.own_detector import OwnDetector, own_detector
from adbench_text.documents.scores_by_order import Array, scores_by_order
from adbench_text.errors import InvalidValueError
from adbench_text.orders import ORDERS
from adbench_text.plugins import registry

LEAST_LEARNED = 2  #: fewest different documents that a detector can learn from


@dataclass(frozen=True)
class DetectorPair:
    """The two detectors of a ranking or a model. Worker processes score documents with it.

    If the user chooses a detector that reads raw documents, such as ``form``, it is `words`, and `form` is
    None.
    """

    words: OwnDetector
    form: OwnDetector | None
    cleaner: Cleaner
    n_folds: int
    seed: int

    @classmethod
    def of(
        cls, words: OwnDetector, by: str | None, *, language: str, clean: bool, n_folds: int, seed: int
    ) -> Self:
        """Return a detector of words with the detector of form and the cleaner that an order needs.

        If `by` is None, there is a list by words and a list by form.
        """
        form = _form_for(words, by, language, seed)
        cleaner = Cleaner(language if clean and not words.detector.reads_raw else None)
        return cls(words, form, cleaner=cleaner, n_folds=n_folds, seed=seed)

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders that documents are scored by."""
        return ("words",) if self.form is None else ("words", "form")

    def of_words(self) -> "DetectorPair":
        """Return the detector of words alone."""
        return replace(self, form=None)

    def copy(self) -> "DetectorPair":
        """Return a pair with an unfitted copy of the detector of words."""
        return replace(self, words=replace(self.words, detector=clone(self.words.detector)))

    def learn_words(
        self,
        texts: "pd.Series[str]",
        known: KnownLabels = NOTHING_KNOWN,
        others: OtherWords | None = None,
        *,
        for_others: bool,
    ) -> LeftOut:
        """Fit the detector of words on cleaned documents; return their left-out scores.

        Without `for_others`, the detector may stay unfitted: only left-out documents have scores then.
        """
        if others is not None:
            self.words.detector.others = others
        return _learn(self.words, texts, self.n_folds, self.seed, known, for_others=for_others)

    def learn_form(self, texts: "pd.Series[str]") -> LeftOut | None:
        """Fit the detector of form on documents, if there is one; return their left-out scores."""
        return None if self.form is None else _learn(self.form, texts)

    def scorer(self, orders: Collection[str]) -> Callable[[list[str]], dict[str, Array]]:
        """Return a function that scores other documents by some orders. It may run in a worker process."""
        if "words" not in orders:
            return self.by_form
        return self if "form" in orders else self.of_words()

    def __call__(self, texts: list[str]) -> dict[str, Array]:
        """Return the scores of other documents, by order."""
        form = None if self.form is None else self.form.detector.decision_function
        return scores_by_order(texts, self.cleaner.cleaned(texts), self.by_words, form)

    def by_form(self, texts: list[str]) -> dict[str, Array]:
        """Return the scores of other documents by their form."""
        assert self.form is not None
        return {"form": self.form.detector.decision_function(texts)}

    def by_words(self, cleaned: list[str]) -> Array:
        """Return the scores of cleaned documents by their words."""
        with self.words.errors():
            return self.words.detector.decision_function(cleaned)


def _form_for(own: OwnDetector, by: str | None, language: str, seed: int) -> OwnDetector | None:
    """Return the detector of form that an order needs, or None if it needs none.

    If `by` is None, there is a list by words and a list by form. A detector that reads raw text ranks by form
    itself, so that the orders "form" and "both" raise InvalidValueError.
    """
    if by is not None:
        check_choice("order", by, ORDERS)
    is_wanted = by in ("form", "both")
    if own.detector.reads_raw and is_wanted:
        raise InvalidValueError(
            f"{own.label} reads the form of documents itself; it has no order by {by!r}. Leave out by (--by)."
        )
    is_default = by is None and not own.detector.reads_raw and FORM in registry.plugins("detectors")
    return own_detector(FORM, language=language, seed=seed) if is_wanted or is_default else None


def too_few(own: OwnDetector, n: int) -> InvalidValueError:
    """Return the error for a detector that has only `n` documents to learn from."""
    which = "different documents" if own.detector.reads_raw else "different documents with words"
    return InvalidValueError(
        f"At least {LEAST_LEARNED} {which} are needed, got {n}. Give more, or a larger sample (--sample); "
        "near-copies count once, and documents marked odd do not count."
    )


def _learn(
    own: OwnDetector,
    texts: "pd.Series[str]",
    n_folds: int = N_FOLDS,
    seed: int = 0,
    known: KnownLabels = NOTHING_KNOWN,
    *,
    for_others: bool = True,
) -> LeftOut:
    """Return the left-out scores of documents. With `for_others`, also fit the detector on all documents."""
    if len(texts) < LEAST_LEARNED:
        raise too_few(own, len(texts))
    with own.errors():
        own.detector.prepare(texts.tolist())
        scored = left_out(own.detector, texts, n_folds, seed, known)
        if for_others and not own.detector.leaves_out_self:
            known.fit(own.detector, texts.tolist())
    return scored
