"""Cells of several stores are brought into one, each once."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from stores import STARTED, definition, execute, files, finished, log, result, run_ids, runs
from sweep_processes import free_port
from sweep_processes import server as mlflow_server

from adbench_text.errors import TrackingError
from adbench_text.run.result import Point
from adbench_text.store.client import StoreClient
from adbench_text.store.merging import Merged, is_same, merge
from adbench_text.store.reading import local_folder
from adbench_text.store.record import Record
from adbench_text.store.store import Store
from adbench_text.sweep.construct import cell_id


def merged(target: Store, *sources: Store) -> list[Merged]:
    return merge([Store(each.uri, create=False) for each in sources], Store(target.uri))


def counts(results: list[Merged]) -> list[tuple[int, int]]:
    return [(each.copied, each.present) for each in results]


def noted(target: Store, *sources: Store) -> list[str]:
    """The messages of a merge about results that contradict each other, and about runs that were changed."""
    notes = []
    merge([Store(each.uri) for each in sources], Store(target.uri), note=notes.append)
    return notes


def trained(seed=7):
    """A cell with a curve."""
    curve = [Point(step, 1 / step, STARTED + step) for step in (1, 2, 10)]
    return result(0.6, seed=seed, curves={"loss_total": curve})


def content(store: Store, record) -> dict:
    """Everything that MLflow keeps of a cell, except where."""
    run = store.client.get_run(record.run_id)
    own = ("mlflow.parentRunId", "adbench_text.merged_from")
    return {
        "name": run.info.run_name,
        "times": (run.info.status, run.info.start_time, run.info.end_time, run.info.user_id),
        "params": run.data.params,
        "tags": {name: value for name, value in run.data.tags.items() if name not in own},
        "metrics": {
            name: [
                (p.value, p.timestamp, p.step) for p in store.client.get_metric_history(record.run_id, name)
            ]
            for name in run.data.metrics
        },
        "inputs": sorted(
            json.dumps(each.to_dictionary(), sort_keys=True) for each in run.inputs.dataset_inputs
        ),
        "artifacts": {
            item.path: store.artifact(record, item.path)
            for item in store.client.list_artifacts(record.run_id)
        },
    }


def test_all_of_a_cell_is_copied(new_store, tmp_path):
    laptop, target = new_store("laptop"), Store(f"sqlite:///{tmp_path / 'new.db'}")
    log(laptop, trained(), result(0.9))
    assert counts(merged(target, laptop)) == [(2, 0)]
    before, after = laptop.cells(["tiny"]), target.cells(["tiny"])
    assert [content(target, record) for record in after] == [content(laptop, record) for record in before]
    first = content(target, after[0])
    assert first["metrics"]["loss_total"] == [(1 / n, int(STARTED + n) * 1000, n) for n in (1, 2, 10)]
    assert "scores.csv" in first["artifacts"]
    assert len(first["inputs"]) == 2
    assert target.curve(after[0], "loss_total") == [(1, 1.0), (2, 0.5), (10, 0.1)]
    assert not {record.run_id for record in before} & {record.run_id for record in after}


def test_the_copies_are_below_one_run_per_dataset_that_names_the_sources(new_store):
    laptop, node, target = new_store("laptop"), new_store("node"), new_store("all")
    log(laptop, result(0.9), result(0.8, dataset="other"))
    log(node, result(0.7, inlier="law"))
    merged(target, laptop, node)
    (parent,), cells = runs(target, "merge"), runs(target, "cell")
    assert (parent.info.run_name, parent.info.status) == ("merge: 2 cells", "FINISHED")
    assert parent.data.tags["adbench_text.sources"].split("\n") == [node.uri, laptop.uri]  # the oldest first
    for store in (laptop, node):
        assert f"- `{store.uri}`: 1 cells" in parent.data.tags["mlflow.note.content"]
    assert {cell.data.tags["mlflow.parentRunId"] for cell in cells} == {parent.info.run_id}
    assert {cell.data.tags["adbench_text.merged_from"] for cell in cells} == {laptop.uri, node.uri}
    assert [run.data.tags["adbench_text.sources"] for run in runs(target, "merge", "other")] == [laptop.uri]


def test_the_summaries_are_those_of_all_cells(new_store):
    laptop, node, target = new_store("laptop"), new_store("node"), new_store("all")
    log(laptop, result(0.9))
    log(node, result(0.5, inlier="law"))
    log(target, result(0.1, inlier="law", detector="e"))
    merged(target, laptop, node)
    metrics = {run.info.run_name: run.data.metrics for run in runs(target, "summary")}
    assert metrics.keys() == {"d k=3 | 0%", "e k=3 | 0%"}
    assert metrics["d k=3 | 0%"]["auroc"] == pytest.approx(0.7)
    assert metrics["d k=3 | 0%"]["cells"] == 2


def test_of_equal_cells_the_newest_is_copied_and_none_that_the_target_has(new_store):
    laptop, node, target = new_store("laptop"), new_store("node"), new_store("all")
    log(laptop, result(0.9), result(0.5, seed=1), result(0.7, seed=2))
    log(node, result(0.8, started=STARTED + 9), result(0.6, seed=1, started=STARTED + 9))
    log(node, result(0.7, seed=2))  # the same, as in a backup
    log(target, result(0.4, seed=1))
    first = merged(target, laptop, node)
    assert counts(first) == [(1, 1), (1, 1)]
    assert [each.repeated for each in first] == [1, 1]
    assert sorted(record.metrics["auroc"] for record in target.cells(["tiny"])) == [0.4, 0.7, 0.8]
    assert counts(merged(target, laptop, node)) == [(0, 3), (0, 3)]
    assert len(run_ids(target)) == 3
    assert len(runs(target, "merge")) == 1


def test_failed_cells_are_not_copied_nor_is_a_run_that_was_changed(new_store):
    laptop, target = new_store("laptop"), new_store("all")
    log(laptop, result(0.9), result(0.8, seed=1), result(None, seed=2))
    execute(laptop, "UPDATE latest_metrics SET value = 2 WHERE key = 'auroc' AND value = 0.9")
    (note,) = noted(target, laptop)
    assert "has 2 as its 'auroc', which is not in [0, 1]" in note
    assert [record.seed for record in target.cells(["tiny"])] == [1]


def test_a_merge_names_results_that_contradict_each_other(new_store):
    laptop, node, target = new_store("laptop"), new_store("node"), new_store("all")
    log(laptop, result(0.86), result(0.5, seed=1), result(0.7, seed=2))
    log(node, result(0.25, started=STARTED + 9), result(0.50009, seed=1, started=STARTED + 9))
    log(target, result(0.6, seed=2))
    (note,) = noted(target, laptop, node)
    assert note.startswith("2 cells have several results that differ, though their definitions are equal: ")
    assert "by up to 61 points of AUROC (d k=3 on tiny/sea at 0%, seed 0: newest 25.0, older 86.0)." in note
    assert note.endswith(f"is copied; what {target.shown} has finished stays.")
    assert noted(new_store("another"), node) == []


def test_a_cell_that_failed_in_the_target_is_copied_if_the_result_is_newer(new_store):
    laptop, target = new_store("laptop"), new_store("all")
    log(laptop, result(0.9), result(0.8, seed=1))
    log(target, result(None, started=STARTED - 5), result(None, seed=1, started=STARTED + 5))
    (first,) = merged(target, laptop)
    assert (first.copied, first.present, first.outdated) == (1, 0, 1)
    assert finished(target) == {cell_id(definition(result()))}
    assert counts(merged(target, laptop)) == [(0, 1)]


# Interruptions


@pytest.mark.parametrize("method", ["create_run", "log_batch", "log_artifact", "set_terminated"])
def test_a_merge_that_was_cut_off_is_completed_without_duplicates(new_store, monkeypatch, method):
    laptop, target = new_store("laptop"), new_store("all")
    log(laptop, *(result(0.9, seed=seed) for seed in range(3)))
    calls = []

    def cut_off(self, name):
        real = getattr(self._client, name)

        def call(*args, **kwargs):
            done = self._attempt(real, *args, **kwargs)
            calls.append(name)
            if calls.count(method) == 3 and name == method:
                raise KeyboardInterrupt
            return done

        return call

    with monkeypatch.context() as patch:
        patch.setattr(StoreClient, "__getattr__", cut_off)
        with pytest.raises(KeyboardInterrupt):
            merged(target, laptop)
    assert {run.info.status for run in runs(target, "cell")} <= {"FINISHED"}
    assert [run.info.status for run in runs(target, "merge")] == ["KILLED"]
    (second,) = merged(target, laptop)
    assert second.copied + second.present == 3
    assert sorted(record.seed for record in target.cells(["tiny"])) == [0, 1, 2]
    assert len(run_ids(target)) == 3
    assert runs(target, "summary")[0].data.metrics["cells"] == 3


def test_summaries_that_a_killed_merge_did_not_write_are_written_by_the_next(new_store, monkeypatch):
    laptop, target = new_store("laptop"), new_store("all")
    log(laptop, result(0.9))
    with monkeypatch.context() as patch:
        patch.setattr(Store, "summarise", lambda self, definitions: None)
        merged(target, laptop)
    assert runs(target, "summary") == []
    assert counts(merged(target, laptop)) == [(0, 1)]
    assert len(runs(target, "summary")) == 1


# Sources that are refused, before anything is written


def test_a_source_that_is_the_target_is_refused(new_store, tmp_path):
    store = new_store("all")
    log(store, result())
    (tmp_path / "link.db").symlink_to(store.file)
    before = files(tmp_path)
    for uri in (store.uri, f"sqlite:///{tmp_path}/all/../all/mlflow.db", f"sqlite:///{tmp_path}/link.db"):
        with pytest.raises(TrackingError, match="is the store to merge into; give only the other stores"):
            merged(store, Store(uri))
    assert files(tmp_path) == before


def test_servers_are_the_same_whoever_asks(server):
    target = Store(f"http://me:s3cret@127.0.0.1:{server.server_port}")
    assert is_same(Store(f"{server.url}/"), target)
    assert not is_same(Store(f"{server.url}/other"), target)


# Artifacts


def test_the_artifacts_of_a_store_that_was_moved_are_copied(new_store, tmp_path):
    laptop, target = new_store("laptop"), new_store("all")
    log(laptop, result())
    (tmp_path / "laptop").rename(tmp_path / "stick")
    moved = Store(f"sqlite:///{tmp_path / 'stick' / 'mlflow.db'}")
    (record,) = moved.cells(["tiny"])
    assert moved.artifact(record, "scores.csv").startswith("document,class")
    assert [each.without_artifacts for each in merged(target, moved)] == [0]
    (copy,) = target.cells(["tiny"])
    assert target.artifact(copy, "scores.csv") == moved.artifact(record, "scores.csv")


def test_no_file_outside_the_folder_of_the_artifacts_is_copied(new_store, tmp_path):
    laptop, target = new_store("laptop"), new_store("all")
    log(laptop, result(), result(seed=1), result(seed=2))
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("secret")
    first, second, third = laptop.cells(["tiny"])
    folder = Path(first.artifact_uri.removeprefix("file://"))
    (folder / "key").symlink_to(secret / "key")
    (folder / "linked").symlink_to(secret)
    execute(laptop, "UPDATE runs SET artifact_uri = ? WHERE run_uuid = ?", secret.as_uri(), second.run_id)
    for gone in (second, third):
        shutil.rmtree(Path(gone.artifact_uri.removeprefix("file://")))
    (each,) = merged(target, laptop)
    assert (each.copied, each.without_artifacts, len(each.refused)) == (3, 2, 1)
    copied = files(tmp_path / "all" / "mlruns")
    assert [Path(name).name for name in copied] == ["scores.csv"]


# Addresses that a store names


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
def test_only_the_folder_of_a_database_is_read(address, renamed, new_store, tmp_path, server):
    host = server.url if address.startswith("HOST") else server.url.removeprefix("http:")
    address = address.replace("HOST", host)
    store, record = renamed(address.replace("/FOLDER", str(tmp_path)))
    elsewhere = tmp_path / record.run_id / "artifacts"
    elsewhere.mkdir(parents=True)
    (elsewhere / "scores.csv").write_text("secret")
    (each,) = merged(new_store("all"), store)
    assert (each.copied, each.without_artifacts) == (1, 1)
    (reason,) = each.refused
    assert reason.startswith(
        f"The artifacts of the run {record.run_id} are not read: {record.artifact_uri!r}"
    )
    assert store.artifact(record, "scores.csv") is None
    assert server.asked == []


def test_a_server_is_not_left_for_what_its_runs_name(renamed):
    _, record = renamed("mlflow-artifacts:/1/RUN/artifacts")

    def place(address: str, uri: str = "https://host:5000"):
        return local_folder(replace(record, artifact_uri=address), uri, None, "adbench-text/tiny")

    for own in ("mlflow-artifacts:/1", "mlflow-artifacts://host:5000/1", "https://host:5000/1", "s3://b/1"):
        assert place(own) is None
    others = "https://other/1 mlflow-artifacts://other:5000/1 https://host:5001/1 ftp://host:5000 runs:/x /x"
    for other in others.split():
        with pytest.raises(TrackingError, match="nor on its server"):
            place(other)


# Servers


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_cells_go_to_a_server_and_back(new_store, tmp_path):
    (tmp_path / "server").mkdir()
    port = free_port()
    with mlflow_server(tmp_path / "server", port):
        laptop, node, central = new_store("laptop"), new_store("node"), Store(f"http://127.0.0.1:{port}")
        log(laptop, trained(), result(0.9))
        log(node, result(0.8, started=STARTED + 9), result(0.7, inlier="law"))
        assert counts(merged(central, laptop, node)) == [(1, 0), (2, 0)]
        assert counts(merged(central, laptop, node)) == [(0, 2), (0, 2)]
        back = new_store("back")
        assert counts(merged(back, central)) == [(3, 0)]
        of_cell = {record.cell: (each, record) for each in (laptop, node) for record in each.cells(["tiny"])}
        for record in back.cells(["tiny"]):
            expected, copied = content(*of_cell[record.cell]), content(back, record)
            assert json.dumps(copied, sort_keys=True) == json.dumps(expected, sort_keys=True)
        log(central, result(None, seed=9))
        assert counts(merged(back, central)) == [(0, 3)]
