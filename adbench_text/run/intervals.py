"""Bootstrap intervals of the metrics over the test documents."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import check_number, check_whole
from adbench_text.errors import InvalidValueError
from adbench_text.metrics import METRICS, Counts

# Used instead of zero hits. It is too small to change any sum of counts, and it makes the precision 1
# before the first hit, as at the beginning of scikit-learn's precision-recall curve.
_NO_HITS = 1e-300


def bootstrap_intervals(
    outlier: NDArray[np.bool_],
    scores: NDArray[np.float64],
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, tuple[float, float]]:
    """Return percentile bootstrap intervals of the metrics over the test documents.

    Outliers and inliers are drawn separately, as many as the test set has of each. So every resample has
    both kinds, and the same prevalence, on which AUPR depends. All detectors are measured on the same
    resamples of a test set. The intervals do not cover the randomness of the training.

    Parameters
    ----------
    outlier : bool array of shape (n,)
        Which texts are outliers, at least one of each kind.
    scores : float array of shape (n,)
        Abnormality, finite.
    n_resamples : int
        At least 1. The drawn counts take ``n * n_resamples`` bytes; the counts of the last two sizes
        of test set are cached.
    level : float
        Share of the resamples inside the interval, in (0, 1).
    seed : int
        At least 0.

    Returns
    -------
    dict of str to (float, float)
        Lower and upper end in [0, 1] of each metric of `adbench_text.metrics` that has `of_counts`,
        by the name of the metric.

    Raises
    ------
    InvalidValueError
        For texts of one kind only, a wrong number of scores, or a parameter out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from adbench_text.run.intervals import bootstrap_intervals
    >>> outlier = np.arange(100) < 50
    >>> scores = np.where(outlier, 1.0, 0.0)
    >>> bootstrap_intervals(outlier, scores, n_resamples=10)["auroc"]
    (1.0, 1.0)
    """
    outlier, scores = _checked_scores(outlier, scores)
    check_whole("n_resamples", n_resamples, 1)
    check_whole("seed", seed, 0)
    check_number("level", level, "(0, 1)")
    of_outliers, of_inliers = scores[outlier], scores[~outlier]
    drawn = _counts(len(of_outliers), len(of_inliers), int(n_resamples), int(seed))
    outliers_first, inliers_first = _Ranking(of_outliers, of_inliers), _Ranking(-of_inliers, -of_outliers)
    measured = [(m.name, m.positive, m.of_counts) for m in METRICS.values() if m.of_counts is not None]
    figures = np.empty((len(measured), n_resamples))
    for resample, (outliers, inliers) in enumerate(zip(*drawn, strict=True)):
        counts = {
            "outliers": outliers_first.counts(outliers, inliers),
            "inliers": inliers_first.counts(inliers, outliers),
        }
        figures[:, resample] = [of_counts(counts[positive]) for _, positive, of_counts in measured]
    lower, upper = np.quantile(figures, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return {name: (float(a), float(b)) for (name, *_), a, b in zip(measured, lower, upper, strict=True)}


def _checked_scores(
    outlier: NDArray[np.bool_], scores: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    outlier, scores = np.asarray(outlier, dtype=bool), np.asarray(scores, dtype=np.float64)
    if outlier.ndim != 1 or outlier.shape != scores.shape or not np.isfinite(scores).all():
        raise InvalidValueError(
            f"An interval needs one finite score for each text, got {scores.shape} for {outlier.shape}."
        )
    if outlier.all() or not outlier.any():
        raise InvalidValueError(
            f"An interval needs outliers and inliers, got {outlier.sum()} outliers in {len(outlier)} texts."
        )
    return outlier, scores


@lru_cache(maxsize=2)  # drawing takes half as long as using the counts, and detectors share test sets
def _counts(
    n_outliers: int, n_inliers: int, n_resamples: int, seed: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return how often each resample has each outlier and each inlier: arrays (n_resamples, n_...)."""
    rng = np.random.default_rng(seed)
    outliers, inliers = (np.empty((n_resamples, n), dtype=np.uint8) for n in (n_outliers, n_inliers))
    for counts in (outliers, inliers):
        n = counts.shape[1]
        for row in counts:  # uint8 is enough: 256 draws of the same document are too unlikely
            row[:] = np.bincount(rng.integers(n, size=n), minlength=n)
        counts.flags.writeable = False  # the cache shares them
    return outliers, inliers


class _Ranking:
    """A ranking, highest score first, in which a document may occur several times or not at all."""

    def __init__(self, positive: NDArray[np.float64], negative: NDArray[np.float64]) -> None:
        self._positive_order, self._negative_order = np.argsort(-positive), np.argsort(-negative)
        thresholds = np.unique(-positive)
        ranked = -positive[self._positive_order], -negative[self._negative_order]
        self._hits_before, self._false_before = (np.searchsorted(r, thresholds, "left") for r in ranked)
        self._hits, self._false = (np.searchsorted(r, thresholds, "right") for r in ranked)

    def counts(self, positive: NDArray[np.uint8], negative: NDArray[np.uint8]) -> Counts:
        """Return the counts at each threshold, given the number of occurrences of each document."""
        n_hits = np.maximum(_cumulated(positive[self._positive_order]), _NO_HITS)
        n_false = _cumulated(negative[self._negative_order])
        return Counts(
            n_hits[self._hits_before],
            n_hits[self._hits],
            n_false[self._false_before],
            n_false[self._false],
            len(positive),
            len(negative),
        )


def _cumulated(counts: NDArray[np.uint8]) -> NDArray[np.float64]:
    sums = np.zeros(len(counts) + 1)
    np.cumsum(counts, out=sums[1:])
    return sums
