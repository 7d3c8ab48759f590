import re

import pytest
from cells import build, cells_csv, compare, csv_rows, failed, main_table, only_table, stored, texts

from adbench_text.corpora.split_key import SplitKey
from adbench_text.reports.cells import Cells
from adbench_text.reports.files import read_files
from adbench_text.reports.report import Kind
from adbench_text.reports.tables import published
from adbench_text.run.cell import Cell
from adbench_text.store.cells import COLUMNS, table_of


def published_tables(*records, metric="auroc"):
    return list(published.tables(compare(records, metric)))


def split_texts(*records, metric="auroc") -> list[list[str]]:
    return texts(main_table(compare(records, metric)))


def notes(*records) -> list[str]:
    return build(records).every_note


def is_noted(pattern, *records) -> bool:
    return any(re.search(pattern, note) for note in notes(*records))


def editions(*records) -> list[tuple[str, str]]:
    facts = build(records).provenance
    return facts[[name for name, _ in facts].index("seeds") + 1 :]


# Figures


@pytest.mark.parametrize(("metric", "figure"), [("auroc", "90.0"), ("aupr_in", "45.0"), ("aupr_out", "22.5")])
def test_each_metric_has_its_own_table(metric, figure):
    assert split_texts(stored(figure=0.9), metric=metric)[0][:3] == ["made-up", "a", figure]


def test_equal_figures_as_shown_are_both_the_best():
    table = split_texts(stored("x", figure=0.90041), stored("y", figure=0.89962), stored("z", figure=0.8994))
    assert table[0][2:] == ["*90.0", "*90.0", "89.9"]


def test_a_single_detector_is_not_called_the_best():
    assert split_texts(stored())[0][2] == "90.0"
    assert split_texts(stored("x"), failed("y"))[0][2:] == ["90.0", "failed"]


def test_the_spread_of_a_mean_is_that_of_the_means_of_the_seeds():
    # seed 0: (90 + 70) / 2 = 80; seed 1: (94 + 74) / 2 = 84; deviation 4 / sqrt(2) = 2.8
    figures = {("a", 0): 0.9, ("b", 0): 0.7, ("a", 1): 0.94, ("b", 1): 0.74}
    records = [stored("llr", inlier, figure, seed) for (inlier, seed), figure in figures.items()]
    assert split_texts(*records)[-1][2] == "82.0 ± 2.8"


def test_detectors_are_compared_by_their_means_not_by_their_spread():
    records = [stored("x", figure=figure, seed=seed) for seed, figure in enumerate((0.7, 0.9))]
    assert split_texts(*records, stored("y", figure=0.79))[0][2:] == ["*80.0 ± 14.1", "79.0"]


# What is missing


def test_an_incomplete_mean_is_never_the_best():
    records = [stored("x", "a", 0.99), failed("x", "b"), stored("y", "a"), stored("y", "b"), stored("z", "a")]
    assert split_texts(*records, stored("z", "b", 0.8))[-1][2:] == ["99.0 (1 of 2)", "*90.0", "85.0"]


def test_classes_without_any_result_are_left_out_but_counted():
    cells = stored(inlier="sci", dataset="agnews"), stored(inlier="sci", dataset="agnews", level=0.1)
    table = build(cells[1:]).tables[0]
    assert [row[1:] for row in texts(table)] == [["sci", "90.0"], ["mean", "90.0 (1 of 4)"]]
    table = build(cells).tables[0]  # the other rows have published figures
    assert [row[1:3] for row in texts(table)][::3] == [["world", "–"], ["sci", "90.0"]]


def test_a_mean_counts_the_splits_whose_names_are_too_long_to_be_known():
    shares = {"n_test": 20.0, "n_test_outliers": 5.0}
    records = [stored("x", inlier, n_splits=398.0, **shares) for inlier in "ab"]
    assert split_texts(*records)[-1][1:] == ["mean", "90.0 (2 of 398)"]
    assert split_texts(*records, metric="aupr_out")[-1][-1] == "–"  # the level of chance
    assert build(records).headline == ""
    cells = [Cell("x", "default", {}, SplitKey("made-up", inlier)) for inlier in "ab"]
    assert texts(main_table(compare(records, "auroc", cells)))[-1][1:] == ["mean", "90.0"]


