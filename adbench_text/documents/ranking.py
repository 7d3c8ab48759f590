"""Documents of a user: each is scored by what a detector learned from the others."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.calibration import p_values_within
from adbench_text.checks import Number, Whole, check_choice
from adbench_text.documents import DEFAULT_DETECTOR, SAMPLE
from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.documents.left_out import N_FOLDS, LeftOut, left_out
from adbench_text.documents.own_detector import OwnDetector, own_detector
from adbench_text.documents.progress import OnProgress, no_progress
from adbench_text.documents.ranked import (
    Explain,
    OddDocuments,
    in_order,
    joined_p,
    largest_families,
    listed,
    table_of,
    with_reasons,
)
from adbench_text.documents.survey import FileTexts, Look, Survey, survey
from adbench_text.errors import DataError, InvalidValueError
from adbench_text.models.model import FORM, WORDS, FormPart, Model, Training, keys
from adbench_text.orders import ORDERS
from adbench_text.plugins import registry
from adbench_text.plugins.cleaner import Cleaner
from adbench_text.plugins.foreign import Detector
from adbench_text.plugins.scores import TEST_BATCH, check_texts
from adbench_text.text.cleaning import likely_language, share_of_common_words, words_looked_at

Array = NDArray[np.float64]

_CHANGED = "The documents have changed while they were read: some are missing. Run it again."
_LEAST_SINGLE = 0.5  # of the different documents
_LEAST_COMMON = 0.6  # of the words; English corpora have 0.83 and more, other languages less than 0.45


def odd_documents(
    texts: Sequence[str] | FileTexts,
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
    jobs: int | str = 1,
    progress: OnProgress = no_progress,
) -> OddDocuments:
    """Rank documents against each other; each is scored by what was learned from the others.

    Parameters
    ----------
    texts : sequence of str, or FileTexts
        At least two different documents with words. Those of a file are read twice, and once more to explain
        some; besides the sample, about 200 bytes of each are kept.
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
    form = _form_beside(own, by, language, seed)
    cleaner = Cleaner(language if clean and not own.detector.reads_raw else None)
    texts = _checked(texts)
    look = Look(cleaner, seed, with_sketches=not keep_copies and not own.detector.reads_raw)
    found = _surveyed(texts, look, sample, jobs, progress, "to rank them")
    progress("learning", 0, None)
    rest = found.rest if form else found.rest[found.rest < found.n_with_words]
    if len(rest) and own.detector.regime == TEST_BATCH:
        raise InvalidValueError(
            f"{own.label} scores documents by the batch that they come in, so it learns from all of them: "
            f"give sample={len(found.place_of)} (--sample) or more, got {sample}."
        )
    of_words = _learned(own, found.cleaned_with_words, n_folds, seed, for_others=len(rest) > 0)
    of_form = _learned(form, found.written, for_others=True) if form else None
    scores = {"words": _spread(of_words, found.sample, found.n_with_words)}
    if of_form:
        scores["form"] = _spread(of_form, found.sample, len(found.place_of))
    _score(texts, _Judge(cleaner, own, form), rest, found, scores, jobs, progress)
    table = in_order(table_of(found, scores), by or "words", alpha)
    orders = [by or "words"] if by or not form else ["words", "form"]
    lists = {each: listed(in_order(table, each, alpha), top, max_copies) for each in orders}
    progress("explaining", 0, None)
    families = largest_families(found)
    written = _written(texts, {*families["row"]}.union(*(each["row"] for each in lists.values())))
    explain = Explain(cleaner, found, written, of_words, of_form)
    lists = {each: explain(of_order, each) for each, of_order in lists.items()}
    return OddDocuments(
        table=with_reasons(table, lists.values()),
        lists=lists,
        families=families.assign(text=families["row"].map(written)),
        detector=own.label,
        method=of_words.method,
        centre=of_words.centre,
        alpha=alpha,
        other_language=_other_language(found.cleaned_with_words, language),
        n_learned=len(of_words.scores),
        n_near_copies=int(found.is_near.sum()),
    )


