"""How sure a comparison is: tests over splits, and intervals over test documents.

Figures of tests are finite float arrays of shape (n_splits, n_detectors); for `mean_ranks` they are higher
for better ones.

Intervals are those of DeLong's method for AUROC. The placement of a document is the share of the documents of
the other kind that it is ranked right against; the variance of the area follows from those of the placements.
One-vs-rest splits of a corpus share their test documents, and so do detectors. Therefore the placements of a
document are added over the splits and subtracted between detectors: both correlations are taken into account.
Documents vary within their class, and corpora independently.

References
----------
DeLong, DeLong and Clarke-Pearson, "Comparing the Areas under Two or More Correlated Receiver Operating
Characteristic Curves: A Nonparametric Approach", Biometrics 1988.

Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 2006 (mean ranks and
Friedman's test).

Benavoli, Corani and Mangili, "Should We Really Use Post-Hoc Tests Based on Mean-Ranks?", JMLR 2016
(signed-rank tests of pairs in the place of Nemenyi's test).

Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 1979.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from adbench_text.reports.evidence import Evidence, scored

ALPHA = 0.05  # level of the tests
_LEVEL = 0.95  # of the intervals
_ROUNDING = 1e-9  # in percent: smaller differences and deviations are sums of rounding errors


def mean_ranks(figures: ArrayLike) -> NDArray[np.float64]:
    """Return the mean rank of each detector over the splits; rank 1 is best, and equal figures share it."""
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


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values: the smallest of m times m, the next times m - 1, and so on."""
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(order))
    ordered = np.asarray(p_values, dtype=np.float64)[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.maximum.accumulate(np.minimum(ordered, 1.0))
    return corrected.tolist()


def lowest_p(n_splits: int, n_tests: int) -> float:
    """Return the lowest p-value that Wilcoxon's signed-rank test can give with Holm's correction."""
    # all differences have one sign then, which 2 of the 2^n equally likely choices of signs have
    return min(1.0, n_tests * 2.0 ** (1 - n_splits))


class Estimate(NamedTuple):
    """A mean or a difference of means in percent, with its 95 % interval and two-sided p for zero."""

    value: float
    low: float
    high: float
    p: float


def paired(differences: NDArray[Any]) -> Estimate:
    """Return the mean of paired differences, at least two, with its interval by Student's t."""
    mean = float(differences.mean())
    if (deviation := float(stats.sem(differences))) < _ROUNDING:
        return Estimate(mean, mean, mean, float(abs(mean) < _ROUNDING))
    half = float(stats.t.ppf((1 + _LEVEL) / 2, len(differences) - 1)) * deviation
    p = float(2 * stats.t.sf(abs(mean) / deviation, len(differences) - 1))
    return Estimate(mean, mean - half, mean + half, p)


def placements(outlier: NDArray[np.bool_], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each document the share of documents of the other kind that it is ranked correctly against.

    An outlier should score higher than inliers, an inlier lower than outliers. A tie counts half.
    """
    shares = np.empty(len(scores))
    for is_kind, sign in ((outlier, 1), (~outlier, -1)):
        among_all = stats.rankdata(sign * scores)[is_kind]
        among_its_kind = stats.rankdata(sign * scores[is_kind])
        n_others_below = among_all - among_its_kind
        shares[is_kind] = n_others_below / (~is_kind).sum()
    return shares


def contributions(cells: pd.DataFrame, evidence: Evidence) -> "pd.Series[float] | None":
    """Return the contribution of each test document of each corpus to the mean AUROC of cells, in percent.

    Over outliers alone they add up to the mean AUROC, and over inliers alone, too. None if a cell lacks its
    scores.
    """
    parts = []
    for _, row in cells.iterrows():
        table = evidence.table(row)
        if table is None or table["outlier"].nunique() < 2:
            return None
        n_of_kind = table.groupby("outlier")["outlier"].transform("size")
        contribution = 100 * placements(*scored(table)) / n_of_kind / len(cells)
        parts.append(table.assign(corpus=row["corpus"], contribution=contribution))
    return pd.concat(parts).groupby(["corpus", "class", "document"])["contribution"].sum()


def estimate(value: float, of_documents: "pd.Series[float]") -> Estimate:
    """Return the estimate of a mean AUROC, or of a difference of two, from the contribution of each document.

    The contributions come from one seed of each split. The value is a mean over all seeds.
    """
    of_classes = of_documents.groupby(["corpus", "class"])
    deviation = float((of_classes.var() * of_classes.size()).sum() ** 0.5)
    if deviation < _ROUNDING:
        return Estimate(value, value, value, float(abs(value) < _ROUNDING))
    half = float(stats.norm.ppf((1 + _LEVEL) / 2)) * deviation
    return Estimate(value, value - half, value + half, float(2 * stats.norm.sf(abs(value) / deviation)))