def test_the_classes_that_are_logged_with_a_cell_are_those_of_its_corpus():
    older = stored("x", "b", 0.9, dataset="files:own.csv")
    cells = [older, stored("x", "c", 0.7, dataset="files:own.csv", classes='["d", "c", "b", "a"]')]
    comparison = compare(cells)
    assert comparison.corpora[0].inliers == ["d", "c", "b", "a"]
    assert texts(main_table(comparison))[-1][2:] == ["80.0 (2 of 4)"]
    assert compare([older]).corpora[0].inliers == ["b"]
    edited = stored("x", "e", dataset="agnews", classes='["d"]')
    assert compare([edited]).corpora[0].inliers == ["d", "e"]


def test_the_rows_of_a_sweep_are_its_splits_and_a_mean_counts_them():
    cells = [Cell("x", "default", {}, SplitKey("made-up", inlier)) for inlier in "ab"]
    table = main_table(compare([stored("x", "a")], "auroc", cells))
    assert [row[1:] for row in texts(table)] == [["a", "90.0"], ["b", "–"], ["mean", "90.0 (1 of 2)"]]


def test_a_deterministic_detector_has_no_spread():
    rounding = 1e-6  # of sums in another order
    records = [stored("x", inlier, 0.9 + rounding * seed, seed) for inlier in "ab" for seed in range(3)]
    records += [stored("y", inlier, 0.5 + seed / 100, seed=seed) for inlier in "ab" for seed in range(3)]
    assert [row[2:] for row in split_texts(*records)] == [["*90.0", "51.0 ± 1.0"]] * 3


def test_where_everything_failed_the_mean_failed():
    assert [row[2] for row in split_texts(failed(inlier="a"), failed(inlier="b"))] == ["failed"] * 3


def test_a_seed_that_another_split_has_is_missed():
    records = [stored(inlier="a", seed=0), stored(inlier="a", seed=1, figure=0.8), stored(inlier="b", seed=0)]
    assert [row[2] for row in split_texts(*records)] == ["85.0 ± 7.1", "90.0 (1 of 2)", "87.5 (3 of 4)"]


def test_a_detector_that_was_not_run_on_a_dataset_is_missing_there():
    records = [stored("x"), stored("y", "c", dataset="other", dataset_digest="d2")]
    assert [row[2:] for row in split_texts(*records)] == [["90.0", "–"]] * 2 + [["–", "90.0"]] * 2


def test_failures_are_named_once_for_each_reason():
    records = [failed("x", "a"), failed("x", "b"), failed("x", "a", seed=1, reason="OSError: odd")]
    first, second = notes(*records)
    assert re.fullmatch("failed: x on made-up/a at 0%, seed 0 .*1 more.*: RuntimeError: no luck", first)
    assert second == "failed: x on made-up/a at 0%, seed 1: OSError: odd"


# Columns


GRID = [
    stored("ocsvm", "a", 0.95, preset="grid", configuration="nu=0.1"),
    stored("ocsvm", "a", 0.80, preset="grid", configuration="nu=0.5"),
    stored("ocsvm", "b", 0.60, preset="grid", configuration="nu=0.1"),
    stored("ocsvm", "b", 0.70, preset="grid", configuration="nu=0.5"),
]


def test_a_grid_is_one_column_of_the_best_per_split_marked_as_an_oracle_and_never_in_bold():
    records = [*GRID, stored("x", "a", 0.5), stored("x", "b", 0.5), stored("y", "a", 0.6), stored("y", "b")]
    comparison = compare(records)
    table = main_table(comparison)
    assert table.header[2:] == ["x", "y", "ocsvm:grid (oracle)"]
    assert table.blocks == [("not declared", 2), ("chosen on the test labels", 1)]
    assert [row[2:] for row in texts(table)] == [
        ["50.0", "*60.0", "95.0"],
        ["50.0", "*90.0", "70.0"],
        ["50.0", "*75.0", "82.5"],
    ]
    assert any(
        note.startswith("(oracle): ") for note in build(comparison.cells.stored.to_dict("records")).every_note
    )


def test_detectors_that_know_more_are_listed_in_a_block_after_those_that_know_less():
    scratch, words = "from scratch", "word frequencies or vectors"
    records = [stored("llr", regime=words), stored("mine"), stored("date", regime=scratch)]
    table = main_table(compare(records))
    assert table.header[2:] == ["date", "llr", "mine"]
    assert table.blocks == [(scratch, 1), (words, 1), ("not declared", 1)]
    assert main_table(compare(records[:1])).blocks == []


