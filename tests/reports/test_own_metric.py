"""``adbench-text report --metric ./mine.py:share``: a metric in a file of the user's own."""

import csv
import io
import re
import shutil

import numpy as np
import pytest
from click.testing import CliRunner
from commands import adbench
from stores import log, result

from adbench_text.cli.main import main
from adbench_text.metrics import METRICS
from adbench_text.store.store import Store

MINE = """
import numpy as np

def share(outlier, scores):
    assert outlier.dtype == bool and outlier.shape == scores.shape
    return outlier[np.argsort(-scores)[:3]].mean()

def missed(outlier, scores):
    scores.sort()
    return 1 - outlier[-3:].mean()

missed.lower_is_better = True

def count(outlier, scores): return outlier.sum()
def no_number(outlier, scores): return "0.5"
def undefined(outlier, scores): return np.nan
def raises(outlier, scores): raise KeyError("sea")
def of_one(scores): return 1.0
constant = 1

def area(outlier, scores):
    return (scores[outlier][:, None] > scores[~outlier]).mean()
"""
SCORES = {"best": [0, 1, 2, 3, 4, 5], "next": [0, 4, 1, 5, 3, 2], "worst": [5, 4, 3, 2, 1, 0]}


@pytest.fixture(scope="module")
def results(empty_database, tmp_path_factory):
    """A folder with a store of three detectors on two splits, and a file of metrics."""
    folder = tmp_path_factory.mktemp("results")
    made = [
        result(figure / 4, detector=name, inlier=inlier, scores=np.array(scores[::step], dtype=float))
        for figure, (name, scores) in enumerate(SCORES.items())
        for inlier, step in (("sea", 1), ("law", -1))
    ]
    log(Store(f"sqlite:///{shutil.copy(empty_database, folder / 'mlflow.db')}"), *made)
    (folder / "mine.py").write_text(MINE)
    return folder


@pytest.fixture(autouse=True)
def copied(results, here, own_files):
    """A copy of the results, which a test may change but not add to: artifacts of new runs are elsewhere."""
    shutil.copytree(results, here, dirs_exist_ok=True)


def printed(*words: str) -> str:
    report = adbench("report -q --format markdown --metric", *words)
    assert (report.exit_code, report.stderr) == (0, "")
    return report.stdout


def test_it_is_in_every_table_under_the_name_of_the_function():
    main = printed("./mine.py:share -t main")
    assert "share (%), 0%" in main
    assert "share, 100.0%" in main
    assert "| tiny | mean | **100.0** | 66.7 | 0.0 |" in main
    ranks = printed("./mine.py:share -t ranks,significance")
    assert "mean share (%)" in ranks
    assert "better on" in ranks
    assert "p over documents" not in ranks


def test_the_auroc_of_stored_scores_is_that_of_the_cell():
    close = 1e10 + np.array([0, 1, 2, 3, 4, 5]) / 1000  # equal in nine digits
    log(Store("sqlite:///other.db"), result(1.0, scores=close))
    assert "| tiny | sea | 100.0 |" in printed("./mine.py:area -t main --tracking-uri sqlite:///other.db")


def test_lower_is_better_if_the_function_says_so_and_it_may_change_what_it_gets():
    assert "missed (%, lower is better)" in printed("./mine.py:missed -t main")
    first = printed("./mine.py:missed -t main,significance")
    assert first == printed("./mine.py:missed -t main,significance")


def test_each_format_and_the_table_of_cells_have_it(here):
    for form, text in {
        "html": "share (%), 0%",
        "latex": "share (\\%)",
        "csv": ",mine.py:share\n",
        "terminal": "share (%)",
    }.items():
        assert adbench(f"report --format {form} --metric ./mine.py:share -o report -q").exit_code == 0
        assert text in (here / "report").read_text()
    rows = csv.DictReader(io.StringIO(adbench("report -q --format csv --metric ./mine.py:share").stdout))
    assert sorted(row["mine.py:share"] for row in rows) == ["0", "0", "0.666667", "0.666667", "1", "1"]


def test_cells_without_stored_scores_are_left_out_with_one_note(here):
    first = sorted((here / "mlruns").rglob("scores.csv"))[0]
    first.unlink()
    report = adbench("report --metric ./mine.py:share -t main")
    assert report.exit_code == 0
    assert "missing" in report.stdout
    assert report.output.count("scores of 1 ") == 1
    shutil.rmtree(here / "mlruns")
    assert "scores of 6 " in adbench("report --metric ./mine.py:share").output


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("./none.py:share", "none.py "),
        ("./mine.py:nothing", "mine.py .*'nothing'.* mine.py:NAME .*: "),
        ("./mine.py", "mine.py .* mine.py:NAME .*: "),
        ("./mine.py:constant", "TypeError: mine.py:constant "),
        ("mine.py:a b", f"metric .*'mine.py:a b'.*: {', '.join(sorted(METRICS))}"),
        ("./mine.py:count", r"seed 0: ValueError: .*\[0, 1\].* got .*3"),
        ("./mine.py:undefined", r"ValueError: .*\[0, 1\].* got nan"),
        ("./mine.py:no_number", r"ValueError: .*\[0, 1\].* got '0.5'"),
        ("./mine.py:raises", r"at 0%, seed 0: KeyError: 'sea' \(mine.py:17\)"),
        ("./mine.py:of_one", r"TypeError: of_one\(\) takes 1 positional"),
    ],
)
def test_a_metric_that_cannot_be_used_is_an_error_of_one_line(metric, message):
    report = CliRunner().invoke(main, ["report", "--metric", metric])
    assert report.exit_code in (1, 2)
    assert report.stdout == ""
    assert report.stderr.count("\n") == 1
    assert re.search(message, report.stderr)


def test_another_name_is_refused_with_the_known_ones():
    refused = adbench("report --metric auro")
    assert refused.exit_code == 2
    assert re.search("'auro'.*'auroc'", refused.stderr)
