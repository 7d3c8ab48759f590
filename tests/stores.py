"""Results for stores of tests, and what these stores hold."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from mlflow import MlflowClient

from adbench_text.contract.dataset import Documents
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split_key import SplitKey
from adbench_text.metrics import METRICS, all_metrics
from adbench_text.run.cell import Cell
from adbench_text.run.result import Result
from adbench_text.store.store import Store

STARTED = 1e9  # seconds since the epoch


def corpus(name="tiny", edition="published") -> Corpus:
    documents = Documents([f"{name} {i}" for i in range(6)], np.array([0, 0, 0, 1, 1, 1]))
    return Corpus(name, ("sea", "law"), documents, documents, edition)


def result(figure=0.8, *, inlier="sea", seed=0, dataset="tiny", detector="d", level=0.0, **more) -> Result:
    """A result with this AUROC, or with the metrics of given scores; a failed one without a figure."""
    cell = Cell(detector, "default", {"k": 3}, SplitKey(dataset, inlier, level, seed))
    if figure is None:
        return Result(cell, metrics={}, **{"started": STARTED, "reason": "RuntimeError: no luck", **more})
    metrics = dict.fromkeys(METRICS, figure)
    metrics |= {"aupr_in": figure / 2, "aupr_out": figure / 4, "fpr95": 1 - figure}
    metrics |= {"n_train": 10.0, "n_test": 6.0, "fit_seconds": 2.0, "score_seconds": 1.0}
    values = {"scores": np.arange(6.0), "started": STARTED + figure, "places": np.arange(6)}
    if "outlier" not in (values := values | more):
        values["outlier"] = corpus().test.labels[values["places"]] != (inlier == "law")
    if more.get("scores") is not None:
        metrics |= all_metrics(values["outlier"], values["scores"])
    return Result(cell, metrics=metrics, **values)


def definition(result: Result, **changes: str) -> dict[str, str]:
    digest = corpus(result.cell.split.dataset).digest
    values = {"dataset_digest": digest, "code_version": "c0de", "harness_version": "1", "detector.k": "3"}
    return {**result.cell.columns(), **values, **changes}


def log_one(store: Store, made: Result, edition: Corpus | None = None, **changes: str) -> None:
    store.keep(made, definition(made, **changes), edition or corpus(made.cell.split.dataset))
    store.log_kept()


def log(store: Store, *results: Result, edition: Corpus | None = None, **changes: str) -> None:
    """Log results as one sweep; `changes` are of their definitions."""
    datasets = dict.fromkeys(made.cell.split.dataset for made in results)
    with store.sweep({name: corpus(name) for name in datasets}, "a sweep"):
        for made in results:
            log_one(store, made, edition, **changes)
        store.summarise(definition(made, **changes) for made in results)


def only_cell(store: Store) -> Any:
    """The row of the only cell of a store."""
    (row,) = store.cells(["tiny"]).itertuples()
    return row


def scores_of(store: Store, row: Any) -> str | None:
    """The scores of the test documents of a cell, as the store keeps them."""
    return store.artifact(row.dataset, row.run_id, "scores.csv")


def runs(store: Store, kind: str, dataset="tiny") -> list:
    """The runs of a kind in MLflow, newest first, deleted ones left out."""
    client = MlflowClient(store.uri)
    experiment = client.get_experiment_by_name(f"adbench-text/{dataset}")
    every = client.search_runs([experiment.experiment_id]) if experiment else []
    return [run for run in every if run.data.tags["adbench_text.kind"] == kind]


def finished(store: Store) -> set[str]:
    """The ids of the cells that ended well."""
    return {cell for cell, status in store.ended(["tiny"]).items() if status == "ok"}


def run_ids(store: Store) -> list[str]:
    return [run.info.run_id for run in runs(store, "cell")]


def files(folder: Path) -> dict[str, bytes]:
    """The content of all files below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def execute(store: Store, statement: str, *values: object) -> None:
    """Change the database of a store, as somebody might."""
    with closing(sqlite3.connect(store.file)) as database, database:
        database.execute(statement, values)


def left_out(store: Store) -> list[str]:
    """The messages about runs that are left out; there must be no others."""
    messages = []
    assert store.cells(["tiny"], messages.append).empty
    return messages
