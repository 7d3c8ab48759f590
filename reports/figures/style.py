"""The style of all figures, which is readable in print and without colours."""

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from adbench_text.reports.wrapping import wrapped

MOST_POINTS = 200  # of a line; more are not visible
LINE = 0.11  # inches of a line of text
# Inches of a figure: a page of 390 pixels shows it without scrolling, one of 1440 pixels three in a row.
_WIDTH, _NARROWEST = 3.75, 1.2
_GAP = 0.2  # inches between two columns of a legend
_NAME, _TITLE = 44, 24  # characters in a line of a legend, and of a title or a label of an axis

# Okabe and Ito, "Color universal design" (2008), without yellow, which is too pale for lines. Black becomes
# the colour of the text on a dark page. Five more colours follow; a search found them to be the farthest from
# all others, also for colour-blind people. The numbers of colours, markers and dashes have no common factor:
# only the 661st name looks like the first.
_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"),
    *("#DD00EE", "#882211", "#0022AA", "#885566", "#662266"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
_DASHES: tuple[Any, ...] = (
    "solid",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (3, 1.2, 1.2, 1.2, 1.2, 1.2)),
)

_OF_OURS = {"linewidth": 2.2, "markersize": 7, "markeredgecolor": "black", "zorder": 3}

_STYLE: dict[str, Any] = {
    "font.sans-serif": ["DejaVu Sans"],  # is part of matplotlib: the same widths everywhere
    "font.size": 8,
    "text.parse_math": False,  # a name with $ or _ is shown unchanged
    "axes.titlesize": "medium",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": "black",  # made pale by alpha, which also works on a dark page
    "grid.alpha": 0.14,
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "legend.labelspacing": 0.35,
    "legend.borderaxespad": 0,
    "savefig.bbox": "tight",  # the plots fill the figure; labels and legend are around it
    "savefig.pad_inches": 0.05,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "adbench-text",
    "pdf.fonttype": 42,
}

styled = matplotlib.style.context(["default", _STYLE])  # a decorator that ignores the settings of the user


class Names(NamedTuple):
    """All names of a report in order, so that a name looks the same in every figure."""

    every: Sequence[str] = ()
    ours: Collection[str] = ()  #: names to mark


NO_NAMES = Names()


def looks(names: Iterable[str], among: Names = NO_NAMES) -> dict[str, dict[str, Any]]:
    """Give each name another colour, marker and dashes, by its place in `among`, or after these names."""
    cycles = {"color": _COLOURS, "marker": _MARKERS, "linestyle": _DASHES}
    every = dict.fromkeys([*among.every, *names])
    return {
        name: {kind: cycle[i % len(cycle)] for kind, cycle in cycles.items()}
        | (_OF_OURS if name in among.ours else {})
        for i, name in enumerate(every)
    }


def plain(name: object) -> str:
    """Return a name in one line, without letters that fonts and XML files cannot hold."""
    return "".join(letter for letter in " ".join(str(name).split()) if letter.isprintable())


def in_lines(name: object, limit: int = _TITLE) -> str:
    """Return a name as figures show it, a long one in several lines."""
    return "\n".join(wrapped(plain(name), limit))


def single() -> tuple[Figure, Axes]:
    """Make a figure with one plot."""
    figure = Figure(figsize=(3.2, 2))
    return figure, figure.add_axes((0, 0, 1, 1))


def panels(names: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """Make a figure with a small plot for each name, at most two in a row, with common axes."""
    n_columns = min(2, len(names))
    n_rows = math.ceil(len(names) / n_columns)
    titles = list(map(in_lines, names))
    side, gap = 1.5, 0.25 + 1.3 * LINE * max(title.count("\n") for title in titles)
    figure = Figure(figsize=(side * n_columns, (side + gap) * n_rows - gap))
    around = {"left": 0, "right": 1, "bottom": 0, "top": 1, "wspace": 0.12, "hspace": gap / side}
    grid = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False, gridspec_kw=around)
    for axes in grid.flat[len(names) :]:
        axes.remove()
    drawn = list(grid.flat[: len(names)])
    for axes, title in zip(drawn, titles, strict=True):
        axes.set_title(title)
    for axes in drawn[-n_columns:]:
        axes.tick_params(labelbottom=True)
    return figure, drawn


def add_legend(
    figure: Figure,
    handles: Sequence[Any],
    names: Iterable[str],
    ours: Collection[str] = (),
    is_above: bool = False,
) -> None:
    """Add a legend below the plots, or above them, in as many columns as the width allows.

    Before that, make the plots narrower, so that they fit `_WIDTH` with the labels of their axes. Names in
    `ours` are bold.
    """
    shown = list(names)
    # inches of the labels beside the plots; the plots themselves fill the figure
    around = figure.get_tightbbox().width - figure.get_figwidth()
    figure.set_figwidth(min(figure.get_figwidth(), max(_WIDTH - around, _NARROWEST)))
    plots = figure.get_tightbbox()  # with the labels of their axes
    corner, y = ("lower left", plots.y1 + LINE) if is_above else ("upper left", plots.y0 - LINE)
    at = plots.x0 / figure.get_figwidth(), y / figure.get_figheight()
    place: dict[str, Any] = {"loc": corner, "bbox_to_anchor": at}
    # a label that begins with _ would be left out
    labels = [f" {in_lines(name, _NAME)}" for name in shown]

    def added(n_columns: int) -> Legend:
        legend: Legend = figure.legend(handles, labels, ncols=n_columns, **place)
        for text, name in zip(legend.get_texts(), shown, strict=True):
            text.set_fontweight("bold" if name in ours else "normal")
        return legend

    alone = added(1)  # to measure the width of a column
    width = alone.get_window_extent().width / figure.dpi
    alone.remove()
    added(min(max(int(_WIDTH / (width + _GAP)), 1), len(shown)))


def logarithmic(values: Iterable[float]) -> tuple[float, float]:
    """Return limits of a logarithmic axis around values above 0 that show two powers of ten at least."""
    known = list(values)
    low, high = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    return 0.9 * 10.0**low, 1.1 * 10.0 ** max(high, low + 1)
