"""The style of all figures: it can be read in print and without colours."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

MOST_POINTS = 200  # of a line; more could not be seen

# Okabe and Ito, "Color universal design" (2008), without yellow, which is too pale for lines; black is
# the colour of the text, where a page is dark too. Five more follow, found by a search for those that are
# the farthest from all others also to the colour-blind. The numbers of colours, markers and dashes have no
# common factor: only the 661st name looks like the first.
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

_STYLE: dict[str, Any] = {
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same widths everywhere
    "font.size": 8,
    "text.parse_math": False,  # a name with $ or _ is shown as it is
    "axes.titlesize": "medium",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": "black",  # pale by its alpha, so that it follows a dark page
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

styled = matplotlib.style.context(["default", _STYLE])  # a decorator: whatever the user's settings are


def looks(names: Iterable[str], among: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Give each name a colour, a marker and dashes of its own, by its place in `among`, or after those."""
    cycles = {"color": _COLOURS, "marker": _MARKERS, "linestyle": _DASHES}
    every = dict.fromkeys([*among, *names])
    return {
        name: {kind: cycle[i % len(cycle)] for kind, cycle in cycles.items()} for i, name in enumerate(every)
    }


def plain(name: object) -> str:
    """Return a name in one line, without letters that neither a font nor an XML file can hold."""
    return "".join(letter for letter in " ".join(str(name).split()) if letter.isprintable())


def single() -> tuple[Figure, Axes]:
    """Make a figure with one plot."""
    figure = Figure(figsize=(3, 1.9))
    return figure, figure.add_axes((0, 0, 1, 1))


def panels(names: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """Make a figure with a small plot for each name, at most four in a row, which share their axes."""
    n_columns = min(4, len(names))
    n_rows = math.ceil(len(names) / n_columns)
    side, gap = 1.5, 0.25
    figure = Figure(figsize=(side * n_columns, (side + gap) * n_rows - gap))
    around = {"left": 0, "right": 1, "bottom": 0, "top": 1, "wspace": 0.12, "hspace": gap / side}
    grid = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False, gridspec_kw=around)
    for axes in grid.flat[len(names) :]:
        axes.remove()
    drawn = list(grid.flat[: len(names)])
    for axes, name in zip(drawn, names, strict=True):
        axes.set_title(plain(name))
    for axes in drawn[-n_columns:]:
        axes.tick_params(labelbottom=True)
    return figure, drawn


def add_legend(figure: Figure, handles: Sequence[Any], names: Iterable[str]) -> None:
    """Add a legend to the right of the plots."""
    # a label that begins with _ would be left out
    labels = [f" {plain(name)}" for name in names]
    figure.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.02, 1))


def logarithmic(values: Iterable[float]) -> tuple[float, float]:
    """Return limits of a logarithmic axis around values above 0 that show two powers of ten at least."""
    known = list(values)
    low, high = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    return 0.9 * 10.0**low, 1.1 * 10.0 ** max(high, low + 1)
