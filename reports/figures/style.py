"""The style of all figures: it can be read in print and without colours."""

import hashlib
import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

COLUMN, PAGE = 3.5, 7.0  # widths of a figure, in inches
LINE = 0.165  # height of a line of text, in inches
INLIERS, OUTLIERS = "#0072B2", "#D55E00"
MOST_POINTS = 200  # of a line; more could not be seen

# Okabe and Ito, "Color universal design" (2008), without yellow, which is too pale for lines; black is
# the colour of the text, where a page is dark too. The numbers of colours, markers and dashes have no
# common factor: only the 386th name looks like the first.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
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
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "legend.labelspacing": 0.35,
    "legend.columnspacing": 1.6,
    "legend.borderaxespad": 0.2,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "adbench-text",
    "pdf.fonttype": 42,
}

styled = matplotlib.style.context(["default", _STYLE])  # a decorator: whatever the user's settings are


class Look(NamedTuple):
    """How a name is drawn in every figure."""

    color: str
    marker: str
    linestyle: Any


def looks(names: Iterable[str], among: Sequence[str] = ()) -> dict[str, Look]:
    """Give each name a look of its own, by its place in `among`, or after those."""
    cycles = (_COLOURS, _MARKERS, _DASHES)
    every = dict.fromkeys([*among, *names])
    return {name: Look(*(cycle[i % len(cycle)] for cycle in cycles)) for i, name in enumerate(every)}


# More colours for detectors: a detector has the same one in every report, whoever else is in it. They can
# be told apart on white and on a dark page; the markers and dashes tell apart what shares one.
_OF_DETECTORS = (
    *_COLOURS[:6],
    *("#7570B3", "#B3446C", "#4D8C2B", "#8C8C1F", "#3BA6A0", "#8D6E63"),
)
_SALT = "28323 "  # with it the detectors that come with the package have different colours


def detector_looks(names: Iterable[str], among: Sequence[str] = ()) -> dict[str, Look]:
    """Give each detector its look: the first word decides the colour, the complete name marker and dashes.

    Where two names of `among` or `names` would look alike, the later one gets another marker.
    """
    looks_of: dict[str, Look] = {}
    for name in dict.fromkeys([*among, *names]):
        colour = _OF_DETECTORS[_digest(name.split(" ")[0]) % len(_OF_DETECTORS)]
        dashes = _DASHES[_digest(name) // len(_MARKERS) % len(_DASHES)]
        first = _digest(name) % len(_MARKERS)
        markers = [_MARKERS[(first + step) % len(_MARKERS)] for step in range(len(_MARKERS))]
        candidates = [Look(colour, marker, dashes) for marker in markers]
        taken = looks_of.values()
        looks_of[name] = next((look for look in candidates if look not in taken), candidates[0])
    return looks_of


def _digest(name: str) -> int:
    return int(hashlib.sha256(f"{_SALT}{name}".encode("utf-8", "replace")).hexdigest(), 16)


def plain(name: object) -> str:
    """Return a name in one line, without letters that neither a font nor an XML file can hold."""
    return "".join(letter for letter in " ".join(str(name).split()) if letter.isprintable())


def text_width(text: str) -> float:
    """Return the width of a text in inches, that of its widest line if it has several."""
    font = FontProperties(family="DejaVu Sans", size=8)
    points = [
        text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in text.split("\n")
    ]
    return 1.02 * float(max(points)) / 72  # drawn at few dots per inch, letters are a little wider


def apart(places: Sequence[float], gap: float, low: float, high: float) -> NDArray[np.float64]:
    """Move rising places as little as it takes for each to be `gap` above the last.

    They end between `low` and `high` if these are far enough apart. This is an isotonic regression.
    """
    steps = gap * np.arange(len(places))
    moved = isotonic_regression(np.asarray(places) - steps).x
    return np.asarray(np.clip(moved, low, max(low, high - gap * (len(places) - 1))) + steps)


def span(values: Iterable[float], least: float = 1.0) -> tuple[float, float]:
    """Return limits of an axis around the finite values, with some room at both ends."""
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    room = max(least, 0.06 * (max(finite) - min(finite)))
    return min(finite) - room, max(finite) + room


def logarithmic(
    axes: Axes, which: Literal["x", "y"], values: Iterable[float], write: Callable[[float], str]
) -> None:
    """Make the x or y axis logarithmic, its ticks written in plain words; values are above 0."""
    known = list(values) or [1.0]
    axes.set(**{f"{which}scale": "log"})
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    step = math.ceil((high - low + 1) / 8)
    powers = range(low // step * step, high + 1, step)  # 1 is among them
    leads = (1,) if max(known) > 50 * min(known) else (1, 2, 5)
    ticks = [lead * 10.0**power for power in powers for lead in leads]
    if sum(min(known) <= tick <= max(known) for tick in ticks) < 2:  # one number is no scale
        below, above = (tick for tick in ticks if tick <= min(known)), (t for t in ticks if t >= max(known))
        axes.set(**{f"{which}lim": (0.9 * max(below), 1.1 * min(above))})
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))


