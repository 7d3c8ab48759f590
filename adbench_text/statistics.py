"""How sure a comparison is: intervals over test documents, and tests over splits.

References
----------
Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, section 13.3 (percentile intervals).

Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 2006 (mean ranks,
Friedman's test, critical-difference diagrams).

Benavoli, Corani and Mangili, "Should We Really Use Post-Hoc Tests Based on Mean-Ranks?", JMLR 2016
(signed-rank tests of pairs in the place of Nemenyi's test).

Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 1979.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from adbench_text.checks import check_number, check_whole
from adbench_text.errors import InvalidValueError
from adbench_text.metrics import METRICS, Counts

# Stands for zero hits. Too small to change any sum of counts, it makes the precision 1 where nothing
# is chosen yet, which is how scikit-learn begins a precision-recall curve.
_NO_HITS = 1e-300


class Pair(NamedTuple):
    """Two detectors compared over the same splits.

    Attributes
    ----------
    first, second : int
        Their columns; ``first < second``.
    difference : float
        Median over the splits of the first's figure minus the second's.
    p : float
        Of Wilcoxon's two-sided signed-rank test, in [0, 1].
    p_holm : float
        The same, corrected for the number of pairs, in [0, 1].
    """

    first: int
    second: int
    difference: float
    p: float
    p_holm: float


def bootstrap_intervals(
    outlier: NDArray[np.bool_],
    scores: NDArray[np.float64],
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, tuple[float, float]]:
    """Return percentile bootstrap intervals of the metrics over the test documents.

    Outliers and inliers are drawn separately, each as many as there are: every resample has some of
    each kind and the same prevalence, on which AUPR depends. All detectors are judged on the same
    resamples of a test set. The intervals say nothing of the training's chance.

    Parameters
    ----------
    outlier : bool array of shape (n,)
        Which texts are outliers; there must be some of each kind.
    scores : float array of shape (n,)
        Abnormality, finite.
    n_resamples : int
        At least 1. The drawn counts take ``n * n_resamples`` bytes; those of the last two kinds of
        test set are kept.
    level : float
        Share of the resamples within the interval, in (0, 1).
    seed : int
        At least 0.

    Returns
    -------
    dict of str to (float, float)
        Lower and upper end in [0, 1] by the names and in the definitions of `adbench_text.metrics`;
        of those metrics alone that have `of_counts`.

    Raises
    ------
    InvalidValueError
        For texts of one kind only, scores that do not fit them, or a parameter out of range.
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