def test_a_grid_with_one_finished_configuration_is_an_incomplete_oracle():
    part = stored("x", preset="grid", configuration="k=1", n_configurations=3)
    table = main_table(compare([part, stored("y")]))
    assert table.header[2:] == ["y", "x:grid (oracle)"]
    assert texts(table)[0][2:] == ["90.0", "90.0 (1 of 3)"]


@pytest.mark.parametrize("preset", ["default", "best"])
def test_a_configuration_that_looks_at_the_labels_is_marked_and_never_in_bold(preset):
    looks = stored("cvdd", figure=0.95, preset=preset, configuration="score=best", oracle=True)
    records = [looks, stored("cvdd", figure=0.8), stored("x", figure=0.7)]
    comparison = compare(records)
    name = "cvdd(score=best) (oracle)" if preset == "default" else "cvdd:best (oracle)"
    assert main_table(comparison).header[2:] == ["cvdd", "x", name]
    assert texts(main_table(comparison))[0][2:] == ["*80.0", "70.0", "95.0"]
    assert any(
        note.startswith("(oracle): ") for note in build(comparison.cells.stored.to_dict("records")).every_note
    )


@pytest.mark.parametrize("order", [1, -1])
def test_a_failed_configuration_of_a_grid_is_marked_in_whatever_order_they_came(order):
    records = [failed("ocsvm", "a", preset="grid", configuration="nu=0.9"), *GRID][::order]
    assert [row[2] for row in split_texts(*records)] == ["95.0 (2 of 3)", "70.0 (2 of 3)", "82.5 (4 of 6)"]


def test_a_preset_of_one_configuration_for_each_dataset_is_no_oracle():
    records = [
        stored("date", preset="paper", configuration="steps=1"),
        stored("date", preset="paper", configuration="steps=2", dataset="other", dataset_digest="d2"),
        stored("x", figure=0.8),
    ]
    table = main_table(compare(records))
    assert table.header[2:] == ["date:paper", "x"]
    assert [row[2:] for row in texts(table)] == [["*90.0", "80.0"]] * 2 + [["90.0", "–"]] * 2


# Corpora, and what is superseded


def test_editions_of_a_dataset_are_listed_apart_and_explained():
    records = [stored(), stored(figure=0.5, dataset_digest="d2", edition="half of it")]
    assert [row[::2] for row in split_texts(*records)] == [
        ["made-up (1)", "90.0"],
        ["made-up (1)", "90.0"],
        ["made-up (2)", "50.0"],
        ["made-up (2)", "50.0"],
    ]
    assert editions(*records) == [
        ("made-up (1)", "edition published; 40 training / 20 test documents"),
        ("made-up (2)", "edition half of it; 40 training / 20 test documents"),
    ]


def test_thinned_test_sets_are_rows_of_their_own():
    records = [stored(figure=0.9), stored(figure=0.5, test_outliers=0.05), stored(figure=0.7)]
    records += [stored(figure=0.6, test_outliers=0.1), stored(dataset="a", dataset_digest="d2")]
    assert [(row[0], row[2]) for row in split_texts(*records)[::2]] == [
        ("a", "90.0"),
        ("made-up", "70.0"),
        ("made-up, 10% outliers in the test set", "60.0"),
        ("made-up, 5% outliers in the test set", "50.0"),
    ]
    assert editions(*records)[1] == ("made-up", "edition published; 40 training / 20 test documents")
    assert editions(stored(protocol="rank-all"))[0][1].endswith("; protocol rank-all")


def test_editions_with_thinned_test_sets_keep_their_numbers():
    records = [stored(), stored(dataset_digest="d2"), stored(dataset_digest="d2", test_outliers=0.05)]
    assert [corpus.label for corpus in compare(records).corpora] == [
        *("made-up (1)", "made-up (2)", "made-up (2), 5% outliers in the test set")
    ]


def test_a_thinned_test_set_is_compared_with_no_published_figure():
    cells = {"dataset": "agnews", "dataset_digest": "d2"}
    complete = [stored("date", name, **cells) for name in ("world", "sports", "business", "sci")]
    thin = [stored("date", name, test_outliers=0.05, **cells) for name in ("world", "sports")]
    both, alone = compare([*complete, *thin]), compare(thin)
    assert alone.published == []
    assert list(published.tables(alone)) == []
    table = only_table(published, both)
    of_complete, of_thin = texts(table)[:5], texts(table)[5:]
    assert all(row[2] != "–" for row in of_complete)
    assert all(row[2] == "–" for row in of_thin)
    assert {entry.text for row in main_table(both).rows[5:] for entry in row[3:]} == {"–"}


