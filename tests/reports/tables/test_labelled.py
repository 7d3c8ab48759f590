from cells import build, compare, record, texts

from adbench_text.reports.ranking import Ranking
from adbench_text.reports.tables import labelled

PLAIN = [record(name, inlier, figure) for name, figure in (("x", 0.9), ("y", 0.8)) for inlier in "ab"]
OTHER = {"auroc_seen": 0.95, "auroc_unseen": 0.85}


def with_labels(name, figure, **changes):
    return [record(name, inlier, figure, labelled="10", metrics=OTHER, **changes) for inlier in "ab"]


def test_all_seen_and_unseen_classes_are_columns_and_each_number_is_a_block():
    (table,) = labelled.tables(compare([*PLAIN, *with_labels("x", 0.92)]))
    assert [row for row in texts(table) if row[1].startswith("x")] == [
        ["made-up", "x", "90.0", "–", "–"],
        ["made-up, 10 labelled", "x", "92.0", "95.0", "85.0"],
    ]


def test_figures_of_some_splits_are_marked():
    part = record("y", "a", 0.99, labelled="10", metrics={"auroc_seen": 0.95})
    (table,) = labelled.tables(compare([*with_labels("x", 0.92), part]))
    assert texts(table)[1][2:] == ["99.0 (1 of 2)", "95.0 (1 of 2)", "–"]


def test_the_class_of_the_labelled_ones_is_named():
    (table,) = labelled.tables(compare(with_labels("x", 0.92, labelled_from="c")))
    assert texts(table)[0][0] == "made-up, 10 labelled of c"


def test_without_labelled_outliers_there_is_no_table():
    assert list(labelled.tables(compare(PLAIN))) == []


def test_figures_with_labelled_outliers_are_not_ranked_with_others():
    ranking = Ranking(compare([*PLAIN, *with_labels("x", 0.99), *with_labels("y", 0.5)]))
    assert {label for label, _ in ranking.splits} == {"made-up"}
    assert ranking.figures[:, 0].tolist() == [90, 90]


def test_a_report_has_the_table():
    titles = [table.title for table in build([*PLAIN, *with_labels("x", 0.92)]).tables]
    assert "AUROC (%) with labelled outliers, mean over the splits" in titles
