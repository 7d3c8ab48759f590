import re

import numpy as np
import pytest
from cells import compare, failed, of_another_edition, only_table, stored, texts
from scipy.stats import friedmanchisquare, wilcoxon

from adbench_text.errors import UnknownNameError
from adbench_text.plugins.configure import DetectorChoice
from adbench_text.reports import published
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.significance import holm, mean_ranks
from adbench_text.reports.tables import published as published_table
from adbench_text.reports.tables import ranks, significance
from adbench_text.run.sweep_file import find, read

FIGURES = {
    "good": [0.95, 0.90, 0.85, 0.97, 0.88, 0.91],
    "fair": [0.90, 0.91, 0.80, 0.90, 0.81, 0.82],
    "poor": [0.60, 0.55, 0.65, 0.50, 0.70, 0.52],
}


def records():
    return [
        stored(name, inlier=f"c{i}", figure=figure)
        for name, figures in FIGURES.items()
        for i, figure in enumerate(figures)
    ]


def ranking(*more) -> Ranking:
    return Ranking(compare([*records(), *more]))


def test_detectors_are_ranked_over_the_splits_that_all_of_them_have():
    ranked = ranking(stored("late", "c0"), stored("late", "c1"))
    assert [column.label for column in ranked.columns] == ["good", "fair", "poor"]
    assert [column.label for column in ranked.left_out] == ["late"]
    assert ranked.splits == [("made-up", f"c{i}") for i in range(6)]
    expected = [[100 * figure for figure in figures] for figures in FIGURES.values()]
    np.testing.assert_allclose(ranked.figures.T, expected)


def test_detectors_that_use_the_test_batch_are_not_ranked():
    batch = [stored("ecod", f"c{i}", 0.99, regime="unlabelled test batch") for i in range(6)]
    ranked = ranking(*batch)
    assert [column.label for column in ranked.columns] == ["good", "fair", "poor"]
    assert ranked.left_out == []
    assert not Ranking(compare(batch)).is_possible


def test_thinned_test_sets_are_ranked_only_if_there_are_no_others():
    thin = [
        stored(name, inlier, 1 - figure, test_outliers=0.05)
        for name, figure in (("good", 0.9), ("fair", 0.8), ("poor", 0.7))
        for inlier in ("c0", "c1", "c2", "c3", "c4", "c5", "c6")
    ]
    label = "made-up, 5% outliers in the test set"
    ranked = ranking(*thin)
    assert {corpus for corpus, _ in ranked.splits} == {"made-up"}
    (note,) = ranked.notes
    assert note.endswith(f": {label}.")
    assert {corpus for corpus, _ in Ranking(compare(thin)).splits} == {label}


def test_a_failed_split_is_left_out_for_all_unless_that_costs_more_figures_than_its_detector_has():
    rest = [stored("late", f"c{i}") for i in range(4)]
    ranked = ranking(*rest, stored("late", "c4"), failed("late", "c5"))
    assert (len(ranked.columns), len(ranked.splits), ranked.left_out) == (4, 5, [])  # 20 figures, not 18
    ranked = ranking(*rest, failed("late", "c4"), failed("late", "c5"))
    assert [c.label for c in ranked.left_out] == ["late"]  # 18 figures, not 16


@pytest.mark.parametrize("name", ["good", "alone"])
def test_splits_that_one_detector_has_alone_do_not_count_though_they_are_most(name):
    ranked = ranking(*(stored(name, f"d{i}", dataset="other", dataset_digest="d2") for i in range(9)))
    assert [column.label for column in ranked.columns] == ["good", "fair", "poor"]
    assert ranked.splits == [("made-up", f"c{i}") for i in range(6)]
    assert [note.rpartition(": ")[2] for note in ranked.notes] == (["alone."] if name == "alone" else [])


