import re
from pathlib import Path

import numpy as np
import pytest
from cells import build, failed, stored

from adbench_text.corpora.split_key import SplitKey
from adbench_text.errors import TrackingError
from adbench_text.metrics import all_metrics
from adbench_text.reports import contents
from adbench_text.reports.build import Builder
from adbench_text.reports.contents import TABLES
from adbench_text.reports.heatmaps import heatmaps
from adbench_text.reports.report import NONE, Entry, Table, figure
from adbench_text.run.cell import Cell
from adbench_text.store.cells import table_of

RECORDS = [
    stored(name, inlier, figure, level=level, configuration=configuration)
    for name, figure in (("x", 0.9), ("y", 0.8), ("z", 0.7))
    for inlier in "ab"
    for level in (0, 0.05)
    for configuration in ("", "k=1", "k=2")
]
OF_THE_PAPER = stored("date", "sci", 0.83, dataset="agnews", dataset_digest="d2")
OF_ANOTHER = stored("date", "normal", dataset="nlpad-bbc", dataset_digest="d3")
WITH_KNOWN = stored("x", "a", known=10, auroc_seen=0.95, auroc_unseen=0.85)
WITH_WORDS = stored("x", "a", dataset="words-sms", dataset_digest="d4", word_auroc=0.9)


def test_a_brief_report_holds_the_main_table_and_the_levels():
    assert [table.title.split(",")[0] for table in build(RECORDS).tables] == [
        "AUROC (%)",
        "AUROC (%) by contamination of the training data",
    ]
    assert [table.title.partition(" (%)")[0].split(",")[0] for table in build([OF_THE_PAPER]).tables] == [
        "AUROC",
        "AUROC: difference from the published figure of the same method",
    ]


def test_every_table_can_be_had_by_its_name():
    rows = "".join(f"{i},{'ab'[i % 2]},{i % 2},{i % 3}\n" for i in range(20))
    scores = f"document,class,outlier,score\n{rows}"
    store = Holding({"scores.csv": scores})
    variants = [stored(dataset=f"sib:{name}", dataset_digest=name) for name in ("xx", "yy")]
    records = [*RECORDS, OF_THE_PAPER, OF_ANOTHER, WITH_KNOWN, WITH_WORDS, *variants]
    records += [stored("net", "a", 0.6, configuration=text) for text in ("", "epochs=0")]
    given = all_metrics(np.arange(20) % 2 == 1, np.arange(20) % 3)
    records = [record | given for record in records]
    builder = Builder(table_of(records), store=store)
    for name in TABLES:
        report = builder.report([name], only=True)
        assert len(report.tables) == 1
        for table in report.tables:
            assert {len(row) for row in table.rows} == {len(table.header)}


def test_what_there_is_nothing_for_is_left_out():
    report = build([stored()], TABLES)
    assert [table.title.split()[0] for table in report.tables] == ["AUROC", "Cost"]


def test_a_metric_is_drawn_against_contamination_only_of_a_corpus_with_two_levels():
    def drawn(records):
        names = [drawing.name for drawing in Builder(table_of(records)).drawings]
        return [name for name in names if name.startswith("contamination-")]

    other = {"dataset": "other", "dataset_digest": "d5"}
    one = stored("x", "a", **other)
    assert drawn([*RECORDS, one]) == ["contamination-made-up"]
    assert drawn([one]) == []
    assert drawn([one, failed("x", "a", level=0.05, **other)]) == []


def test_detectors_that_are_not_ranked_are_named():
    late = stored("late", "a")
    assert [note for note in build([*RECORDS, late], ["ranks"]).every_note if note.endswith(": late.")]
    assert not [note for note in build([*RECORDS, late]).every_note if note.endswith(": late.")]


def test_a_table_that_was_asked_for_and_is_missing_is_explained():
    alone = [stored()]
    names = ["published", "levels", "ranks", "significance"]
    report = Builder(table_of(alone)).report(names, only=True)
    assert report.tables == []
    explained = re.findall("(?m)^No table '(.*)': it needs .", "\n".join(report.every_note))
    assert explained == names
    assert not any(f"'{name}'" in note for note in build(alone, names).every_note for name in names)


def test_a_report_of_a_sweep_has_its_inlier_classes_and_names_the_cells_not_run():
    cells = [
        Cell(name, "default", {}, SplitKey("agnews", inlier, seed=seed))
        for inlier in ("world", "sci")
        for seed in (0, 1)
        for name in ("llr", "ocsvm")
    ]
    records = [stored("llr", inlier, dataset="agnews") for inlier in ("world", "sci")]
    report = build(records, cells=cells)
    assert [row[1].text for row in report.tables[0].rows] == ["world", "sci", "mean"]
    (note,) = (note for note in report.every_note if "6 of the 8" in note)
    assert "ocsvm on agnews/world at 0%, seed 0" in note
    held = [stored(c.detector, c.split.inlier, seed=c.split.seed, dataset="agnews") for c in cells]
    assert not any(" of the 8 " in note for note in build(held, cells=cells).every_note)


