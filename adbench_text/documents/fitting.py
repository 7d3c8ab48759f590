"""Fit a model: a detector learns from normal documents, and their left-out scores calibrate it."""

from array import array
from collections.abc import Collection, Iterator, Mapping
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text import own_file
from adbench_text.calibration import joined, p_values_within, p_without_words
from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.labels import KnownLabels
from adbench_text.contract.scores import TEST_BATCH, check_texts
from adbench_text.documents import SAMPLE, OnProgress, Texts, no_progress
from adbench_text.documents.chunks import Rows
from adbench_text.documents.detector_pair import DetectorPair
from adbench_text.documents.found_languages import FoundLanguages
from adbench_text.documents.left_out import N_FOLDS, LeftOut
from adbench_text.documents.models.grown_words import KnownWords
from adbench_text.documents.models.model import WORDS, Model, TrainingFacts, keys
from adbench_text.documents.own_detector import OwnDetector, own_detector
from adbench_text.documents.scores_by_order import Array
from adbench_text.documents.source import TextSource
from adbench_text.documents.survey import Families, Survey, Surveyor, surveyed
from adbench_text.errors import InvalidValueError
from adbench_text.escaping import count
from adbench_text.plugins.configure import DEFAULT_DETECTOR
from adbench_text.plugins.foreign import Detector
from adbench_text.text.calendar_names import calendar_names
from adbench_text.text.copies import OF_MODEL
from adbench_text.text.language_finder import AUTO, LanguageCounts
from adbench_text.text.languages import standard
from adbench_text.text.own_encoder import shared_words

_LEAST_WITHOUT_COPIES = 0.5  # share of the documents with words in the sample


def fit_model(
    texts: Texts,
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
    outliers: Collection[str] = (),
    jobs: int | str = 1,
    progress: OnProgress = no_progress,
) -> Model:
    """Fit a detector on normal documents, and calibrate it by their left-out scores.

    All other parameters are keywords, as for `odd_documents`.

    Parameters
    ----------
    texts : iterable of str, or callable
        Normal documents, or a function that yields them. Outliers among them make the model more lenient.
        The detector learns from different documents with words, one for each family of near-copies (see
        `odd_documents`). The detector of form also learns from documents without words. The model knows all
        of these documents, and never calls them odd.
    detector, preset, settings, language, clean, n_folds, seed, sample, jobs, progress
        See `odd_documents`. The default preset of `llr` is ``topics``, and of `ensemble` ``clean``;
        neither sets a normal document aside.
    source : str
        Name of the documents. The model stores it.
    outliers : collection of str
        Known outliers as they were written, for a detector that `takes_labels`. New documents like them get
        higher scores. The model stores the counts of their words, not their texts.

    Raises
    ------
    InvalidValueError
        If there are fewer than two different documents with words, the detector is transductive, the detector
        cannot learn from `outliers`, or a document is both normal and an outlier.
    DetectorError
        If the detector fails.

    Examples
    --------
    >>> tickets = ["cannot log in", "password rejected again", "login fails since the update"]
    >>> model = fit_model([*tickets, "Cannot log in!"])
    >>> model.calibrated_by, len(model.calibration)
    ('leave-one-out', 2)
    """
    documents = TextSource.of(texts)
    detected = FoundLanguages.of(documents.chunks(), jobs, progress) if language == AUTO else None
    language = detected.language if detected else standard(language)
    own = own_detector(detector, preset, settings, language, seed, normal=True)
    _check_can_be_fitted(own, outliers)
    pair = DetectorPair.of(own, None, language=language, clean=clean, n_folds=n_folds, seed=seed)

    survey, raw_keys = _surveyed(documents, pair, sample, jobs, progress)
    rows = survey.sample(np.arange(len(survey)))
    raw = documents.raw(rows)
    raw_with_words = raw[survey.facts.has_words[rows]]
    cleaned = pair.cleaner.cleaned_series(raw_with_words)
    progress("learning", 0, None)
    known_odd = _outliers(outliers, pair.cleaner, cleaned)
    words = pair.learn_words(cleaned, KnownLabels(known_odd), for_others=True)  # a model scores new documents
    form = pair.learn_form(raw)
    counts = _counts_of(survey)
    p_wordless = p_without_words(counts["n_empty"], counts["n_documents"])
    facts = {
        "configuration": own.label,
        "language": language,
        "clean": pair.cleaner.language is not None,
        "centre": words.centre,
        **counts,
        "p_without_words": p_wordless,
        "median_words": float(median(len(text.split()) for text in raw_with_words)),
        "n_outliers": len(known_odd),
    }
    if own_file.written_in(own.detector.get_params()):
        facts["probes"] = shared_words(cleaned)
    if detected:
        facts["languages"] = detected.shares(language)
    elif other := LanguageCounts.of_some(raw_with_words.tolist()).other_than(language):
        facts["other_language"] = other
    sizes = _sizes_of_families(survey, rows)
    return Model(
        detector=own.detector,
        name=own.name,
        calibrations=_calibrations(words, form, _rows_to_calibrate(survey, rows), p_wordless),
        calibrated_by=words.method,
        training=TrainingFacts.of(cleaned.tolist(), source, facts),
        form=form.detector if form else None,
        known=np.union1d(keys(cleaned, WORDS), raw_keys),
        sketches=survey.facts.sketches[sizes.index],
        sizes=np.asarray(sizes, dtype=np.int64),
        words=KnownWords.of(cleaned, calendar_names(language)),
    )