def test_splits_that_two_detectors_share_are_found_whatever_the_others_have():
    inliers = {"w": "abcdefgh", "x": "abijklm", "y": "abijnop", "z": "q"}  # x and y: a, b, i, j
    each = [stored(name, inlier) for name, of_name in inliers.items() for inlier in of_name]
    ranked = Ranking(compare(each))
    assert [column.label for column in ranked.columns] == ["x", "y"]
    assert [inlier for _, inlier in ranked.splits] == list("abij")
    assert [column.label for column in ranked.left_out] == ["w", "z"]


def test_one_edition_of_a_dataset_counts_in_the_ranking():
    other = [of_another_edition(r) for r in records()]
    ranked = ranking(*other)
    assert len(ranked.splits) == 6
    assert ranked.splits[0][0] == "made-up (1)"  # the published one
    assert ranked.other_editions == ["made-up (2)"]


def test_oracles_are_not_ranked():
    oracle = [stored("best", f"c{i}", 0.99, oracle=True) for i in range(6)]
    ranked = ranking(*oracle)
    assert [column.label for column in ranked.columns + ranked.left_out] == ["good", "fair", "poor"]


def test_a_detector_without_a_test_is_named_with_the_reason():
    others = [stored("best", f"c{i}", 0.99, oracle=True) for i in range(6)]
    others += [stored("ecod", f"c{i}", 0.99, regime="unlabelled test batch") for i in range(6)]
    ranked = ranking(*others, stored("late", "c0"))
    assert [note.partition("because ")[2] for note in ranked.notes] == [
        "they lack splits that the others have: late.",
        "they were chosen on the test labels: best (oracle).",
        "they use the test batch: ecod.",
    ]


def test_the_mean_ranks_with_the_best_first():
    table = only_table(ranks, compare(records()))
    p = friedmanchisquare(*FIGURES.values()).pvalue
    assert table.title == f"Mean rank over 6 splits, by AUROC (Friedman test: p = {p:.2g})"
    assert texts(table) == [
        ["good", "1.17", "91.0", "5"],
        ["fair", "1.83", "85.7", "1"],
        ["poor", "3.00", "58.7", "0"],
    ]


def test_the_paired_tests_name_the_better_one_first_and_begin_with_the_largest_difference():
    table = only_table(significance, compare(records()))
    assert "6 splits" in table.title
    rows = texts(table)
    assert [row[:3] for row in rows] == [
        ["good", "poor", "32.3"],
        ["fair", "poor", "27.0"],
        ["good", "fair", "5.3"],
    ]
    p = wilcoxon(FIGURES["good"], FIGURES["poor"]).pvalue
    assert rows[0][3:] == ["–", "–", "6 of 6", f"{3 * p:.2g}", "neither"]
    assert rows[2][5] == "5 of 6"
    backwards = compare(records()[::-1])
    assert [row[:2] for row in texts(only_table(significance, backwards))] == [row[:2] for row in rows]


def test_a_note_names_the_lowest_p_that_so_few_splits_can_give():
    table = only_table(significance, compare(records()))
    assert any(re.search("6 splits .*3 tests.* 0.0938", note) for note in table.notes)
    assert not any("--baseline" in note for note in table.notes)  # two tests are too many, too
    many = [stored(n, f"c{i}", f) for n, f in (("a", 0.9), ("b", 0.8)) for i in range(6)]
    table = only_table(significance, compare(many))
    assert not any("tests" in note for note in table.notes)
    assert float(texts(table)[0][6]) == pytest.approx(2**-5, rel=0.05)


def test_a_baseline_is_in_each_pair_and_holm_corrects_for_these_alone():
    table = only_table(significance, compare(records(), baseline="fair"))
    assert "from fair" in table.title
    rows = texts(table)
    assert [row[:2] for row in rows] == [["fair", "poor"], ["good", "fair"]]
    p = [wilcoxon(FIGURES["fair"], FIGURES[name]).pvalue for name in ("poor", "good")]
    assert [float(row[6]) for row in rows] == pytest.approx(holm(p), rel=0.05)
    assert any(re.search("6 splits .*2 tests.* 0.062", note) for note in table.notes)


