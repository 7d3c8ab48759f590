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


def test_a_quiet_run_that_is_interrupted_says_so(store, monkeypatch):
    monkeypatch.setenv("TOY_INTERRUPT", "judge")
    result = adbench("run -d counting -s tiny --contamination 0 --jobs 0 --quiet")
    assert result.exit_code == 130
    first, last = result.stderr.splitlines()
    assert first.startswith("[1/3] counting on tiny/sea at 0%, seed 0: AUROC ")
    assert last.startswith("Interrupted. Finished cells are kept")


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
