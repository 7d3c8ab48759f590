"""Fits a detector on a user's own documents and calibrates it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adbench_text.documents import DEFAULT_DETECTOR
from adbench_text.documents.copies import grouped
from adbench_text.documents.detectors import check_scores_alone, own_detector
from adbench_text.documents.left_out import N_FOLDS, left_out
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.models.model import Model, Training
from adbench_text.plugins.scores import check_texts
from adbench_text.plugins.words import N_TYPICAL, centre
from adbench_text.text.cleaning import Cleaner


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
        and so are copies of a document.
    detector, preset, settings, language, clean, n_folds, seed
        See `odd_documents`. By default `llr` has its preset ``robust`` with ``least_aside=0``: it sets no
        normal document aside by force.
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
    check_scores_alone(own)
    cleaner = Cleaner(language if clean else None)
    first_of, copy_of, empty = grouped([cleaner(text) for text in check_texts(texts)])
    # Without copies, or else they would take part in each other's score: all would look too normal.
    different = list(first_of)
    if len(different) < 2:
        raise InvalidValueError(
            f"At least 2 different documents with words are needed for a model, got {len(different)}."
        )
    with own.errors():
        own.detector.prepare(different)
        scored = left_out(own.detector, different, n_folds, seed)
        if not own.detector.leaves_out_self:
            own.detector.fit(different)
    try:
        middle = centre(scored.token_scores(range(0, len(different), max(len(different) // N_TYPICAL, 1))))
    except AdbenchTextError:  # it scores a document as a unit
        middle = 0.0
    options = {
        "configuration": own.label,
        "language": language,
        "clean": clean,
        "centre": middle,
        "n_copies": len(copy_of) - len(different),
        "n_empty": len(empty),
    }
    training = Training.of(different, source, options)
    return Model(own.detector, own.name, np.sort(scored.scores), scored.method, training)
