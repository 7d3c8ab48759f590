"""The figures of a report, drawn from plain data.

Metrics are in percent, as in the tables; shares of outliers are in [0, 1]. `among` has all names of a report.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_curve, roc_curve

from adbench_text.metrics import METRICS, Metric
from adbench_text.reports.figures.style import (
    LINE,
    MOST_POINTS,
    NO_NAMES,
    Names,
    add_legend,
    in_lines,
    logarithmic,
    looks,
    panels,
    plain,
    single,
    styled,
)

Array = NDArray[np.float64]
Scored = tuple[NDArray[np.bool_], Array]  # outliers and scores of test documents
_BY_CHANCE: dict[str, Any] = {"color": "black", "alpha": 0.4, "linewidth": 0.8, "zorder": 1}


@styled
def contamination(
    curves: Mapping[str, Sequence[tuple[float, float, float | None]]],
    metric: str,
    among: Names = NO_NAMES,
) -> Figure:
    """Draw a metric against the share of outliers."""
    figure, axes = single()
    handles = []
    for name, points in curves.items():
        x, y, spread = np.array(points, dtype=np.float64).T  # None is NaN, which is not drawn
        look = looks(curves, among)[name]
        handles.append(axes.errorbar(100 * x, y, spread, elinewidth=0.7, capsize=1.5, **look)[0])
    axes.set(xlabel="outliers in the training data (%)", ylabel=_percent(metric))
    add_legend(figure, handles, curves, among.ours)
    return figure


def _percent(metric: str) -> str:
    """Return the label of an axis with a metric in percent."""
    return f"{plain(metric)} (%)"


@styled
def overlap_bound(bounds: Mapping[int, Sequence[tuple[int, float]]]) -> Figure:
    """Draw the bound on the probability that two of N mask patterns share p masked positions or more."""
    figure, axes = single()
    handles = []
    for (n_patterns, points), look in zip(bounds.items(), looks(map(str, bounds)).values(), strict=True):
        handles += axes.plot(*zip(*points, strict=True), label=f"N = {n_patterns}", **look)
    axes.axhline(1, **_BY_CHANCE)
    axes.set(xlabel="shared masked positions p", ylabel="bound on the probability", yscale="log")
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_formatter("{x:.0e}")
    add_legend(figure, handles, [f"N = {n_patterns}" for n_patterns in bounds])
    return figure


@styled
def cost(points: Mapping[str, tuple[float, float]], metric: str, among: Names = NO_NAMES) -> Figure:
    """Draw a metric against seconds; the legend is in the order of the metric."""
    places = dict(sorted(points.items(), key=lambda item: -item[1][1]))
    figure, axes = single()
    handles = []
    for name, place in places.items():
        look = {"markersize": 5.5} | looks(points, among)[name] | {"linestyle": "none"}
        handles += axes.plot(*place, **look)
    axes.set(xlabel="seconds", ylabel=_percent(metric), xscale="log")
    axes.set_xlim(logarithmic(x for x, _ in places.values()))
    axes.xaxis.set_major_formatter("{x:,g}")
    add_legend(figure, handles, places, among.ours)
    return figure


@styled
def variants(
    names: Sequence[str],
    points: Mapping[str, Sequence[float | None]],
    metric: str,
    among: Names = NO_NAMES,
) -> Figure:
    """Draw a metric of the variants of a dataset, a line for each, the first and the legend at the top."""
    figure, axes = single()
    labels = list(map(in_lines, names))
    n_lines = sum(label.count("\n") + 1 for label in labels)
    figure.set_figheight(max(1.2 + LINE * n_lines, figure.get_figheight()))
    rows, handles = range(len(names)), []
    for name, values in points.items():
        look = {"markersize": 3} | looks(points, among)[name] | {"linestyle": "none"}
        handles += axes.plot(np.array(values, dtype=np.float64), rows, **look)
    axes.set(xlabel=_percent(metric), ylim=(len(names) - 0.5, -0.5))
    axes.set_yticks(rows, labels, fontsize="x-small")
    axes.grid(axis="y", linewidth=0.3, alpha=0.5)
    add_legend(figure, handles, points, among.ours, is_above=True)
    return figure


@styled
def curves_of_splits(
    splits: Mapping[str, Mapping[str, Scored]], metric: str, among: Names = NO_NAMES
) -> Figure:
    """Draw the ROC or precision-recall curves of all detectors, one small panel per split."""
    look_of = looks([name for curves in splits.values() for name in curves], among)
    is_roc = METRICS[metric].curve == "ROC"
    labels = ("false positive rate", "true positive rate") if is_roc else ("recall", "precision")
    figure, drawn = panels(list(splits))
    handles: dict[str, Any] = {}
    for axes, curves in zip(drawn, splits.values(), strict=True):
        _draw_chance(axes, METRICS[metric], [outlier for outlier, _ in curves.values()])
        for i, (name, scored) in enumerate(curves.items()):
            x, y = _curve(METRICS[metric], *scored)
            marked = (0.25 * i / len(curves), 0.5)
            look = {"markersize": 3, "linewidth": 0.9} | look_of[name]
            lines = axes.plot(100 * x, 100 * y, markevery=marked, **look)
            handles.setdefault(name, lines[0])
    ticks = range(0, 101, 50)
    drawn[0].set(xlim=(-3, 103), xticks=ticks, ylim=(-3, 103), yticks=ticks)
    figure.supxlabel(f"{labels[0]} (%)", y=-0.3 / figure.get_figheight(), va="top", size="medium")
    figure.supylabel(f"{labels[1]} (%)", x=-0.4 / figure.get_figwidth(), ha="right", size="medium")
    add_legend(figure, list(handles.values()), handles, among.ours)
    return figure


def _draw_chance(axes: Axes, metric: Metric, labels: Sequence[NDArray[np.bool_]]) -> None:
    """Draw the chance level of a panel if it is the same for all curves."""
    shares = {100 * float((outlier == (metric.positive == "outliers")).mean()) for outlier in labels}
    if metric.curve == "ROC":
        axes.plot([0, 100], [0, 100], **_BY_CHANCE)
    elif len(shares) == 1:
        (share,) = shares
        axes.plot([0, 100], [share, share], **_BY_CHANCE)


def _curve(metric: Metric, outlier: NDArray[np.bool_], scores: Array) -> tuple[Array, Array]:
    """Return x and y of the curve whose area is a metric."""
    if metric.curve == "ROC":
        false, true, _ = roc_curve(outlier, scores)
        return _thinned(false, true)
    of_outliers = metric.positive == "outliers"
    precision, recall, _ = precision_recall_curve(outlier == of_outliers, scores if of_outliers else -scores)
    return _thinned(recall, precision)


def _thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """Keep at most `MOST_POINTS` points of a line, including its ends, as evenly along it as possible."""
    length = np.concatenate([[0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])  # from the start to a point
    even = np.searchsorted(length, np.linspace(0, length[-1], MOST_POINTS - 1))
    places = np.unique([0, *even.clip(max=len(x) - 1), len(x) - 1])
    return x[places], y[places]
