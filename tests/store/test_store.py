import itertools
import json
import math
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import pstdev
from urllib.parse import parse_qs

import numpy as np
import pytest
from journals import kill_writer
from mlflow import MlflowClient
from stores import STARTED, corpus, definition, execute, left_out, log, only_cell, result, runs, scores_of

import adbench_text
from adbench_text.contract.dataset import Documents
from adbench_text.contract.detector import TokenScore
from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import NoResultsError, RefusedError, TrackingError
from adbench_text.metrics import METRICS
from adbench_text.run import definition as definitions
from adbench_text.run.definition import cell_id
from adbench_text.run.examples import from_json
from adbench_text.run.result import Example, Point, Result
from adbench_text.store import store as tracking
from adbench_text.store import writing
from adbench_text.store.cells import COLUMNS, identities_of, keys_of, row_of
from adbench_text.store.client import StoreClient
from adbench_text.store.reading import ClientReader
from adbench_text.store.run import DEFINITION, definition_of, params_and_tags
from adbench_text.store.store import Store

OUTLIER = np.array([0, 0, 0, 1, 1, 1], dtype=bool)


def artifact(store: Store, run, name: str) -> str:
    return Path(MlflowClient(store.uri).download_artifacts(run.info.run_id, name)).read_text()


# What is written


def test_a_sweep_is_a_parent_run_with_its_cells_below_and_summaries_beside_it(store):
    log(store, result(inlier="sea"), result(inlier="law"))
    (sweep,), cells, (summary,) = (runs(store, kind) for kind in ("sweep", "cell", "summary"))
    assert len(cells) == 2
    parents = [run.data.tags.get("mlflow.parentRunId") for run in [sweep, summary, *cells]]
    assert parents == [None, None, sweep.info.run_id, sweep.info.run_id]
    assert {run.info.status for run in [sweep, *cells, summary]} == {"FINISHED"}
    assert sweep.info.run_name == "sweep: a sweep"
    assert summary.info.run_name == "d(k=3) | 0%"
    assert {run.info.run_name for run in cells} == {
        "d(k=3) | sea | 0% | seed 0",
        "d(k=3) | law | 0% | seed 0",
    }


def test_each_dataset_has_its_own_experiment_and_parent(store):
    log(store, result(dataset="tiny"), result(dataset="other"))
    assert store.datasets() == ["other", "tiny"]
    for dataset in ("tiny", "other"):
        (sweep,), (cell,) = runs(store, "sweep", dataset), runs(store, "cell", dataset)
        assert cell.data.tags["mlflow.parentRunId"] == sweep.info.run_id


def test_digests_and_versions_are_tags_and_read_back_exactly(store):
    more = {"resource.vectors 'x'": "d1gest", "resource.long": "v" * 5500}
    more |= {"harness_version": "9", "libraries": ""}
    log(store, result(), **more)
    (cell,) = runs(store, "cell")
    assert set(cell.data.params) == {
        *("detector", "preset", "configuration", "dataset", "inlier", "seed", "contamination", "detector.k"),
        "resource.long",  # too long for a tag
    }
    complete = definition(result(), **more)
    assert only_cell(store).cell == cell_id(complete)
    for reader in (store.reader, ClientReader(store.client)):
        (read,) = reader.runs("adbench-text/tiny")
        assert definition_of(read) == complete
        assert read.tags.items() >= params_and_tags(complete)[1].items()


def test_the_scores_of_the_test_documents_are_an_artifact_with_all_other_classes_as_outliers(store):
    log(store, result(inlier="law", scores=np.array([1 / 3, 1, 2, 3, 4, 5])))
    rows = artifact(store, runs(store, "cell")[0], "scores.csv").splitlines()
    assert rows[:2] == ["document,class,outlier,score", "0,sea,1,0.3333333333333333"]
    assert rows[2:] == ["1,sea,1,1.0", "2,sea,1,2.0", "3,law,0,3.0", "4,law,0,4.0", "5,law,0,5.0"]


def with_split(made: Result, **axes) -> Result:
    """The same result on another split."""
    return replace(made, cell=replace(made.cell, split=replace(made.cell.split, **axes)))


def thinned_result(**more) -> Result:
    made = result(scores=np.arange(4.0), places=np.array([0, 1, 2, 4]), **more)
    made.metrics["n_test"] = 4.0
    return with_split(made, test_outliers=0.25)


def test_a_thinned_test_set_is_named_in_runs_and_scores(store):
    log(store, result(), thinned_result())
    _, cell = sorted(runs(store, "cell"), key=lambda run: len(run.info.run_name))
    suffix = ", 25% outliers in the test set"
    assert cell.info.run_name == f"d(k=3) | sea | 0% | seed 0{suffix}"
    assert artifact(store, cell, "scores.csv").splitlines()[1:] == [
        *("0,sea,0,0.0", "1,sea,0,1.0", "2,sea,0,2.0", "4,law,1,3.0")
    ]
    assert {run.info.run_name for run in runs(store, "summary")} == {
        f"d(k=3) | 0%{of_split} (1 of 2 splits)" for of_split in ("", suffix)
    }