def test_each_corpus_begins_a_group():
    records = [stored(), stored(dataset="other", dataset_digest="d2")]
    assert main_table(compare(records)).group_starts == {0, 2}


@pytest.mark.parametrize("change", [{"code_version": "2"}, {"resources": "other"}])
def test_a_result_of_other_code_or_resources_supersedes_the_older_one_with_a_note(change):
    records = [stored(figure=0.5), stored(figure=0.9, **change)]
    assert split_texts(*records)[0][2] == "90.0"
    assert notes(*records)[-1].startswith("Left out: 1 ")
    assert len(Cells(table_of(records)).counted) == 1


def test_different_seeds_have_a_note():
    both = [stored(name, level=level, seed=seed) for name in "xy" for level in (0, 0.1) for seed in (0, 1)]
    assert not is_noted("seeds.*: x", *both)
    more = [*both, stored("y", level=0.1, seed=2)]
    assert is_noted(r"seeds: x: 0, 1; y: 0, 1, 2\.$", *more)
    everywhere = [row for row in both if (row["detector"], row["seed"]) != ("x", 1)]
    assert is_noted(r"seeds: x: 0; y: 0, 1\.$", *everywhere)
    differing = [*everywhere, stored("y", level=0.1, seed=2)]
    assert notes(*differing)[-1].endswith(" seeds: x: 0; y: 0, 1 or 0, 1, 2.")


OLDER = [("a", 0.26), ("b", 0.86), ("c", 0.25009), ("d", None)]


def repeated(inlier, older):
    """A cell that was run again; its older figure was this one."""
    return [stored(inlier=inlier, figure=older), stored(inlier=inlier, figure=0.25)]


def test_results_of_one_definition_that_contradict_each_other_have_a_note():
    again = [row for name, figure in OLDER for row in repeated(name, figure)]
    place = r"\(llr on made-up/b at 0%, seed 0: newest 25.0, older 86.0\)"
    assert is_noted(f"^2 cells .* 61 points of AUROC {place}", *again)
    assert "30.5 points of AUPR-in" in " ".join(build(again, metric="aupr_in").every_note)


def test_equal_results_and_failures_contradict_nothing():
    equal = [row for name, figure in OLDER[2:] for row in repeated(name, figure)]
    assert not is_noted("newest", *equal)
    failed_now = [stored(figure=0.9), stored(figure=0.1), failed(inlier="a")]
    assert not is_noted("newest", *failed_now)


def test_results_of_different_code_are_listed_apart_with_a_note():
    records = [stored("x", "a"), stored("x", "b", code_version="2"), stored("y", "a"), stored("y", "b")]
    table = main_table(compare(records))
    assert table.header[2:] == ["x", "x (older)", "y"]
    assert [row[2:] for row in texts(table)] == [
        ["–", "*90.0", "*90.0"],
        ["*90.0", "–", "*90.0"],
        ["90.0 (1 of 2)", "90.0 (1 of 2)", "90.0"],
    ]
    assert is_noted("different code: x;", *records)


def test_results_of_different_resources_side_by_side_have_a_note():
    records = [stored("x", "a", resources="1"), stored("x", "b", resources="2")]
    assert main_table(compare(records)).header[2:] == ["x"]
    assert is_noted("different resources: x;", *records)


def test_the_newest_result_of_a_file_counts_whatever_the_order_of_its_rows(tmp_path):
    rows = [stored(figure=0.9, code_version="2", cell="n"), stored(figure=0.5, code_version="1", cell="o")]
    rows[0]["started"], rows[1]["started"] = 2_000_000, 1_000_000
    for order in (rows, rows[::-1]):
        header, *_ = cells_csv(order).splitlines()
        lines = [header, *(cells_csv([row]).splitlines()[1] for row in order)]
        (tmp_path / "cells.csv").write_text("\n".join(lines))
        (table,) = read_files([tmp_path / "cells.csv"])
        assert table["auroc"].tolist() == [0.5, 0.9]


