"""`make bench` runs every script of benchmarks/, and what they import exists."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPTS = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {"timing", "char_tfidf", "rulers"}
WRITERS = {"finds"}  # they write a page of docs/


def test_make_bench_runs_every_script():
    (names,) = re.findall(r"for script in (.*); do", (ROOT / "Makefile").read_text())
    assert sorted(names.split()) == sorted(SCRIPTS - WRITERS)


def test_every_script_can_be_imported_and_then_measures_nothing(monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")  # they share modules
    for name in sorted(SCRIPTS):
        runpy.run_path(str(ROOT / "benchmarks" / f"{name}.py"), run_name=name)
    assert capsys.readouterr().out == ""