@pytest.mark.parametrize(
    "axes",
    [
        {"test_outliers": 0.25},
        {"known": 10},
        {"known": 10, "known_from": "law"},
        {"protocol": "leave-one-out", "contamination": 0.05},
        {"protocol": "rank-all", "seed": 7},
    ],
)
def test_the_split_of_a_cell_is_read_back_and_has_a_summary_of_its_own(store, axes):
    others = with_split(result(), **axes)
    log(store, result(), others)
    complete, other = sorted(keys_of(store.cells(["tiny"])), key=lambda key: len(str(key)))
    assert (complete, other) == (result().cell.split, others.cell.split)
    assert {run.info.run_name.partition(" | ")[2].partition(" (")[0] for run in runs(store, "summary")} == {
        key.level for key in (complete, other)
    }


def test_examples_are_artifacts(store):
    example = Example("most normal", 1, "sea", False, 0.5, "a ship", [TokenScore("ship", 2, 6, 0.25)])
    log(store, result(examples=[example]))
    (run,) = runs(store, "cell")
    assert from_json(artifact(store, run, "examples.json")) == [example]


def test_artifacts_and_curves_of_a_cell_are_read_back(store, tmp_path, monkeypatch):
    curve = [Point(step, 1 / step, 1e9 + step) for step in range(1, 1502)]  # more than MLflow takes at once
    log(store, result(curves={"loss_total": curve}, ran_on={"device": "abacus"}))
    assert runs(store, "cell")[0].data.tags["env.device"] == "abacus"
    cell = only_cell(store)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assert scores_of(store, cell).startswith("document,class,outlier,score\n")
    assert store.artifact("tiny", cell.run_id, "absent.csv") is None
    assert list((tmp_path / "temporary").iterdir()) == []
    history = store.client.get_metric_history(cell.run_id, "loss_total")
    assert [(point.step, point.value) for point in history] == [(step, 1 / step) for step in range(1, 1502)]


@pytest.mark.parametrize("is_written", [True, False])
def test_two_processes_may_describe_an_experiment_at_the_same_time(store, monkeypatch, is_written):
    client = MlflowClient(store.uri)

    def refused(experiment_id, key, text):
        if is_written:  # by the other process
            client.set_experiment_tag(experiment_id, key, text)
        raise RefusedError("duplicate key value violates unique constraint")

    monkeypatch.setattr(store.client, "set_experiment_tag", refused, raising=False)
    with nullcontext() if is_written else pytest.raises(RefusedError, match="duplicate key"):
        log(store, result())
    assert len(runs(store, "cell")) == is_written


def test_a_cell_carries_what_it_is_and_what_it_was_run_with(store, monkeypatch):
    monkeypatch.setattr(writing, "git_commit", lambda: "abc-dirty")
    log(store, result())
    tags = runs(store, "cell")[0].data.tags
    assert tags["adbench_text.documents"] == corpus().counts()
    assert tags["adbench_text.documents"].startswith("6 training / 6 test documents (sea 3/3, law 3/3); ")
    assert tags["mlflow.source.git.commit"] == "abc-dirty"
    assert {"env.python", "env.platform", "env.scikit-learn", "env.adbench-text"} <= tags.keys()
    assert tags["mlflow.note.content"] == "d(k=3) on tiny/sea at 0%, seed 0: published."


def test_what_a_detector_says_of_its_device_replaces_no_other_tag(store):
    log(store, result(ran_on={"adbench-text": "9.9", "device": "abacus"}))
    assert only_cell(store).version == adbench_text.__version__
    assert runs(store, "cell")[0].data.tags["env.device"] == "abacus"


def test_the_address_of_a_comparison_finds_the_summary_runs_best_first(store):
    log(store, result(0.7), result(0.9, level=0.1), result(0.8, detector="e", level=0.05))
    log(store, result(0.6, dataset="other"))
    store.client.create_experiment("adbench-text/empty")
    pages = store.comparisons()
    assert list(pages) == ["adbench-text/other", "adbench-text/tiny"]
    path, query = pages["adbench-text/tiny"].split("?")
    (experiment_id,) = re.fullmatch(r"#/experiments/(\d+)/runs", path).groups()
    assert not {"'", "`", " ", ")"}.intersection(query)  # no Markdown ends the address there
    values = {name: value for name, (value,) in parse_qs(query, strict_parsing=True).items()}
    assert (values["workflowType"], values["compareRunsMode"]) == ("machine_learning", "CHART")
    order = [f"{values['orderByKey']} {'ASC' if values['orderByAsc'] == 'true' else 'DESC'}"]
    found = MlflowClient(store.uri).search_runs([experiment_id], values["searchFilter"], order_by=order)
    assert [run.info.run_id for run in found] == [
        run.info.run_id for run in sorted(runs(store, "summary"), key=lambda run: -run.data.metrics["auroc"])
    ]
    assert [run.data.metrics["auroc"] for run in found] == [0.9, 0.8, 0.7]