def test_results_of_different_resources_in_a_file_have_a_note():
    records = [stored("x", "a", resources="1", source="f"), stored("x", "b", resources="2", source="f")]
    assert is_noted("different resources in f: x", *records)


def test_another_code_on_another_corpus_is_listed_apart_too():
    records = [stored("x"), stored("x", code_version="2", dataset="other", dataset_digest="d2")]
    assert main_table(compare(records)).header[2:] == ["x", "x (older)"]
    assert is_noted("different code: x;", *records)


def test_the_newest_code_is_that_of_the_newest_run_even_where_it_renewed_an_older_one():
    cells = {name: stored("x", name, 0.5, started=1) for name in "ab"}
    newer = stored("x", "a", 0.9, started=2, code_version="2")
    table = main_table(compare([*cells.values(), newer]))
    assert table.header[2:] == ["x", "x (older)"]
    assert texts(table)[0][2:] == ["90.0", "–"]


# Contamination levels


def test_the_second_table_has_the_means_at_each_level():
    levels = {0: 0.9, 0.05: 0.8, 0.1: 0.7, 0.025: 0.85}
    records = [stored(inlier=i, level=level, figure=f) for level, f in levels.items() for i in ("a", "b")]
    report = build([*records, stored("y", level=0.05)])
    assert texts(report.tables[1]) == [
        ["made-up", "0%", "90.0", "–"],
        ["made-up", "2.5%", "85.0", "–"],
        ["made-up", "5%", "80.0", "90.0 (1 of 2)"],
        ["made-up", "10%", "70.0", "–"],
    ]
    title = "AUROC (%) by contamination of the training data, mean over the splits"
    assert report.tables[1].title == title


def test_a_corpus_of_ranked_outliers_is_shown_at_the_lowest_level_that_it_finished():
    rank_all = {"protocol": "rank-all", "published": False, "dataset": "ranked", "dataset_digest": "d2"}
    rows = [stored(), failed(**rank_all), stored(level=0.1, figure=0.7, **rank_all)]
    assert texts(main_table(compare(rows)))[-1] == ["ranked, rank-all", "mean", "70.0"]


def test_what_lacks_the_lowest_level_is_named_with_the_table_that_has_it():
    both = [stored("x", level=level) for level in (0, 0.05)]
    late = [stored("y", level=level) for level in (0.05, 0.1)]
    elsewhere = [stored(name, dataset="other", dataset_digest="d2", level=0.1) for name in "xy"]
    expected = (
        "Not run at 0% of outliers, so only in the table 'levels': other (10%), y on made-up (5%, 10%)."
    )
    assert expected in notes(*both, *late, *elsewhere)
    assert not any("'levels'" in note for note in notes(*both))


# Published figures


def test_published_figures_are_listed_beside_ours_and_averaged_over_the_same_splits():
    table = main_table(compare([stored(inlier="sci", dataset="agnews")]))
    assert table.header[3:] == ["DATE (paper)", "CVDD† (paper)", "OCSVM† (paper)", "IForest† (paper)"]
    rows = {row[1]: row[3:] for row in texts(table)}
    assert rows["sci"] == ["84.0", "79.0", "80.7", "76.9"]
    # (90.0 + 84.0 + 95.9 + 90.1) / 4 = 90.0, and so on
    assert rows["mean"] == ["90.0", "83.1", "84.1", "78.6"]


@pytest.mark.parametrize(
    ("metric", "world", "mean"), [("aupr_in", "81.9", "77.0"), ("aupr_out", "95.5", "95.9")]
)
def test_the_paper_gives_aupr_on_agnews_for_date_alone(metric, world, mean):
    table = main_table(compare([stored(inlier="world", dataset="agnews")], metric))
    assert table.header[3:4] == ["DATE (paper)"]
    rows = {row[1]: row[3:] for row in texts(table)}
    assert (rows["world"][:1], rows["mean"][:1]) == ([world], [mean])


def test_differences_are_from_the_published_figure_of_the_same_method():
    splits = {"world": 0.9, "sports": 0.959, "business": 0.88, "sci": 0.84}
    records = [
        stored(name, inlier, figure, dataset="agnews", dataset_digest="d2")
        for name in ("date", "ocsvm", "llr")
        for inlier, figure in splits.items()
    ]
    comparison = compare([*records, stored("date")])
    table = only_table(published, comparison)
    assert table.header == ["dataset", "inlier", "date", "ocsvm"]
    assert texts(table) == [
        ["agnews", "world", "-0.1", "+6.8†"],
        ["agnews", "sports", "+0.0", "+3.5†"],
        ["agnews", "business", "-2.0", "+8.1†"],
        ["agnews", "sci", "+0.0", "+3.3†"],
        ["agnews", "mean", "-0.5", "+5.4†"],  # 89.475 - 90.0
        ["made-up", "a", "–", "–"],
        ["made-up", "mean", "–", "–"],
    ]
    assert any(note.startswith("(paper): ") for note in notes(*records))


