import itertools
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from sklearn.metrics import auc

from adbench_text import metrics
from adbench_text.reports.figures import export, plots
from adbench_text.reports.figures.style import Names, looks

NAMES = [
    "cvdd(attention_heads=5, orthogonality_weight=10)",
    "ocsvm:paper-grid (oracle)",
    "ocsvm(nu=0.05, kernel=linear, encoder=fasttext)",
    "iforest(encoder=glove)",
    "date",
    "llr",
    "pyod estimator=ECOD encoder=svd",
]
FIFTEEN = [f"pyod estimator={'ABCDEFGHIJKLMNO'[i]} encoder=fasttext-{i:04d}" for i in range(15)]
NASTY = ["$a_b$", "<b> & 'c'", "_hidden_", r"\frac{1}{2} %", "two\nlines\x00", "$"]
SHOWN = ["$a_b$", "<b> & 'c'", "_hidden_", r"\frac{1}{2} %", "two lines", "$"]


def image(figure):
    return export.Drawing("", "", "", figure).image


def scored(seed: int = 0, n: int = 3000, shift: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    outlier = np.arange(n) % 3 == 0
    return outlier, draw.normal(size=n) + shift * outlier


def contamination(names: list[str]) -> Figure:
    levels = (0, 0.01, 0.05, 0.1, 0.15)
    return plots.contamination(
        {
            name: [(level, 90 - i - 100 * level, 0.5 + level) for level in levels]
            for i, name in enumerate(names)
        },
        "AUROC",
    )


def overlap_bound(_: list[str] | None = None) -> Figure:
    return plots.overlap_bound(
        {n: [(p, n**2 * 10.0 ** (2 - p)) for p in range(1, 20)] for n in (10, 50, 100)}
    )


def cost(names: list[str]) -> Figure:
    return plots.cost({name: (10 ** (i / 3), 80 + 0.01 * i) for i, name in enumerate(names)}, "AUROC")


DRAWN: dict[str, Callable[[list[str]], Figure]] = {
    "variants": lambda names: plots.variants(names, {name: range(len(names)) for name in names}, "AUROC"),
    "contamination": contamination,
    "curves_of_splits": lambda names: plots.curves_of_splits(
        {"a split": {name: scored(i) for i, name in enumerate(names)}}, "aupr_out"
    ),
    "overlap_bound": overlap_bound,
    "cost": cost,
}
OF_NAMES = sorted(set(DRAWN) - {"overlap_bound"})


@cache
def drawn(name: str, *names: str) -> Figure:
    """A figure that tests share: they only read it."""
    return DRAWN[name](list(names))


def parsed(figure: Figure) -> ElementTree.Element:
    source, _ = image(figure)
    kind, _, data = source.partition(";base64,")
    assert kind == "data:image/svg+xml"
    return ElementTree.fromstring(b64decode(data))


def words(root: ElementTree.Element) -> str:
    """All text, the lines of one name joined again."""
    found = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    return " ".join(found)


@pytest.fixture
def boxes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Figure], list[tuple[str, Bbox]]]:
    """Every text that is drawn (labels of ticks outside the axes are not), and where."""
    drawn: list[Text] = []
    draw = Text.draw
    monkeypatch.setattr(Text, "draw", lambda text, renderer: (drawn.append(text), draw(text, renderer)))

    def of(figure: Figure) -> list[tuple[str, Bbox]]:
        drawn.clear()
        figure.draw_without_rendering()
        return [
            (text.get_text(), text.get_window_extent())
            for text in drawn
            if text.get_visible() and text.get_text().strip()
        ]

    return of


@pytest.mark.parametrize("name", DRAWN)
def test_an_image_of_a_page_has_no_background_and_is_small(name):
    figure = drawn(name, *NAMES)
    assert len(image(figure)[0]) < 300_000
    assert "fill: #ffffff" not in ElementTree.tostring(parsed(figure), encoding="unicode")


@pytest.mark.parametrize("name", DRAWN)
def test_the_same_data_give_the_same_image(name):
    first, second = drawn(name, *NAMES), DRAWN[name](NAMES)
    assert image(first) == image(first) == image(second)


@pytest.mark.parametrize("name", OF_NAMES)
def test_names_are_shown_as_they_are(name):
    shown = words(parsed(DRAWN[name](NASTY)))
    for text in SHOWN:
        assert text in shown


@pytest.mark.parametrize("name", OF_NAMES)
@pytest.mark.parametrize("names", [NAMES, FIFTEEN, ["llr"], ["long " * 20 + "end"]], ids=len)
def test_every_name_is_there_and_inside_the_image(name, names, boxes):
    figure = drawn(name, *names)
    assert image(figure)[1] < 3.9  # inches: a page that is 390 pixels wide shows all of it
    shown = "".join(words(parsed(figure)).split())
    assert all("".join(text.split()) in shown for text in names)  # a long one is in several lines
    saved = figure.get_tightbbox().padded(0.05)
    for text, box in boxes(figure):
        inches = box.transformed(figure.dpi_scale_trans.inverted())
        assert saved.contains(*inches.min), text
        assert saved.contains(*inches.max), text


