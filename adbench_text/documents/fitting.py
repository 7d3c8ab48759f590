"""A model of normal documents: a detector fitted on them, calibrated by scores that leave each out."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from adbench_text.calibration import joined, p_values_within
from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.labels import Known
from adbench_text.contract.scores import TEST_BATCH, check_texts
from adbench_text.documents import DEFAULT_DETECTOR, SAMPLE, OnProgress, Texts, no_progress
from adbench_text.documents.left_out import N_FOLDS
from adbench_text.documents.models.model import WORDS, Model, Training, keys
from adbench_text.documents.own_detector import own_detector
from adbench_text.documents.ranking import form_beside, learned
from adbench_text.documents.survey import Look, Survey, survey
from adbench_text.errors import InvalidValueError
from adbench_text.plugins.foreign import Detector
from adbench_text.text.copies import OF_MODEL

_LEAST_SINGLE = 0.5  # of the different documents


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
    outliers: Sequence[str] = (),
    jobs: int | str = 1,
    progress: OnProgress = no_progress,
) -> Model:
    """Return a detector that was fitted on documents, calibrated by scores of documents that were left out.

    Parameters
    ----------
    texts : sequence of str, or callable
        Normal documents, or a function that yields them; outliers among them make the model more lenient. The
        detector learns from different documents with words, one of each family of near-copies (see
        `odd_documents`), and the form of those without words is learned too. All are known afterwards, and
        not odd.
    detector, preset, settings, language, clean, n_folds, seed, sample, jobs, progress
        See `odd_documents`. By default `llr` has its preset ``topics``, and `ensemble` ``clean``: no
        normal document is set aside.
    source : str
        Name of the documents, for the facts of the model.
    outliers : sequence of str
        Known outliers as they were written, for a detector that `takes_labels`. New documents like them are
        more abnormal; the model holds the counts of their words, not their texts.

    Raises
    ------
    InvalidValueError
        If there are fewer than two different documents with words, the detector scores by the batch or
        learns nothing from outliers that are given, or a document is both normal and an outlier.
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
    if len(outliers) and not own.detector.takes_labels:
        raise InvalidValueError(
            f"{own.label} learns nothing from known outliers. "
            "Choose a --detector that does, such as ensemble."
        )
    clean = clean and not own.detector.reads_raw
    # One of each family, or else copies would take part in each other's score: all would look too normal.
    cleaner = Cleaner(language if clean else None)
    look = Look(cleaner, seed, with_sketches=True)
    given, written = texts if callable(texts) else check_texts(texts), array("Q")

    def noted() -> Iterator[str]:
        for text in given() if callable(given) else given:
            written.extend(keys([text]))
            yield text

    found = survey(noted(), look, sample, jobs, progress, shared=OF_MODEL, shortest=True)
    progress("learning", 0, None)
    known_odd = _outliers(outliers, cleaner, found)
    of_words = learned(own, found.cleaned, n_folds, seed, for_others=True, known=Known(known_odd))
    single, form = _single(found), None
    by_words = of_words.scores.reindex(single).to_numpy()  # NaN without words
    calibrations = {"words": np.sort(by_words[~np.isnan(by_words)])}
    if of_form := form_beside(own, None, language, seed):
        by_form = learned(of_form, found.sample["written"], for_others=True).scores[single].to_numpy()
        both = joined(p_values_within(by_words), p_values_within(by_form))
        calibrations |= {"form": np.sort(by_form), "both": np.sort(both)}
        form = of_form.detector
    n_with_words, n_documents = int(found.has_words.sum()), len(found.has_words)
    n_different, n_near_copies = int((found.is_original & found.has_words).sum()), int(found.is_near.sum())
    options = {
        "configuration": own.label,
        "language": language,
        "clean": clean,
        "centre": of_words.centre,
        "n_documents": n_documents,
        "n_copies": n_with_words - n_near_copies - n_different,
        "n_near_copies": n_near_copies,
        "n_empty": n_documents - n_with_words,
        "n_outliers": len(known_odd),
    }
    training = Training.of(found.cleaned.tolist(), source, options)
    known = np.union1d(keys(found.cleaned, WORDS), np.asarray(written))
    families = found.sketches, found.sizes
    return Model(own.detector, own.name, calibrations, of_words.method, training, form, known, *families)


def _outliers(texts: Sequence[str], cleaner: Cleaner, found: Survey) -> list[str]:
    """Return the different outliers with words, cleaned; raise InvalidValueError if one is normal, too."""
    pairs = ((cleaner(text), text) for text in check_texts(texts, may_be_empty=True))
    odd = {cleaned: text for cleaned, text in pairs if cleaned.strip()}
    if both := odd.keys() & set(found.cleaned):
        raise InvalidValueError(
            f"{len(both):,} of the known outliers are among the normal documents, too, such as "
            f"{odd[min(both)]!r:.60}. Remove them from one of the two."
        )
    return list(odd)


def _single(found: Survey) -> "pd.Index[int]":
    """Return the rows of the sample that have no copies and near-copies: a new text is like these.

    Others are known, or nearly so. If most have copies, as where a file was joined from two exports, a new
    text is like all of them.
    """
    rows = found.sample.index
    single = rows[np.bincount(found.original[found.original >= 0])[rows] == 1]
    return single if found.has_words[single].sum() >= _LEAST_SINGLE * len(found.cleaned) else rows
