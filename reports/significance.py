"""How sure a comparison is: intervals over test documents, and tests over splits.

Figures are finite float arrays of shape (n_splits, n_detectors); those of `mean_ranks` are higher for better
ones.

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
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

ALPHA = 0.05  # level of the tests


class Pair(NamedTuple):
    """Two detectors compared over the same splits."""

    first: int  #: its column, before that of the second
    second: int
    difference: float  #: median over the splits of the first's figure minus the second's
    p: float  #: of Wilcoxon's two-sided signed-rank test
    p_holm: float  #: the same, corrected for the number of pairs


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


def wilcoxon_holm(figures: ArrayLike) -> list[Pair]:
    """Compare each pair of detectors over two splits or more, corrected for the number; smallest p first."""
    checked = np.asarray(figures, dtype=np.float64)
    pairs = list(combinations(range(checked.shape[1]), 2))
    differences = [checked[:, first] - checked[:, second] for first, second in pairs]
    # SciPy divides by zero where all are zero
    p_values = [float(stats.wilcoxon(each).pvalue) if each.any() else 1.0 for each in differences]
    medians = [float(np.median(each)) for each in differences]
    compared = zip(pairs, medians, p_values, holm(p_values), strict=True)
    return sorted((Pair(*pair, *of_pair) for pair, *of_pair in compared), key=lambda pair: pair.p)


def lowest_possible_p(n_splits: int, n_pairs: int) -> float:
    """Return the lowest p-value that Wilcoxon's signed-rank test and Holm's correction can give.

    All differences have one sign then, which 2 of the 2^n equally likely choices of signs have.

    Examples
    --------
    >>> from adbench_text.reports.significance import lowest_possible_p
    >>> lowest_possible_p(n_splits=7, n_pairs=6)
    0.09375
    """
    return min(1.0, n_pairs * 2.0 ** (1 - n_splits))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values: the smallest of m times m, the next times m - 1, and so on."""
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(order))
    ordered = np.asarray(p_values, dtype=np.float64)[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.maximum.accumulate(np.minimum(ordered, 1.0))
    return corrected.tolist()


def cliques(ranks: ArrayLike, pairs: Sequence[Pair]) -> list[list[int]]:
    """Return the groups of detectors that do not differ significantly.

    They are the bars of a critical-difference diagram: each holds neighbours in the order of the
    ranks, no two of which differ significantly, and is part of no larger one.
    """
    different = {frozenset((pair.first, pair.second)) for pair in pairs if pair.p_holm < ALPHA}
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
