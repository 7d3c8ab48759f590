import ast
import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from cells import build, csv_rows, stored, texts
from sklearn.metrics import average_precision_score

from adbench_text.contract.dataset import Documents
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split_key import SplitKey
from adbench_text.metrics import (
    METRICS,
    TIED,
    Metric,
    all_metrics,
    aupr_in,
    aupr_out,
    auroc,
    fpr95,
    is_possible,
    tied,
)
from adbench_text.plugins.foreign import adapted
from adbench_text.reports import contents
from adbench_text.reports.build import Builder
from adbench_text.run import evaluate as evaluating
from adbench_text.run.cell import Cell
from adbench_text.store.cells import COLUMNS, table_of
from adbench_text.store.writing import summary

ROOT = Path(__file__).parents[1]
OUTLIER = np.array([False, False, False, True, True])


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_metric_of_the_best_ranking_is_1_and_an_error_rate_is_0(metric):
    assert metric.function(OUTLIER, np.array([0.0, 1, 2, 3, 4])) == metric.higher_is_better


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_metric_is_in_0_to_1_and_does_not_depend_on_the_order_of_the_documents(metric):
    rng = np.random.default_rng(0)
    outlier, scores = np.arange(60) < 20, rng.integers(0, 9, 60).astype(float)  # many ties
    value = metric.function(outlier, scores)
    assert is_possible(value)
    for _ in range(5):
        order = rng.permutation(60)
        assert metric.function(outlier[order], scores[order]) == pytest.approx(value)


def test_all_metrics_and_the_share_of_ties_are_measured():
    assert {*all_metrics(OUTLIER, np.arange(5.0))} == {*METRICS, TIED}


def test_the_worst_ranking_and_equal_scores():
    scores = np.array([0.0, 1, 2, 3, 4])
    assert auroc(OUTLIER, -scores) == 0
    assert fpr95(OUTLIER, -scores) == fpr95(OUTLIER, np.zeros(5)) == 1
    assert scores.tolist() == [0, 1, 2, 3, 4]


def test_auroc_counts_pairs_and_halves_ties():
    # outliers 2 and 4 against inliers 0, 2, 3: 1 + 1/2 + 0 and 3 pairs won of 6
    assert auroc(OUTLIER, np.array([0.0, 2, 3, 2, 4])) == pytest.approx(4.5 / 6)


def trapezoid_aupr(positive: np.ndarray, scores: np.ndarray) -> float:
    """The same area by counting at every threshold, without scikit-learn."""
    points = [(0.0, 1.0)]
    for threshold in sorted(set(scores.tolist()), reverse=True):
        chosen = scores >= threshold
        hits = float((positive & chosen).sum())
        points.append((hits / positive.sum(), hits / chosen.sum()))
    return sum((r1 - r0) * (p0 + p1) / 2 for (r0, p0), (r1, p1) in pairwise(points))


@pytest.mark.parametrize("seed", range(20))
def test_aupr_equals_an_independent_computation(seed):
    rng = np.random.default_rng(seed)
    outlier = rng.random(200) < rng.uniform(0.1, 0.9)
    scores = np.round(rng.normal(size=200) + outlier, seed % 3)  # with many ties for seeds 0, 3, 6, ...
    assert aupr_out(outlier, scores) == pytest.approx(trapezoid_aupr(outlier, scores))
    assert aupr_in(outlier, scores) == pytest.approx(trapezoid_aupr(~outlier, -scores))


@pytest.mark.parametrize(
    ("scores", "share"),
    [
        ([0, 0, 1, 1, 1], 0.6),  # one inlier has the score of both outliers
        ([3, 3, 3, 5, 5], 0),  # ties of one kind cost nothing
        ([2, 2, 2, 2, 2], 1),
        ([0.1, 0.2, 0.3, 0.3 + 1e-12, 0.4], 0),
    ],
)
def test_documents_are_tied_that_have_the_score_of_the_other_kind(scores, share):
    assert tied(OUTLIER, np.array(scores, dtype=float)) == share


def test_a_report_names_detectors_with_many_ties():
    rows = [stored("coarse", tied=0.5), stored("fine", tied=0.05), stored("older")]
    (note,) = [note for note in build(rows).every_note if "AUPR" in note]
    assert note.endswith("coarse on made-up (50%).")
    assert [row["tied"] for row in csv_rows(rows)] == ["0.5", "0.05", ""]


def brute_force_fpr95(outlier: np.ndarray, scores: np.ndarray) -> float:
    """The smallest false positive rate of all thresholds that find 95 % of the outliers."""
    rates = []
    for threshold in scores:
        chosen = scores >= threshold
        if 100 * (outlier & chosen).sum() >= 95 * outlier.sum():
            rates.append((~outlier & chosen).sum() / (~outlier).sum())
    return min(rates)


