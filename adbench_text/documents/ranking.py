"""Documents of a user: each is scored by what a detector learned from the others."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from adbench_text.checks import Number, check_choice
from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.labels import NOTHING_KNOWN, Known
from adbench_text.contract.scores import TEST_BATCH, check_texts
from adbench_text.documents import DEFAULT_DETECTOR, SAMPLE, OnProgress, Texts, no_progress
from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.documents.left_out import N_FOLDS, LeftOut, left_out
from adbench_text.documents.marks import ODD, Marking, marked_originals
from adbench_text.documents.models.model import FORM
from adbench_text.documents.own_detector import OwnDetector, own_detector
from adbench_text.documents.ranked import (
    OddDocuments,
    explained,
    in_order,
    largest_families,
    listed,
    table_of,
    with_reasons,
)
from adbench_text.documents.survey import Look, survey
from adbench_text.errors import DataError, InvalidValueError
from adbench_text.escaping import without_surrogates
from adbench_text.orders import ORDERS
from adbench_text.plugins import registry
from adbench_text.plugins.foreign import Detector
from adbench_text.text.cleaning import other_language

Array = NDArray[np.float64]

_CHANGED = "The documents have changed while they were read: some are missing. Run it again."


def odd_documents(
    texts: Texts,
    detector: str | Detector | type[Detector] = DEFAULT_DETECTOR,
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    language: str = "en",
    alpha: float = 0.01,
    by: str | None = None,
    clean: bool = True,
    n_folds: int = N_FOLDS,
    seed: int = 0,
    sample: int = SAMPLE,
    keep_copies: bool = False,
    top: int = 10,
    max_copies: int | None = None,
    marks: Mapping[int, str] | None = None,
    keep_marked: bool = False,
    jobs: int | str = 1,
    progress: OnProgress = no_progress,
) -> OddDocuments:
    """Rank documents against each other; each is scored by what was learned from the others.

    Marks of some documents change the ranks of the others. A detector that `takes_labels` learns from those
    marked odd; no other detector learns from them as from normal documents. Words and form join in one list
    (``by="both"``, if not asked for another), weighted by which of the two the marks came from:
    `adbench_text.calibration.odds_of_form`.

    Parameters
    ----------
    texts : sequence of str, or callable
        At least two different documents with words, or a function that yields them each time it is called, as
        of a file. They are read twice, and once more to explain some; besides the sample, about 200 bytes of
        each are kept.
    detector : str or detector
        Its name; or an object with ``fit(texts)`` and ``decision_function(texts)``, such as ``LLR(topics=4)``
        or a pipeline of scikit-learn: a copy of it is fitted. A class stands for its defaults.
    preset : str, optional
        Configuration of a detector with a name; by default the one that it offers for the language.
    settings : mapping, optional
        Hyper-parameters that override it.
    language : str
        Language of the documents, for the cleaning and the detector.
    alpha : float
        Share of the different documents that is called odd, in (0, 1), with or without outliers among them.
    by : {"words", "form", "both"}, optional
        Which p gives the order, what is odd and why. With ``"words"`` form is not looked at. By default words
        give the order, the other p-values are known, and there is a second list by form. A detector that
        reads documents as they were written, such as ``form``, has one order, by itself.
    clean : bool
        Whether to remove stop words, punctuation and digits before; never for form, or a detector that reads
        documents as they were written.
    n_folds : int
        How many times a detector is fitted that does not leave documents out by itself.
    seed : int
        Also of a detector whose `random_state` is None.
    sample : int
        Number of different documents that the detector learns from, drawn by the seed. The others are scored
        by what it has learned.
    keep_copies : bool
        Whether each near-copy of a document is ranked by itself. By default documents that share about 80 %
        of their different words are a family: one of them is ranked, the others are its copies. A detector
        that reads documents as they were written keeps them.
    top : int
        Number of documents that a list has at least: what makes them odd is looked up, as for odd documents.
    max_copies : int, optional
        Documents with more copies are in no list.
    marks : mapping of int to str, optional
        ``"odd"`` or ``"fine"`` by row. A mark counts for all copies of a document.
    keep_marked : bool
        Whether marked documents are ranked, too. By default they leave the ranks, and p is the share of the
        others.
    jobs : int or str
        Number of processes that read and score documents; or the address of the scheduler of a Dask cluster.
    progress : callable
        Is called with what is done, and the numbers of documents done and of all.

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
    >>> result.table.loc[result.table["odd"], ["row", "p"]].values.tolist()
    [[7.0, 0.125]]
    >>> sorted(result.table["why"][0])
    ['beat', 'eggs', 'oven', 'preheat']
    """
    Number("(0, 1)").check("alpha", alpha)
    own = own_detector(detector, preset, settings, language, seed)
    form = form_beside(own, by, language, seed)
    cleaner = Cleaner(language if clean and not own.detector.reads_raw else None)
    given = texts if callable(texts) else check_texts(texts).__iter__

    def read() -> Iterator[str]:
        return map(without_surrogates, given())

    look = Look(cleaner, seed, with_sketches=not keep_copies and not own.detector.reads_raw)
    found = survey(read(), look, sample, jobs, progress)
    marked = marked_originals(marks or {}, found.original)
    progress("learning", 0, None)
    rest = found.rest(with_words=form is None)
    if len(rest) and own.detector.regime == TEST_BATCH:
        raise InvalidValueError(
            f"{own.label} scores documents by the batch that they come in, so it learns from all of them: "
            f"give sample={found.is_original.sum()} (--sample) or more, got {sample}."
        )
    of_form = learned(form, found.sample["written"], for_others=True) if form else None
    marking, normal, known = None, found.cleaned, NOTHING_KNOWN
    if len(marked):
        of_marked = _written(read, marked.index)
        before = learned(replace(own, detector=clone(own.detector)), normal, n_folds, seed, for_others=True)
        marking = Marking(marked == ODD, of_marked, cleaner, before, of_form)
        normal = normal.drop(marked.index[marked == ODD], errors="ignore")
        known = marking.known(normal)
    for_others = len(rest) > 0 or marking is not None
    of_words = learned(own, normal, n_folds, seed, for_others=for_others, known=known)
    rows = range(len(found.original))
    scores = {
        order: of_order.scores.reindex(rows).to_numpy(copy=True)
        for order, of_order in {"words": of_words, "form": of_form}.items()
        if of_order
    }
    judge = _Judge(cleaner, own, form)
    _score(read, judge, rest, scores, jobs, progress)
    odds = 1.0
    if marking:
        scores["words"][marking.odd.index] = judge.by_words(marking.odd.tolist())
        odds = marking.odds_of_form()
    numbers = table_of(found, scores, odds, () if keep_marked else marked.index)
    numbers["mark"] = marked.reindex(found.original, fill_value="").tolist()
    orders = ["words"] if not form else ["both"] if marking else ["words", "form"]
    orders = [by] if by else orders
    lists = {order: listed(in_order(numbers, order, alpha), top, max_copies) for order in orders}
    families = largest_families(found, numbers)
    progress("explaining", 0, None)
    written = _written(read, {*families["row"]}.union(*(each["row"] for each in lists.values())))
    for order, documents in lists.items():
        lists[order] = explained(documents, order, written, cleaner, of_words, of_form)
        if marking:
            lists[order] = marking.with_likeness(lists[order])
    return OddDocuments(
        table=with_reasons(in_order(numbers, orders[0], alpha), lists.values()),
        lists=lists,
        families=families.assign(text=families["row"].map(written)),
        detector=own.label,
        method=of_words.method,
        centre=of_words.centre,
        alpha=alpha,
        other_language=other_language(found.cleaned.tolist(), language),
        n_learned=len(of_words.scores),
        n_near_copies=int(found.is_near.sum()),
        marked=marked,
        odds_of_form=odds,
        learns_from_marks=own.detector.takes_labels,
    )


def form_beside(own: OwnDetector, by: str | None, language: str, seed: int) -> OwnDetector | None:
    """Return the detector of form for an order; None if words alone count, or the detector reads form."""
    if by is not None:
        check_choice("order", by, ORDERS)
    is_wanted = by in ("form", "both")
    if own.detector.reads_raw and is_wanted:
        raise InvalidValueError(
            f"{own.label} reads the form of documents itself; it has no order by {by!r}. Leave out by (--by)."
        )
    is_default = by is None and not own.detector.reads_raw and FORM in registry.plugins("detectors")
    return own_detector(FORM, language=language, seed=seed) if is_wanted or is_default else None


def learned(
    own: OwnDetector,
    texts: "pd.Series[str]",
    n_folds: int = N_FOLDS,
    seed: int = 0,
    *,
    for_others: bool,
    known: Known = NOTHING_KNOWN,
) -> LeftOut:
    """Return the left-out scores of documents; if it scores others too, the detector is fitted on all."""
    if len(texts) < 2:
        raise InvalidValueError(
            f"At least 2 different documents with words are needed, got {len(texts)}. Give more, or a larger "
            "sample (--sample); near-copies count once, and those marked odd do not count."
        )
    with own.errors():
        own.detector.prepare(texts.tolist())
        scored = left_out(own.detector, texts, n_folds, seed, known)
        if for_others and not own.detector.leaves_out_self:
            known.fit(own.detector, texts.tolist())
    return scored


@dataclass(frozen=True)
class _Judge:
    """Scores documents by words and form; a worker process may do it."""

    cleaner: Cleaner
    words: OwnDetector
    form: OwnDetector | None

    def __call__(self, texts: list[str]) -> dict[str, Array]:
        """Return scores by words, NaN for documents without words; and by form, if asked for."""
        cleaned = [self.cleaner(text) for text in texts]
        rows = [row for row, text in enumerate(cleaned) if text.strip()]
        scores = {"words": np.full(len(texts), np.nan)}
        if rows:
            scores["words"][rows] = self.by_words([cleaned[row] for row in rows])
        return scores | ({"form": self.form.detector.decision_function(texts)} if self.form else {})

    def by_words(self, cleaned: list[str]) -> Array:
        """Return scores of cleaned documents; none for none."""
        with self.words.errors():
            return self.words.detector.decision_function(cleaned) if cleaned else np.empty(0)


def _score(
    read: Callable[[], Iterable[str]],
    judge: _Judge,
    rows: NDArray[np.int64],
    scores: Mapping[str, Array],
    jobs: int | str,
    progress: OnProgress,
) -> None:
    """Fill in the scores of rows, in order, that the detectors have not learned from."""
    n_done = 0
    with closing(results_of(judge, in_chunks(_at(read, rows)), jobs)) as scored:
        for of_chunk in scored:
            done = rows[n_done : n_done + len(of_chunk["words"])]
            for order, values in of_chunk.items():
                scores[order][done] = values
            n_done += len(done)
            progress("scoring", n_done, len(rows))
    if n_done < len(rows):
        raise DataError(_CHANGED)


def _written(read: Callable[[], Iterable[str]], rows: Iterable[int]) -> "pd.Series[str]":
    """Return documents as they were written, by row; those of a file are read again."""
    ordered = sorted(rows)
    found = list(_at(read, ordered))
    if len(found) < len(ordered):
        raise DataError(_CHANGED)
    return pd.Series(found, ordered, dtype=object)


def _at(read: Callable[[], Iterable[str]], rows: Sequence[int] | NDArray[np.int64]) -> Iterator[str]:
    """Return the documents of rows, in order."""
    is_wanted = np.zeros(max(rows, default=-1) + 1, dtype=np.bool_)
    is_wanted[rows] = True
    return compress(read(), is_wanted.tobytes())
