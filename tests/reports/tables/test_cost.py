from cells import compare, failed, only_table, stored, texts

from adbench_text.reports import drawings
from adbench_text.reports.tables import cost


def test_a_grid_costs_what_all_its_configurations_do():
    grid = [stored("x", name, preset="grid", configuration=c) for name in "ab" for c in ("k=1", "k=2")]
    assert texts(only_table(cost, compare(grid))) == [["made-up", "x:grid (oracle)", "3", "0.5", "80", "–"]]


def costs(memory, fit, score):
    return {"peak_memory_mb": memory, "fit_seconds": fit, "score_seconds": score, "n_test": 100.0}


def test_costs_are_means_over_the_splits_and_the_peak_of_any():
    first = stored("llr", "a", **costs(512.0, 1.0, 0.5))
    second = stored("llr", "b", **costs(2048.0, 2.0, 1.5))
    comparison = compare([first, second, stored("old", "a"), failed("new", "a")])
    assert texts(only_table(cost, comparison)) == [
        ["made-up", "llr", "1.5", "1", "100", "2.05"],
        ["made-up", "old", "1.5 (1 of 2)", "0.25 (1 of 2)", "80 (1 of 2)", "–"],
    ]


def test_costs_are_averaged_over_the_seeds_of_a_split_first():
    seeds = [stored("llr", "a", seed=seed, **costs(1.0, 1.0, 0.5)) for seed in range(3)]
    (row,) = texts(only_table(cost, compare([*seeds, stored("llr", "b", **costs(1.0, 5.0, 1.5))])))
    assert row[2:5] == ["3 (4 of 6)", "1 (4 of 6)", "100 (4 of 6)"]


def test_a_cost_of_0_has_no_place_on_a_logarithmic_axis():
    free, paid = (
        [stored(name, inlier, **costs(80.0, seconds, seconds)) for inlier in "ab"]
        for name, seconds in (("free", 0.0), ("llr", 1.0))
    )
    (drawing,) = drawings.cost(compare([*free, *paid]))
    (legend,) = drawing.figure.legends
    assert [text.get_text().strip() for text in legend.get_texts()] == ["llr"]
    assert list(drawings.cost(compare(free))) == []


def test_detectors_without_known_costs_have_no_figures_and_no_point():
    given = [stored("scores:mine", name) for name in "ab"]
    for of_cell in given:
        del of_cell["fit_seconds"], of_cell["score_seconds"]
    comparison = compare([*given, *(stored("llr", name) for name in "ab")])
    assert texts(only_table(cost, comparison))[0][1:] == ["scores:mine", *["–"] * 4]
    (drawing,) = drawings.cost(comparison)
    (legend,) = drawing.figure.legends
    assert [text.get_text().strip() for text in legend.get_texts()] == ["llr"]