def test_a_grid_differs_from_what_was_chosen_in_the_same_way_without_a_mark():
    grid = [
        stored("ocsvm", "sci", figure, preset="grid", configuration=f"nu={figure}", dataset="agnews")
        for figure in (0.7, 0.817)
    ]
    (table,) = published_tables(*grid)
    assert texts(table)[3] == ["agnews", "sci", "+1.0"]


def test_a_configuration_of_table_3_is_not_compared_with_the_figure_of_a_split_of_date():
    presets = ("paper", "paper(score=mp)", "paper(steps=100)")
    records = [stored("date", "sci", dataset="agnews", preset=name, configuration=name) for name in presets]
    (table,) = published_tables(*records)
    assert table.header[2:] == ["date:paper", "date:paper(score=mp)", "date:paper(steps=100)"]
    assert {row[3] for row in texts(table)} == {"–"}


def test_there_is_no_difference_from_what_was_not_published_or_not_finished():
    assert published_tables(stored("date")) == []
    assert published_tables(stored("llr", "sci", dataset="agnews")) == []
    assert published_tables(stored("date", "sci", dataset="agnews", level=0.1)) == []
    assert published_tables(stored("ocsvm", "sci", dataset="agnews"), metric="aupr_in") == []
    (table,) = published_tables(failed("date", "sci", dataset="agnews"))
    assert [row[2] for row in texts(table)] == ["–"] * 5


def test_a_dataset_that_the_paper_does_not_have_gets_no_published_column():
    table = main_table(compare([stored()]))
    assert table.header == ["dataset", "inlier", "llr"]
    mixed = [stored(), stored(inlier="sci", dataset="agnews", dataset_digest="d2")]
    assert texts(main_table(compare(mixed)))[-1][3:] == ["–"] * 4
    assert any(note.startswith("(paper): ") for note in notes(*mixed))
    assert not any(note.startswith("(paper): ") for note in notes(stored()))


def test_published_figures_are_not_put_beside_results_on_contaminated_data():
    comparison = compare([stored(inlier="sci", dataset="agnews", level=0.05)])
    assert main_table(comparison).header == ["dataset", "inlier", "llr"]
    assert not any(
        note.startswith("(paper): ") for note in build(comparison.cells.stored.to_dict("records")).every_note
    )


def test_a_dataset_that_is_not_the_published_one_is_marked_beside_published_figures():
    cells = {
        "dataset": "agnews",
        "published": False,
        "edition": "a third of it",
        "n_train": 50.0,
    }
    ours = [stored("date", name, **cells) for name in ("world", "sports", "business", "sci")]
    complete = [stored("date", dataset="20news", dataset_digest="d2", inlier="rec")]
    report = build([*ours, *complete], ["main", "published"])
    (note,) = (note for note in report.tables[0].notes if "‡" in note)
    assert note.startswith("agnews ‡: ")
    assert note.endswith(": a third of it.")
    for table in report.tables:
        assert {row[0].text for row in table.rows} == {"20news", "agnews ‡"}
    assert not any("‡" in note for note in notes(*complete))


def test_a_dataset_that_is_not_the_published_one_is_not_marked_where_nothing_is_published():
    cells = {"dataset": "agnews", "published": False}
    assert not any("‡" in note for note in notes(stored("date", "sci", level=0.1, **cells)))
    assert not any("‡" in note for note in notes(stored("date", "sci", test_outliers=0.05, **cells)))
    assert not any("‡" in note for note in notes(stored("date", published=False)))
    assert compare([stored("date", "sci", **cells)], "fpr95").labels == ["date"]
    assert [c.label for c in compare([stored("date", "sci", **cells)], "fpr95").corpora] == ["agnews"]
    limited = stored("date", "sci", **cells, limit=10_000)  # more than there are: the same documents
    both = compare([limited, stored("date", "world", dataset="agnews")])
    assert not both.corpora[0].is_other_edition
    unknown = stored("date", "sci", **cells)
    del unknown["n_train"]
    assert is_noted("^agnews ‡: .*: published", unknown)


