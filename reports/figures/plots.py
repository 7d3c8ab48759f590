"""The figures of a report, drawn from plain data.

Values of metrics are in percent, as in the tables; shares of outliers are in [0, 1]. What is not finite
is left out. `among` are all names of a report in their order, so that each looks the same in every figure.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_curve, roc_curve

from adbench_text.metrics import METRICS, Metric
from adbench_text.reports.figures.style import (
    COLUMN,
    INLIERS,
    LINE,
    MOST_POINTS,
    OUTLIERS,
    Look,
    add_legend,
    apart,
    detector_looks,
    finished,
    logarithmic,
    looks,
    panels,
    placed,
    plain,
    span,
    styled,
    text_width,
)

Array = NDArray[np.float64]
Scored = tuple[NDArray[np.bool_], Array]  # outliers and scores of test documents
_BY_CHANCE: dict[str, Any] = {"color": "black", "alpha": 0.4, "linewidth": 0.8, "zorder": 1}
_FIRST_RECALL = 0.05  # before it a precision is that of a few documents
_HISTOGRAM, _CURVES = 1.35, 1.75  # heights of a row, in inches
_MOST_BINS = 30
_KINDS: dict[str, tuple[str, Any]] = {"inliers": (INLIERS, "solid"), "outliers": (OUTLIERS, (0, (3, 1)))}


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


@styled
def contamination(
    curves: Mapping[str, Sequence[tuple[float, float, float | None]]],
    metric: str,
    among: Sequence[str] = (),
) -> Figure:
    """Draw a metric against the share of outliers; markers at one share are beside each other."""
    figure, axes = _figure(COLUMN, 2.3)
    handles, ends, shares = [], [], set[float]()
    step = min(1.2, 8 / len(curves)) / 72  # inches
    for i, (name, points) in enumerate(curves.items()):
        x, y, spread = _columns(sorted(points, key=lambda point: point[0]))
        aside = ScaledTranslation((i - (len(curves) - 1) / 2) * step, 0, figure.dpi_scale_trans)
        look = detector_looks(curves, among)[name]._asdict()
        drawn = axes.errorbar(
            100 * x, y, spread, transform=axes.transData + aside, elinewidth=0.7, capsize=1.5, **look
        )
        handles.append(drawn[0])
        shares.update(100 * x)
        ends += [*y, *(y - spread), *(y + spread)]
    axes.set(xlabel="outliers in the training data (%)", ylabel=_percent(metric))
    axes.set(xlim=span(shares, 0.5), ylim=span(ends), xticks=_spaced(shares))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_locator(_ticks(6))
    add_legend(figure, handles, curves)
    return finished(figure)


def _columns(points: Sequence[tuple[float, ...] | Sequence[Any]]) -> tuple[Array, ...]:
    """Return the columns of a table as arrays, NaN for None and infinite values."""
    table = np.array([[np.nan if value is None else value for value in row] for row in points], np.float64)
    table[~np.isfinite(table)] = np.nan
    return tuple(table.T)


def _spaced(places: Collection[float]) -> list[float]:
    """Leave out places so near to the last that their labels would touch."""
    kept = [min(places)]
    for place in sorted(places):
        if place - kept[-1] > 0.05 * (max(places) - kept[0]):
            kept.append(place)
    return kept


def _ticks(most: int) -> MaxNLocator:
    # the default ones depend on the settings there are when the figure is written
    return MaxNLocator(most, steps=[1, 2, 4, 5, 10])


def _percent(metric: str) -> str:
    return f"{plain(metric)} (%)"


@styled
def training_curves(
    curves: Mapping[str, Sequence[tuple[int, float]]], quantity: str, among: Sequence[str] = ()
) -> Figure:
    """Draw a quantity of trainings; of more than 200 steps, the means of neighbours."""
    figure, axes = _figure(COLUMN, 2.3)
    handles = []
    for i, (name, points) in enumerate(curves.items()):
        x, y = (_means(column) for column in _columns(points))
        every = max(1, len(x) // 5)
        marked = slice(i * every // len(curves), None, every) if len(x) > 20 else None
        handles += axes.plot(x, y, markevery=marked, **looks(curves, among)[name]._asdict())
    axes.set(xlabel="training step", ylabel=plain(quantity))
    axes.set_xlim(span((step for points in curves.values() for step, _ in points), 0.5))
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_locator(_ticks(6))
    add_legend(figure, handles, curves)
    return finished(figure)


def _means(values: Array) -> Array:
    return np.array([part.mean() for part in np.array_split(values, min(len(values), MOST_POINTS))])


@styled
def ablation_bars(groups: Mapping[str, Sequence[tuple[str, float, float | None]]], metric: str) -> Figure:
    """Draw mean and spread of configurations, one panel per dataset.

    These are dots: the length of a bar would mislead, since the axis does not begin at zero.
    """
    rows = list(dict.fromkeys(name for group in groups.values() for name, _, _ in group))
    n_columns = min(3, len(groups))
    n_bands = math.ceil(len(groups) / n_columns)
    names = max(text_width(plain(name)) for name in rows)
    width = max(COLUMN, names + 0.3 + max(1.3 * n_columns, 1.8))
    figure = Figure(figsize=(width, n_bands * (0.2 * len(rows) + 0.35) + 0.3), layout="constrained")
    grid = figure.subplots(n_bands, n_columns, squeeze=False, sharey=True)
    for axes, (name, group) in zip(grid.flat, groups.items(), strict=False):
        _dots(axes, group, rows)
        axes.set_title(plain(name))
    for axes in grid.flat[len(groups) :]:
        axes.remove()
    grid[0, 0].set_yticks(range(len(rows)), [plain(name) for name in rows])
    grid[0, 0].set_ylim(len(rows) - 0.4, -0.6)
    for axes in grid.flat[max(0, len(groups) - n_columns) : len(groups)]:
        axes.set_xlabel(_percent(metric))
    return finished(figure)


def _dots(axes: Axes, group: Sequence[tuple[str, float, float | None]], rows: Sequence[str]) -> None:
    mean, spread = _columns([values for _, *values in group])
    look = next(iter(looks(["mean"]).values()))
    places = [rows.index(name) for name, _, _ in group]
    axes.errorbar(
        mean, places, xerr=spread, fmt=look.marker, color=look.color, ms=3.5, elinewidth=1, capsize=2
    )
    axes.set_xlim(span([*mean, *(mean - spread), *(mean + spread)]))
    axes.xaxis.set_major_locator(_ticks(4))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


@styled
def overlap_bound(bounds: Mapping[int, Sequence[tuple[int, float]]]) -> Figure:
    """Draw how likely two of N mask patterns are, at most, to share p masked positions or more."""
    figure, axes = _figure(COLUMN, 2.3)
    handles, positive = [], list[float]()
    for (n_patterns, points), look in zip(bounds.items(), looks(map(str, bounds)).values(), strict=True):
        p, bound = _columns(points)
        bound[~(bound > 0)] = np.nan
        handles += axes.plot(p, bound, label=f"N = {n_patterns}", **look._asdict())
        positive += bound[np.isfinite(bound)].tolist()
    logarithmic(axes, "y", positive, _power)
    axes.axhline(1, **_BY_CHANCE)
    axes.set(xlabel="shared masked positions p", ylabel="bound on the probability")
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
    add_legend(figure, handles, [f"N = {n_patterns}" for n_patterns in bounds])
    return finished(figure)


def _power(value: float) -> str:
    exponent = str(round(math.log10(value))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return "1" if value == 1 else f"10{exponent}"


@styled
def cost(points: Mapping[str, tuple[float, float]], metric: str, among: Sequence[str] = ()) -> Figure:
    """Draw a metric against seconds; the names are beside the plot, in the order of the metric."""
    places = {name: (x, y) for name, (x, y) in points.items() if 0 < x < math.inf and math.isfinite(y)}
    places = dict(sorted(places.items(), key=lambda item: item[1][1]))
    labels = max((text_width(plain(name)) for name in places), default=0.0)
    left, bottom, wide, high = 0.6, 0.42, 2.8, max(2.0, LINE * len(places))
    width, height = left + wide + 0.55 + labels, bottom + high + 0.1
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((left / width, bottom / height, wide / width, high / height))
    logarithmic(axes, "x", [x for x, _ in places.values()], "{:,g}".format)
    axes.set(xlabel="seconds", ylabel=_percent(metric), ylim=span(y for _, y in places.values()))
    axes.margins(x=0.08)
    axes.yaxis.set_major_locator(_ticks(6))
    low, top = axes.get_ylim()
    heights = apart([(y - low) / (top - low) * high for _, y in places.values()], LINE, 0, high)
    for (name, place), label_height in zip(places.items(), heights, strict=True):
        look = detector_looks(points, among)[name]
        _labelled(axes, plain(name), look, place, (1 + 0.3 / wide, label_height / high), 0.1 / wide)
    return finished(figure)


def _labelled(
    axes: Axes, name: str, look: Look, place: tuple[float, float], key: tuple[float, float], gap: float
) -> None:
    """Draw a point and, at `key` beside the plot, its marker again and its name."""
    marker: dict[str, Any] = look._replace(linestyle="none")._asdict()
    axes.plot(*place, markersize=5.5, **marker)
    axes.plot(*key, transform=axes.transAxes, clip_on=False, **marker)
    axes.text(key[0] + gap, key[1], name, transform=axes.transAxes, va="center_baseline")
    leader = {"arrowstyle": "-", "color": look.color, "linewidth": 0.6, "shrinkA": 4, "shrinkB": 4}
    axes.annotate("", place, key, textcoords="axes fraction", arrowprops=leader)


@styled
def histograms(splits: Mapping[str, Scored]) -> Figure:
    """Draw the densities of the scores of inliers and outliers, one panel per split.

    The lowest and the highest half percent of each kind count into the outermost bins.
    """
    figure, drawn = panels(list(splits), _HISTOGRAM, "abnormality", "density")
    for axes, scored in zip(drawn, splits.values(), strict=True):
        _histogram(axes, *scored)
    handles = [Patch(facecolor=(colour, 0.25), edgecolor=colour, ls=ls) for colour, ls in _KINDS.values()]
    add_legend(figure, handles, _KINDS)
    return placed(figure, _HISTOGRAM, left=0)


def _histogram(axes: Axes, outlier: NDArray[np.bool_], scores: Array) -> None:
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
    """Draw the ROC or precision-recall curves of all detectors, one small panel per split."""
    look_of = detector_looks([name for curves in splits.values() for name in curves], among)
    is_roc = METRICS[metric].curve == "ROC"
    labels = ("false positive rate", "true positive rate") if is_roc else ("recall", "precision")
    x_label, y_label = (f"{label} (%)" for label in labels)
    figure, drawn = panels(list(splits), _CURVES, x_label, y_label, is_shared=True)
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


def _chance(axes: Axes, metric: Metric, labels: Sequence[NDArray[np.bool_]]) -> list[float]:
    """Draw the chance level of a panel if all curves share it; return the precision of it."""
    if metric.curve == "ROC":
        axes.plot([0, 100], [0, 100], **_BY_CHANCE)
        return []
    shares = {100 * float((outlier == (metric.positive == "outliers")).mean()) for outlier in labels}
    for share in shares if len(shares) == 1 else ():
        axes.plot([0, 100], [share] * 2, **_BY_CHANCE)
    return list(shares)


def _curve(metric: Metric, outlier: NDArray[np.bool_], scores: Array) -> tuple[Array, Array]:
    """Return x and y of the curve whose area is a metric; no points where there is no curve."""
    if outlier.all() or not outlier.any() or not np.isfinite(scores).all():
        return np.empty(0), np.empty(0)
    if metric.curve == "ROC":
        false, true, _ = roc_curve(outlier, scores)
        return _thinned(false, true)
    of_outliers = metric.positive == "outliers"
    precision, recall, _ = precision_recall_curve(outlier == of_outliers, scores if of_outliers else -scores)
    return _thinned(recall, precision)


def _thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """Keep at most 200 points of a line, as evenly as can be along it, its ends among them."""
    way = np.concatenate([[0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    kept = np.unique(np.searchsorted(way, np.linspace(0, way[-1], MOST_POINTS - 1)))
    kept = np.unique([0, *kept.clip(max=len(x) - 1), len(x) - 1])
    return x[kept], y[kept]
