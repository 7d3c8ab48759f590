"""A database is read by our own queries, a server by MLflow's search; both return the same."""

import math
import re
import sqlite3
from contextlib import closing

import pytest
from interpreters import printed
from stores import STARTED, corpus, execute, finished, left_out, log, log_one, only_cell, result, run_ids

from adbench_text.errors import TrackingError
from adbench_text.run.result import Point
from adbench_text.store import reading
from adbench_text.store.cells import row_of
from adbench_text.store.reading import ClientReader, DatabaseReader
from adbench_text.store.run import CELL, STATUS
from adbench_text.store.store import Store

EXPERIMENT = "adbench-text/tiny"


def readers(store: Store) -> tuple[DatabaseReader, ClientReader]:
    return store.reader, ClientReader(store.client)


def test_a_database_is_read_by_queries_that_return_what_mlflow_returns_page_by_page(store, monkeypatch):
    monkeypatch.setattr(reading, "_PAGE", 2)
    log(store, result(0.9, inlier="law"), result(0.8), result(None), result(0.7, dataset="other"))
    log(store, result(0.85))
    with store.sweep({"tiny": corpus()}, "a sweep"):
        curve = [Point(step, 1 / step, STARTED + step) for step in (1, 2, 10)]
        made = result(0.6, seed=3, curves={"loss": curve})
        log_one(store, made)
    gone = run_ids(store)[0]
    store.client.delete_run(gone)
    execute(store, "UPDATE latest_metrics SET value = 0, is_nan = 1 WHERE key = 'fit_seconds'")
    ours, mlflows = readers(store)
    assert isinstance(ours, DatabaseReader)
    assert sorted(ours.experiments()) == sorted(mlflows.experiments())
    rows = [[row_of(run, "x") for run in reader.runs(EXPERIMENT)] for reader in (ours, mlflows)]
    nan = [[row.pop("fit_seconds", 0) for row in part] for part in rows]
    limits = [row.pop("limit") for part in rows for row in part]
    assert all(map(math.isnan, limits))
    assert rows[0] == rows[1]
    assert [list(map(math.isnan, part)) for part in nan] == [list(map(math.isnan, nan[0]))] * 2
    assert math.isnan(nan[0][0])
    assert gone not in {row["run_id"] for row in rows[0]}
    assert [run.name for run in ours.runs(EXPERIMENT)] == [run.name for run in mlflows.runs(EXPERIMENT)]
    keys = [
        {run.run_id: (run.started, run.tags[CELL], run.tags[STATUS]) for run in r.runs(EXPERIMENT)}
        for r in (ours, mlflows)
    ]
    assert keys[0] == keys[1]


def test_what_is_finished_needs_neither_params_nor_metrics(store):
    log(store, result(0.9))
    cell = only_cell(store)
    execute(store, "DELETE FROM params")
    execute(store, "DELETE FROM latest_metrics")
    assert finished(store) == {cell.cell}
    assert re.search(f"{cell.run_id}.* lost .*'detector'", left_out(store)[0])


def test_a_cell_whose_newest_run_failed_is_not_finished(store):
    log(store, result(0.9))
    assert len(finished(store)) == 1
    log(store, result(None, started=STARTED + 2))
    assert finished(store) == set()
    log(store, result(0.9, started=STARTED + 3))
    assert len(finished(store)) == 1


@pytest.mark.parametrize("name", ["cell", "status"])
def test_a_run_without_the_tag_that_makes_it_finished_is_run_again(store, name):
    log(store, result(0.9))
    execute(store, "DELETE FROM tags WHERE key = ?", f"adbench_text.{name}")
    assert finished(store) == set()
    log(store, result(0.9, started=STARTED + 2))
    assert len(finished(store)) == 1


def test_mlflow_is_not_imported_to_read_a_database(store):
    log(store, result(0.9))
    code = (
        "import sys; from adbench_text.store.store import Store; "
        f"store = Store({store.uri!r}); "
        "print(len(store.cells(store.datasets())), len(store.ended(['tiny'])), 'mlflow' in sys.modules)"
    )
    assert printed(code).split() == ["1", "1", "False"]


def test_a_database_that_another_process_writes_to_is_one_line(store, monkeypatch):
    monkeypatch.setattr(reading, "_PATIENCE", 0.1)
    log(store, result(0.9))
    with closing(sqlite3.connect(store.file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TrackingError, match=f"locked {re.escape(store.uri)};"):
            store.cells(["tiny"])
    assert len(store.cells(["tiny"])) == 1
