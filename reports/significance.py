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
    compared = []
    for first, second in combinations(range(checked.shape[1]), 2):
        differences = checked[:, first] - checked[:, second]
        compared.append((_signed_rank_p(differences), first, second, float(np.median(differences))))
    compared.sort(key=lambda pair: pair[0])
    corrected = holm([pair[0] for pair in compared])
    return [
        Pair(first, second, difference, p, p_holm)
        for (p, first, second, difference), p_holm in zip(compared, corrected, strict=True)
    ]


def _signed_rank_p(differences: NDArray[np.float64]) -> float:
    if not differences.any():
        return 1.0  # SciPy divides by zero here
    return float(stats.wilcoxon(differences).pvalue)


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


def holm(ordered: Sequence[float]) -> list[float]:
    """Correct p-values, smallest first: the smallest of m times m, the next times m - 1, and so on."""
    corrected: list[float] = []
    for place, p in enumerate(ordered):
        least = corrected[-1] if corrected else 0.0
        corrected.append(max(least, min(1.0, (len(ordered) - place) * p)))
    return corrected


def cliques(ranks: ArrayLike, pairs: Sequence[Pair], alpha: float = ALPHA) -> list[list[int]]:
    """Return the groups of detectors that do not differ significantly.

    They are the bars of a critical-difference diagram: each holds neighbours in the order of the
    ranks, no two of which differ significantly, and is part of no larger one.
    """
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
