"""The report on several stores, and on stores that somebody changed or that are read-only."""

import csv
import io
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from stores import STARTED, execute, files, log, result

from adbench_text.cli.main import main
from adbench_text.store.store import Store


@pytest.fixture
def stores(empty_database, tmp_path, monkeypatch) -> list[Store]:
    """Two stores in folders of their own: three cells, of which one is in both."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    made = []
    for name in ("my laptop", "node"):
        Path(name).mkdir()
        made.append(Store(f"sqlite:///{shutil.copy(empty_database, Path(name) / 'mlflow.db')}"))
    log(made[0], result(0.9), result(0.8, seed=1))
    log(made[1], result(0.7, started=STARTED + 9), result(None, seed=2))
    shutil.copy(empty_database, "mlflow.db")
    return made


def adbench(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def cells(*words: str) -> list[tuple[str, str, str]]:
    done = adbench("report", "--format", "csv", *words)
    assert done.exit_code == 0, done.output
    rows = csv.DictReader(io.StringIO(done.stdout))
    return sorted((row["seed"], row["auroc"], row["status"]) for row in rows)


def test_a_store_that_cannot_be_written_is_read(stores, monkeypatch):
    laptop = stores[0].uri
    before = files(Path("my laptop"))
    access = os.access
    monkeypatch.setattr(  # root may write everything
        "os.access",
        lambda path, mode: access(path, mode) and not (mode & os.W_OK and "my laptop" in str(path)),
    )
    assert [row[:2] for row in cells("--tracking-uri", laptop)] == [("0", "0.9"), ("1", "0.8")]
    page = adbench("report", "--format", "html", "--output", "page.html", "--tracking-uri", laptop)
    assert page.exit_code == 0, page.output
    assert files(Path("my laptop")) == before
    refused = adbench("ui", "--tracking-uri", laptop)
    assert refused.exit_code == 1
    assert "cannot be used: cannot write it" in refused.stderr


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("sqlite:///absent.db", "There are no results in sqlite:///absent.db yet"),
        ("node", "'node' is no store: give a SQLite file"),
    ],
)
def test_a_store_that_cannot_be_used_is_one_line(stores, source, line):
    done = adbench("report", "--tracking-uri", stores[0].uri, "--tracking-uri", source)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {line}")
    assert done.stderr.count("\n") == 1


def test_a_report_on_several_stores_has_each_cell_once(stores):
    both = [word for store in stores for word in ("--tracking-uri", store.uri)]
    assert cells(*both) == [("0", "0.7", "ok"), ("1", "0.8", "ok"), ("2", "", "failed")]
    assert cells("--tracking-uri", stores[0].uri) == [("0", "0.9", "ok"), ("1", "0.8", "ok")]


def test_the_variable_of_mlflow_holds_one_address_even_with_spaces(stores, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", stores[0].uri)
    assert " " in stores[0].uri
    assert len(cells()) == 2


def test_a_report_names_the_run_that_was_changed_and_leaves_it_out(stores):
    node = stores[1].uri
    execute(stores[1], "UPDATE latest_metrics SET value = 5 WHERE key = 'auroc'")
    execute(stores[1], "UPDATE params SET value = '00' WHERE key = 'seed' AND value = '2'")
    for words in (["--format", "markdown"], ["--format", "csv"], ["--format", "html"]):
        done = adbench("report", "--tracking-uri", stores[0].uri, "--tracking-uri", node, *words)
        assert done.exit_code == 0
        assert "has 5 as its &#39;auroc&#39;" in done.output.replace("'", "&#39;")
        assert "was changed: its params are not" in done.output
    done = adbench("report", "--tracking-uri", node)
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: The run 'd(k=3) | sea | 0% | seed ")
    assert done.stderr.count("\n") == 1