@lru_cache(maxsize=2)  # drawing takes half as long as using them, and detectors share their test sets
def _counts(
    n_outliers: int, n_inliers: int, n_resamples: int, seed: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Say how often each outlier and each inlier is in each resample: arrays (n_resamples, their number)."""
    rng = np.random.default_rng(seed)
    outliers, inliers = (np.empty((n_resamples, n), dtype=np.uint8) for n in (n_outliers, n_inliers))
    for counts in (outliers, inliers):
        n = counts.shape[1]
        for row in counts:  # that one of n is drawn 256 times in n is too unlikely to happen
            row[:] = np.bincount(rng.integers(n, size=n), minlength=n)
        counts.flags.writeable = False  # they are shared
    return outliers, inliers


class _Ranking:
    """A ranking, highest score first, of which documents may be there several times or not at all."""

    def __init__(self, positive: NDArray[np.float64], negative: NDArray[np.float64]) -> None:
        self._positive_order, self._negative_order = np.argsort(-positive), np.argsort(-negative)
        thresholds = np.unique(-positive)
        ranked = -positive[self._positive_order], -negative[self._negative_order]
        self._hits_before, self._false_before = (np.searchsorted(r, thresholds, "left") for r in ranked)
        self._hits, self._false = (np.searchsorted(r, thresholds, "right") for r in ranked)

    def counts(self, positive: NDArray[np.uint8], negative: NDArray[np.uint8]) -> Counts:
        """Return what is found at each threshold, from how often each document is there."""
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


def mean_ranks(figures: ArrayLike) -> NDArray[np.float64]:
    """Return the mean rank of each detector over the splits.

    Parameters
    ----------
    figures : float array of shape (n_splits, n_detectors)
        Of one metric, finite; higher is better.

    Returns
    -------
    float array of shape (n_detectors,)
        In [1, n_detectors]; rank 1 is the highest figure, and equal ones share their mean rank.

    Raises
    ------
    InvalidValueError
        If the figures are no such array.
    """
    ranks = stats.rankdata(-_checked_figures(figures), axis=1)
    return np.asarray(ranks.mean(axis=0), dtype=np.float64)


def friedman(figures: ArrayLike) -> float:
    """Return the p-value of Friedman's test that all detectors rank alike.

    Parameters
    ----------
    figures : float array of shape (n_splits, n_detectors)
        Of one metric, finite.

    Returns
    -------
    float
        In [0, 1]; 1 if all detectors are equal in each split; nan for fewer than three detectors,
        for which there is no such test.

    Raises
    ------
    InvalidValueError
        If the figures are no such array.
    """
    checked = _checked_figures(figures)
    if checked.shape[1] < 3:
        return float("nan")
    if (checked == checked[:, :1]).all():
        return 1.0  # SciPy divides by zero here
    return float(stats.friedmanchisquare(*checked.T).pvalue)


def wilcoxon_holm(figures: ArrayLike) -> list[Pair]:
    """Compare each pair of detectors over the splits, corrected for the number of pairs.

    Parameters
    ----------
    figures : float array of shape (n_splits, n_detectors)
        Of one metric, finite; at least two splits.

    Returns
    -------
    list of Pair
        Smallest p first. Detectors that are equal in every split have p = 1.

    Raises
    ------
    InvalidValueError
        If the figures are no such array.
    """
    checked = _checked_figures(figures, n_least=2)
    compared = []
    for first, second in combinations(range(checked.shape[1]), 2):
        differences = checked[:, first] - checked[:, second]
        compared.append((_signed_rank_p(differences), first, second, float(np.median(differences))))
    compared.sort(key=lambda pair: pair[0])
    corrected = _holm([pair[0] for pair in compared])
    return [
        Pair(first, second, difference, p, p_holm)
        for (p, first, second, difference), p_holm in zip(compared, corrected, strict=True)
    ]


def _signed_rank_p(differences: NDArray[np.float64]) -> float:
    if not differences.any():
        return 1.0  # SciPy divides by zero here
    return float(stats.wilcoxon(differences).pvalue)


def _holm(ordered: Sequence[float]) -> list[float]:
    """Correct p-values, smallest first: the smallest of m times m, the next times m - 1, and so on."""
    corrected: list[float] = []
    for place, p in enumerate(ordered):
        least = corrected[-1] if corrected else 0.0
        corrected.append(max(least, min(1.0, (len(ordered) - place) * p)))
    return corrected


def cliques(ranks: ArrayLike, pairs: Sequence[Pair], alpha: float = 0.05) -> list[list[int]]:
    """Return the groups of detectors that the splits do not tell apart.

    They are the bars of a critical-difference diagram: each holds neighbours in the order of the
    ranks, no two of which differ significantly, and is part of no larger one.

    Parameters
    ----------
    ranks : float array of shape (n_detectors,)
        From `mean_ranks`.
    pairs : sequence of Pair
        From `wilcoxon_holm`.
    alpha : float
        Two detectors differ significantly if ``p_holm < alpha``; in [0, 1].

    Returns
    -------
    list of list of int
        Columns of the detectors, best rank first; a detector may be in several groups or none.

    Raises
    ------
    InvalidValueError
        If alpha is out of range.
    """
    check_number("alpha", alpha, "[0, 1]")
    different = {frozenset((pair.first, pair.second)) for pair in pairs if pair.p_holm < alpha}
    order = [int(column) for column in np.argsort(np.asarray(ranks), kind="stable")]
    groups: list[list[int]] = []
    covered = 0
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and not any({order[end], other} in different for other in order[start:end]):
            end += 1
        if end - start > 1 and end > covered:
            groups.append(order[start:end])
        covered = max(covered, end)
    return groups


def _checked_figures(figures: ArrayLike, n_least: int = 1) -> NDArray[np.float64]:
    checked = np.asarray(figures, dtype=np.float64)
    if checked.ndim != 2 or len(checked) < n_least or checked.shape[1] == 0 or not np.isfinite(checked).all():
        raise InvalidValueError(
            f"Detectors are compared by a finite figure for each in each of at least {n_least} splits, "
            f"got an array of shape {checked.shape} with {np.sum(~np.isfinite(checked))} not finite."
        )
    return checked