@pytest.mark.parametrize("read_by", ["database", "client"])
def test_only_experiments_with_summary_runs_have_a_comparison(read_by, store):
    if read_by == "client":
        store.reader = ClientReader(store.client)
    assert store.comparisons() == {}
    log(store, result(0.7), result(0.6, dataset="other"), result(0.5, dataset="gone"))
    log(Store(store.uri, "team/x"), result(0.7))
    store.client.create_experiment("somebody's")
    store.client.delete_run(runs(store, "summary", "other")[0].info.run_id)
    store.client.delete_experiment(store.client.experiment_id("adbench-text/gone"))
    assert list(store.comparisons()) == ["adbench-text/tiny", "team/x/tiny"]


def test_the_description_of_an_experiment_links_its_comparison_until_somebody_writes_another(store):
    def description() -> str:
        return store.client.get_experiment_by_name("adbench-text/tiny").tags["mlflow.note.content"]

    log(store, result())
    first, *_ = description().splitlines()
    assert f"]({store.comparisons()['adbench-text/tiny']})" in first
    store.client.set_experiment_tag(
        store.client.experiment_id("adbench-text/tiny"), "mlflow.note.content", ""
    )
    log(store, result(seed=1))
    assert description() == ""


def test_an_experiment_of_an_older_store_gets_its_description(store):
    store.client.create_experiment("adbench-text/tiny")
    log(store, result())
    tags = store.client.get_experiment_by_name("adbench-text/tiny").tags
    assert store.comparisons()["adbench-text/tiny"] in tags["mlflow.note.content"]


def test_a_failed_cell_keeps_its_reason_of_any_length_and_traceback(store):
    log(store, result(None, inlier="law", reason="x" * 20_000))
    log(store, result(None, traceback="Traceback: no luck", started=STARTED + 1))
    cell, long = runs(store, "cell")
    assert len(long.data.tags["adbench_text.reason"]) == 5000
    assert cell.info.status == "FAILED"
    assert cell.data.tags["adbench_text.reason"] == "RuntimeError: no luck"
    note = cell.data.tags["mlflow.note.content"]
    assert note == "Failed: RuntimeError: no luck\n\nd(k=3) on tiny/sea at 0%, seed 0: published."
    assert artifact(store, cell, "traceback.txt") == "Traceback: no luck"
    cells = store.cells(["tiny"])
    assert [*cells["status"]] == ["failed", "failed"]
    assert [*map(len, cells["reason"])] == [5000, 21]


