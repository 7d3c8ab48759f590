import pytest
from cells import build, compare, stored, texts

from adbench_text.metrics import OF_WORDS
from adbench_text.reports import published
from adbench_text.reports.tables import words

MEASURED = {name: place / 100 for place, name in enumerate(OF_WORDS, start=50)}


def sms(name, **changes):
    return stored(name, "normal", 0.7, dataset="words-sms", dataset_digest="d4", **changes)


def test_words_as_cut_and_as_published_are_columns_beside_the_documents():
    (table,) = words.tables(compare([sms("form", **MEASURED)]))
    assert table.header == [
        *("dataset", "detector", "AUROC", "AP", "FPR95"),
        *(f"{title}, as published" for title in ("AUROC", "AP", "FPR95")),
        *("AUROC, highest word", "AP, highest word", "AUROC, own score"),
    ]
    assert texts(table)[0] == ["words-sms", "form", *"50.0 51.0 52.0 56.0 57.0 58.0 53.0 54.0 70.0".split()]


def marked(name, inlier, word_auroc, **changes):
    measured = {"word_auroc": word_auroc, "word_fpr95": 1 - word_auroc}
    return stored(name, inlier, 0.7, **measured, **changes)


def test_figures_of_some_splits_are_marked_as_in_the_main_table():
    complete = [marked("llr", inlier, 0.8) for inlier in "abc"]
    report = build([*complete, marked("knn-words", "a", 0.9)], ["main", "words"])
    of_main, table = report.tables
    assert texts(of_main)[-1][2:] == ["70.0", "70.0 (1 of 3)"]
    rows = {row[1]: row[2:] for row in texts(table)}
    assert rows == {
        "llr": ["80.0", "20.0", "70.0"],
        "knn-words": ["90.0 (1 of 3)", "10.0 (1 of 3)", "70.0 (1 of 3)"],
    }
    assert any(note.startswith("(n of m)") for note in report.every_note)


def test_figures_of_words_are_averaged_over_the_seeds_first():
    seeds = [marked("llr", "a", 0.9, seed=seed) for seed in range(3)]
    (table,) = words.tables(compare([*seeds, marked("llr", "b", 0.5)]))
    assert texts(table)[0][2] == "70.0 (4 of 6)"


def test_of_a_grid_the_best_configuration_of_each_split_counts():
    grid = [
        marked("x", inlier, figure, preset="grid", configuration=f"k={figure}")
        for inlier in "ab"
        for figure in (0.6, 0.8)
    ]
    (table,) = words.tables(compare(grid))
    row = dict(zip(table.header, texts(table)[0], strict=True))
    assert (row["detector"], row["AUROC"], row["FPR95"]) == ("x:grid (oracle)", "80.0", "20.0")


def test_a_detector_without_scores_of_words_has_empty_cells():
    (table,) = words.tables(compare([sms("form", **MEASURED), sms("ocsvm")]))
    assert texts(table)[1] == ["words-sms", "ocsvm", *8 * ["–"], "70.0"]


def test_published_figures_are_below_with_what_gives_them_away():
    (table,) = words.tables(compare([sms("form", **MEASURED)]))
    assert texts(table)[-1] == [
        *("words-sms", "SIM (published)", *3 * ["–"], "98.4", "28.7", "–", "88.5", "48.3", "–"),
    ]
    assert [note.partition(":")[0] for note in table.notes] == ["words-sms"]


def test_without_scores_of_words_there_is_no_table():
    assert list(words.tables(compare([stored()]))) == []


def test_every_published_figure_is_that_of_the_reference(data_dir):
    outside = data_dir.parent / "design" / "outside.md"
    if not outside.is_file():
        pytest.skip(f"no {outside.name} beside the folder of real data")
    lines = outside.read_text(encoding="utf-8").splitlines()
    (line,) = (each for each in lines if each.startswith("Published AUROC / AP. SMS"))
    rows = [row for of_dataset in published.read("words.json")["percent"].values() for row in of_dataset]
    assert len(rows) == 9
    for row in rows:
        assert f"{row['auroc']} / {row['ap']}" in line
        of_documents = [str(row[name]) for name in ("documents_auroc", "documents_ap") if name in row]
        assert " / ".join(of_documents) in line