def test_a_baseline_is_recommended_where_it_lets_p_fall_below_the_level():
    seven = [stored(name, f"c{i}", n / 10 + i / 100) for n, name in enumerate("abcd") for i in range(7)]
    table = only_table(significance, compare(seven))
    assert any(re.search("0.0938.*--baseline .* 3", note) for note in table.notes)
    assert only_table(significance, compare(seven, baseline="a")).notes == []


def test_a_baseline_is_tested_on_the_splits_that_it_has():
    few = [stored("late", f"c{i}") for i in range(2)]
    assert [c.label for c in ranking(*few).left_out] == ["late"]
    table = only_table(significance, compare([*records(), *few], baseline="late"))
    assert "over 2 splits" in table.title
    assert len(table.rows) == 3


@pytest.mark.parametrize("name", ["godo", "best (oracle)", "ecod"])
def test_a_baseline_that_is_not_ranked_is_refused_with_the_names_of_those_that_are(name):
    oracle = [stored("best", f"c{i}", 0.99, oracle=True) for i in range(6)]
    batch = [stored("ecod", f"c{i}", 0.99, regime="unlabelled test batch") for i in range(6)]
    with pytest.raises(UnknownNameError, match=re.escape(f"'{name}'.") + ".*good"):
        compare([*records(), *oracle, *batch], baseline=name)


def test_of_an_error_rate_the_lowest_is_the_best_and_its_difference_is_negative():
    of_areas, of_rates = compare(records()), compare(records(), "fpr95")  # 1 - AUROC
    np.testing.assert_allclose(*(mean_ranks(Ranking(each).merits) for each in (of_rates, of_areas)))
    table = only_table(ranks, of_rates)
    assert table.title.startswith("Mean rank over 6 splits, by FPR at 95 % TPR")
    wins = {row[0]: row[3] for row in texts(only_table(ranks, of_areas))}
    assert {row[0]: row[3] for row in texts(table)} == wins
    assert texts(table)[0] == ["good", "1.17", "9.0", "5"]
    rows = {tuple(row[:2]): row[2:] for row in texts(only_table(significance, of_rates))}
    expected = {tuple(row[:2]): row[2:] for row in texts(only_table(significance, of_areas))}
    assert {pair: row[1:] for pair, row in rows.items()} == {pair: row[1:] for pair, row in expected.items()}
    assert rows["good", "poor"][0] == "-32.3"


def test_one_detector_or_one_split_cannot_be_ranked():
    assert ranking().is_possible
    assert not Ranking(compare([stored("a", "c0"), stored("b", "c0")])).is_possible
    assert not Ranking(compare([stored("a", "c0"), stored("a", "c1")])).is_possible
    assert not Ranking(compare([failed("a", "c0"), failed("b", "c0")])).is_possible


def test_the_ablations_of_the_paper_are_compared_by_their_means():
    figures = {"paper": 0.9, "paper(rmd_weight=0)": 0.8, "paper(score=mp, steps=9)": 0.7}
    records = [
        stored("date", inlier, figure, preset=name, dataset="agnews")
        for name, figure in figures.items()
        for inlier in ("world", "sports", "business", "sci")
    ]
    *splits, mean = texts(only_table(published_table, compare(records)))
    assert [row[3] for row in splits] == ["–"] * 4
    assert mean[2:4] == ["+0.0", "-9.4"]
    assert mean[4] == "-20.0"  # no ablation of the paper: compared with its main figure


def test_every_ablation_of_the_sweep_has_its_published_figure():
    labels = {DetectorChoice.parse(text).label for text in read(find("ablations")).detectors}
    assert labels == published.figures_of_the_paper()["ablations"]["auroc"]["date"].keys()
