"""Conformal p-values: how unusual a score is among those of normal documents.

A conformal p-value (Vovk, Gammerman and Shafer, 2005; for outliers: Bates et al., Annals of Statistics 2023)
is the share of normal documents that score at least as high. Of new normal documents, a share of at most
alpha has a p-value of at most alpha, up to chance, whatever the detector and its scale. With outliers among
the documents that serve as normal ones, p-values become larger: fewer documents are called odd.
"""

import numpy as np
from numpy.typing import NDArray

_FORM_WEIGHT = 0.5  # of the p-value of form, where that of words has 1


def p_values(scores: NDArray[np.float64], calibration: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the p-value of each score: the chance of a normal document to score at least as high.

    Parameters
    ----------
    scores : float64 array of shape (n_texts,)
        Of documents that are not among the calibration.
    calibration : float64 array of shape (n_calibration,)
        Scores of normal documents, in any order.

    Returns
    -------
    float64 array of shape (n_texts,)
        In [1 / (n_calibration + 1), 1].

    Examples
    --------
    >>> p_values(np.array([0.5, 3.0, 9.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    array([1. , 0.6, 0.2])
    """
    ordered = np.sort(calibration)
    n_higher = len(ordered) - np.searchsorted(ordered, scores, side="left")
    return np.asarray((1 + n_higher) / (len(ordered) + 1), dtype=np.float64)


def p_values_within(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of all scores that are at least as high, for each score.

    These are ranks, uniform with and without outliers: they do not show how many documents are outliers.

    >>> p_values_within(np.array([1.0, 4.0, 2.0, 2.0]))
    array([1.  , 0.25, 0.75, 0.75])
    """
    ordered = np.sort(scores)
    return np.asarray((len(scores) - np.searchsorted(ordered, scores, side="left")) / len(scores))


def joined(p_words: NDArray[np.float64], p_form: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one score of two p-values, log(1 / p_words + 0.5 / p_form): the smaller one decides.

    It is the weighted harmonic mean of p-values (Wilson, PNAS 2019), turned round so that a higher score is
    more abnormal. Only its order counts: its own p-value is computed among the scores of other documents.

    >>> joined(np.array([0.5, 0.01]), np.array([0.5, 0.5])).round(2)
    array([1.1 , 4.62])
    """
    return np.log(1 / p_words + _FORM_WEIGHT / p_form)


def threshold(calibration: NDArray[np.float64], alpha: float) -> float | None:
    """Return the score above which a document has a p-value of at most alpha; None with too few scores.

    >>> threshold(np.arange(1.0, 100.0), 0.05)
    95.0
    """
    n = len(calibration)
    most_above = int(alpha * (n + 1)) - 1  # with k scores at or above it, a p-value is (1 + k) / (n + 1)
    return float(np.sort(calibration)[n - 1 - most_above]) if most_above >= 0 else None
