"""How sure a comparison is: tests over splits, and intervals over test documents.

Figures of tests are finite float arrays of shape (n_splits, n_detectors); for `mean_ranks` they are higher
for better ones.

Intervals come from a paired bootstrap. Every resample draws documents of the test part of a corpus with
replacement, each class by itself, so that a split keeps its numbers of inliers and outliers. One-vs-rest
splits of a corpus share their test documents, so one resample is used for all its splits and all detectors:
differences are paired, and the correlation of the splits is taken into account. Corpora are resampled
independently.

References
----------
Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 8 and 13.

Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 2006 (mean ranks and
Friedman's test).

Benavoli, Corani and Mangili, "Should We Really Use Post-Hoc Tests Based on Mean-Ranks?", JMLR 2016
(signed-rank tests of pairs in the place of Nemenyi's test).

Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 1979.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from adbench_text.errors import InvalidValueError
from adbench_text.metrics import Counts, Metric
from adbench_text.reports.evidence import Evidence, scored
from adbench_text.store.record import Record

ALPHA = 0.05  # level of the tests
N_RESAMPLES = 500
_LEVEL, _SEED = 0.95, 0
# Used instead of zero hits. It is too small to change any sum of counts, and it makes the precision 1
# before the first hit, as at the beginning of scikit-learn's precision-recall curve.
_NO_HITS = 1e-300
_SIZE = 2**16  # documents of a block of resamples: its arrays fit into the cache of a core


def mean_ranks(figures: ArrayLike) -> NDArray[np.float64]:
    """Return the mean rank of each detector over the splits; rank 1 is best, and equal ones share theirs."""
    ranks = stats.rankdata(-np.asarray(figures), axis=1)
    return np.asarray(ranks.mean(axis=0), dtype=np.float64)


def friedman(figures: ArrayLike) -> float:
    """Return the p-value of Friedman's test that all detectors rank alike; nan for fewer than three."""
    checked = np.asarray(figures, dtype=np.float64)
    if checked.shape[1] < 3:
        return float("nan")
    if (checked == checked[:, :1]).all():
        return 1.0  # SciPy divides by zero here
    return float(stats.friedmanchisquare(*checked.T).pvalue)


def wilcoxon(differences: NDArray[np.float64]) -> float:
    """Return the p-value of Wilcoxon's two-sided signed-rank test of differences in two splits or more."""
    # SciPy divides by zero where all are zero
    return float(stats.wilcoxon(differences).pvalue) if differences.any() else 1.0


def lowest_possible_p(n_splits: int, n_pairs: int) -> float:
    """Return the lowest p-value that Wilcoxon's signed-rank test and Holm's correction can give."""
    # all differences have one sign then, which 2 of the 2^n equally likely choices of signs have
    return min(1.0, n_pairs * 2.0 ** (1 - n_splits))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values: the smallest of m times m, the next times m - 1, and so on."""
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(order))
    ordered = np.asarray(p_values, dtype=np.float64)[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.maximum.accumulate(np.minimum(ordered, 1.0))
    return corrected.tolist()


class Estimate(NamedTuple):
    """A mean or a difference of means in percent, with its 95 % interval and two-sided p for zero."""

    value: float
    low: float
    high: float
    p: float


class Resampling:
    """Values of one metric on resamples of the test documents."""

    def __init__(self, metric: Metric, scores: Evidence, n_resamples: int = N_RESAMPLES) -> None:
        self._metric, self._scores, self._n = metric, scores, n_resamples
        self._counts: dict[str, NDArray[np.uint8]] = {}  # by corpus

    def mean(self, records: Sequence[Record]) -> NDArray[np.float64] | None:
        """Return the mean over cells in percent for each resample, None if a cell lacks its scores."""
        values = [self.values(record) for record in records]
        present = [value for value in values if value is not None]
        if not present or len(present) < len(values):
            return None
        return np.asarray(100 * np.mean(present, axis=0))

    def values(self, record: Record) -> NDArray[np.float64] | None:
        """Return the metric of a cell for each resample, None if its scores cannot be read."""
        table = self._scores.table(record)
        if table is None or table["outlier"].nunique() < 2:
            return None
        # how often each resample has each document, (n_resamples, n_test)
        if record.is_drawn:
            counts = draw(table["outlier"].to_numpy(), self._n)
        else:
            if record.corpus not in self._counts:
                self._counts[record.corpus] = draw(pd.factorize(table["class"])[0], self._n)
            counts = self._counts[record.corpus]
        if counts.shape[1] != len(table):
            return None
        return metric_of_resamples(self._metric, *scored(table), counts)


def draw(classes: NDArray[np.int64], n_resamples: int) -> NDArray[np.uint8]:
    """Return how often each resample has each document; each class keeps its number of documents."""
    rng = np.random.default_rng(_SEED)
    counts = np.empty((n_resamples, len(classes)), dtype=np.uint8)
    for label in np.unique(classes):
        places = np.flatnonzero(classes == label)
        n = len(places)
        # one call: resample i draws the numbers i * n to i * n + n - 1
        drawn = rng.integers(n, size=(n_resamples, n)) + n * np.arange(n_resamples)[:, None]
        counts[:, places] = np.bincount(drawn.ravel(), minlength=n * n_resamples).reshape(n_resamples, n)
    return counts


def metric_of_resamples(
    metric: Metric,
    outlier: NDArray[np.bool_],
    scores: NDArray[np.float64],
    counts: NDArray[np.uint8],
) -> NDArray[np.float64]:
    """Return a metric that has `of_counts` for each resample of the test documents."""
    if metric.of_counts is None:
        raise InvalidValueError(f"{metric.name} has no resamples: it is not computed from counts.")
    positive, sign = (outlier, 1.0) if metric.positive == "outliers" else (~outlier, -1.0)
    orders = [np.flatnonzero(kind) for kind in (positive, ~positive)]
    orders = [order[np.argsort(-sign * scores[order])] for order in orders]
    ranked = [-sign * scores[order] for order in orders]
    thresholds = np.unique(ranked[0])
    hits_before, false_before = (np.searchsorted(each, thresholds, "left") for each in ranked)
    hits, false = (np.searchsorted(each, thresholds, "right") for each in ranked)
    has_ties = not np.array_equal(false, false_before)
    size = max(1, _SIZE // len(scores))
    values = np.empty(len(counts))
    for start in range(0, len(counts), size):
        n_positive, n_negative = (_cumulated(counts[start : start + size], order) for order in orders)
        n_hits, n_false = np.maximum(n_positive, _NO_HITS), n_negative.take(false, axis=1)
        of_block = Counts(
            _columns(n_hits, hits_before),
            _columns(n_hits, hits),
            n_negative.take(false_before, axis=1) if has_ties else n_false,
            n_false,
            len(ranked[0]),
            len(ranked[1]),
        )
        values[start : start + size] = metric.of_counts(of_block)
    return values


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


def estimate(value: float, resampled: NDArray[np.float64]) -> Estimate:
    """Return the estimate of a value, given its resamples.

    The percentile interval is shifted by ``value - mean(resampled)``: the resampled cells are of one seed,
    the value is the mean over all seeds. The p-value comes from a normal distribution with the standard
    deviation of the resamples, so that it can be corrected for many pairs.
    """
    low, high = np.quantile(resampled, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    moved = value - float(resampled.mean())
    deviation = float(resampled.std(ddof=1))
    p = float(2 * stats.norm.sf(abs(value) / deviation)) if deviation else float(value == 0)
    return Estimate(value, float(low) + moved, float(high) + moved, p)
