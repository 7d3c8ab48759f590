from cells import compare, failed, record

from adbench_text.reports.summary import headlines, provenance

CLASSES = ("world", "sports", "business", "sci")


def of(detector, *figures, **changes):
    return [
        record(detector, inlier, figure, **changes) for inlier, figure in zip("abc", figures, strict=False)
    ]


def headline(*records, metric="auroc") -> str:
    (sentence,) = headlines(compare(records, metric))
    return sentence


def test_the_best_complete_detector_comes_with_its_lead_over_the_next():
    records = [*of("x", 0.9, 0.8), *of("y", 0.7, 0.75), *of("z", 0.6, 0.5)]
    assert headline(*records) == (
        "made-up: x is best, with a mean AUROC of 85.0% over 2 splits at 0% of outliers in the training "
        "data, 12.5 points above y."
    )


def test_what_is_incomplete_or_chosen_on_the_test_labels_is_not_the_best():
    records = [*of("partial", 0.99), failed("partial", "b"), *of("x", 0.9, 0.8)]
    records += of("oracle", 1.0, 1.0, oracle="true")
    records += of("batch", 0.95, 0.95, regime="unlabelled test batch")
    assert headline(*records).startswith(
        "made-up: x is the only complete detector, with a mean AUROC of 85.0%"
    )
    assert headline(failed("x", "a")) == "made-up: no detector has a complete AUROC yet."
    assert headline(*of("batch", 0.95, regime="unlabelled test batch")).startswith(
        "made-up: batch is the only"
    )


def test_where_no_detector_has_all_splits_those_that_were_run_are_compared():
    x, y = of("x", 0.9, 0.8, classes=tuple("abc")), of("y", 0.7, 0.7, classes=tuple("abc"))
    assert headline(x[0], y[0]) == (
        "made-up: x is best, with a mean AUROC of 90.0% over 1 of 3 splits at 0% of outliers in the "
        "training data, 20.0 points above y."
    )
    assert "x is best, with a mean AUROC of 85.0% over 2 of 3 splits" in headline(*x, *y)
    assert "x is the only complete detector, with a mean AUROC of 85.0% over 2 of 3" in headline(*x, y[0])
    assert headline(x[0], y[1]) == "made-up: no detector has a complete AUROC yet."
    news = [record("date", "world", 0.8, dataset="agnews")]
    assert "over 1 of 4 splits" in headline(*news)
    assert "published" not in headline(*news)


def test_equal_means_and_error_rates():
    assert "the training data, as high as y." in headline(*of("x", 0.9), *of("y", 0.9))
    sentence = headline(*of("x", 0.9), *of("y", 0.8), metric="fpr95")  # 1 - AUROC
    assert "x is best, with a mean FPR at 95 % TPR of 10.0% over 1 split at" in sentence
    assert "10.0 points below y" in sentence


def test_the_best_published_figure_is_named_on_clean_data_only():
    cells = [record("date", inlier, 0.8, dataset="agnews") for inlier in CLASSES]
    assert headline(*cells).endswith("; 10.0 points below the best published figure, DATE (paper).")
    dirty = [record("date", inlier, 0.8, dataset="agnews", level=0.1) for inlier in CLASSES]
    assert "published" not in headline(*dirty)


def test_the_best_published_figure_of_each_kind_of_knowledge_is_named():
    cells = [
        record("llr", name, 0.9, dataset="20news") for name in ("comp", "rec", "sci", "misc", "pol", "rel")
    ]
    assert headline(*cells).endswith(
        "; 6.1 points above the best published figure (knowledge: none), GPT-2 from scratch (Wu et al.); "
        "4.2 points above the best published figure (knowledge: encoder), MLKD (Wu et al.)."
    )
    assert "; 52.0 points below the best published figure (knowledge: none)" in headline(
        *cells, metric="fpr95"
    )


def test_the_best_at_the_highest_level_is_named_too():
    dirty = [*of("x", 0.8, level=0.1), *of("x", 0.7, level=0.15), *of("y", 0.75, level=0.15)]
    assert headline(*of("x", 0.9), *of("y", 0.8), *dirty).endswith(
        "10.0 points above y; at 15% y is best, with 75.0%."
    )
    assert "; at 15%" not in headline(*of("x", 0.9, 0.9), *of("x", 0.9, level=0.15))


def test_a_dataset_without_the_lowest_level_names_its_own():
    dirty = [record(name, dataset="other", dataset_digest="d2", level=0.1) for name in "xy"]
    assert headlines(compare([record("x"), *dirty]))[1] == (
        "other: not run at 0% of outliers in the training data; the table 'levels' has 10%."
    )


def test_datasets_with_a_common_mean_have_a_sentence_together():
    two = [
        record(name, figure=figure, dataset=dataset, dataset_digest=dataset)
        for name, figures in (("x", (0.9, 0.7)), ("y", (0.8, 0.75)), ("z", (0.99, None)))
        for dataset, figure in zip(("first", "second"), figures, strict=True)
        if figure
    ]
    assert headlines(compare(two))[0] == (
        "Over first and second: x is best, with a mean AUROC of 80.0% at 0% of outliers in the training "
        "data, 2.5 points above y."
    )
    assert len(headlines(compare(two))) == 3
    assert len(headlines(compare([*of("x", 0.9), *of("y", 0.8)]))) == 1


DAY = 86_400_000  # milliseconds
MADE_BY = {"version": "1.2", "commit": "c0ffee", "command": "adbench-text run -d llr", "machine": "2 x CPU"}


def test_the_block_names_when_how_and_where_the_results_were_made():
    records = [record(started=DAY, made_by=MADE_BY), failed(started=3 * DAY, made_by=MADE_BY, seed=1)]
    assert provenance(compare(records), "a store") == [
        ("results", "1 cell, 1 failed"),
        ("date", "1970-01-02 to 1970-01-04"),
        *MADE_BY.items(),
        ("store", "a store"),
        ("seeds", "0, 1"),
        ("made-up", "edition published; 40 training / 20 test documents"),
    ]


def test_what_no_run_tells_is_left_out_and_many_commands_are_counted():
    many = [record(seed=seed, made_by={"command": f"run {seed}"}) for seed in range(5)]
    facts = dict(provenance(compare(many)))
    assert facts["command"] == "run 4; run 3; run 2; 2 more"  # the newest first
    assert facts.keys() == {"results", "command", "seeds", "made-up"}
