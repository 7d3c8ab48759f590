"""``adbench-text check`` and what ``--debug`` adds."""

from pathlib import Path

import pytest
from commands import adbench

from adbench_text.plugins import registry

PLUGINS = Path(__file__).parents[1] / "toy"


@pytest.fixture(autouse=True)
def _toy(home, monkeypatch):
    """The plug-ins of tests/toy are installed."""
    monkeypatch.syspath_prepend(PLUGINS)
    registry.plugins.cache_clear()
    yield
    registry.plugins.cache_clear()


def test_a_plug_in_that_keeps_all_rules_has_a_line_for_each():
    result = adbench("check knn-words tiny")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "knn-words (detector)"
    assert lines[-6] == "tiny (dataset)"
    assert lines[-1] == "tiny keeps all 4 rules."
    rules = [line for line in lines if line.startswith("  ")]
    assert len(rules) == 18
    assert all(line.startswith("  ok ") for line in rules)
    assert "[60 training / 30 test documents (sea 20/10, law 20/10, sky 20/10)]" in result.stdout


def test_a_broken_rule_is_printed_with_file_and_line_and_the_exit_code_is_1():
    result = adbench("check faulty")
    assert result.exit_code == 1
    lines = (PLUGINS / "toy_plugins.py").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "no luck" in text)
    assert f"RuntimeError: no luck at all (toy_plugins.py:{line})\n" in result.stdout
    assert "A higher score is more abnormal" not in result.stdout
    assert result.stderr == (
        "Error: faulty breaks 1 of the 3 rules that were checked. "
        "For tracebacks, run: adbench-text --debug check faulty\n"
    )


def test_debug_prints_the_tracebacks():
    result = adbench("--debug check faulty")
    assert "Traceback (most recent call last)" in result.stderr
    assert 'raise RuntimeError("no luck' in result.stderr
    for words in ("--debug check nonsense", "check nonsense --debug"):
        unknown = adbench(words)
        assert unknown.exit_code == 2
        assert "Traceback" in unknown.stderr
        assert "Error: No detector or dataset named 'nonsense'." in unknown.stderr


def test_a_plug_in_that_cannot_be_loaded_breaks_its_contract(tmp_path, monkeypatch):
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[adbench_text.detectors]\nlost = lost_module:Lost\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry.plugins.cache_clear()
    result = adbench("check lost tiny")
    assert result.exit_code == 1
    assert "lost needs the package 'lost_module', which is not installed" in result.stderr
    assert "tiny keeps all 4 rules." in result.stdout


def test_a_dataset_that_raises_is_one_line_for_every_command(monkeypatch):
    def read(self):
        raise KeyError("sea")

    monkeypatch.setattr(type(registry.dataset("tiny")), "read", read)
    for command in ("fetch tiny", "run -d counting -s tiny --inlier sea"):
        result = adbench(command)
        assert result.exit_code == 1
        assert "Error: tiny cannot be read: KeyError: 'sea'" in result.stderr
        assert "Traceback" not in result.output
        assert "Traceback" in adbench(f"--debug {command}").stderr
    assert "tiny cannot be read: KeyError: 'sea'" in adbench("check tiny").stdout