def test_artifacts_lie_beside_the_database_wherever_the_command_runs(store, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    log(store, result())
    assert list(elsewhere.iterdir()) == []
    assert len(list((tmp_path / "mlruns" / "adbench-text" / "tiny").glob("*/artifacts/scores.csv"))) == 1


def test_the_password_of_a_server_is_not_kept(store, monkeypatch):
    address = "http://me:secret@host?token=secret"
    monkeypatch.setattr("sys.argv", ["bin/adbench-text", "run", "--tracking-uri", address])
    log(store, result())
    for kind in ("sweep", "cell", "summary"):
        tags = runs(store, kind)[0].data.tags
        assert tags["mlflow.source.name"] == "adbench-text run --tracking-uri 'http://***@host?token=***'"
        assert "secret" not in str(tags)


# Summaries


def test_a_summary_has_means_and_spreads_over_splits_and_seeds(store):
    figures = {("sea", 0): 0.9, ("sea", 1): 0.8, ("law", 0): 0.5, ("law", 1): 0.6}
    log(store, *(result(figure, inlier=inlier, seed=seed) for (inlier, seed), figure in figures.items()))
    (summary,) = runs(store, "summary")
    metrics = summary.data.metrics
    assert metrics["cells"] == 4
    assert metrics["failed_cells"] == 0
    assert metrics["auroc"] == pytest.approx(0.7)  # of 0.85 and 0.55
    assert metrics["auroc_std"] == pytest.approx(pstdev([0.85, 0.55]))
    assert metrics["aupr_in"] == pytest.approx(0.35)
    assert metrics["fit_seconds"] == 2
    params, versions = params_and_tags(definition(result()))
    assert summary.data.params == {k: v for k, v in params.items() if k not in ("inlier", "seed")}
    assert versions.items() <= summary.data.tags.items()


def test_splits_count_the_same_however_many_seeds_they_have(store):
    log(store, result(0.9, seed=0), result(0.7, seed=1), result(0.4, inlier="law"))
    assert runs(store, "summary")[0].data.metrics["auroc"] == pytest.approx(0.6)  # of 0.8 and 0.4


def test_another_detector_level_code_or_corpus_has_its_own_summary(store):
    log(store, result(0.9), result(0.6, level=0.05), result(0.7, detector="e"))
    log(store, result(0.5), code_version="new")
    log(store, result(0.4), dataset_digest="other")
    log(store, result(0.3), **{"resource.vectors": "other"})
    figures = sorted(run.data.metrics["auroc"] for run in runs(store, "summary"))
    assert figures == [0.3, 0.4, 0.5, 0.6, 0.7, 0.9]


def test_a_summary_counts_failed_cells_and_drops_figures_from_before_they_failed(store):
    log(store, result(0.9), result(None, inlier="law"))
    metrics = runs(store, "summary")[0].data.metrics
    assert (metrics["cells"], metrics["failed_cells"], metrics["auroc"]) == (1, 1, 0.9)
    log(store, result(None, started=STARTED + 1))  # later than the others
    metrics = runs(store, "summary")[0].data.metrics
    assert (metrics["cells"], metrics["failed_cells"]) == (0, 2)
    assert math.isnan(metrics["auroc"])


def test_a_summary_whose_figures_are_the_same_is_not_written_again(store, monkeypatch):
    log(store, result(0.9), result(None, level=0.05))
    assert len(runs(store, "summary")) == 2
    monkeypatch.setattr(store, "_write", None)
    store.summarise([definition(result()), definition(result(level=0.05))])


# What is read


def test_a_run_that_lost_what_a_report_needs_is_named(store):
    log(store, result())
    (cell,) = runs(store, "cell")
    MlflowClient(store.uri).delete_tag(cell.info.run_id, "adbench_text.edition")
    (message,) = left_out(store)
    assert f"{cell.info.run_name!r} ({cell.info.run_id}) in {store.redacted} " in message
    assert re.search("changed: .* lost .*'edition'", message)


def test_a_cell_from_before_a_metric_is_finished_and_its_summary_has_no_figure_of_that_metric(store):
    older = result(0.8, inlier="law")
    del older.metrics["fpr95"]
    log(store, older, result(0.9))
    assert len(store.ended(["tiny"])) == 2
    assert store.cells(["tiny"])["fpr95"].isna().sum() == 1
    metrics = runs(store, "summary")[0].data.metrics
    assert math.isnan(metrics["fpr95"])
    assert metrics["auroc"] == pytest.approx(0.85)


def test_a_finished_cell_without_any_metric_has_lost_them(store):
    emptied = result()
    for name in METRICS:
        del emptied.metrics[name]
    with store.sweep({"tiny": corpus()}, "a sweep"):
        store.keep(emptied, definition(emptied), corpus())
        store.log_kept()
    assert re.search("lost .*'auroc'", left_out(store)[0])


def test_the_summary_of_a_preset_bears_its_name_and_that_of_a_grid_its_configuration_too(store):
    made = result()
    log(store, replace(made, cell=replace(made.cell, preset="paper")))
    for nu in (0.05, 0.1):
        grid = {"preset": "grid", "settings": {"nu": nu}, "n_configurations": 2}
        log(store, replace(made, cell=replace(made.cell, **grid)))
    names = sorted(run.info.run_name for run in runs(store, "summary"))
    of_all = [name.removesuffix(" (1 of 2 splits)") for name in names]
    assert of_all == [*(f"d:grid: nu={nu} | 0%" for nu in (0.05, 0.1)), "d:paper | 0%"]


def test_the_name_of_a_summary_says_how_many_splits_it_lacks(store):
    log(store, result(inlier="sea"))
    assert [run.info.run_name for run in runs(store, "summary")] == ["d(k=3) | 0% (1 of 2 splits)"]
    log(store, result(None, inlier="law"))
    assert [run.info.run_name for run in runs(store, "summary")] == ["d(k=3) | 0% (1 of 2 splits)"]
    log(store, result(inlier="law", started=STARTED + 10))
    assert [run.info.run_name for run in runs(store, "summary")] == ["d(k=3) | 0%"]


def test_a_cell_is_called_by_its_preset_not_by_its_settings(store):
    made = result()
    log(store, replace(made, cell=replace(made.cell, preset="paper")))
    assert runs(store, "cell")[0].info.run_name == "d:paper | sea | 0% | seed 0"


def test_cells_are_in_the_order_in_which_the_cells_began(store):
    log(store, result(0.9, inlier="law"), edition=replace(corpus(), is_published=True))
    log(store, result(0.8, level=0.05, seed=3), edition=replace(corpus(edition="odd"), limit=2))
    table = store.cells(["tiny"])
    first, second = table.itertuples()
    assert (first.auroc, second.auroc) == (0.8, 0.9)
    assert identities_of(table)[0] == result(level=0.05, seed=3).cell.identity
    assert first.documents.startswith("6 training")
    assert (first.limit, first.published, first.edition) == (2, False, "odd")
    assert math.isnan(second.limit)
    assert second.published


def test_the_newest_of_equal_cells_counts_and_the_older_ones_are_still_there(store):
    log(store, result(0.5), result(0.9, started=STARTED + 2))
    log(store, result(0.7, started=STARTED + 5), result(None, started=STARTED - 5))
    log(store, result(0.6, seed=1))
    assert [*store.cells(["tiny"])["auroc"]] == [0.6, 0.7]
    every = store.every_cell(["tiny"])
    assert [*every["auroc"].fillna(0)] == [0, 0.5, 0.6, 0.9, 0.7]
    assert [*every["status"]] == ["failed", *["ok"] * 4]
    assert every["cell"].nunique() == 2
    log(store, result(None, started=STARTED + 20))
    assert [*store.cells(["tiny"])["status"]] == ["ok", "failed"]


@pytest.mark.parametrize("results", [[], [result()], [result(None)], [result(), result(None, seed=1)]])
def test_a_table_of_cells_has_the_same_columns_and_types_whatever_is_in_it(store, results):
    log(store, *results)
    for table in (store.cells(["tiny"]), store.every_cell(["tiny"])):
        assert [*table.columns] == [*COLUMNS]
        assert [*map(str, table.dtypes)] == [*map(kind_of, COLUMNS.values())]
        assert len(table) == len(results)
        assert not table.loc[:, [isinstance(each, str) for each in COLUMNS.values()]].isna().any(axis=None)


def kind_of(default) -> str:
    """The type of a column, from what stands in it for no value."""
    kinds = {str: "str", bool: "bool", int: "int64", float: "float64"}
    return kinds.get(type(default), "datetime64[ns, UTC]")


def test_a_failed_cell_has_no_figures_and_its_other_columns(store):
    log(store, result(None, seed=3, level=0.05))
    cell = only_cell(store)
    assert (cell.name, cell.detector, cell.preset, cell.configuration) == ("d(k=3)", "d", "default", "k=3")
    assert (cell.seed, cell.contamination, cell.protocol, cell.test_outliers) == (3, 0.05, "one-vs-rest", 1)
    assert (cell.known, cell.known_from, cell.n_configurations, cell.oracle) == (0, "", 1, False)
    assert all(map(math.isnan, (cell.auroc, cell.n_test, cell.fit_seconds, cell.auroc_seen)))
    assert cell.started.timestamp() == STARTED
    assert cell.source == ""


def test_the_classes_of_the_corpus_are_a_column(store):
    log(store, result())
    assert json.loads(only_cell(store).classes) == [*corpus().classes]
    (read,) = ClientReader(store.client).runs("adbench-text/tiny")
    assert row_of(read, "x")["classes"] == only_cell(store).classes
    names = tuple(f"{number} {'long' * 30}" for number in range(50))
    documents = Documents([f"text {name}" for name in names], np.arange(50))
    test = {"scores": np.arange(50.0), "places": np.arange(50), "outlier": np.arange(50) > 0}
    made = result(0.9, inlier=names[0], dataset="many", **test)
    log(store, made, edition=Corpus("many", names, documents, documents, "long names"))
    assert [*store.cells(["many"])["classes"]] == [""]  # more than a tag may hold
    assert [*store.cells(["many"])["n_splits"]] == [50]
    (summary,) = runs(store, "summary", "many")
    assert summary.info.run_name.endswith("(1 of 50 splits)")


@pytest.mark.parametrize("reason", ["*" * 9000, "<" * 9000])
def test_a_long_reason_fits_into_the_tags_of_a_store(store, reason):
    log(store, result(None, reason=reason))
    (run,) = runs(store, "cell")
    assert max(map(len, run.data.tags.values())) <= 8000


def test_a_store_that_lacks_the_number_of_splits_counts_the_classes(store):
    log(store, result())
    cells = store.cells(["tiny"]).assign(n_splits=math.nan)
    assert writing.run_of_summary(definition(result()), cells).name.endswith("(1 of 2 splits)")


@pytest.mark.parametrize("name", ["seed", "contamination", "known", "test_outliers"])
def test_a_run_whose_number_is_none_is_named(store, name):
    log(store, result(), **{name: "1.5x"})
    (message,) = left_out(store)
    assert "changed: " in message
    assert "'1.5x'" in message
    assert store.uri in message


def test_a_class_may_have_an_empty_name(store):
    log(store, result(inlier=""))
    assert only_cell(store).inlier == ""


def edit(store: Store, table: str, key: str, value: str | float, is_nan: int = 0) -> None:
    """Change a param, tag or metric of all runs."""
    execute(store, f"UPDATE {table} SET value = ? WHERE key = ?", value, key)
    if table == "latest_metrics":
        execute(store, "UPDATE latest_metrics SET is_nan = ? WHERE key = ?", is_nan, key)


@pytest.mark.parametrize("name", ["auroc", "aupr_in", "fpr95", "auroc_high", "auroc_seen"])
def test_a_run_with_an_impossible_metric_is_named_and_left_out(store, name):
    made = result()
    made.metrics.update(auroc_high=1 + 1e-12, auroc_seen=0.5)  # the first is a sum, rounded
    log(store, made)
    assert len(store.cells(["tiny"])) == 1
    for value, shown in ((5, "5"), (-1, "-1"), (math.nan, "nan"), (1e308, "1e+308")):
        edit(store, "latest_metrics", name, 0 if math.isnan(value) else value, math.isnan(value))
        (message,) = left_out(store)
        assert re.search(rf" {re.escape(shown)} .*{name!r}, .*\[0, 1\]", message)


def test_a_run_with_a_negative_cost_is_named_and_left_out(store):
    log(store, result())
    edit(store, "latest_metrics", "fit_seconds", -3)
    assert re.search(" -3 .*'fit_seconds', .*negative", left_out(store)[0])


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("params", "seed", "00"),
        ("params", "detector.k", "4"),
        ("params", "contamination", "0.0"),
        ("tags", f"{DEFINITION}code_version", "other"),
        ("tags", "adbench_text.cell", "0123456789abcdef"),
    ],
)
def test_a_run_whose_definition_is_not_that_of_its_id_is_named_and_left_out(store, table, key, value):
    log(store, result())
    (run,) = runs(store, "cell")
    edit(store, table, key, value)
    assert re.search(f"{run.info.run_id}.* changed: .*params", left_out(store)[0])


