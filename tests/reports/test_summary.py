import re

from cells import compare, failed, stored, texts

from adbench_text.contract.scores import REGIMES
from adbench_text.reports.summary import headline, provenance
from adbench_text.reports.tables import leaderboard

CLASSES = ("world", "sports", "business", "sci")
OF_NEWS = ("comp", "rec", "sci", "misc", "pol", "rel")
SCRATCH, WORDS, ENCODER = REGIMES[:3]


def of(detector, *figures, **changes):
    return [
        stored(detector, inlier, figure, **changes) for inlier, figure in zip("abc", figures, strict=False)
    ]


def sentence(*records, metric="auroc") -> str:
    return headline(compare(records, metric))


def news(detector, figure, **changes):
    return [stored(detector, name, figure, dataset="20news", **changes) for name in OF_NEWS]


def test_the_best_complete_detector_comes_with_its_mean():
    records = [*of("x", 0.9, 0.8), *of("y", 0.7, 0.75), *of("z", 0.6, 0.5)]
    assert re.search("^made-up: x .* best mean AUROC, 85.0% at 0% ", sentence(*records))


def test_what_is_incomplete_or_chosen_on_the_test_labels_is_not_the_best():
    records = [*of("partial", 0.99), failed("partial", "b"), *of("x", 0.9, 0.8)]
    records += of("oracle", 1.0, 1.0, oracle=True)
    records += of("batch", 0.95, 0.95, regime="unlabelled test batch")
    assert sentence(*records).startswith("made-up: x has a mean AUROC, 85.0%")
    assert sentence(failed("x", "a")) == ""
    assert sentence(*of("x", 0.9), failed("x", "b")) == ""


def test_an_error_rate_is_best_where_it_is_lowest():
    of_rate = sentence(*of("x", 0.9), *of("y", 0.8), metric="fpr95")  # 1 - AUROC
    assert "made-up: x has the best mean FPR at 95 % TPR, 10.0%" in of_rate


def test_what_each_detector_knows_is_named():
    records = [*of("x", 0.9, regime=ENCODER), *of("y", 0.8, regime=WORDS)]
    board = leaderboard.leaders(compare(records))["0%"]
    known = {row[0]: row[-1] for row in texts(board)}
    assert f"x (knows: {known['x']}) has the best" in sentence(*records)


def test_without_results_at_the_lowest_level_the_first_dataset_that_has_them_counts():
    dirty = [stored(name, dataset="a", dataset_digest="d2", level=0.1) for name in "xy"]
    assert sentence(stored("x"), *dirty).startswith("made-up: x has a mean AUROC, 90.0%")


def test_datasets_with_a_common_mean_have_a_sentence_together():
    two = [
        stored(name, figure=figure, dataset=dataset, dataset_digest=dataset)
        for name, figures in (("x", (0.9, 0.7)), ("y", (0.8, 0.75)), ("z", (0.99, None)))
        for dataset, figure in zip(("first", "second"), figures, strict=True)
        if figure
    ]
    assert re.search("first and second: x .* best mean AUROC, 80.0% at 0% ", sentence(*two))


def test_the_best_detector_of_the_sentence_is_the_first_of_the_leaders():
    known = [stored(name, "a", figure, known=10) for name, figure in (("x", 0.5), ("y", 0.9))]
    comparison = compare([*known, *of("x", 0.9), *of("y", 0.8)])
    board = leaderboard.leaders(comparison)["0%"]
    assert [row[:2] for row in texts(board)] == [["x", "*90.0"], ["y", "80.0"]]
    assert headline(comparison).startswith("made-up: x has the best")


DAY = 86_400  # seconds
MADE_BY = {"version": "1.2", "commit": "c0ffee", "command": "adbench-text run -d llr", "machine": "2 x CPU"}


def test_the_block_names_when_how_and_where_the_results_were_made():
    records = [stored(started=DAY, **MADE_BY), failed(started=3 * DAY, **MADE_BY, seed=1)]
    assert provenance(compare(records), "a store") == [
        ("results", "1 cell, 1 failed"),
        ("date", "1970-01-02 to 1970-01-04"),
        *MADE_BY.items(),
        ("store", "a store"),
        ("seeds", "0, 1"),
        ("made-up", "edition published; 40 training / 20 test documents"),
    ]


def test_what_no_run_tells_is_left_out_and_many_commands_are_counted():
    many = [stored(seed=seed, command=f"run {seed}") for seed in range(5)]
    facts = dict(provenance(compare(many)))
    assert facts["command"] == "run 4; run 3; run 2; 2 more"  # the newest first
    assert facts.keys() == {"results", "command", "seeds", "made-up"}