@pytest.mark.parametrize("decimals", [0, 1, 8])
@pytest.mark.parametrize("n_outliers", [1, 19, 20, 21, 39, 40, 41, 100])
def test_fpr95_equals_the_best_of_all_thresholds(n_outliers, decimals):
    rng = np.random.default_rng(n_outliers)
    outlier = rng.permutation(np.arange(n_outliers + 70) < n_outliers)
    scores = np.round(rng.normal(size=len(outlier)) + outlier, decimals)
    assert fpr95(outlier, scores) == pytest.approx(brute_force_fpr95(outlier, scores))


def test_lower_is_better_of_an_error_rate():
    assert METRICS["fpr95"].best([3, 1, 2]) == 1
    assert METRICS["auroc"].best([3, 1, 2]) == 3


# A metric that is in the table alone: AUPR at the class of inliers, as average precision, and an error.


def average_precision_in(outlier: np.ndarray, scores: np.ndarray) -> float:
    return float(average_precision_score(~outlier, -scores))


@pytest.fixture(params=[True, False], ids=["higher is better", "lower is better"])
def new(request, monkeypatch) -> Metric:
    metric = Metric("ap_in", "AP-in", average_precision_in, "inliers", higher_is_better=request.param)
    monkeypatch.setitem(METRICS, "ap_in", metric)
    monkeypatch.setitem(COLUMNS, "ap_in", math.nan)
    return metric


class Halves:
    """Scores one half of the texts by chance, the other by their class."""

    def fit(self, texts):
        return self

    def decision_function(self, texts):
        return np.arange(len(texts)) % 7 + 3.0 * np.array(["law" in text for text in texts])


@pytest.fixture
def measured(new, monkeypatch) -> dict[str, float]:
    labels = np.arange(40) % 2
    documents = Documents([f"{i} {('sea', 'law')[label]}" for i, label in enumerate(labels)], labels)
    monkeypatch.setattr(evaluating, "build_detector", lambda cell: adapted(Halves)())
    cell = Cell("d", "default", {}, SplitKey("tiny", "sea"))
    result = evaluating.evaluate(cell, Corpus("tiny", ("sea", "law"), documents, documents, "published"))
    assert result.metrics["ap_in"] == average_precision_in(result.outlier, result.scores)
    return result.metrics


def test_a_metric_of_the_table_is_measured_summarised_and_reported(new, measured):
    figures = {"good": 0.9, "fair": 0.6, "poor": 0.4}
    records = [
        stored(name, inlier, level=level, **{**measured, "ap_in": figure - 0.01 * (inlier == "b")})
        for name, figure in figures.items()
        for inlier in "ab"
        for level in (0, 0.05)
    ]
    assert summary(table_of(row for row in records if row["detector"] == "good"))["ap_in"] == 0.895
    tables = {table.title: table for table in build(records, contents.TABLES, "ap_in").tables}
    best = "good" if new.higher_is_better else "poor"
    heading = f"AP-in (%{'' if new.higher_is_better else ', lower is better'})"
    main = tables[f"{heading}, 0% of outliers in the training data"]
    assert [entry.best for entry in main.rows[0][2:]] == [name == best for name in figures]
    assert f"{heading} by contamination of the training data, mean over the splits" in tables
    ranks = next(table for title, table in tables.items() if title.startswith("Mean rank over 2 splits"))
    assert ranks.rows[0][0].text == best
    assert "ap_in" in csv_rows(records)[0]


def test_cells_from_before_a_metric_lack_that_metric_alone(new):
    records = [stored("old", "a"), stored("late", "a", ap_in=0.5)]
    report = build(records, metric="ap_in")
    assert texts(report.tables[0])[0][2:] == ["missing", "50.0"]
    assert math.isnan(summary(table_of(records[:1]))["ap_in"])
    assert texts(Builder(table_of(records), "ap_in").report(["cost"], only=True).tables[0])[0][1] == "old"


def test_a_metric_is_finite_and_in_0_to_1_but_for_the_rounding_of_sums():
    assert all(map(is_possible, (0, 1, 0.5, 1 + 1e-15, -1e-15)))
    assert not any(map(is_possible, (5, -1, 1.001, math.nan, math.inf, -math.inf)))


def code_that_names_a_metric() -> set[str]:
    """The files with a text that has the name or the title of a metric in it; docstrings do not count."""
    words = {word for metric in METRICS.values() for word in (metric.name, metric.title)}
    name = re.compile(rf"(?:\b|_)({'|'.join(words)})\b")
    found = set()
    folders = ("adbench_text", "detectors", "datasets", "reports")
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        texts = [n.value for n in nodes if isinstance(n, ast.Constant) and id(n) not in docstrings]
        if any(name.search(text) for text in texts if isinstance(text, str)):
            found.add(path.relative_to(ROOT).as_posix())
    return found


def test_what_names_a_metric_is_about_that_metric_alone():
    assert code_that_names_a_metric() == {
        "adbench_text/metrics.py",
        "reports/benchmarks.py",  # the figures of other benchmarks
        "reports/tables/known.py",  # two figures that only results with known outliers have
        "reports/tables/words.py",  # metrics of words
        "adbench_text/testing/detector_rules.py",  # the sign of the scores
        "adbench_text/contract/vector_detector.py",  # how good the encoder svd was
    }