@pytest.mark.parametrize(
    "text", ["", " ", " x ", "\t\r\n", "é\u0301", "\U0001d54f", "x" * 5900, "'\"\\;", "\ud800\0"]
)
def test_a_definition_of_any_text_is_not_taken_for_a_changed_one(store, text):
    value = definitions._accepted_value(text)
    name = definitions.accepted_name(f"detector.{text}")
    log(store, result(), **{name: value, f"resource.{name}": value})
    assert len(store.cells(["tiny"])) == 1
    (read,) = ClientReader(store.client).runs("adbench-text/tiny")
    assert definition_of(read)[name] == value


def test_an_older_result_counts_if_the_newest_was_changed(store):
    log(store, result(0.7))
    edit(store, "latest_metrics", "auroc", 7)
    log(store, result(0.6, started=1e8))
    messages = []
    assert [*store.cells(["tiny"], messages.append)["auroc"]] == [0.6]
    assert len(messages) == 1


def test_a_kept_result_is_logged_once_by_the_next_process(store):
    """The first process is killed: before it logs the result, after that, or in the middle."""
    with store.sweep({"tiny": corpus()}, "a sweep"):
        store.keep(result(), definition(result()), corpus())
    assert store.ended(["tiny"]) == {}
    (path,) = store.journal.folder.glob("*.json")
    entry = path.read_text()
    next_process = Store(store.uri)
    next_process.log_kept()
    assert list(next_process.ended(["tiny"]).values()) == ["ok"]
    assert not path.exists()
    path.write_text(entry)  # as if it had been killed before it removed the entry
    Store(store.uri).log_kept()
    assert len(runs(store, "cell")) == 1
    assert not path.exists()