def _check_can_be_fitted(own: OwnDetector, outliers: Collection[str]) -> None:
    """Raise InvalidValueError if a detector cannot score new documents, or cannot learn from outliers."""
    if own.detector.regime == TEST_BATCH:
        raise InvalidValueError(
            f"{own.label} scores documents by the batch that they come in, so it cannot score later ones. "
            "Choose another --detector or --preset."
        )
    if len(outliers) and not own.detector.takes_labels:
        raise InvalidValueError(
            f"{own.label} learns nothing from known outliers. "
            "Choose a --detector that does, such as ensemble."
        )


def _surveyed(
    documents: TextSource, pair: DetectorPair, n_sample: int, jobs: int | str, progress: OnProgress
) -> tuple[Survey, NDArray[np.uint64]]:
    """Survey all documents as one group; also return the keys of their raw texts."""
    raw_keys = array("Q")

    def noted() -> Iterator[str]:
        """Yield the documents, and note their keys, so that they are read only once."""
        for text in documents:
            raw_keys.extend(keys([text]))
            yield text

    # learn from one document of each family: copies would lower each other's scores, and look too normal
    surveyor = Surveyor([pair.cleaner], pair.seed, with_sketches=True)
    facts = surveyed(TextSource(noted, documents.take), surveyor, None, jobs, progress)
    families = Families.of(facts, OF_MODEL, shortest=True)
    one_group = np.zeros(len(families.of_rows), dtype=np.int64)
    return Survey.by_words(families, one_group, n_sample), np.asarray(raw_keys)


def _sizes_of_families(survey: Survey, sample: Rows) -> "pd.Series[int]":
    """Return the sizes of the families that a model keeps, by the row of their representative.

    Single documents outside the sample are left out: a large file may have many of them.
    """
    sizes = survey.sizes()
    return sizes[(sizes > 1) | sizes.index.isin(sample)]


def _calibrations(
    words: LeftOut, form: LeftOut | None, rows: "pd.Index[int]", p_wordless: float
) -> dict[str, Array]:
    """Return the sorted scores of some normal documents by words, and with `form` by form and by both.

    `p_wordless` is the p by words of a document without words.
    """
    by_words = words.scores.reindex(rows).to_numpy()  # NaN without words
    scores = {"words": by_words[~np.isnan(by_words)]}
    if form:
        by_form = form.scores[rows].to_numpy()
        p_words = np.nan_to_num(p_values_within(by_words), nan=p_wordless)
        both = joined(p_words, p_values_within(by_form))
        scores |= {"form": by_form, "both": both}
    return {order: np.sort(of_order) for order, of_order in scores.items()}


def _counts_of(survey: Survey) -> dict[str, int]:
    """Count the documents of a kind.

    A document has words and is the first of its family, or it counts as ``n_copies`` (it has the words of
    another one), ``n_near_copies`` or ``n_empty`` (it has no words, like a line of digits). Of the copies,
    ``n_same_words`` are written in another way.
    """
    has_words = survey.facts.has_words
    n_with_words, n_documents = int(has_words.sum()), len(has_words)
    n_different, n_near_copies = int((survey.is_representative & has_words).sum()), int(survey.is_near.sum())
    return {
        "n_documents": n_documents,
        "n_copies": n_with_words - n_near_copies - n_different,
        "n_same_words": survey.n_same_words,
        "n_near_copies": n_near_copies,
        "n_empty": n_documents - n_with_words,
    }


def _outliers(texts: Collection[str], cleaner: Cleaner, normal: "pd.Series[str]") -> list[str]:
    """Return the different outliers with words, cleaned.

    Raise InvalidValueError if one is among the normal documents.
    """
    pairs = ((cleaner(text), text) for text in check_texts(texts, may_be_empty=True))
    odd = {cleaned: text for cleaned, text in pairs if cleaned.strip()}
    if both := odd.keys() & set(normal):
        raise InvalidValueError(
            f"The normal documents contain {count(len(both), 'known outlier')}, such as "
            f"{odd[min(both)][:60]!r}. A document can be one of the two only."
        )
    return list(odd)


def _rows_to_calibrate(survey: Survey, sample: Rows) -> "pd.Index[int]":
    """Return the rows of the sample that calibrate the model: documents without copies and near-copies.

    A new document usually has none. If fewer than half of the documents with words have none, for example in
    a file that joins two exports, all rows of the sample are returned.
    """
    has_words = survey.facts.has_words
    without_copies = sample[survey.sizes().reindex(sample).to_numpy() == 1]
    is_enough = has_words[without_copies].sum() >= _LEAST_WITHOUT_COPIES * has_words[sample].sum()
    return pd.Index(without_copies if is_enough else sample)
