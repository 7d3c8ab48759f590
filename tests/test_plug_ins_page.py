"""The package of docs/plug-ins.md can be built, installed, checked and run as it is written."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_docs import ROOT, code_of_page


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with the two files of the page."""
    (tmp_path / "pyproject.toml").write_text(code_of_page("plug-ins.md", "gives each\nclass a name:"))
    (tmp_path / "my_plugins.py").write_text(code_of_page("plug-ins.md", "Both are in `my_plugins.py`:"))
    return tmp_path


def output_of(*words: object, folder: Path) -> str:
    """Run a Python module beside the packages that are installed in a folder; return what it prints."""
    settings = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder / "site")]),
        "ADBENCH_TEXT_CACHE": str(folder / "cache"),
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | settings,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_the_package_is_built_installed_checked_and_run(package, empty_database):
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    output_of("pip", "install", "-q", *offline, "--target", package / "site", ".", folder=package)
    (package / "my_plugins.py").unlink()  # what is run is what was installed
    checked = output_of("adbench_text.cli", "check", "rare-words", "sea-law", folder=package)
    assert re.findall(r"^(\S+) keeps all \d+ rules\.$", checked, re.MULTILINE) == ["rare-words", "sea-law"]
    shutil.copy(empty_database, package / "mlflow.db")
    cell = "-d rare-words -s sea-law --inlier sea --contamination 0 --no-report"
    ran = output_of("adbench_text.cli", "run", *cell.split(), folder=package)
    assert "[1/1] rare-words on sea-law/sea at 0%, seed 0: AUROC 100.0%" in ran