@pytest.mark.parametrize("error", [TrackingError("lost"), KeyError("lost"), TypeError("lost")])
def test_a_result_whose_logging_failed_in_the_middle_is_kept_and_logged_once(error, store, monkeypatch):
    def fail(*_, **__):
        raise error

    with store.sweep({"tiny": corpus()}, "a sweep"):
        store.keep(result(), definition(result()), corpus())
        with monkeypatch.context() as patch:
            patch.setattr(tracking.StoreClient, "log_text", fail, raising=False)
            with pytest.raises(type(error), match="lost"):
                store.log_kept()
        store.log_kept()
    assert [run.info.status for run in runs(store, "cell")] == ["FINISHED"]


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"curves": {"training//loss": [[1, 0.5, 1]]}}, "training//loss"),
        ({"curves": {"training/loss": [[2**70, 0.5, 1]]}}, "too large"),
        ({"started": 2**70}, "too large"),
    ],
)
def test_a_result_that_the_store_refuses_is_set_aside_and_stops_no_other(part, reason, store):
    with store.sweep({"tiny": corpus()}, "a sweep"):
        for inlier in ("sea", "law"):
            store.keep(result(inlier=inlier), definition(result(inlier=inlier)), corpus())
        path, _ = sorted(store.journal.folder.glob("*.json"))
        entry = json.loads(path.read_text())
        path.write_text(json.dumps(entry | part))
        refused = store.log_kept()
    assert [*refused] == [entry["tags"]["adbench_text.cell"]]
    assert reason in str(refused)
    assert (store.journal.folder / "refused" / path.name).is_file()
    assert len(store.ended(["tiny"])) == 1
    assert [run.info.status for run in runs(store, "cell")] == ["FINISHED"]
    assert Store(store.uri).log_kept() == {}


