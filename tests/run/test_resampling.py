import numpy as np
import pytest

from adbench_text.code_version import _PROTOCOL, _reach
from adbench_text.errors import InvalidValueError
from adbench_text.metrics import METRICS, Metric
from adbench_text.run import intervals, resampling


def ranking(n: int, decimals: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    outlier = np.arange(n) % 3 == 0
    scores = rng.normal(size=n) + outlier
    return outlier, scores if decimals is None else np.round(scores, decimals)


@pytest.mark.parametrize("decimals", [None, 2, 1, 0])
@pytest.mark.parametrize("n", [2, 5, 40, 300, 3000])
def test_intervals_are_equal_bit_for_bit_to_those_of_the_protocol(n, decimals):
    outlier, scores = ranking(n, decimals)
    for labels in (outlier, ~outlier):
        expected = intervals.bootstrap_intervals(labels, scores, 100, seed=n)
        assert resampling.bootstrap_intervals(labels, scores, 100, seed=n) == expected


@pytest.mark.parametrize("scores", [np.zeros(90), np.arange(90.0), -np.arange(90.0), np.arange(90) % 2.0])
def test_scores_that_are_equal_or_in_order_have_the_same_intervals(scores):
    outlier = np.arange(90) < 30
    expected = intervals.bootstrap_intervals(outlier, scores)
    assert resampling.bootstrap_intervals(outlier, scores) == expected


@pytest.mark.parametrize("size", [1, 100, 10**9])
def test_the_size_of_a_block_does_not_matter(size, monkeypatch):
    outlier, scores = ranking(40, 1)
    expected = intervals.bootstrap_intervals(outlier, scores, 30)
    monkeypatch.setattr(resampling, "_SIZE", size)
    assert resampling.bootstrap_intervals(outlier, scores, 30) == expected


def test_a_metric_that_has_no_fast_form_is_computed_row_by_row(monkeypatch):
    def found_first(counts):
        return float(counts.hits[0] / counts.n_positive + counts.false[-1] + counts.false_before[0])

    metric = Metric("first", "first", lambda outlier, scores: 0.0, "inliers", found_first)
    monkeypatch.setitem(METRICS, "first", metric)
    outlier, scores = ranking(40, 1)
    expected = intervals.bootstrap_intervals(outlier, scores, 30)
    assert resampling.bootstrap_intervals(outlier, scores, 30) == expected


def test_the_same_values_are_refused():
    with pytest.raises(InvalidValueError, match="outliers and inliers"):
        resampling.bootstrap_intervals(np.ones(3, bool), np.arange(3.0))
    with pytest.raises(InvalidValueError, match="level"):
        resampling.bootstrap_intervals(np.arange(3) < 1, np.arange(3.0), level=1)


def test_the_protocol_is_the_code_that_defines_the_intervals_not_the_faster_one():
    definitions = "".join(_reach(_PROTOCOL, {"adbench_text"}).definitions)
    assert "'_aupr_of'" in definitions
    assert "'_cumulated'" in definitions
    assert "_aupr_of_rows" not in definitions