def _form_beside(own: OwnDetector, by: str | None, language: str, seed: int) -> OwnDetector | None:
    """Return the detector of form for an order; None if words alone count, or the detector reads form."""
    if by is not None:
        check_choice("order", by, ORDERS)
    if own.detector.reads_raw and by in ("form", "both"):
        raise InvalidValueError(
            f"{own.label} reads the form of documents itself; it has no order by {by!r}. Leave out by (--by)."
        )
    if by in ("form", "both") or (by is None and _has_form(own)):
        return own_detector(FORM, language=language, seed=seed)
    return None


def _checked(texts: Sequence[str] | FileTexts) -> Sequence[str] | FileTexts:
    return texts if isinstance(texts, FileTexts) else check_texts(texts)


def _surveyed(
    texts: Iterable[str], look: Look, sample: int, jobs: int | str, progress: OnProgress, purpose: str
) -> Survey:
    """Look at documents once; raise InvalidValueError if there are too few."""
    Whole(2).check("sample", sample)
    found = survey(texts, look, sample, jobs, progress)
    if found.n_with_words < 2:
        raise InvalidValueError(
            f"At least 2 different documents with words are needed {purpose}, got {found.n_with_words}."
        )
    if len(found.cleaned_with_words) < 2:
        raise InvalidValueError(
            f"The sample of {sample:,} documents has fewer than 2 with words; give a larger one (--sample)."
        )
    return found


def _has_form(own: OwnDetector) -> bool:
    """Return whether form is looked at beside a detector: not if that reads it, or form was deleted."""
    return not own.detector.reads_raw and FORM in registry.plugins("detectors")


def _learned(
    own: OwnDetector, texts: list[str], n_folds: int = N_FOLDS, seed: int = 0, *, for_others: bool
) -> LeftOut:
    """Return the left-out scores of documents; if it scores others too, the detector is fitted on all."""
    with own.errors():
        own.detector.prepare(texts)
        scored = left_out(own.detector, texts, n_folds, seed)
        if for_others and not own.detector.leaves_out_self:
            own.detector.fit(texts)
    return scored


def _spread(learned: LeftOut, rows: NDArray[np.int64], n_rows: int) -> Array:
    """Return the scores of the sample at its rows among all; its first rows are those learned from."""
    scores = np.full(n_rows, np.nan)
    scores[rows[: len(learned.scores)]] = learned.scores
    return scores


@dataclass(frozen=True)
class _Judge:
    """Scores documents by words and form; a worker process may do it."""

    cleaner: Cleaner
    words: OwnDetector
    form: OwnDetector | None

    def __call__(self, chunk: tuple[list[str], NDArray[np.bool_]]) -> tuple[Array, Array]:
        """Return the scores by words of the documents with words, and those by form of all, if asked for."""
        texts, has_words = chunk
        cleaned = [self.cleaner(text) for text, has in zip(texts, has_words, strict=True) if has]
        with self.words.errors():
            by_words = self.words.detector.decision_function(cleaned) if cleaned else np.empty(0)
        return by_words, self.form.detector.decision_function(texts) if self.form else np.empty(len(texts))


def _score(
    texts: Iterable[str],
    judge: _Judge,
    rows: NDArray[np.int64],
    found: Survey,
    scores: Mapping[str, Array],
    jobs: int | str,
    progress: OnProgress,
) -> None:
    """Fill in the scores of rows that the detectors have not learned from; they are in order of place."""
    has_words = rows < found.n_with_words

    def chunks() -> Iterator[tuple[list[str], NDArray[np.bool_]]]:
        begin = 0
        for chunk in in_chunks(_at(texts, found.place_of[rows])):
            yield chunk, has_words[begin : begin + len(chunk)]
            begin += len(chunk)

    n_done = 0
    with closing(results_of(judge, chunks() if len(rows) else (), jobs)) as scored:
        for by_words, by_form in scored:
            done = slice(n_done, n_done + len(by_form))
            scores["words"][rows[done][has_words[done]]] = by_words
            if judge.form:
                scores["form"][rows[done]] = by_form
            n_done = done.stop
            progress("scoring", n_done, len(rows))
    if n_done < len(rows):
        raise DataError(_CHANGED)