def test_scores_that_cannot_be_read_have_a_note_even_if_nothing_else_can_be_drawn():
    class Emptied:
        def artifact(self, dataset, run_id, name):
            return None

    builder = Builder(table_of([stored("x", "a"), failed("x", "b")]), store=Emptied())
    assert builder.drawings == []
    (note,) = builder.evidence.notes
    assert "x on made-up/a" in note


class Holding:
    """A store with these files for each cell."""

    experiment, redacted = "adbench-text", "a store"

    def __init__(self, files):
        self.files = files

    def artifact(self, dataset, run_id, name):
        return self.files.get(name)


HEADER = "document,class,outlier,score\n"
ROWS = [f"{place},{'b' if place % 2 else 'a'},{place % 2},{place / 4}\n" for place in range(20)]
SCORES = HEADER + "".join(ROWS)
OF_SCORES = all_metrics(np.arange(20) % 2 == 1, np.arange(20) / 4)


def kinds_and_notes(**files) -> tuple[set[str], list[str]]:
    """The kinds of pictures there are, and the notes."""
    store = Holding({f"{name}.csv": text for name, text in files.items()})
    builder = Builder(table_of([stored("x", "a", **OF_SCORES)]), store=store)
    names = [picture.name for picture in builder.drawings]
    return {name.partition("-")[0] for name in names}, builder.evidence.notes


@pytest.mark.parametrize("last", [19, 190])  # with planted words, some of the test documents are left out
def test_complete_scores_are_drawn(last):
    scores = SCORES.replace("\n19,b", f"\n{last},b")
    assert kinds_and_notes(scores=scores) == ({"cost", "roc", "pr"}, [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "junk",
        "\x00\x01\x02",
        '"',
        SCORES.replace("score", "points"),
        SCORES.replace("document", "place"),
        SCORES.replace("4.75", "high"),
        SCORES.replace("4.75", "nan"),
        SCORES.replace("4.75", "inf"),
        SCORES.replace("4.75", ""),
        SCORES.replace("19,b", f"{10**30},b"),
        SCORES.replace("19,b", "-1,b"),
        SCORES.replace("19,b,1", "19,b,2"),
        SCORES[: len(SCORES) // 2] + "\n1,a",
        SCORES + ROWS[-1],
        SCORES + "20,a,0,1\n",
        HEADER,
        HEADER + "".join(ROWS[::-1]),
    ],
    ids=lambda text: repr(text[-20:]),
)
def test_damaged_scores_cost_their_pictures_and_a_note(text):
    kinds, notes = kinds_and_notes(scores=text)
    assert kinds == {"cost"}
    (note,) = notes
    assert re.search(r"scores of 1 .*\(x on made-up/a\).* mlruns ", note)


def test_half_of_the_scores_are_not_taken_for_all_of_them():
    _, (note,) = kinds_and_notes(scores=HEADER + "".join(ROWS[:10]))
    assert "x on made-up/a" in note


def test_each_file_is_in_the_list():
    reports = Path(contents.__file__).parent
    files = {kind: {p.stem for p in (reports / kind).glob("[!_]*.py")} for kind in ("tables", "formats")}
    assert files == {"tables": set(TABLES), "formats": set(contents.FORMATS)}


def test_datasets_and_detectors_take_turns_in_the_heat_maps():
    cells = [
        stored(name, inlier, figure, dataset=dataset, dataset_digest=dataset)
        for name in "xy"
        for dataset in ("first", "second")
        for inlier, figure in (("a", 0.7), ("b", 0.9))
    ]
    builder = Builder(table_of(cells), store=Holding({"examples.json": "[]"}))
    assert [heatmap.title for heatmap in heatmaps(builder.comparison)] == [
        *("x on first / a", "x on second / a", "y on first / a", "y on second / a"),
        *("x on first / b", "x on second / b", "y on first / b", "y on second / b"),
    ]


def test_rows_and_columns_without_a_figure_go_and_their_blocks_with_them():
    rows = [
        [Entry("a"), figure(1), NONE, figure(2)],
        [Entry("b"), NONE, NONE, NONE],
        [Entry("c"), figure(3), NONE, NONE],
        [Entry("d"), NONE, NONE, figure(4)],
    ]
    table = Table("t", list("wxyz"), rows, {0, 1}, 1, [("one", 1), ("two", 1), ("three", 1)])
    shorter = table.without_empty()
    assert shorter.header == ["w", "x", "z"]
    assert [row[0].text for row in shorter.rows] == ["a", "c", "d"]
    assert shorter.group_starts == {0, 1}
    assert shorter.blocks == [("one", 1), ("three", 1)]
    assert Table("t", list("wx"), [[Entry("a"), NONE]], n_labels=1).without_empty().rows == []


def test_a_stored_metric_that_its_scores_do_not_give_is_refused():
    store = Holding({"scores.csv": SCORES})
    builder = Builder(table_of([stored("x", "a", **(OF_SCORES | {"auroc": 0.99}))]), store=store)
    with pytest.raises(TrackingError, match=r"auroc is 0\.9900.* 0\.5500"):
        assert builder.drawings
