"""``adbench-text new`` writes packages that can be built, installed, checked and run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from adbench_text.cli.main import main

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    """An empty folder to write into."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def new(kind: str, name: str) -> Result:
    return CliRunner().invoke(main, ["new", kind, name])


def output_of(*words: str, site: Path) -> str:
    """Run a Python module beside the packages that are installed in a folder; return what it prints."""
    settings = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)]),
        "ADBENCH_TEXT_CACHE": str(site / "cache"),
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, check=False, env=os.environ | settings
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_new_plug_ins_are_built_installed_checked_and_run(here, empty_database):
    assert new("detector", "Rare_Words").exit_code == 0
    assert new("dataset", "sea-law").exit_code == 0
    site = here / "site"
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    output_of("pip", "install", "-q", *offline, "--target", str(site), "./rare-words", "./sea-law", site=site)
    checked = output_of("adbench_text.cli", "check", "rare-words", "sea-law", site=site)
    assert "rare-words keeps all 14 rules." in checked
    assert "sea-law keeps all 4 rules." in checked
    shutil.copy(empty_database, here / "mlflow.db")
    cell = "-d rare-words -s sea-law --inlier sea --contamination 0 --no-report"
    ran = output_of("adbench_text.cli", "run", *cell.split(), site=site)
    assert "[1/1] rare-words on sea-law/sea at 0%, seed 0: AUROC 100.0%" in ran


@pytest.mark.parametrize(("kind", "lines"), [("detector", (30, 50)), ("dataset", (30, 50))])
def test_a_package_is_two_small_files_and_the_next_commands_are_printed(here, kind, lines):
    result = new(kind, "my words")
    assert result.stdout.startswith("Wrote my-words/pyproject.toml and my-words/my_words.py.")
    assert "    pip install --editable ./my-words\n    adbench-text check my-words\n" in result.stdout
    assert sorted(path.name for path in (here / "my-words").iterdir()) == ["my_words.py", "pyproject.toml"]
    code = (here / "my-words" / "my_words.py").read_text()
    assert lines[0] <= code.count("\n") <= lines[1]
    assert "class MyWords(" in code
    assert "$" not in code + (here / "my-words" / "pyproject.toml").read_text()


def test_the_code_of_a_new_plug_in_is_tidy(here):
    new("detector", "mine")
    new("dataset", "corpus")
    ruff = shutil.which("ruff", path=Path(sys.executable).parent) or shutil.which("ruff")
    files = ["mine/mine.py", "corpus/corpus.py"]
    for check in (["check", "--select", "E,F,W"], ["format", "--check"]):
        done = subprocess.run(
            [ruff, *check, "--line-length", "110", *files], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout


def test_nothing_is_overwritten(here):
    (here / "mine").mkdir()
    result = new("detector", "mine")
    assert (result.exit_code, list((here / "mine").iterdir())) == (1, [])
    assert result.stderr == "Error: mine exists already: nothing is overwritten. Use another name.\n"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("llr", "There is a detector named 'llr' already"),
        ("pyod-knn", "There is a detector named 'pyod-knn' already"),
        ("json", "'json' is the name of a Python module already"),
        ("lambda", "'lambda' is the name of a Python module already"),
        ("none", "The class of the detector cannot be named 'None'"),
        ("counter", "The class of the detector cannot be named 'Counter'"),
        ("../mine", "A name must be letters, digits and hyphens"),
        ("1st", "A name must be letters, digits and hyphens"),
        ("größe", "A name must be letters, digits and hyphens"),
        ("x" * 41, "A name must be letters, digits and hyphens"),
        ("", "A name must be letters, digits and hyphens"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(here, name, reason):
    result = new("detector", name)
    assert result.exit_code == 2
    assert reason in result.stderr
    assert list(here.iterdir()) == []
