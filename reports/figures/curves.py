"""The figures of a report, drawn from plain data; the larger are in files of their own.

Values of metrics are in percent, as in the tables; shares of outliers are in [0, 1]. What is not finite
is left out. `among` are all names of a report in their order, so that each looks the same in every figure.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from adbench_text.reports.figures.style import (
    COLUMN,
    LINE,
    MOST_POINTS,
    Look,
    add_legend,
    apart,
    detector_looks,
    finished,
    logarithmic,
    looks,
    plain,
    span,
    styled,
    text_width,
)

Array = NDArray[np.float64]


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


@styled
def contamination(
    curves: Mapping[str, Sequence[tuple[float, float, float | None]]],
    metric: str,
    among: Sequence[str] = (),
) -> Figure:
    """Draw a metric against the share of outliers in the training data, one line per detector.

    Markers at the same share are drawn beside each other, so that all spreads can be seen.
    """
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
    """Draw how a quantity goes in training, one line per detector or part of a loss.

    Of more than 200 steps, the means over neighbouring steps are drawn; the line has a gap where a
    value is not finite.
    """
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
    """Draw mean and spread of configurations, one panel per dataset, one row per configuration.

    These are dots, not bars: the length of a bar would mislead, since the axis does not begin
    at zero. Each panel has limits of its own.
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
    """Draw how likely two of N mask patterns are, at most, to share p masked positions or more.

    Notes
    -----
    Source: Manolache et al., "DATE" (2021), Appendix A.
    """
    figure, axes = _figure(COLUMN, 2.3)
    handles, positive = [], list[float]()
    for (n_patterns, points), look in zip(bounds.items(), looks(map(str, bounds)).values(), strict=True):
        p, bound = _columns(points)
        bound[~(bound > 0)] = np.nan
        handles += axes.plot(p, bound, label=f"N = {n_patterns}", **look._asdict())
        positive += bound[np.isfinite(bound)].tolist()
    logarithmic(axes, "y", positive, _power)
    axes.axhline(1, color="black", alpha=0.4, linewidth=0.8, zorder=1)
    axes.set(xlabel="shared masked positions p", ylabel="bound on the probability")
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
    add_legend(figure, handles, [f"N = {n_patterns}" for n_patterns in bounds])
    return finished(figure)


def _power(value: float) -> str:
    exponent = str(round(math.log10(value))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return "1" if value == 1 else f"10{exponent}"


@styled
def cost(points: Mapping[str, tuple[float, float]], metric: str, among: Sequence[str] = ()) -> Figure:
    """Draw a metric against the seconds it took, one labelled marker per detector.

    The labels are beside the plot, in the order of the metric.
    """
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
