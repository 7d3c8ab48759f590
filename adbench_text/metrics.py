"""The metrics: `METRICS` has one entry for each. Higher scores are more abnormal.

The command line reads this table when it starts, so slow libraries are imported where they are used.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Labels = NDArray[np.bool_]
    Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Metric:
    """A metric of the scores of a test set.

    >>> import numpy as np
    >>> from adbench_text.metrics import METRICS
    >>> outlier = np.array([True, True, False, False])
    >>> scores = np.array([0.9, 0.4, 0.5, 0.1])
    >>> METRICS["auroc"].function(outlier, scores)
    0.75
    >>> METRICS["fpr95"].best([0.3, 0.1])
    0.1
    """

    name: str  # in the store and on the command line
    title: str  # in tables and figures, where values are in percent
    # takes labels (True for an outlier; both kinds occur) and scores, both (n,); returns a value in [0, 1]
    function: "Callable[[Labels, Scores], float]"
    positive: Literal["outliers", "inliers"]  # the positive class
    # the metric is the area under this curve: by chance 0.5 (ROC), or the share of the positive class
    curve: Literal["ROC", "precision-recall"] | None = None
    higher_is_better: bool = True  # False for an error rate

    def best(self, figures: Iterable[float]) -> float:
        """Return the best of several values of the metric."""
        return max(figures) if self.higher_is_better else min(figures)


@cache
def library() -> tuple[Any, Any, Any, Any]:
    """Return the functions of scikit-learn; the first call keeps them, so nobody can replace them later."""
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score

    return roc_auc_score, precision_recall_curve, auc, average_precision_score


def auroc(outlier: "Labels", scores: "Scores") -> float:
    """Return the area under the ROC curve, in [0, 1]."""
    roc_auc_score, *_ = library()
    return float(roc_auc_score(outlier, scores))


def aupr_in(outlier: "Labels", scores: "Scores") -> float:
    """Return the area under the precision-recall curve with inliers as the positive class."""
    return _trapezoid_aupr(~outlier, -scores)


def aupr_out(outlier: "Labels", scores: "Scores") -> float:
    """Return the area under the precision-recall curve with outliers as the positive class."""
    return _trapezoid_aupr(outlier, scores)


def _trapezoid_aupr(positive: "Labels", scores: "Scores") -> float:
    # The trapezoid area, as in the released code of CVDD and DATE. Average precision is a more
    # careful estimate, but nobody could compare it with the published figures.
    _, precision_recall_curve, auc, _ = library()
    precision, recall, _ = precision_recall_curve(positive, scores)
    return float(auc(recall, precision))


def average_precision(outlier: "Labels", scores: "Scores") -> float:
    """Return the average precision with outliers as the positive class. Publications on words use it."""
    *_, average_precision_score = library()
    return float(average_precision_score(outlier, scores))


def fpr95(outlier: "Labels", scores: "Scores") -> float:
    """Return the false positive rate at a true positive rate of 95 %, with outliers as the positive class.

    It is the smallest share of inliers at or above a threshold that at least 95 % of the outliers reach.
    Texts with equal scores are on the same side of every threshold; nothing is interpolated.

    Source: Hendrycks, Mazeika and Dietterich, "Deep Anomaly Detection with Outlier Exposure", ICLR 2019
    (FPR95). In Liang, Li and Srikant, "Enhancing the Reliability of Out-of-distribution Image
    Detection in Neural Networks" (ODIN), ICLR 2018, inliers are the positive class.
    """
    of_outliers = scores[outlier]  # a copy
    of_outliers.sort()
    threshold = of_outliers[len(of_outliers) // 20]  # at most 5 % are below it
    return float((scores[~outlier] >= threshold).mean())


#: All metrics by name, in the order of the tables. The rest of the program reads them from here.
METRICS = {
    metric.name: metric
    for metric in (
        Metric("auroc", "AUROC", auroc, "outliers", "ROC"),
        Metric("aupr_in", "AUPR-in", aupr_in, "inliers", "precision-recall"),
        Metric("aupr_out", "AUPR-out", aupr_out, "outliers", "precision-recall"),
        Metric("fpr95", "FPR at 95 % TPR", fpr95, "outliers", higher_is_better=False),
    )
}
#: Metrics of words, see `adbench_text.run.words`; all words of a test set are pooled.
WORD_METRICS = {"auroc": auroc, "ap": average_precision, "fpr95": fpr95}
#: Prefixes of metrics of words: all detectors have the same words, or the words of a publication. Then
#: ``max_`` follows if a document is scored by its highest word.
ALIKE, AS_PUBLISHED, HIGHEST = "word_", "published_word_", "max_"
OF_WORDS = tuple(
    f"{edition}{of_documents}{name}"
    for edition in (ALIKE, AS_PUBLISHED)
    for of_documents in ("", HIGHEST)
    for name in WORD_METRICS
)
#: AUROC on outliers from the classes of known outliers, and on outliers from other classes.
OF_KNOWN = ("auroc_seen", "auroc_unseen")
#: Share of test documents that are `tied`. Ties make trapezoid areas too high.
TIED = "tied"
_MANY_TIES = 0.1  # a higher share gets a note
#: The first metric: reports, charts and progress show it by default.
MAIN = next(iter(METRICS.values()))

#: The costs of a cell, at least 0. They may be unknown for the scores of another program.
COSTS = ("fit_seconds", "score_seconds")

#: Smaller differences do not count: the order of sums moves a metric by up to half of this. Tables show
#: tenths of points.
ROUNDING = 1e-4


def is_possible(value: float) -> bool:
    """Return whether a value of a metric is in [0, 1], apart from rounding."""
    return abs(value - 0.5) <= 0.5 + 1e-9  # False for NaN


def is_lower_better(name: str) -> bool:
    """Return whether lower is better for a metric of documents or words."""
    return any(name.endswith(metric.name) for metric in METRICS.values() if not metric.higher_is_better)


def tied(outlier: "Labels", scores: "Scores") -> float:
    """Return the share of test documents whose score a document of the other kind has, too, in [0, 1].

    >>> import numpy as np
    >>> tied(np.array([True, True, False, False]), np.array([0.9, 0.4, 0.4, 0.1]))
    0.5
    """
    import numpy as np

    _, number = np.unique(scores, return_inverse=True)  # of the score of each document
    n_with_score, n_outliers = np.bincount(number), np.bincount(number, outlier)
    is_mixed = (n_outliers > 0) & (n_outliers < n_with_score)
    return float(n_with_score[is_mixed].sum() / len(scores))


def note_on_ties(shares: Mapping[str, float]) -> str:
    """Return a note on detectors with many ties, given their shares of tied documents; empty without any."""
    many = [f"{name} ({share:.0%})" for name, share in shares.items() if share > _MANY_TIES]
    if not many:
        return ""
    return (
        "AUPR flatters tied scores. The share of test documents that have the score of a document of the "
        f"other kind is above {_MANY_TIES:.0%} for {', '.join(many)}."
    )


def all_metrics(outlier: "Labels", scores: "Scores") -> dict[str, float]:
    """Return the value of each metric by its name, and the share of ties."""
    values = {name: metric.function(outlier, scores) for name, metric in METRICS.items()}
    return values | {TIED: tied(outlier, scores)}
