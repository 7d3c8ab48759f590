"""The figures of scores: their densities, and the curves whose areas are the metrics."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_curve, roc_curve

from adbench_text.metrics import METRICS, Metric
from adbench_text.reports.figures import style
from adbench_text.reports.figures.style import (
    INLIERS,
    MOST_POINTS,
    OUTLIERS,
    add_legend,
    detector_looks,
    placed,
    styled,
)

Scored = tuple[NDArray[np.bool_], NDArray[np.float64]]

_HISTOGRAM, _CURVES = 1.35, 1.75  # heights of a row, in inches
_MOST_BINS = 30


@styled
def histograms(panels: Mapping[str, Scored]) -> Figure:
    """Draw the densities of the scores of inliers and outliers, one panel per split.

    Each panel has bins of its own, common to both kinds. The lowest and the highest half percent of
    each kind count into the outermost bins, so that a few extreme scores do not squeeze the rest.
    """
    figure, drawn = style.panels(list(panels), _HISTOGRAM, "abnormality", "density")
    for axes, scored in zip(drawn, panels.values(), strict=True):
        _histogram(axes, *scored)
    handles = [Patch(facecolor=(colour, 0.25), edgecolor=colour, ls=ls) for colour, ls in _KINDS.values()]
    add_legend(figure, handles, _KINDS)
    return placed(figure, _HISTOGRAM, left=0)


_KINDS: dict[str, tuple[str, Any]] = {"inliers": (INLIERS, "solid"), "outliers": (OUTLIERS, (0, (3, 1)))}


def _histogram(axes: Axes, outlier: NDArray[np.bool_], scores: NDArray[np.float64]) -> None:
    kinds = [scores[kind & np.isfinite(scores)] for kind in (~outlier, outlier)]
    ends = [end for kind in kinds if len(kind) for end in np.quantile(kind, (0.005, 0.995))] or [0.0]
    edges = np.histogram_bin_edges(ends, _MOST_BINS)
    for kind, (colour, dashes) in zip(kinds, _KINDS.values(), strict=True):
        if len(kind):
            density, _ = np.histogram(np.clip(kind, edges[0], edges[-1]), edges, density=True)
            axes.stairs(density, edges, fill=True, color=colour, alpha=0.25, linewidth=0)
            axes.stairs(density, edges, color=colour, linestyle=dashes, linewidth=1)
    axes.set(yticks=[], xlim=(edges[0], edges[-1]))
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(3))


@styled
def curves_of_splits(
    splits: Mapping[str, Mapping[str, Scored]], metric: str, among: Sequence[str] = ()
) -> Figure:
    """Draw the ROC or precision-recall curves of all detectors, one small panel per split.

    A grey line is what scores by chance would give. The axes of precision begin at what is needed.
    """
    names = list(dict.fromkeys(name for curves in splits.values() for name in curves))
    look_of = detector_looks(names, among)
    is_roc = METRICS[metric].curve == "ROC"
    labels = ("false positive rate", "true positive rate") if is_roc else ("recall", "precision")
    x_label, y_label = (f"{label} (%)" for label in labels)
    figure, drawn = style.panels(list(splits), _CURVES, x_label, y_label, is_shared=True)
    handles: dict[str, Any] = {}
    lows = [0.0] if is_roc else []
    for axes, curves in zip(drawn, splits.values(), strict=True):
        axes.set_box_aspect(1)
        lows += _chance(axes, METRICS[metric], [outlier for outlier, _ in curves.values()])
        for i, (name, scored) in enumerate(curves.items()):
            x, y = _curve(METRICS[metric], *scored)
            marked = (0.25 * i / len(curves), 0.5)
            look = look_of[name]._asdict()
            lines = axes.plot(100 * x, 100 * y, markevery=marked, markersize=3, **(look | {"linewidth": 0.9}))
            handles.setdefault(name, lines[0])
            lows += [100 * float(y[x >= _FIRST_RECALL].min())] if len(x) and not is_roc else []
    low = max(0.0, 10 * math.floor((min(lows, default=0.0) - 2) / 10))
    ticks = range(0, 101, 50)
    drawn[0].set(xlim=(-3, 103), xticks=ticks, ylim=(low - 0.03 * (100 - low), 100 + 0.03 * (100 - low)))
    if not low:
        drawn[0].set_yticks(ticks)
    add_legend(figure, list(handles.values()), handles)
    return placed(figure, _CURVES, left=0.25)


_FIRST_RECALL = 0.05  # before it a precision is that of a few documents


def _chance(axes: Axes, metric: Metric, labels: Sequence[NDArray[np.bool_]]) -> list[float]:
    """Draw the chance level of a panel if all curves share it; return the precision of it."""
    if metric.curve == "ROC":
        axes.plot([0, 100], [0, 100], **_BY_CHANCE)
        return []
    shares = {100 * float((outlier == (metric.positive == "outliers")).mean()) for outlier in labels}
    for share in shares if len(shares) == 1 else ():
        axes.plot([0, 100], [share] * 2, **_BY_CHANCE)
    return list(shares)


_BY_CHANCE: dict[str, Any] = {"color": "black", "alpha": 0.4, "linewidth": 0.8, "zorder": 1}


def _curve(
    metric: Metric, outlier: NDArray[np.bool_], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return x and y of the curve whose area is a metric; no points where there is no curve."""
    if outlier.all() or not outlier.any() or not np.isfinite(scores).all():
        return np.empty(0), np.empty(0)
    if metric.curve == "ROC":
        false, true, _ = roc_curve(outlier, scores)
        return _thinned(false, true)
    of_outliers = metric.positive == "outliers"
    precision, recall, _ = precision_recall_curve(outlier == of_outliers, scores if of_outliers else -scores)
    return _thinned(recall, precision)


def _thinned(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Keep at most 200 points of a line, as evenly as can be along it, its ends among them."""
    way = np.concatenate([[0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    kept = np.unique(np.searchsorted(way, np.linspace(0, way[-1], MOST_POINTS - 1)))
    kept = np.unique([0, *kept.clip(max=len(x) - 1), len(x) - 1])
    return x[kept], y[kept]
