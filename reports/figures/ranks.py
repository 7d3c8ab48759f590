"""The critical difference diagram: mean ranks, and which of them do not differ."""

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from adbench_text.reports.figures.style import (
    LINE,
    PAGE,
    add_line,
    finished,
    plain,
    styled,
    text_width,
)

_LEAST_AXIS = 2.6  # inches
_SPACE = "\N{EN SPACE}"  # two common ones would be one in a page
_LEVEL = 0.09  # from bar to bar, in inches


@styled
def critical_differences(
    names: Sequence[str], ranks: Sequence[float], cliques: Sequence[Sequence[int]], n_splits: int
) -> Figure:
    """Draw the mean ranks of detectors, and bars over those that do not differ significantly.

    The best is on the left. If the names are too long for both sides, all are on the left.

    Notes
    -----
    Source: Demšar, "Statistical comparisons of classifiers over multiple data sets" (JMLR 2006),
    section 3.2.2.
    """
    order = sorted((i for i, rank in enumerate(ranks) if not math.isnan(rank)), key=ranks.__getitem__)
    labels = [f"{plain(names[i])}{_SPACE}{ranks[i]:.2f}" for i in order]
    n_left, left, right = _sides(labels)
    labels[n_left:] = [f"{ranks[i]:.2f}{_SPACE}{plain(names[i])}" for i in order[n_left:]]
    width, most = max(PAGE, left + _LEAST_AXIS + right), max(2, len(names))

    def place(rank: float) -> float:
        return left + (width - left - right) * (rank - 1) / (most - 1)

    bars = _levels([[place(ranks[i]) for i in clique if i in order] for clique in cliques])
    depth = 0.14 + _LEVEL * (1 + max((level for *_, level in bars), default=-1))
    axis = depth + LINE * max(n_left, len(order) - n_left) + 0.05
    figure = Figure(figsize=(width, axis + 0.45))
    _rank_axis(figure, [place(rank) for rank in range(1, most + 1)], axis, n_splits)
    for low, high, level in bars:
        add_line(figure, [low, high], [axis - 0.1 - _LEVEL * level] * 2, linewidth=2.5)
    for i, (member, label) in enumerate(zip(order, labels, strict=True)):
        row, end = (i, left) if i < n_left else (len(order) - 1 - i, width - right)
        corner = place(ranks[member]), axis - depth - LINE * (row + 0.5)
        _leader(figure, corner, axis, end + (-0.12 if i < n_left else 0.12), label)
    return finished(figure)


def _sides(labels: Sequence[str]) -> tuple[int, float, float]:
    """Return the number of labels on the left, and the widths of both sides in inches."""

    def room(side: Sequence[str]) -> float:
        return max(map(text_width, side), default=0.0) + 0.25

    half = math.ceil(len(labels) / 2)
    left, right = room(labels[:half]), room(labels[half:])
    if left + right + _LEAST_AXIS <= PAGE:
        return half, left, right
    return len(labels), room(labels), 0.15


def _levels(cliques: Sequence[Sequence[float]]) -> list[tuple[float, float, int]]:
    """Return the two ends and the level of each bar: on one level no two touch."""
    ends: list[float] = []
    bars = []
    for first, last in sorted((min(places), max(places)) for places in cliques if len(places) > 1):
        low, high = first - 0.04, last + 0.04
        level = next((i for i, end in enumerate(ends) if end + 0.04 < low), len(ends))
        ends[level : level + 1] = [high]
        bars.append((low, high, level))
    return bars


def _rank_axis(figure: Figure, places: Sequence[float], y: float, n_splits: int) -> None:
    inches = figure.dpi_scale_trans
    add_line(figure, [places[0], places[-1]], [y, y], linewidth=0.8)
    for rank, x in enumerate(places, start=1):
        add_line(figure, [x, x], [y, y + 0.05], linewidth=0.8)
        figure.text(x, y + 0.08, str(rank), ha="center", va="bottom", transform=inches)
    title = f"mean rank over {n_splits} split{'' if n_splits == 1 else 's'}"
    figure.text((places[0] + places[-1]) / 2, y + 0.26, title, ha="center", va="bottom", transform=inches)


def _leader(figure: Figure, corner: tuple[float, float], axis: float, end: float, label: str) -> None:
    """Draw the line from a rank on the axis round the corner to its label."""
    (x, y), is_left = corner, end < corner[0]
    add_line(figure, [x, x, end], [axis, y, y], linewidth=0.7)
    beside = end + (-0.05 if is_left else 0.05)
    figure.text(
        beside,
        y,
        label,
        ha="right" if is_left else "left",
        va="center_baseline",
        transform=figure.dpi_scale_trans,
    )