@pytest.mark.parametrize("name", OF_NAMES)
def test_the_legend_is_below_the_plots_or_above_variants_which_may_be_hundreds(name):
    figure = drawn(name, *FIFTEEN)
    (legend,) = (each.get_window_extent() for each in figure.legends)
    plots = [axes.get_window_extent() for axes in figure.axes]
    if name == "variants":
        assert legend.y0 > max(plot.y1 for plot in plots)
    else:
        assert legend.y1 < min(plot.y0 for plot in plots)


def test_a_detector_of_the_user_is_marked_in_lines_and_legends():
    points = {name: [(0, 70.0, None), (0.1, 60.0, None)] for name in ("llr", "Ours")}
    figure = plots.contamination(points, "AUROC", Names(list(points), ["Ours"]))
    llr, ours = (container[0] for container in figure.axes[0].containers)
    assert ours.get_linewidth() > llr.get_linewidth()
    assert ours.get_markersize() > llr.get_markersize()
    weights = {text.get_text().strip(): text.get_fontweight() for text in figure.legends[0].get_texts()}
    assert weights == {"llr": "normal", "Ours": "bold"}


@pytest.mark.parametrize("name", OF_NAMES)
def test_no_text_is_over_another_with_fifteen_long_names(name, boxes):
    figure = drawn(name, *FIFTEEN)
    for (one, first), (other, second) in itertools.combinations(boxes(figure), 2):
        assert not first.padded(-1).overlaps(second), (one, other)


def test_settings_of_the_user_are_kept_and_do_not_matter():
    plain = image(contamination(NAMES))
    with matplotlib.rc_context({"font.size": 20, "axes.grid": False, "text.usetex": True}):
        assert image(contamination(NAMES)) == plain
        assert matplotlib.rcParams["font.size"] == 20


def test_pyplot_is_not_loaded():
    code = "import sys, adbench_text.reports.figures.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0


def test_three_files_are_written_the_same_each_time(tmp_path: Path):
    stems = tmp_path / "new" / "auroc-0.05", tmp_path / "again" / "auroc-0.05"
    first, second = (export.write(contamination(NAMES), stem) for stem in stems)
    assert [path.name for path in first] == ["auroc-0.05.svg", "auroc-0.05.pdf", "auroc-0.05.png"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    svg, pdf, png = (path.read_bytes() for path in first)
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert pdf.startswith(b"%PDF")
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") == pytest.approx(200 * image(contamination(NAMES))[1], abs=9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.contamination({"a": [(0, 70, None)], "b": [(0, 60, None), (0.1, 50, 1)]}, "x"),
        lambda: plots.curves_of_splits({"s": {"a": (np.array([True, False]), np.ones(2))}}, "auroc"),
        lambda: plots.overlap_bound({10: [(1, 0.5)]}),
        lambda: plots.cost({"a": (3, 70)}, "x"),
    ],
)
def test_missing_spreads_and_single_points_are_drawn_without_a_warning(draw):
    assert len(image(draw())[0]) > 1000


def test_contamination_has_one_line_with_its_values_per_detector():
    points = {"llr": [(0, 70.0, 1.0), (0.1, 60.0, 2.0)], "date": [(0, 80.0, None)]}
    (axes,) = plots.contamination(points, "AUROC").axes
    llr, date = (drawn[0] for drawn in axes.containers)
    assert llr.get_xydata().tolist() == [[0, 70], [10, 60]]
    assert date.get_xydata().tolist() == [[0, 80]]
    low, high = axes.get_ylim()
    assert low < 58
    assert high > 80
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("outliers in the training data (%)", "AUROC (%)")


@pytest.mark.parametrize(("n_splits", "n_columns"), [(1, 1), (2, 2), (3, 2), (10, 2)])
def test_there_is_one_panel_per_split_and_at_most_two_columns(n_splits, n_columns):
    figure = plots.curves_of_splits({f"split {i}": {"llr": scored(i)} for i in range(n_splits)}, "auroc")
    assert [axes.get_title() for axes in figure.axes] == [f"split {i}" for i in range(n_splits)]
    assert figure.axes[0].get_gridspec().ncols == n_columns


AREAS = {"auroc": metrics.auroc, "aupr_in": metrics.aupr_in, "aupr_out": metrics.aupr_out}


