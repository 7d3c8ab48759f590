"""Plug-ins, names and folders that go wrong: a failed cell or one line each, nothing written elsewhere."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from mlflow.exceptions import MlflowException
from sqlalchemy import make_url
from stores import runs

from adbench_text.cli.main import main
from adbench_text.errors import TrackingError
from adbench_text.store.store import Store

pytestmark = pytest.mark.usefixtures("toy_path")

# in this process, where tests can change things
RUN = ["run", "-s", "tiny", "-d", "counting", "--inlier", "sea", "--contamination", "0", "--jobs", "0"]


class BareError(Exception):
    def __str__(self):
        raise RuntimeError


ERRORS = [BareError(), SystemExit(0), ValueError("red \x1b[31m \udcff")]


@pytest.fixture
def toy():
    import toy_plugins

    return toy_plugins


@pytest.fixture(autouse=True)
def here(home, tmp_path, monkeypatch, empty_database) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    shutil.copy(empty_database, folder / "mlflow.db")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return folder


def opened_store() -> Store:
    """Return the default store; MLflow remembers a relative address of another test of this process."""
    return Store(f"sqlite:///{Path('mlflow.db').absolute()}")


def adbench(*words: str) -> tuple[int, str]:
    """Return the exit code and the output; nothing escapes, and a terminal may print all of it."""
    result = CliRunner().invoke(main, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Traceback" not in result.output
    assert all(line.isprintable() for line in result.output.splitlines())
    return result.exit_code, result.output


def raising(error):
    def method(*args, **kwargs):
        raise error

    return method


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("method", ["fit", "decision_function"])
def test_an_error_of_a_detector_costs_its_cell(method, error, toy, monkeypatch):
    monkeypatch.setattr(toy.Counting, method, raising(error))
    code, output = adbench(*RUN, "-d", "llr")
    assert code == 3
    assert f"failed: counting on tiny/sea at 0%, seed 0: {type(error).__name__}" in output
    assert "1 of 2 cells failed" in output


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("member", ["resources", "is_oracle", "regime"])
def test_a_detector_that_cannot_be_identified_costs_its_cells(member, error, toy, monkeypatch):
    method = raising(error) if member == "resources" else property(raising(error))
    monkeypatch.setattr(toy.Counting, member, method, raising=False)
    code, output = adbench(*RUN, "--inlier", "law", "-d", "llr")
    assert code == 3
    assert len(re.findall(f": counting .*identified: {type(error).__name__}", output)) == 1
    assert "2 of 4 cells failed" in output
    assert opened_store().cells(["tiny"])["detector"].iloc[0] == "llr"


@pytest.mark.parametrize("error", ERRORS)
def test_a_preparation_that_fails_is_one_line(error, toy, monkeypatch):
    monkeypatch.setattr(toy.Counting, "prepare", raising(error), raising=False)
    code, output = adbench(*RUN)
    assert code == 0
    assert len(re.findall(f"counting .*prepared: {type(error).__name__}", output)) == 1


@pytest.mark.parametrize("error", ERRORS)
def test_a_detector_that_cannot_be_built_is_one_line(error, toy, monkeypatch):
    monkeypatch.setattr(toy.Counting, "__init__", raising(error))
    code, output = adbench(*RUN)
    assert code in (1, 2)  # a ValueError may be about a setting
    assert output.startswith("Error: ")
    assert output.count("\n") == 1


PRESETS = [
    *map(raising, ERRORS),
    *(lambda dataset, value=value: value for value in (7, {"x": 3}, {"x": [5]})),
]


@pytest.mark.parametrize("presets", PRESETS)
def test_a_detector_whose_presets_cannot_be_read_costs_its_cells(presets, toy, monkeypatch):
    monkeypatch.setattr(toy.Counting, "presets", presets)
    code, output = adbench(*RUN, "-d", "llr")
    assert code == 3
    assert output.count("presets() of Counting fails") == 1
    assert opened_store().cells(["tiny"])["detector"].tolist() == ["llr"] * output.count("llr on tiny")


@pytest.mark.parametrize("name", ["../../evil", "a\x1b[2J", "lone \udcff", ""])
def test_class_names_that_cannot_be_printed_are_refused(name, toy, monkeypatch, tmp_path):
    monkeypatch.setattr(toy.Tiny, "classes", (name, "law", "sky"))
    code, output = adbench(*RUN[:5], "--inlier", "law", "--contamination", "0")
    if name.isprintable() and name:
        assert code == 0
    else:
        assert code == 1
        assert "'tiny'" in output
        assert f"got {name!r}" in output
    assert not list(tmp_path.parent.glob("*evil*"))


def test_names_and_values_that_mlflow_refuses_are_stored_under_others(toy, monkeypatch):
    odd = {"we ight!?é": "x" * 9000, "weight": 1.0, "lone \udcff": "\udcff\0", "n" * 400: 1}
    monkeypatch.setattr(toy.Counting, "get_params", lambda self: odd, raising=False)
    monkeypatch.setattr(toy.Counting, "resources", lambda self: {1: object, "a b/é:\n!": "\udcff"})
    monkeypatch.setattr(toy.Counting, "ran_on_", {"a!é\x1b": "\udcff"}, raising=False)
    for n_finished in (0, 1):
        code, output = adbench(*RUN, "--set", "weight=1")
        assert code == 0, output
        assert ("finished before" in output) == bool(n_finished)
    (run,) = runs(opened_store(), "cell")
    assert "detector.weight" in run.data.params
    assert "adbench_text.definition.resource.1" in run.data.tags
    summaries = list(opened_store()._search("tiny", "summary"))
    assert summaries[0].data.metrics["cells"] == 1


@pytest.mark.parametrize("name", ["it's", "a#b"])
def test_a_folder_with_signs_in_its_name_holds_its_own_store(name, here, tmp_path, monkeypatch):
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(here / "mlflow.db", folder)
    monkeypatch.chdir(folder)
    before = sorted(tmp_path.iterdir())
    assert adbench(*RUN)[0] == 0
    code, output = adbench("report", "--format", "csv")
    assert code == 0
    assert "counting,counting,default,,tiny,sea" in output
    assert sorted(path.name for path in tmp_path.iterdir() if path not in before) in ([], ["cache"])
    assert sorted(path.name for path in folder.iterdir()) == ["mlflow.db", "mlflow.db.cells", "mlruns"]
    assert list(folder.rglob("scores.csv"))
    commands: list[list[str]] = []
    popen = subprocess.Popen

    def start(command: list[str]) -> subprocess.Popen[bytes]:
        commands.append(command)
        return popen([sys.executable, "-c", ""])

    monkeypatch.setattr(subprocess, "Popen", start)
    assert adbench("ui", "--port", "15017")[0] == 0
    (address,) = [word for word in commands[0] if word.startswith("sqlite")]
    assert len(Store(f"sqlite:///{folder}/mlflow.db").cells(["tiny"]))
    assert (folder / "mlflow.db").samefile(make_url(address).database)


@pytest.mark.parametrize("name", ["a%41b", "100%", "what?"])
def test_a_folder_whose_name_means_something_else_in_an_address_is_one_line(
    name, here, tmp_path, monkeypatch
):
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)
    code, output = adbench(*RUN)
    assert (code, output.count("\n")) == (1, 1)
    assert str(tmp_path / name / "mlflow.db") in output
    assert " ? or a %" in output
    assert "--tracking-uri" in output
    assert list((tmp_path / name).iterdir()) == []


@pytest.mark.parametrize(
    "name", ["", "/", "/abs", "a/", "..", "a/../b", "a\\b", "a\x1bb", "\udcff", "x" * 200]
)
@pytest.mark.parametrize("command", [RUN, ["report"]])
def test_an_experiment_of_another_shape_is_refused(command, name, here):
    code, output = adbench(*command, "--experiment", name)
    assert code == 2
    assert output.count("\n") == 1
    assert output.startswith("Error: --experiment ")
    assert " 100 " in output
    assert f"got {name!r:.50}" in output
    assert [path.name for path in here.iterdir()] == ["mlflow.db"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("path", ["pipe.csv", "/dev/zero"])
@pytest.mark.parametrize("command", ["report --with", "report --sweep", "run --sweep", "odd a.txt --marked"])
def test_a_pipe_without_a_writer_and_a_device_are_refused(command, path, here):
    os.mkfifo("pipe.csv")
    Path("a.txt").write_text("the ship\nthe crew\n")
    code, output = adbench(*command.split(), path)
    assert (code, output.count("\n")) == (1, 1)
    assert path in output


def test_a_locked_database_is_called_locked(monkeypatch):
    store = opened_store()
    store.datasets()

    def wait_in_vain(*args):  # in earnest it takes SQLite 20 seconds
        raise MlflowException("(sqlite3.OperationalError) database is locked\n[SQL: ...")

    monkeypatch.setattr(store.client._client, "create_experiment", wait_in_vain)
    with pytest.raises(TrackingError, match=r"^Another process .*locked \S*mlflow\.db"):
        store.client.experiment_id("adbench-text/tiny")
