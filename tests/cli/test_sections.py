"""Sections of the help, options of every command, and quiet and verbose runs."""

import os
import re
import shutil
from pathlib import Path

import click
import pytest
from commands import adbench

from adbench_text.cli.main import main

pytestmark = pytest.mark.usefixtures("toy_path", "here")


@pytest.fixture
def store(empty_database, here) -> Path:
    return Path(shutil.copy(empty_database, here / "mlflow.db"))


def sections(command: str) -> dict[str, list[str]]:
    """Return the titles of the sections of a help with the names of their options."""
    listed, own = dict[str, list[str]](), list[str]()
    for line in adbench(f"{command} --help").stdout.splitlines():
        if re.fullmatch(r"\w+:", line):
            listed[line[:-1]] = own = []
        elif match := re.match(r"  (?:-\w, )?(--[\w-]+)", line):
            own.append(match[1])
    return listed


@pytest.mark.parametrize(
    ("command", "titles"),
    [
        ("run", ["Input", "Detectors", "Execution", "Limits", "Output", "General"]),
        ("report", ["Input", "Tables", "Output", "General"]),
    ],
)
def test_the_help_lists_each_option_in_one_section(command, titles):
    listed = sections(command)
    assert list(listed) == titles
    assert listed["General"] == ["--data-dir", "--offline", "--debug", "--help"]
    loaded = main.get_command(None, command)
    names = {option for own in loaded.sections.values() for option in own}
    options = {opt for param in loaded.params for opt in param.opts if isinstance(param, click.Option)}
    assert names <= options


def test_options_of_the_group_work_after_each_command(here):
    for command in list(main.commands):
        assert {"--data-dir", "--offline", "--debug"} <= set(
            re.findall(r"--[a-z-]+", adbench(f"{command} --help").stdout)
        ), command
    assert adbench(f"list vectors --offline --data-dir {here / 'other'}").exit_code == 0
    assert os.environ["ADBENCH_TEXT_OFFLINE"] == "1"
    assert os.environ["ADBENCH_TEXT_DATA"] == str(here / "other")


@pytest.mark.parametrize("words", ["--debug run -d lrl -s tiny", "run -d lrl -s tiny --debug"])
def test_debug_prints_the_traceback_of_an_error(words):
    result = adbench(words)
    assert result.exit_code == 2
    assert "Traceback" in result.stderr
    assert "Traceback" not in adbench("run -d lrl -s tiny").stderr


def test_a_quiet_run_prints_results_and_errors_only(store):
    result = adbench("run -d counting,faulty -s tiny --inlier sea --contamination 0 --jobs 0 -q")
    assert result.exit_code == 3
    lines = result.stderr.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("[1/2] counting on tiny/sea at 0%, seed 0: AUROC ")
    assert lines[1].startswith("[2/2] failed: faulty on tiny/sea at 0%, seed 0: ")
    assert lines[2].startswith("Error: 1 of 2 cells failed")
    assert adbench("run -d counting -s tiny --inlier sea --contamination 0 --jobs 0 -q").output == ""


def test_a_quiet_run_that_is_interrupted_says_so(store, monkeypatch):
    monkeypatch.setenv("TOY_INTERRUPT", "judge")
    result = adbench("run -d counting -s tiny --contamination 0 --jobs 0 --quiet")
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1].startswith("Interrupted. Finished cells are kept")


def test_a_verbose_run_prints_what_was_measured(store):
    result = adbench("run -d counting -s tiny --inlier sea --contamination 0 --jobs 0 -v")
    assert result.exit_code == 0
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("    ")]
    assert re.fullmatch(
        r"    AUPR-in [\d.]+%, AUPR-out [\d.]+%, FPR at 95 % TPR [\d.]+%, fit \S+ s, score \S+ s, "
        r"memory \S+ MB, 20 training and 30 test documents",
        line,
    )
    both = adbench("run -d counting -s tiny -q -v")
    assert (both.exit_code, both.stderr.splitlines()[-1]) == (
        2,
        "Error: --quiet and --verbose contradict each other.",
    )


def test_tables_take_lists_with_commas(store):
    adbench("run -d counting -s tiny --contamination 0 --jobs 0 -q")
    both = adbench("report -t levels,cost --format markdown")
    assert both.exit_code == 0, both.stderr
    assert both.stdout == adbench("report -t levels -t cost --format markdown").stdout
    assert "No table named 'costs'" in adbench("report -t levels,costs").stderr
