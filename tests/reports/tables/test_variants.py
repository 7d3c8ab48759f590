from cells import build, compare, stored, texts

from adbench_text.reports import drawings
from adbench_text.reports.tables import variants


def of_language(language, figures, level=0):
    return [
        stored(name, inlier, figure, level=level, dataset=f"sib:{language}", dataset_digest=language)
        for name, figure in figures.items()
        for inlier in "ab"
    ]


CELLS = [
    *of_language("xx", {"p": 0.7, "q": 0.8}),
    *of_language("yy", {"p": 0.9, "q": 0.6}),
    *of_language("yy", {"p": 0.5, "q": 0.4}, level=0.1),
]


def test_a_variant_is_a_row_and_the_best_of_the_first_detector_comes_first():
    (table,) = variants.tables(compare(CELLS))
    assert table.header == ["variant", "p, 0%", "p, 10%", "q, 0%", "q, 10%"]
    assert texts(table) == [["yy", "*90.0", "*50.0", "60.0", "40.0"], ["xx", "70.0", "–", "*80.0", "–"]]


def test_two_versions_of_a_variant_have_a_row_each():
    other = [cell | {"dataset_digest": "other"} for cell in of_language("yy", {"r": 0.6})]
    (table,) = variants.tables(compare([*CELLS, *other]))
    assert {row[0]: (row[1], row[-2]) for row in texts(table)} == {
        "xx": ("70.0", "–"),
        "yy (1)": ("*90.0", "–"),
        "yy (2)": ("–", "60.0"),
    }


def test_a_detector_without_all_figures_does_not_order_the_variants():
    (table,) = variants.tables(
        compare([*of_language("xx", {"q": 0.5}), *of_language("yy", {"p": 0.9, "q": 0.6})])
    )
    assert [row[0] for row in texts(table)] == ["yy", "xx"]


def test_a_lone_variant_is_no_table_and_no_figure():
    comparison = compare(of_language("xx", {"p": 0.7}))
    assert list(variants.tables(comparison)) == list(drawings.variants(comparison)) == []


def test_the_figure_has_a_line_for_each_variant():
    (drawing,) = drawings.variants(compare(CELLS))
    (axes,) = drawing.figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["yy", "xx"]
    assert [list(line.get_xdata()) for line in axes.lines] == [[90, 70], [60, 80]]


def test_a_report_has_the_table():
    titles = [table.title for table in build(CELLS).tables]
    assert "AUROC (%) of the variants of sib, mean over the splits" in titles