# room around a panel, in inches: for its title, the numbers of its ticks, a label, and nothing
_TITLE, _TICKS, _LABEL, _EDGE = 0.21, 0.19, 0.25, 0.1


def panels(
    names: Sequence[str], height: float, x_label: str, y_label: str, is_shared: bool = False
) -> tuple[Figure, list[Axes]]:
    """Make a figure with a small panel for each name, at most four in a row; `placed` ends it."""
    n_rows, n_columns = _grid(len(names))
    figure = Figure(figsize=(max(COLUMN, PAGE * n_columns / 4), height * n_rows + LINE))
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharex=is_shared, sharey=is_shared)
    for axes in grid.flat[len(names) :]:
        axes.remove()
    drawn = list(grid.flat[: len(names)])
    for axes, name in zip(drawn, names, strict=True):
        axes.set_title(plain(name))
    for axes in drawn[-n_columns:]:
        axes.set_xlabel(x_label)
        axes.tick_params(labelbottom=True)
    for axes in grid[:, 0]:
        axes.set_ylabel(y_label)
    return figure, drawn


def _grid(n: int) -> tuple[int, int]:
    n_columns = min(4, n)
    return math.ceil(n / n_columns), n_columns


def placed(figure: Figure, height: float, left: float) -> Figure:
    """Place the panels of a figure, whose rows have this height, above its legend.

    A constrained layout would find the same places, and take longer than everything else.
    """
    width, total = figure.get_size_inches()
    n_rows, n_columns = _grid(len(figure.axes))
    gap, begin = 0.15, left + _LABEL
    figure.subplots_adjust(
        left=begin / width,
        right=1 - _EDGE / width,
        top=1 - _TITLE / total,
        bottom=(total - n_rows * height + _TICKS) / total,
        wspace=gap * n_columns / (width - begin - _EDGE - gap * (n_columns - 1)),
        hspace=(_TITLE + _TICKS) / (height - _TITLE - _TICKS),
    )
    for axes in figure.axes:  # ticks are made while the style is set
        axes.get_xticklabels()
        axes.get_yticklabels()
    return figure


def add_legend(figure: Figure, handles: Sequence[Any], names: Iterable[str]) -> None:
    """Add a legend below the plots, in as many columns as there is room for; the figure grows by it."""
    width, height = figure.get_size_inches()
    texts = [wrapped(plain(name), width - 0.6) for name in names]
    n_columns = max(1, int(width / (max(map(text_width, texts)) + 0.6)))
    n_rows = math.ceil(len(texts) / n_columns)
    legend = figure.legend(handles, ["name"] * len(texts), loc="outside lower center", ncols=n_columns)
    for place, text in zip(legend.get_texts(), texts, strict=True):
        place.set_text(text)  # a label that begins with _ would be left out
    n_breaks = sum(text.count("\n") for text in texts)
    figure.set_size_inches(width, height + LINE * (n_rows + n_breaks) + 0.1)


def wrapped(text: str, width: float) -> str:
    """Break a text into lines of about this width in inches, between words where possible."""
    needed = text_width(text)
    if needed <= width:
        return text
    return textwrap.fill(text, max(1, int(0.95 * len(text) * width / needed)), break_on_hyphens=False)


def finished(figure: Figure) -> Figure:
    """Lay a figure out while its style is set: ticks are made only then."""
    engine = figure.get_layout_engine()
    for _ in range(2):  # the room and the ticks depend on each other
        if engine is None:
            figure.draw_without_rendering()
        else:
            engine.execute(figure)  # a complete drawing would cost twice as much
    # otherwise places would move a little each time it is written; "none" would cost one more drawing
    figure.set_layout_engine(None)
    return figure
