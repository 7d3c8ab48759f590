"""Sections of the help, options of every command, quiet and verbose runs, and names that are completed."""

import os
import re

import pytest
from commands import adbench, complete, dry_run

from adbench_text.cli.main import main

pytestmark = pytest.mark.usefixtures("toy_path", "here")


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
        ("odd", ["Input", "Detector", "Odd", "Output", "Execution", "General"]),
        ("fit", ["Input", "Detector", "Output", "MLflow", "Execution", "General"]),
        ("score", ["Input", "Odd", "Output", "Execution", "General"]),
    ],
)
def test_the_help_lists_each_option_in_one_section(command, titles):
    listed = sections(command)
    assert list(listed) == titles
    assert listed["General"] == ["--data-dir", "--offline", "--debug", "--help"]
    names = [option for own in listed.values() for option in own]
    assert sorted(names) == sorted(set(names))


def test_options_of_the_group_work_after_each_command(here):
    for command in main.list_commands(None):
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
    assert result.stderr.startswith("Interrupted. ")
    assert result.stderr.count("\n") == 1


def test_a_verbose_run_prints_what_was_measured(store):
    result = adbench("run -d counting -s tiny --inlier sea --contamination 0 --jobs 0 -v")
    assert result.exit_code == 0
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("    ")]
    names = re.findall(r"(\w+) [\d.e+-]+(?:, |$)", line)
    assert {"auroc", "aupr_in", "fit_seconds", "peak_memory_mb", "n_train", "n_test"} <= set(names)


def test_lists_patterns_and_ranges_describe_a_sweep():
    cells = dry_run("-d llr,pyod-k[dn]* -s t* --inlier sea,law --contamination 0,0.1 --seed 0-2,5")
    assert len(cells) == 3 * 2 * 2 * 4
    assert cells[-1] == "pyod-knn on tiny/law at 10%, seed 5"


def test_a_sweep_file_takes_patterns_and_ranges(here):
    (here / "sweep.toml").write_text(
        'detector = ["llr", "pyod-k[dn]*(encoder=svd)"]\n'
        'dataset = "t*"\ninlier = "sea"\ncontamination = 0\nseed = ["0-1", 7]\n'
    )
    cells = dry_run("--sweep sweep.toml")
    assert len(cells) == 9
    assert cells[1] == "pyod-kde(encoder=svd) on tiny/sea at 0%, seed 0"
    assert cells[-1] == "pyod-knn(encoder=svd) on tiny/sea at 0%, seed 7"


@pytest.mark.parametrize(
    ("words", "incomplete", "names"),
    [
        ("run -d", "ocsvm,ll", ["ocsvm,llr"]),
        ("run --detector", "pyod-k", ["pyod-kde", "pyod-knn", "pyod-kpca"]),
        ("run --dataset nonsense --inlier", "", []),
        ("run --vectors", "fast", ["fasttext-wiki-news-subwords-300"]),
        ("fetch", "py", ["pydocs"]),
        ("fetch", "glove-wiki-gigaword-5", ["glove-wiki-gigaword-50"]),
        ("list", "d", ["datasets", "detectors"]),
        ("run --encoder", "m", ["mean", "minilm"]),
        ("run --device", "c", ["cpu", "cuda"]),
        ("report --table", "main,r", ["main,ranks"]),
        ("report --format", "h", ["html"]),
        ("report --metric", "aur", ["auroc"]),
    ],
)
def test_a_shell_completes_names_also_after_a_comma(words, incomplete, names):
    assert sorted(complete(words, incomplete)) == sorted(names)


@pytest.mark.parametrize(
    ("command", "default"), [("odd", "by both; all three lists on the page"), ("score", "both")]
)
def test_each_command_names_its_own_default_order(command, default):
    shown = " ".join(adbench(f"{command} --help").stdout.split())
    assert re.findall(r"--by \[words\|form\|both\] .*?\[default: (.*?)\]", shown) == [default]