# Metrics


def test_the_lowest_error_rate_of_a_row_is_in_bold_and_the_title_says_that_lower_is_better():
    report = build([stored("x", figure=0.9), stored("y", figure=0.8)], metric="fpr95")
    assert texts(report.tables[0])[0][2:] == ["*10.0", "20.0"]
    assert report.tables[0].title.startswith("FPR at 95 % TPR (%, lower is better)")


def test_the_best_of_a_grid_by_an_error_rate_is_the_lowest():
    grid = [stored(preset="grid", configuration=f"k={k}", figure=k / 10) for k in (7, 9, 8)]
    assert split_texts(*grid, metric="fpr95")[0][2] == "10.0"


# Cells


def test_the_cells_have_the_columns_that_programs_expect():
    origin = {"version": "0.1.0", "commit": "c0ffee", "command": "run --seed 1", "machine": "Linux"}
    measured = stored(
        *("ocsvm", "a", 0.9, 3, 0.05),
        **{"configuration": "nu=0.2", "peak_memory_mb": 123.5, "regime": "word", "oracle": True, **origin},
        started=1_700_000_000,
    )
    first, second = csv_rows([measured, failed("x")])
    assert list(first) == list(second) == list(COLUMNS)
    shown = {name: text for name, text in first.items() if text and name != "cell"}
    assert shown == {
        "name": "ocsvm(nu=0.2)",
        **{"detector": "ocsvm", "preset": "default", "configuration": "nu=0.2"},
        **{"dataset": "made-up", "inlier": "a", "contamination": "0.05", "seed": "3"},
        **{"protocol": "one-vs-rest", "test_outliers": "1", "known": "0"},
        **{"auroc": "0.9", "aupr_in": "0.45", "aupr_out": "0.225", "fpr95": "0.1"},
        **{"fit_seconds": "1.5", "score_seconds": "0.25", "n_train": "10", "n_test": "20"},
        **{"peak_memory_mb": "123.5", "status": "ok", "oracle": "yes", "regime": "word"},
        **{"n_configurations": "1", "edition": "published", "published": "yes"},
        **{"documents": "40 training / 20 test documents", "dataset_digest": "d1", "code_version": "1"},
        **origin,
        "started": "2023-11-14T22:13:20+00:00",
    }
    assert (second["auroc"], second["status"], second["oracle"]) == ("", "failed", "no")
    assert second["reason"] == "RuntimeError: no luck"


def test_a_thinned_test_set_is_a_column_and_no_part_of_the_name_of_the_dataset():
    rows = csv_rows([stored(), stored(test_outliers=0.05)])
    assert [(row["dataset"], row["test_outliers"]) for row in rows] == [("made-up", "1"), ("made-up", "0.05")]


def test_the_cells_list_editions_failures_and_what_is_left_out():
    records = [
        stored(figure=0.4),
        stored(code_version="2"),
        failed(dataset_digest="d2", edition="half of it"),
    ]
    report = build(records, [])
    assert report.cells["dataset_digest"].tolist() == ["d1", "d2"]
    assert [name for name, _ in report.provenance[-2:]] == ["made-up (1)", "made-up (2)"]
    assert [note.split()[0] for note in report.every_note] == ["Results", "Left", "failed:"]


# Names that look like marks


def test_a_class_called_mean_keeps_its_own_figures():
    records = [
        stored("x", "mean", 0.9),
        stored("x", "b", 0.5),
        stored("y", "mean", 0.8),
        stored("y", "b", 0.6),
    ]
    comparison = compare(records)
    expected = [
        ["made-up", "b", "50.0", "*60.0"],
        ["made-up", "mean", "*90.0", "80.0"],
        ["made-up", "mean of all classes", "*70.0", "*70.0"],
    ]
    table = main_table(comparison)
    assert texts(table) == expected
    assert [row[-3].is_summary for row in table.rows] == [False, False, True]


@pytest.mark.parametrize("name", ["x ± 0.1", "x=y", "(1 of 2)", "(paper)", "x†", "(oracle)"])
def test_names_with_signs_are_explained_by_no_note(name):
    records = [stored(name, name, configuration=f"path={name}"), stored("y", name)]
    assert len(notes(*records)) == len(notes(stored("z", "a"), stored("y", "a")))
    assert [row[2:] for row in split_texts(*records)] == [["*90.0", "*90.0"]] * 2


