"""Commands work where processes cannot be forked and Unix has no other help, as on macOS and Windows.

This machine is made poorer for it. What only those systems have, such as their names of files, is not tested.
"""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOY = Path(__file__).parent / "toy"
POOR = """\
import multiprocessing, os, signal, sys
for module, names in (os, ["fork", "setsid", "killpg", "sched_getaffinity"]), (signal, ["SIGHUP", "SIGALRM"]):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
sys.modules["fcntl"] = None
multiprocessing.set_start_method("spawn")
"""
MAIN = (
    "import os\n"
    "from adbench_text import processes\n"
    "from adbench_text.cli.main import main\n"
    "from adbench_text.documents import chunks\n"
    "assert not hasattr(os, 'fork')\n"
    "chunks._PATIENCE = 0  # other processes work from the first chunk on\n"
    "start = processes._Process.__init__\n"
    "def noted(self, *arguments):\n"
    "    start(self, *arguments)\n"
    "    with open('started', 'a') as file:\n"
    "        file.write(type(self._process).__name__ + '\\n')\n"
    "processes._Process.__init__ = noted\n"
    "main(prog_name='adbench-text')"
)


@pytest.fixture
def adbench(tmp_path):
    """A function that runs a command there, and returns the kinds of processes that it started."""
    poor, temporary, here = tmp_path / "poor", tmp_path / ("long" * 20), tmp_path / "here"
    for folder in (poor, temporary, here):
        folder.mkdir()
    (poor / "sitecustomize.py").write_text(POOR)
    path = os.pathsep.join([str(poor), str(TOY), os.environ.get("PYTHONPATH", "")])
    # on Linux processes are spawned where the path of this folder is too long for a forkserver
    variables = {"PYTHONPATH": path, "TMPDIR": str(temporary), "ADBENCH_TEXT_CACHE": str(tmp_path / "cache")}

    def run(command: str) -> set[str]:
        words = [sys.executable, "-c", MAIN, *command.split()]
        done = subprocess.run(
            words, cwd=here, env=os.environ | variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        assert list(temporary.glob("adbench*")) == []
        return set((here / "started").read_text().split())

    run.folder = here
    return run


@pytest.mark.slow
def test_cells_run_in_two_processes_where_none_is_forked(adbench):
    uri = "--tracking-uri sqlite:///mlflow.db"
    cells = "-d llr -s tiny --inlier sea --inlier law --contamination 0 --jobs 2 --no-report"
    assert adbench(f"run {cells} {uri}") == {"SpawnProcess"}
    adbench(f"report --format csv --output cells.csv {uri}")
    with (adbench.folder / "cells.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert sorted(row["inlier"] for row in rows) == ["law", "sea"]
    assert all(float(row["auroc"]) > 0.5 for row in rows)


@pytest.mark.slow
def test_odd_ranks_in_two_processes_where_none_is_forked(adbench):
    texts = [f"the ship and crew number {i}" for i in range(30)]
    (adbench.folder / "own.csv").write_text(
        "\n".join(["text", *texts, "nets are drying near the lighthouse"])
    )
    assert adbench("odd own.csv --detector form --jobs 2 --output odd") == {"SpawnProcess"}
    with (adbench.folder / "odd.csv").open(newline="") as stream:
        (first,) = (row["text"] for row in csv.DictReader(stream) if row["rank"] == "1")
    assert "lighthouse" in first