@pytest.mark.parametrize(
    "name",
    ["a//b", "a/", "/a", "//a", "../a", "a/../b", "a/./b", ".", "..", "...", "\n", "x" * 300, "a/é", ""],
)
def test_curves_resources_and_facts_of_any_name_are_logged(name, store):
    made = result(curves={f"training/{name}": [Point(1, 0.5, STARTED)]}, ran_on={name: "x"})
    log(store, made, **{definitions.accepted_name(f"resource.{name}"): "1"})
    assert len(store.cells(["tiny"])) == 1
    (run,) = runs(store, "cell")
    assert any(curve.startswith("training") for curve in run.data.metrics)


def test_results_wait_while_their_experiment_is_deleted(store):
    with store.sweep({"tiny": corpus()}, "a sweep"):
        store.keep(result(), definition(result()), corpus())
    client = MlflowClient(store.uri)
    number = client.get_experiment_by_name("adbench-text/tiny").experiment_id
    client.delete_experiment(number)
    with pytest.raises(TrackingError, match=f"restore -x {number}"):
        Store(store.uri).log_kept()
    client.restore_experiment(number)
    Store(store.uri).log_kept()
    assert list(store.ended(["tiny"]).values()) == ["ok"]


def test_the_notes_of_runs_show_names_as_they_are(store):
    name = "[sea](http://here) `x` <b>"
    log(store, result(None, inlier=name, reason="![picture](http://here)"))
    for run in runs(store, "cell") + runs(store, "sweep"):
        note = run.data.tags["mlflow.note.content"].replace("\\[", "").replace("\\<", "")
        assert not {"[", "<"} & set(note)


def test_results_of_one_experiment_are_not_logged_in_another(store):
    with store.sweep({"tiny": corpus()}, "a sweep"):
        store.keep(result(), definition(result()), corpus())
    other = Store(store.uri, "other")
    other.log_kept()
    assert other.ended(["tiny"]) == {}
    Store(store.uri).log_kept()
    assert list(store.ended(["tiny"]).values()) == ["ok"]


def test_experiments_of_others_are_not_ours(store):
    for name in ("adbench-texts/x", "my/adbench-text/y", "adbench-text"):
        MlflowClient(store.uri).create_experiment(name)
    log(store, result())
    assert store.datasets() == ["tiny"]
    assert Store(store.uri, "my/adbench-text").datasets() == ["y"]


def test_results_of_an_experiment_within_ours_are_not_ours(store):
    for each in (store, Store(store.uri, f"{store.experiment}/pilot")):
        log(each, result())
    held = store.datasets()
    assert held == ["pilot/tiny", "tiny"]
    assert len(store.cells(held)) == len(store.cells(["tiny"])) == 1


# Cut off


def interrupt_in_log(store: Store, monkeypatch, error: type[BaseException]) -> None:
    n_files = itertools.count()

    def cut_off(*_):
        if next(n_files):  # the first is of the first cell
            raise error

    with monkeypatch.context() as patch:
        patch.setattr(StoreClient, "log_text", cut_off, raising=False)
        with pytest.raises(error):
            log(store, result(), result(inlier="law"))


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, "KILLED"), (ZeroDivisionError, "FAILED")])
def test_a_cell_that_was_being_logged_when_a_sweep_was_cut_off_is_logged_once(
    error, status, store, monkeypatch
):
    interrupt_in_log(store, monkeypatch, error)
    assert [run.info.status for run in runs(store, "sweep")] == [status]
    assert len(store.ended(["tiny"])) == len(store.cells(["tiny"])) == 1
    Store(store.uri).log_kept()
    assert [run.info.status for run in runs(store, "cell")] == ["FINISHED", "FINISHED"]
    assert len(store.ended(["tiny"])) == 2


def test_a_cell_that_is_being_written_by_another_process_is_neither_counted_nor_deleted(store):
    log(store, result())
    client = MlflowClient(store.uri)
    experiment = client.get_experiment_by_name("adbench-text/tiny").experiment_id
    tags = {"adbench_text.kind": "cell", "adbench_text.cell": "other", "mlflow.parentRunId": "another sweep"}
    client.create_run(experiment, tags=tags)
    assert len(store.cells(["tiny"])) == 1
    log(store, result(inlier="law"))
    assert {run.info.status for run in runs(store, "cell")} == {"FINISHED", "RUNNING"}


def test_ctrl_c_inside_mlflow_waits_until_it_is_done(store):
    class Client:
        def search_experiments(self, page_token=None):
            os.kill(os.getpid(), signal.SIGINT)
            done.append(True)
            return []

    done: list[bool] = []
    store.client._client = Client()
    with pytest.raises(KeyboardInterrupt):
        list(tracking.pages(store.client.search_experiments))
    assert done == [True]