def test_a_regime_of_its_own_has_a_block_between_ours_and_the_undeclared():
    own, oracle = "crystal ball", stored("z", oracle=True, regime="chosen on the test labels")
    records = [stored("y"), stored("x", regime=own), stored("llr", regime="pre-trained"), oracle]
    records.append(stored("w", regime="chosen on the test labels"))
    table = main_table(compare(records))
    assert table.header[2:] == ["llr", "w", "x", "y", "z (oracle)"]
    assert table.blocks == [
        ("pre-trained", 1),
        ("chosen on the test labels", 1),
        (own, 1),
        ("not declared", 1),
        ("chosen on the test labels", 1),
    ]
    assert [entry.best for entry in table.rows[0][2:]] == [True] * 4 + [False]


BATCH = "unlabelled test batch"


def test_detectors_that_use_the_test_batch_have_a_block_and_a_best_of_their_own():
    records = [stored("ecod", figure=0.97, regime=BATCH), stored("copod", figure=0.95, regime=BATCH)]
    records += [stored("x", figure=0.8), stored("date", figure=0.9, regime="pre-trained")]
    comparison = compare(records)
    table = main_table(comparison)
    assert table.header[2:] == ["date", "ecod", "copod", "x"]
    assert table.blocks == [("pre-trained", 1), (BATCH, 2), ("not declared", 1)]
    assert texts(table)[0][2:] == ["*90.0", "*97.0", "95.0", "80.0"]


def test_a_single_detector_that_uses_the_test_batch_is_never_the_best():
    records = [stored("ecod", figure=0.97, regime=BATCH), stored("x", figure=0.8), stored("y", figure=0.7)]
    assert split_texts(*records)[0][2:] == ["97.0", "*80.0", "70.0"]
    assert split_texts(*records[:2])[0][2:] == ["97.0", "80.0"]


def test_an_oracle_that_uses_the_test_batch_belongs_to_the_oracles():
    records = [stored("x"), stored("z", oracle=True, regime=BATCH)]
    assert main_table(compare(records)).blocks[-1] == ("chosen on the test labels", 1)


def test_entries_hold_their_values():
    records = [stored("x", "a", f, seed) for seed, f in enumerate((0.7, 0.9))] + [failed("x", "b")]
    table = main_table(compare(records))
    (a,), (b,), (mean,) = (row[2:] for row in table.rows)
    assert (a.kind, a.value, a.n_cells, a.n_expected) == (Kind.FIGURE, pytest.approx(80), 2, 2)
    assert (a.spread, a.text) == (pytest.approx(14.1, abs=0.05), "80.0 ± 14.1")
    assert (b.kind, b.value) == (Kind.FAILED, None)
    assert (mean.value, mean.complete_value, mean.n_cells, mean.n_expected) == (pytest.approx(80), None, 2, 4)
    assert (a.is_incomplete, b.is_incomplete, mean.is_incomplete) == (False, False, True)


def test_precision_recall_tables_have_the_level_of_chance():
    records = [stored("x", "a", **{"n_test": 20.0, "n_test_outliers": 15.0})]
    records += [stored("x", "b", **{"n_test": 20.0, "n_test_outliers": 5.0})]
    rows = {name: split_texts(*records, metric=name) for name in ("auroc", "aupr_in", "aupr_out")}
    assert [row[-1] for row in rows["aupr_in"]] == ["25.0", "75.0", "50.0"]
    assert [row[-1] for row in rows["aupr_out"]] == ["75.0", "25.0", "50.0"]
    assert len(rows["auroc"][0]) == 3
    table = build([stored()], metric="aupr_in").tables[0]
    assert "chance" not in table.header  # of older cells it is not known


def test_a_level_at_which_every_cell_failed_is_no_level_of_tables():
    rows = [stored("llr", "a", 0.9, level=0.1), stored("llr", "a", 0.8, level=0.2)]
    rows += [failed("cvdd", "a", level=level) for level in (0, 0.1, 0.15)]
    comparison = compare(rows)
    assert (comparison.levels, comparison.lowest) == ([0.1, 0.2], 0.1)
    assert compare([failed("cvdd", "a", level=0.1)]).levels == [0.1]
