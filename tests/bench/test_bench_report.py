"""Benchmark of a report on a store of 5,200 cells: 10 detectors, 10 splits, 4 levels, 13 seeds."""

import os
import random
import shutil
import sqlite3
import uuid
from contextlib import closing
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from adbench_text.corpora.corpus import Corpus
from adbench_text.plugins.dataset import Documents
from adbench_text.reports.build import Builder
from adbench_text.reports.contents import FORMATS, TABLES
from adbench_text.run.evaluate import evaluate
from adbench_text.store.record import definition_of
from adbench_text.store.store import Store
from adbench_text.sweep.cell import Cell
from adbench_text.sweep.construct import cell_id, definition

pytestmark = pytest.mark.bench
CLASSES = tuple("abcdefghij")
CELLS = list(product(range(10), CLASSES, (0, 0.05, 0.1, 0.15), range(13)))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with one cell as it is logged, of 7,600 test documents, and copies of it with its artifacts."""
    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    store = Store(f"sqlite:///{path}")
    rng = np.random.default_rng(0)
    labels = rng.integers(len(CLASSES), size=7600)
    texts = [" ".join(f"{CLASSES[label]}{i}" for i in rng.integers(50, size=30)) for label in labels]
    corpus = Corpus("made-up", CLASSES, Documents(texts, labels), Documents(texts, labels), "made up")
    cell = Cell("llr", "default", {"background": "uniform"}, "made-up", "a", 0.0, 0)
    with store.sweep({"made-up": corpus}, "a sweep"):
        store.keep(evaluate(cell, corpus), definition(cell, corpus), corpus)
        store.log_kept()
    with closing(sqlite3.connect(path)) as database:
        _copy(database)
    return store


def _copy(database: sqlite3.Connection) -> None:
    database.row_factory = sqlite3.Row
    (run,) = database.execute(
        "SELECT runs.* FROM runs JOIN tags USING (run_uuid) "
        "WHERE key = 'adbench_text.kind' AND value = 'cell'"
    )
    tables = ("params", "latest_metrics", "tags")
    rows = {
        name: database.execute(f"SELECT * FROM {name} WHERE run_uuid = ?", [run["run_uuid"]]).fetchall()
        for name in tables
    }
    logged = definition_of(*({row["key"]: row["value"] for row in rows[name]} for name in ("params", "tags")))
    figures = random.Random(0)
    for n, inlier, level, seed in CELLS:
        new = {"run_uuid": uuid.uuid4().hex}
        params = {"detector": f"d{n}", "inlier": inlier, "contamination": f"{level:g}", "seed": str(seed)}
        cell = cell_id({**logged, **params})
        copied = run["artifact_uri"].replace(run["run_uuid"], new["run_uuid"])
        shutil.copytree(_path(run["artifact_uri"]), _path(copied), copy_function=os.link)
        _insert(database, "runs", {**dict(run), **new, "artifact_uri": copied})
        for name, row in [(name, dict(row)) for name, found in rows.items() for row in found]:
            if name == "params":
                row["value"] = params.get(row["key"], row["value"])
            elif row["key"] == "auroc":
                row["value"] = figures.random()
            elif row["key"] == "adbench_text.cell":
                row["value"] = cell
            _insert(database, name, {**row, **new})
    database.execute("DELETE FROM tags WHERE run_uuid = ?", [run["run_uuid"]])
    database.commit()


def _path(uri: str) -> Path:
    return Path(uri.removeprefix("file://"))


def _insert(database: sqlite3.Connection, table: str, row: dict) -> None:
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))


@pytest.mark.benchmark(group="a report on 5,200 cells")
def test_terminal_report(benchmark, store):
    def report():
        return FORMATS["terminal"].render(Builder(store.cells(["made-up"])).report(), None)

    assert "d9" in benchmark.pedantic(report, rounds=2)


@pytest.mark.benchmark(group="a report on 5,200 cells")
def test_page_with_all_tables_figures_and_heat_maps(benchmark, store):
    def report():
        report = Builder(store.cells(["made-up"]), store=store).report(list(TABLES), pictures=True)
        return FORMATS["html"].render(report, None)

    page = benchmark.pedantic(report, rounds=1)
    print(f"\n    the page has {len(page.encode()) / 1e6:.1f} MB, {len(CELLS):,} cells")
    assert page.count("<figure") > 10