# Stores that cannot be used


def test_a_store_is_not_made_before_it_is_needed(tmp_path):
    Store(f"sqlite:///{tmp_path / 'mlflow.db'}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [None, b""])
def test_reading_makes_no_store(content, tmp_path):
    path = tmp_path / "mlflow.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NoResultsError, match=re.escape(f"sqlite:///{path} ")):
        Store(f"sqlite:///{path}", create=False)
    assert not path.exists() or path.read_bytes() == content


def test_a_deleted_experiment_is_reported_with_the_command_that_restores_it(store):
    log(store, result(dataset="gone"))
    client = MlflowClient(store.uri)
    client.delete_experiment(client.get_experiment_by_name("adbench-text/gone").experiment_id)
    again = Store(store.uri)
    with pytest.raises(TrackingError, match="restore -x 1"):
        log(again, result(), result(dataset="gone"))
    assert again.datasets() == ["tiny"]
    assert again.cells(["gone"]).empty


# New stores


def integrity(path) -> str:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("PRAGMA integrity_check").fetchone()[0]


@pytest.mark.slow
def test_a_creation_that_is_cut_off_leaves_no_store_and_the_next_one_works(tmp_path):
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    dies = (
        "import os, signal; from mlflow.store.db import utils;"
        "utils._upgrade_db = lambda engine: os.kill(os.getpid(), signal.SIGKILL);"
        f"from adbench_text.store.store import Store; Store({uri!r}).datasets()"
    )
    assert subprocess.run([sys.executable, "-c", dies], check=False).returncode == -signal.SIGKILL
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mlflow.db.lock", "mlflow.db.new"]
    log(Store(uri), result())
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["mlflow.db"]
    assert len(Store(uri).cells(["tiny"])) == 1


def test_the_journal_of_a_deleted_store_does_not_spoil_a_new_one(store, tmp_path):
    path = tmp_path / "mlflow.db"
    kill_writer(path)
    path.unlink()
    again = Store(store.uri)
    log(again, result())
    assert len(again.cells(["tiny"])) == 1
    assert integrity(path) == "ok"


def test_a_link_to_a_store_stays_one(tmp_path):
    (tmp_path / "mlflow.db").symlink_to(tmp_path / "elsewhere.db")
    StoreClient(f"sqlite:///{tmp_path / 'mlflow.db'}")
    assert (tmp_path / "mlflow.db").is_symlink()
    assert integrity(tmp_path / "elsewhere.db") == "ok"


def test_a_database_of_another_mlflow_is_one_line(store, tmp_path):
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = 'unknown'")
    uri = f"sqlite:///{tmp_path}/./mlflow.db"  # MLflow remembers what it has checked
    with pytest.raises(TrackingError, match=rf"^The store {re.escape(uri)} [^\n]+: [^\n]+$"):
        StoreClient(uri)


def test_a_server_that_went_away_is_not_waited_for_twice(server):
    store = Store.__new__(Store)
    store.uri = server.url

    class Client:
        calls = 0

        def search_experiments(self, page_token=None):
            self.calls += 1
            raise ConnectionError("gone")

    store.__dict__["client"] = tracking.StoreClient(server.url)
    store.client._client = client = Client()
    with pytest.raises(TrackingError, match="gone"):  # the server is there: it may do better next time
        list(tracking.pages(store.client.search_experiments))
    server.shutdown()
    server.server_close()
    for _ in range(3):
        with pytest.raises(TrackingError, match=rf"{re.escape(server.url)} \(ConnectionError\)"):
            list(tracking.pages(store.client.search_experiments))
    assert client.calls == 2


@pytest.mark.slow
def test_the_recipe_for_another_metric_prints_its_figures_and_nothing_else(store):
    log(store, result(), result(inlier="law"))
    page = (Path(__file__).parents[2] / "docs" / "mlflow.md").read_text(encoding="utf-8")
    recipe = textwrap.dedent(page.partition("## Another metric")[2].partition("\n\n")[2].partition("\n\n")[2])
    recipe = recipe.replace("sqlite:///mlflow.db", store.uri).replace("20news", "tiny")
    environment = {name: value for name, value in os.environ.items() if "PROGRESS_BAR" not in name}
    ran = subprocess.run(
        [sys.executable, "-c", recipe],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=True,
    )
    assert sorted(ran.stdout.splitlines()) == ["d law 0.5", "d sea 0.5"]
    assert "Downloading" not in ran.stderr


def test_results_of_an_unreleased_version_are_counted_and_left_out_of_everything(store):
    log(store, result(0.8), result(0.7, inlier="law"))
    execute(store, "DELETE FROM tags WHERE key = ?", f"{DEFINITION}harness_version")
    (message,) = left_out(store)
    assert "2 results of tiny" in message
    log(store, result(0.6))
    assert store.cells(["tiny"])["auroc"].tolist() == [0.6]
