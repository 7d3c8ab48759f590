import warnings

import numpy as np
import pytest
from scipy import stats

from adbench_text.reports import significance
from adbench_text.reports.significance import Pair, cliques, friedman, mean_ranks, wilcoxon_holm

# three detectors in four splits; the second and the third tie in the last
FIGURES = np.array([[0.9, 0.8, 0.7], [0.9, 0.7, 0.8], [0.6, 0.9, 0.8], [0.9, 0.5, 0.5]])


def test_mean_ranks_by_hand():
    # ranks 1 2 3, 1 3 2, 3 1 2, 1 2.5 2.5
    assert mean_ranks(FIGURES).tolist() == [6 / 4, 8.5 / 4, 9.5 / 4]


def test_friedman_by_hand():
    # deviations of the rank sums from 8: -2, 0.5, 1.5; with a tie of two the variance is
    # 4 * 3 * 4 / 12 * (1 - 6 / (4 * 24)) = 3.75; two degrees of freedom
    assert friedman(FIGURES) == pytest.approx(np.exp(-((4 + 0.25 + 2.25) / 3.75) / 2))


def test_friedman_needs_three_detectors():
    assert np.isnan(friedman(FIGURES[:, :2]))


def test_equal_detectors_have_p_one_without_a_warning():
    figures = np.repeat([[0.5], [0.7], [0.9]], 3, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert friedman(figures) == 1
        assert [pair[2:] for pair in wilcoxon_holm(figures)] == [(0, 1, 1)] * 3
    assert mean_ranks(figures).tolist() == [2, 2, 2]


def test_wilcoxon_by_hand():
    # six differences of one sign: both tails of the 2**6 equally likely signs hold one each
    base = np.arange(6) / 10
    figures = np.stack([base + np.arange(1, 7) / 100, base], axis=1)
    [pair] = wilcoxon_holm(figures)
    assert pair == Pair(0, 1, pytest.approx(0.035), 2 / 64, 2 / 64)


def test_pairs_are_those_of_scipy_smallest_p_first():
    figures = np.random.default_rng(1).random((10, 4)) + np.array([0, 0.2, 0.4, 0.9])
    pairs = wilcoxon_holm(figures)
    assert sorted(pair[:2] for pair in pairs) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert [pair.p for pair in pairs] == sorted(pair.p for pair in pairs)
    for first, second, difference, p, _ in pairs:
        assert p == stats.wilcoxon(figures[:, first], figures[:, second]).pvalue
        assert difference == np.median(figures[:, first] - figures[:, second])


@pytest.mark.parametrize(
    ("p", "corrected"),
    [
        ([], []),
        ([0.5], [0.5]),
        ([0.01, 0.02, 0.03, 0.04], [0.04, 0.06, 0.06, 0.06]),
        ([0.5, 0.01, 0.9, 0.01], [1, 0.04, 1, 0.04]),
    ],
)
def test_holm_by_hand(p, corrected):
    assert significance.holm(p) == pytest.approx(corrected)


def test_pairs_carry_holms_correction():
    pairs = wilcoxon_holm(np.random.default_rng(2).random((8, 4)) + np.array([0, 0, 0.5, 1]))
    assert [pair.p_holm for pair in pairs] == significance.holm([pair.p for pair in pairs])
    assert len({pair.p_holm for pair in pairs}) > 1


def test_one_detector_has_no_pairs():
    assert wilcoxon_holm([[0.5], [0.7]]) == []
    assert mean_ranks([[0.5], [0.7]]).tolist() == [1]


@pytest.mark.parametrize("seed", range(20))
def test_cliques_are_the_maximal_runs_of_neighbours(seed):
    rng = np.random.default_rng(seed)
    ranks = rng.permutation(7).astype(float)
    pairs = [Pair(i, j, 0, 0, rng.choice([0.01, 0.5], p=[0.2, 0.8])) for i in range(7) for j in range(i)]
    order = np.argsort(ranks).tolist()
    runs = [order[a:b] for a in range(7) for b in range(a + 2, 8)]
    alike = [r for r in runs if not any(p.p_holm < 0.05 and {p.first, p.second} <= set(r) for p in pairs)]
    maximal = [r for r in alike if not any(set(r) < set(other) for other in alike)]
    assert cliques(ranks, pairs) == maximal
