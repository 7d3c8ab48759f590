"""Bootstrap intervals as in `adbench_text.run.intervals`, from many resamples at once: 2 to 12 times as fast.

That module defines the intervals: its code is part of the protocol, this one's is not. The values must be
equal bit for bit; the tests compare them.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text import metrics
from adbench_text.checks import check_number, check_whole
from adbench_text.metrics import METRICS, Counts
from adbench_text.run.intervals import _NO_HITS, _checked_scores, _counts, _Ranking

_SIZE = 2**16  # documents of a block of resamples: its arrays fit into the cache of a core

# The values of a metric for each resample, from `Counts` whose arrays have a row per resample.
OfRows = Callable[[Counts], "NDArray[np.float64]"]


def bootstrap_intervals(
    outlier: NDArray[np.bool_],
    scores: NDArray[np.float64],
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, tuple[float, float]]:
    """Return percentile bootstrap intervals; see `adbench_text.run.intervals.bootstrap_intervals`."""
    outlier, scores = _checked_scores(outlier, scores)
    check_whole("n_resamples", n_resamples, 1)
    check_whole("seed", seed, 0)
    check_number("level", level, "(0, 1)")
    of_outliers, of_inliers = scores[outlier], scores[~outlier]
    outliers, inliers = _counts(len(of_outliers), len(of_inliers), int(n_resamples), int(seed))
    outliers_first = _Ranking(of_outliers, of_inliers)
    inliers_first = _Ranking(-of_inliers, -of_outliers)
    measured = [metric for metric in METRICS.values() if metric.of_counts is not None]
    figures = np.empty((len(measured), n_resamples))
    size = max(1, _SIZE // len(scores))
    for start in range(0, n_resamples, size):
        block = slice(start, start + size)
        n_outliers = _cumulated(outliers[block], outliers_first._positive_order)
        n_inliers = _cumulated(inliers[block], outliers_first._negative_order)
        counts = {
            "outliers": _counts_of_rows(outliers_first, n_outliers, n_inliers),
            "inliers": _counts_of_rows(inliers_first, _reversed(n_inliers), _reversed(n_outliers)),
        }
        for figure, metric in zip(figures, measured, strict=True):
            figure[block] = _of_rows(metric.of_counts)(counts[metric.positive])
    lower, upper = np.quantile(figures, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return {metric.name: (float(a), float(b)) for metric, a, b in zip(measured, lower, upper, strict=True)}


def metric_of_resamples(
    metric: metrics.Metric,
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
    """
    positive, sign = (outlier, 1.0) if metric.positive == "outliers" else (~outlier, -1.0)
    ranking = _Ranking(sign * scores[positive], sign * scores[~positive])
    first, others = (np.flatnonzero(kind) for kind in (positive, ~positive))
    in_order, others_in_order = first[ranking._positive_order], others[ranking._negative_order]
    of_rows, size = _of_rows(metric.of_counts), max(1, _SIZE // len(scores))
    values = np.empty(len(counts))
    for start in range(0, len(counts), size):
        block = counts[start : start + size]
        rows = _counts_of_rows(ranking, _cumulated(block, in_order), _cumulated(block, others_in_order))
        values[start : start + size] = of_rows(rows)
    return values


def _counts_of_rows(
    ranking: _Ranking, n_positive: NDArray[np.float64], n_negative: NDArray[np.float64]
) -> Counts:
    """Return the counts at each threshold, a row per resample.

    `n_positive` and `n_negative` are how many positives and negatives each resample has among the first
    documents of its kind in the ranking, by the number of these documents.
    """
    n_hits = np.maximum(n_positive, _NO_HITS)
    false = n_negative.take(ranking._false, axis=1)
    has_ties = not np.array_equal(ranking._false, ranking._false_before)
    return Counts(
        _columns(n_hits, ranking._hits_before),
        _columns(n_hits, ranking._hits),
        n_negative.take(ranking._false_before, axis=1) if has_ties else false,
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


def _auroc_of_rows(counts: Counts) -> NDArray[np.float64]:
    gained = counts.hits - counts.hits_before
    # sums of whole numbers, which are exact in any order
    lost = np.einsum("ij,ij->i", gained, counts.false_before + counts.false)
    areas: NDArray[np.float64] = 1 - lost / (2 * counts.n_positive * counts.n_negative)
    return areas


def _aupr_of_rows(counts: Counts) -> NDArray[np.float64]:
    hits_before, hits, false_before, false, n_positive, _ = counts
    precisions = hits_before / (hits_before + false_before)
    precisions += hits / (hits + false)
    gained = hits - hits_before
    # row by row: the last bit of a sum depends on its order
    sums = np.array([a @ b for a, b in zip(gained, precisions, strict=True)])
    areas: NDArray[np.float64] = sums / (2 * n_positive)
    return areas


def _fpr95_of_rows(counts: Counts) -> NDArray[np.float64]:
    n_found = counts.n_positive - counts.n_positive // 20
    places = (counts.hits < n_found).sum(axis=1)
    rates: NDArray[np.float64] = counts.false[np.arange(len(places)), places] / counts.n_negative
    return rates


_FAST: dict[Any, OfRows] = {
    metrics._auroc_of: _auroc_of_rows,
    metrics._aupr_of: _aupr_of_rows,
    metrics._fpr95_of: _fpr95_of_rows,
}


def _of_rows(of_counts: Any) -> OfRows:
    """Return what computes a metric for each row; metrics that are not listed are computed row by row."""
    return _FAST.get(of_counts) or (lambda counts: np.array([of_counts(row) for row in _each(counts)]))


def _each(counts: Counts) -> Iterator[Counts]:
    arrays = counts.hits_before, counts.hits, counts.false_before, counts.false
    for hits_before, hits, false_before, false in zip(*arrays, strict=True):
        yield Counts(hits_before, hits, false_before, false, counts.n_positive, counts.n_negative)