@pytest.mark.parametrize("metric", AREAS)
def test_a_curve_has_at_most_200_points_and_nearly_the_area_of_its_metric(metric):
    outlier, scores = scored(0, 20000)
    curves = {"llr": (outlier, scores), "date": scored(1, 20000, shift=2.0)}
    (axes,) = plots.curves_of_splits({"a split": curves}, metric).axes
    chance, *lines = axes.lines
    assert len(chance.get_xdata()) == 2
    assert len(lines) == 2
    assert all(50 < len(line.get_xdata()) <= 200 for line in lines)
    x, y = lines[0].get_data()
    assert {x[0], x[-1]} == {0, 100}
    assert auc(x, y) / 1e4 == pytest.approx(AREAS[metric](outlier, scores), abs=0.002)


def test_the_overlap_bound_has_one_line_per_number_of_patterns_on_a_logarithmic_axis():
    figure = overlap_bound()
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    assert [line.get_label() for line in axes.lines[:3]] == ["N = 10", "N = 50", "N = 100"]
    shown = words(parsed(figure))
    assert " 1e−15 1e−12 1e−09 1e−06 1e−03 1e+00 1e+03 " in shown
    assert "N = 100" in shown


@pytest.mark.parametrize("seconds", [(30, 40, 45), (0.3, 0.7, 0.9), (11, 12, 13), (0.02, 3, 900)])
def test_the_axis_of_cost_has_a_scale(seconds):
    figure = plots.cost({str(x): (x, 80.0) for x in seconds}, "AUROC")
    (axes,) = figure.axes
    low, high = axes.get_xlim()
    assert sum(low <= tick <= high for tick in axes.get_xticks()) > 1
    assert low < min(seconds)
    assert max(seconds) < high


def test_cost_has_a_logarithmic_axis_of_seconds_and_a_marker_per_detector():
    (axes,) = plots.cost({"llr": (1.0, 60.0), "date": (9000.0, 91.0)}, "AUROC").axes
    assert axes.get_xscale() == "log"
    assert [tuple(line.get_xydata()[0]) for line in axes.lines] == [(9000, 91), (1, 60)]
    assert "1,000" in [label.get_text() for label in axes.get_xticklabels()]


def test_a_name_looks_the_same_in_every_figure_of_a_report():
    points = {"date": [(0, 80.0, None)]}
    alone = plots.contamination(points, "AUROC", among=Names(["llr", "date"])).axes[0].containers[0][0]
    both = plots.contamination({"llr": [(0, 70.0, None)], **points}, "AUROC").axes[0].containers[1][0]
    other = plots.cost({"date": (1.0, 2.0)}, "AUROC", among=Names(["llr", "date"])).axes[0].lines[0]
    for line in (both, other):
        assert alone.get_color() == line.get_color()
        assert alone.get_marker() == line.get_marker()


def test_each_split_has_a_panel_with_the_level_of_chance():
    splits = {name: {"llr": scored(i), "date": scored(i + 5, shift=2.0)} for i, name in enumerate("abcde")}
    for metric, levels in (("auroc", [0, 100]), ("aupr_in", [200 / 3] * 2), ("aupr_out", [100 / 3] * 2)):
        figure = plots.curves_of_splits(splits, metric)
        assert [axes.get_title() for axes in figure.axes] == list("abcde")
        for axes in figure.axes:
            chance, *lines = axes.lines
            assert list(chance.get_ydata()) == pytest.approx(levels)
            assert len(lines) == 2


def test_looks_differ_in_more_than_colour():
    every = looks(map(str, range(660)))
    assert len({str(look) for look in every.values()}) == 660
    first = list(every.values())[:55]
    assert len({look["marker"] for look in first[:11]}) == 11
    for one, other in itertools.combinations(first, 2):
        assert sum(one[kind] != other[kind] for kind in ("color", "marker", "linestyle")) >= 2


# linear RGB as people see it who lack a kind of cone (Machado, Oliveira and Fernandes, 2009)
SIGHTS = {
    "all cones": np.eye(3),
    "no long-wave cones": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "no middle-wave cones": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "no short-wave cones": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}


def oklab(rgb: np.ndarray) -> np.ndarray:
    """Return linear RGB in coordinates where distances are those that people see (Ottosson, 2020)."""
    to_cones = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]
    to_lab = [[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]
    return np.array(to_lab) @ np.cbrt(np.array(to_cones) @ rgb.clip(0, 1))


@pytest.mark.parametrize("sight", SIGHTS)
def test_twelve_names_have_colours_that_can_be_told_apart(sight):
    colours = [matplotlib.colors.to_rgb(look["color"]) for look in looks(map(str, range(12))).values()]
    linear = [np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in map(np.array, colours)]
    seen = [oklab(SIGHTS[sight] @ each) for each in linear]
    nearest = min(np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2))
    assert nearest > (0.12 if sight == "all cones" else 0.07)  # black and white are 1 apart
