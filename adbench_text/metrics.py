"""The metrics of the papers. Scores are abnormality: higher is more abnormal."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import auc, precision_recall_curve, roc_auc_score

from adbench_text.scores import METRICS


def auroc(outlier: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve, in [0, 1].

    Parameters
    ----------
    outlier : bool array of shape (n,)
        Which texts are outliers; there must be some of each kind.
    scores : float array of shape (n,)
        Abnormality.
    """
    return float(roc_auc_score(outlier, scores))


def aupr_in(outlier: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the area under the precision-recall curve with inliers as the positive class."""
    return _trapezoid_aupr(~outlier, -scores)


def aupr_out(outlier: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the area under the precision-recall curve with outliers as the positive class."""
    return _trapezoid_aupr(outlier, scores)


def _trapezoid_aupr(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    # The trapezoid area, as in the released code of CVDD and DATE; average precision, the
    # more careful estimate, would not compare with the published figures.
    precision, recall, _ = precision_recall_curve(positive, scores)
    return float(auc(recall, precision))


def all_metrics(outlier: NDArray[np.bool_], scores: NDArray[np.float64]) -> dict[str, float]:
    """Return every metric by its name."""
    functions: dict[str, Any] = {"auroc": auroc, "aupr_in": aupr_in, "aupr_out": aupr_out}
    return {name: functions[name](outlier, scores) for name in METRICS}