def _written(texts: Iterable[str], places: Set[int]) -> dict[int, str]:
    """Return documents as they were written, by place; those of a file are read again."""
    ordered = sorted(places)
    written = dict(zip(ordered, _at(texts, np.array(ordered)), strict=False))
    if len(written) < len(places):
        raise DataError(_CHANGED)
    return written


def _at(texts: Iterable[str], places: NDArray[np.int64]) -> Iterator[str]:
    """Yield the documents at places, which are in order."""
    wanted = iter(places.tolist())
    next_place = next(wanted, None)
    for place, text in enumerate(texts):
        if place == next_place:
            yield text
            next_place = next(wanted, None)
            if next_place is None:
                return


def _other_language(texts: Sequence[str], language: str) -> str | None:
    found = words_looked_at(texts)
    share = share_of_common_words(found, language)
    if share >= _LEAST_COMMON:
        return None
    likely = likely_language(found)
    return likely if share_of_common_words(found, likely) > share else None


def fit_model(
    texts: Sequence[str] | FileTexts,
    detector: str | Detector | type[Detector] = DEFAULT_DETECTOR,
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    language: str = "en",
    clean: bool = True,
    n_folds: int = N_FOLDS,
    seed: int = 0,
    sample: int = SAMPLE,
    source: str = "",
    jobs: int | str = 1,
    progress: OnProgress = no_progress,
) -> Model:
    """Return a detector that was fitted on documents, calibrated by scores of documents that were left out.

    Parameters
    ----------
    texts : sequence of str, or FileTexts
        Normal documents; outliers among them make the model more lenient. The detector learns from different
        documents with words, and the form of those without words is learned too. All are known afterwards,
        and not odd.
    detector, preset, settings, language, clean, n_folds, seed, sample, jobs, progress
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
    ('leave-one-out', 2)
    """
    own = own_detector(detector, preset, settings, language, seed, normal=True)
    if own.detector.regime == TEST_BATCH:
        raise InvalidValueError(
            f"{own.label} scores documents by the batch that they come in, so its scores cannot be compared "
            "with those of earlier documents. Choose another --detector or --preset."
        )
    clean = clean and not own.detector.reads_raw
    # Without copies, or else they would take part in each other's score: all would look too normal.
    look = Look(Cleaner(language if clean else None), seed, with_sketches=False)
    texts, written = _checked(texts), array("Q")

    def noted() -> Iterator[str]:
        for text in texts:
            written.extend(keys([text]))
            yield text

    found = _surveyed(noted(), look, sample, jobs, progress, "for a model")
    progress("learning", 0, None)
    learned = _learned(own, found.cleaned_with_words, n_folds, seed, for_others=True)
    is_single = _are_single(found)
    scores, form = learned.scores[is_single[: len(learned.scores)]], None
    if _has_form(own):
        of_form = own_detector(FORM, language=language, seed=seed)
        by_form = _learned(of_form, found.written, for_others=True).scores[is_single]
        both = joined_p(p_values_within(scores), p_values_within(by_form))
        form = FormPart(of_form.detector, len(found.written), np.sort(by_form), np.sort(both))
    n_empty = int(((found.row_of < 0) | (found.row_of >= found.n_with_words)).sum())
    options = {
        "configuration": own.label,
        "language": language,
        "clean": clean,
        "centre": learned.centre,
        "n_documents": len(found.row_of),
        "n_copies": len(found.row_of) - n_empty - found.n_with_words,
        "n_empty": n_empty,
    }
    training = Training.of(found.cleaned_with_words, source, options)
    known = np.union1d(keys(found.cleaned_with_words, WORDS), np.asarray(written))
    return Model(own.detector, own.name, np.sort(scores), learned.method, training, form, known)


def _are_single(found: Survey) -> NDArray[np.bool_]:
    """Return which documents of the sample have no copies: a new text is like these, as others are known.

    If most have copies, as where a file was joined from two exports, a new text is like all of them.
    """
    is_single = np.bincount(found.row_of[found.row_of >= 0])[found.sample] == 1
    are_most = is_single[: len(found.cleaned_with_words)].mean() >= _LEAST_SINGLE
    return is_single if are_most else np.ones_like(is_single)
