from cells import build, compare, stored, texts

from adbench_text.reports.ranking import Ranking
from adbench_text.reports.tables import known

PLAIN = [stored(name, inlier, figure) for name, figure in (("x", 0.9), ("y", 0.8)) for inlier in "ab"]
OTHER = {"auroc_seen": 0.95, "auroc_unseen": 0.85}


def with_known(name, figure, **changes):
    return [stored(name, inlier, figure, known=10, **OTHER, **changes) for inlier in "ab"]


def test_all_seen_and_unseen_classes_are_columns_and_each_number_is_a_block():
    (table,) = known.tables(compare([*PLAIN, *with_known("x", 0.92)]))
    assert [row for row in texts(table) if row[1].startswith("x")] == [
        ["made-up", "x", "90.0", "–", "–"],
        ["made-up, 10 known outliers", "x", "92.0", "95.0", "85.0"],
    ]


def test_figures_of_some_splits_are_marked():
    part = stored("y", "a", 0.99, known=10, auroc_seen=0.95)
    (table,) = known.tables(compare([*with_known("x", 0.92), part]))
    assert texts(table)[1][2:] == ["99.0 (1 of 2)", "95.0 (1 of 2)", "–"]


def test_the_class_of_the_known_ones_is_named():
    (table,) = known.tables(compare(with_known("x", 0.92, known_from="c")))
    assert texts(table)[0][0] == "made-up, 10 known outliers, from c"


def test_without_known_outliers_there_is_no_table():
    assert list(known.tables(compare(PLAIN))) == []


def test_figures_with_known_outliers_are_not_ranked_with_others():
    ranking = Ranking(compare([*PLAIN, *with_known("x", 0.99), *with_known("y", 0.5)]))
    assert {label for label, _ in ranking.splits} == {"made-up"}
    assert ranking.figures[:, 0].tolist() == [90, 90]


def test_a_report_has_the_table():
    titles = [table.title for table in build([*PLAIN, *with_known("x", 0.92)]).tables]
    assert "AUROC (%) with known outliers, mean over the splits" in titles
