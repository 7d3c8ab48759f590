"""The artifacts of a cell are read beside the database, or through the server."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from stores import STARTED, execute, log, result
from sweep_processes import free_port
from sweep_processes import server as mlflow_server

from adbench_text.run.result import Point
from adbench_text.store.record import Record
from adbench_text.store.store import Store


def test_the_artifacts_of_a_store_that_was_moved_are_read(new_store, tmp_path):
    laptop = new_store("laptop")
    log(laptop, result())
    (tmp_path / "laptop").rename(tmp_path / "stick")
    moved = Store(f"sqlite:///{tmp_path / 'stick' / 'mlflow.db'}")
    (record,) = moved.cells(["tiny"])
    assert moved.artifact(record, "scores.csv").startswith("document,class")


@pytest.fixture
def renamed(new_store):
    """Returns the store of one cell whose artifacts are at an address, and its record."""

    def rename(address: str) -> tuple[Store, Record]:
        store = new_store("laptop")
        log(store, result())
        (record,) = store.cells(["tiny"])
        shutil.rmtree(Path(record.artifact_uri.removeprefix("file://")).parent)
        execute(store, "UPDATE runs SET artifact_uri = ?", address.replace("RUN", record.run_id))
        (record,) = Store(store.uri).cells(["tiny"])
        return store, record

    return rename


@pytest.mark.parametrize(
    "address",
    [
        "HOST/RUN/artifacts",
        "mlflow-artifacts:HOST/RUN/artifacts",
        "ftp:HOST/x",
        "file:HOST/RUN/artifacts",
        *("mlflow-artifacts:/1/RUN/artifacts", "s3://bucket/RUN/artifacts", "http://[::1"),
        *("runs:/RUN/x", "models:/x/1", "nonsense://x", "relative/RUN/artifacts", ""),
        *("/FOLDER/RUN/artifacts", "/FOLDER/laptop/../RUN/artifacts"),
    ],
)
def test_only_the_folder_of_a_database_is_read(address, renamed, tmp_path, server):
    host = server.url if address.startswith("HOST") else server.url.removeprefix("http:")
    address = address.replace("HOST", host)
    store, record = renamed(address.replace("/FOLDER", str(tmp_path)))
    elsewhere = tmp_path / record.run_id / "artifacts"
    elsewhere.mkdir(parents=True)
    (elsewhere / "scores.csv").write_text("secret")
    assert store.artifact(record, "scores.csv") is None
    assert server.asked == []


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
        for here, there in zip(*(store.cells(["tiny"]) for store in stores), strict=True):
            same = {"run_id": "", "artifact_uri": "", "made_by": {}}
            assert replace(here, **same) == replace(there, **same)
            of_stores = list(zip(stores, (here, there), strict=True))
            scores, copied = (store.artifact(record, "scores.csv") for store, record in of_stores)
            assert scores == copied is not None
            curves = [store.curve(record, "loss_total") for store, record in of_stores]
            assert curves[0] == curves[1]
