from itertools import pairwise

import numpy as np
import pytest

from adbench_text.metrics import all_metrics, aupr_in, aupr_out, auroc

OUTLIER = np.array([False, False, False, True, True])


def test_a_perfect_ranking_scores_one():
    scores = np.array([0.0, 1, 2, 3, 4])
    assert all_metrics(OUTLIER, scores) == {"auroc": 1.0, "aupr_in": 1.0, "aupr_out": 1.0}


def test_a_reversed_ranking_has_auroc_zero():
    assert auroc(OUTLIER, np.array([4.0, 3, 2, 1, 0])) == 0.0


def test_auroc_counts_pairs_and_halves_ties():
    # outliers 2 and 4 against inliers 0, 2, 3: 1 + 1/2 + 0 and 3 pairs won of 6
    assert auroc(OUTLIER, np.array([0.0, 2, 3, 2, 4])) == pytest.approx(4.5 / 6)


def test_aupr_out_by_hand():
    # from the top: outlier, inlier, outlier, inlier, inlier
    # recall 0, 1/2, 1/2, 1 with precision 1, 1, 1/2, 2/3; the rest adds no recall
    scores = np.array([3.0, 1, 0, 4, 2])
    assert aupr_out(OUTLIER, scores) == pytest.approx(0.5 * 1 + 0.5 * (1 / 2 + 2 / 3) / 2)


def test_aupr_in_by_hand():
    # from the most normal: inlier, inlier, outlier, inlier, outlier
    scores = np.array([3.0, 1, 0, 4, 2])
    assert aupr_in(OUTLIER, scores) == pytest.approx(2 / 3 + 1 / 3 * (2 / 3 + 3 / 4) / 2)


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


def test_metrics_depend_on_the_order_of_scores_alone():
    rng = np.random.default_rng(0)
    outlier, scores = rng.random(100) < 0.3, rng.normal(size=100)
    assert all_metrics(outlier, scores) == pytest.approx(all_metrics(outlier, np.exp(scores) * 5))
