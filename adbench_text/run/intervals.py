"""Bootstrap intervals of the metrics over the test documents."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import check_number, check_whole
from adbench_text.errors import InvalidValueError
from adbench_text.metrics import METRICS, Counts, Metric

# Used instead of zero hits. It is too small to change any sum of counts, and it makes the precision 1
# before the first hit, as at the beginning of scikit-learn's precision-recall curve.
_NO_HITS = 1e-300
_SIZE = 2**16  # documents of a block of resamples: its arrays fit into the cache of a core


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
    outliers, inliers = _counts(len(of_outliers), len(of_inliers), int(n_resamples), int(seed))
    outliers_first, inliers_first = _Ranking(of_outliers, of_inliers), _Ranking(-of_inliers, -of_outliers)
    measured = [(m.name, m.positive, m.of_counts) for m in METRICS.values() if m.of_counts is not None]
    figures = np.empty((len(measured), n_resamples))
    size = max(1, _SIZE // len(scores))
    for start in range(0, n_resamples, size):
        block = slice(start, start + size)
        n_outliers = _cumulated(outliers[block], outliers_first.positive_order)
        n_inliers = _cumulated(inliers[block], outliers_first.negative_order)
        counts = {
            "outliers": outliers_first.counts(n_outliers, n_inliers),
            "inliers": inliers_first.counts(_reversed(n_inliers), _reversed(n_outliers)),
        }
        for figure, (_, positive, of_counts) in zip(figures, measured, strict=True):
            figure[block] = of_counts(counts[positive])
    lower, upper = np.quantile(figures, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return {name: (float(a), float(b)) for (name, *_), a, b in zip(measured, lower, upper, strict=True)}


def metric_of_resamples(
    metric: Metric,
    outlier: NDArray[np.bool_],
    scores: NDArray[np.float64],
    counts: NDArray[np.uint8],
) -> NDArray[np.float64]:
    """Return a metric that has `of_counts` for each resample of the test documents.

    Parameters
    ----------
    metric : Metric
    outlier : bool array of shape (n,)
        Which texts are outliers, at least one of each kind.
    scores : float array of shape (n,)
        Abnormality, finite.
    counts : uint8 array of shape (n_resamples, n)
        How often each resample has each document; each has as many outliers and inliers as there are.

    Raises
    ------
    InvalidValueError
        If the metric has no `of_counts`.
    """
    if metric.of_counts is None:
        raise InvalidValueError(f"{metric.name} has no resamples: it is not computed from counts.")
    positive, sign = (outlier, 1.0) if metric.positive == "outliers" else (~outlier, -1.0)
    ranking = _Ranking(sign * scores[positive], sign * scores[~positive])
    first, others = (np.flatnonzero(kind) for kind in (positive, ~positive))
    in_order, others_in_order = first[ranking.positive_order], others[ranking.negative_order]
    size = max(1, _SIZE // len(scores))
    values = np.empty(len(counts))
    for start in range(0, len(counts), size):
        block = counts[start : start + size]
        of_block = ranking.counts(_cumulated(block, in_order), _cumulated(block, others_in_order))
        values[start : start + size] = metric.of_counts(of_block)
    return values


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
        self.positive_order, self.negative_order = np.argsort(-positive), np.argsort(-negative)
        thresholds = np.unique(-positive)
        ranked = -positive[self.positive_order], -negative[self.negative_order]
        self._hits_before, self._false_before = (np.searchsorted(r, thresholds, "left") for r in ranked)
        self._hits, self._false = (np.searchsorted(r, thresholds, "right") for r in ranked)

    def counts(self, n_positive: NDArray[np.float64], n_negative: NDArray[np.float64]) -> Counts:
        """Return the counts at each threshold.

        Parameters
        ----------
        n_positive, n_negative : float array of shape (n_resamples, n + 1)
            How many positives and negatives each resample has among the first 0, 1, ... n documents of
            its kind in the ranking.
        """
        n_hits = np.maximum(n_positive, _NO_HITS)
        false = n_negative.take(self._false, axis=1)
        has_ties = not np.array_equal(self._false, self._false_before)
        return Counts(
            _columns(n_hits, self._hits_before),
            _columns(n_hits, self._hits),
            n_negative.take(self._false_before, axis=1) if has_ties else false,
            false,
            n_positive.shape[1] - 1,
            n_negative.shape[1] - 1,
        )


def _columns(table: NDArray[np.float64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return columns of a table; a view if each is the next one, as it is without ties."""
    if len(places) == table.shape[1] - 1:
        return table[:, places[0] : places[0] + len(places)]
    return table.take(places, axis=1)


def _cumulated(counts: NDArray[np.uint8], order: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of the counts of the first 0, 1, 2, ... documents in this order."""
    sums = np.zeros((len(counts), len(order) + 1), dtype=np.int32)
    np.cumsum(counts.take(order, axis=1).astype(np.int32), axis=1, out=sums[:, 1:])
    return sums.astype(np.float64)


def _reversed(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums in the opposite order of the documents; each row has the same total."""
    return sums[:, -1:] - sums[:, ::-1]
