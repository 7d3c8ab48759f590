"""The artifacts of a cell are read beside the database, or through the server."""

import os

import pandas as pd
import pytest
from stores import STARTED, execute, log, only_cell, result, scores_of
from sweep_processes import free_port
from sweep_processes import server as mlflow_server

from adbench_text.run.result import Point
from adbench_text.store.run import MADE_BY
from adbench_text.store.store import Store


def test_the_artifacts_of_a_store_that_was_moved_are_read(new_store, tmp_path):
    laptop = new_store("laptop")
    log(laptop, result())
    (tmp_path / "laptop").rename(tmp_path / "stick")
    moved = Store(f"sqlite:///{tmp_path / 'stick' / 'mlflow.db'}")
    assert scores_of(moved, only_cell(moved)).startswith("document,class")


@pytest.mark.parametrize(
    "address", ["HOST/RUN/artifacts", "FOLDER/RUN/artifacts", "mlflow-artifacts:/1/RUN/artifacts"]
)
def test_of_a_database_only_the_folder_beside_it_is_read(address, new_store, tmp_path, server):
    store = new_store("laptop")
    log(store, result())
    cell = only_cell(store)
    written = tmp_path / "laptop" / "mlruns" / "adbench-text" / "tiny" / cell.run_id
    written.rename(tmp_path / cell.run_id)
    assert (tmp_path / cell.run_id / "artifacts" / "scores.csv").exists()
    address = address.replace("HOST", server.url).replace("FOLDER", str(tmp_path))
    execute(store, "UPDATE runs SET artifact_uri = ?", address.replace("RUN", cell.run_id))
    assert scores_of(Store(store.uri), cell) is None
    assert server.asked == []


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "link out of the store", "folder"])
def test_an_artifact_that_is_no_file_of_the_store_is_left_out(kind, new_store, tmp_path):
    store = new_store("theirs")
    log(store, result())
    cell = only_cell(store)
    path = next((tmp_path / "theirs" / "mlruns").rglob("scores.csv"))
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        other = tmp_path / "other"
        os.mkfifo(other) if "pipe" in kind else other.write_text("private")
        path.symlink_to(other)
    assert scores_of(Store(store.uri), cell) is None


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_server_returns_what_a_database_returns(new_store, tmp_path):
    (tmp_path / "server").mkdir()
    port = free_port()
    curve = [Point(step, 1 / step, STARTED + step) for step in (1, 2, 10)]
    with mlflow_server(tmp_path / "server", port):
        stores = new_store("laptop"), Store(f"http://127.0.0.1:{port}")
        for store in stores:
            log(store, result(0.6, seed=7, curves={"loss_total": curve}), result(0.9))
        here, there = (store.cells(["tiny"]) for store in stores)
        own = ["run_id", *MADE_BY]
        pd.testing.assert_frame_equal(here.drop(columns=own), there.drop(columns=own))
        for pair in zip(here.itertuples(), there.itertuples(), strict=True):
            scores, copied = map(scores_of, stores, pair)
            assert scores == copied is not None
            histories = [
                store.client.get_metric_history(cell.run_id, "loss_total")
                for store, cell in zip(stores, pair, strict=True)
            ]
            curves = [[(point.step, point.value) for point in history] for history in histories]
            assert curves[0] == curves[1]
