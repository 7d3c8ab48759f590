"""``adbench-text check`` and what ``--debug`` adds."""

import pytest
from commands import adbench, assert_refused

from adbench_text.plugins import registry

pytestmark = pytest.mark.usefixtures("toy_path", "home")


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


def test_a_broken_rule_is_printed_with_file_and_line_and_the_exit_code_is_1(toy_path):
    result = adbench("check faulty")
    assert result.exit_code == 1
    (error,) = result.stderr.splitlines()
    lines = (toy_path / "toy_plugins.py").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "no luck" in text)
    assert f"RuntimeError: no luck at all (toy_plugins.py:{line})\n" in result.stdout
    assert "A higher score is more abnormal" not in result.stdout
    assert error.startswith("Error: faulty ")
    assert " 1 of the 3 rules " in error
    assert error.endswith("--debug check faulty")


def test_debug_prints_the_tracebacks():
    result = adbench("--debug check faulty")
    assert "Traceback (most recent call last)" in result.stderr
    assert 'raise RuntimeError("no luck' in result.stderr
    for words in ("--debug check nonsense", "check nonsense --debug"):
        unknown = adbench(words)
        assert_refused(unknown, 2, "'nonsense'")
        assert "Traceback" in unknown.stderr


def test_a_plug_in_that_cannot_be_loaded_breaks_its_contract(tmp_path, monkeypatch):
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[adbench_text.detectors]\nlost = lost_module:Lost\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry.plugins.cache_clear()
    result = adbench("check lost tiny")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: lost ")
    assert "'lost_module'" in result.stderr
    assert "tiny keeps all 4 rules." in result.stdout


def test_a_dataset_that_raises_is_one_line_for_every_command(monkeypatch):
    def read(self):
        raise KeyError("sea")

    monkeypatch.setattr(type(registry.dataset("tiny")), "read", read)
    for command in ("fetch tiny", "run -d counting -s tiny --inlier sea"):
        result = adbench(command)
        assert_refused(result, 1, "Error: tiny ", "KeyError: 'sea'")
        assert "Traceback" not in result.output
        assert "Traceback" in adbench(f"--debug {command}").stderr
    assert ": KeyError: 'sea'" in adbench("check tiny").stdout
