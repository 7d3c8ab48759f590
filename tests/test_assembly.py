import pytest
from cells import record

from adbench_text.assembly import BRIEF, TABLES, build, chosen_tables
from adbench_text.errors import UnknownNameError

RECORDS = [
    record(name, inlier, figure, level=level, configuration=configuration)
    for name, figure in (("x", 0.9), ("y", 0.8), ("z", 0.7))
    for inlier in "ab"
    for level in (0, 0.05)
    for configuration in ("", "k=1", "k=2")
]
OF_THE_PAPER = record("date", "sci", 0.83, dataset="agnews", dataset_digest="d2")


def test_a_brief_report_holds_the_main_table_and_the_levels():
    assert [table.title.split(",")[0] for table in build(RECORDS, "auroc").tables] == [
        "AUROC (%)",
        "AUROC (%) by contamination of the training data",
    ]
    assert [
        table.title.partition(" (%)")[0].split(",")[0] for table in build([OF_THE_PAPER], "auroc").tables
    ] == [
        "AUROC",
        "AUROC: difference from the published figure of the same method",
    ]


def test_every_table_can_be_had_by_its_name():
    for name in TABLES:
        report = build([*RECORDS, OF_THE_PAPER], "auroc", [name], only=True)
        assert len(report.tables) == (3 if name == "ablations" else 1)
        assert report.wide is None
        for table in report.tables:
            assert {len(row) for row in table.rows} == {len(table.header)}


def test_what_there_is_nothing_for_is_left_out():
    report = build([record()], "auroc", list(TABLES))
    assert [table.title.partition(" (%)")[0] for table in report.tables[:2]] == ["AUROC", "AUROC"]
    assert len(report.tables) == 3  # main, intervals, cost


def test_who_is_not_ranked_is_said():
    late = record("late", "a")
    assert (
        "Not ranked, for want of splits that the others have: late."
        in build([*RECORDS, late], "auroc", ["ranks"]).notes
    )
    assert not [note for note in build([*RECORDS, late], "auroc").notes if "Not ranked" in note]


def test_tables_are_chosen_by_name():
    assert chosen_tables([], everything=False) == BRIEF
    assert chosen_tables([], everything=True) == list(TABLES)
    assert chosen_tables(["cost"], everything=True) == ["cost"]
    assert chosen_tables(["cost", "all"], everything=False) == list(TABLES)
    with pytest.raises(UnknownNameError, match=r"No table named 'costs'. Did you mean 'cost'"):
        chosen_tables(["costs"], everything=False)
