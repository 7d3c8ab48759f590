"""What README shows is what its commands print."""

import re
import shlex
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

from adbench_text.cli.main import main

ROOT = Path(__file__).parents[1]
LIBRARIES = "matplotlib", "mlflow", "numpy", "pandas", "scipy", "scikit-learn", "torch"  # of pydocs


def is_pinned(library: str) -> bool:
    pinned = re.search(rf"^{library}==(\S+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[1]
    return version(library).partition("+")[0] == pinned


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not all(map(is_pinned, LIBRARIES)), reason="pydocs has other documents here")
def test_the_comparison_of_readme_is_printed_by_its_commands(tmp_path, monkeypatch):
    found = re.search(
        r"^    adbench-text (run .*)\n    adbench-text (report .*)\n\n((?:    .*\n)+)",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    run, report, shown = found.groups()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    ran = CliRunner().invoke(main, [*shlex.split(run), "--jobs", "1", "--no-report"])
    assert ran.exit_code == 0, ran.output
    printed = CliRunner().invoke(main, shlex.split(report))
    assert [line.strip() for line in shown.splitlines()] == [
        line for line in printed.stdout.splitlines() if line and line[0] in "A┏┃┡│└"
    ]
