import numpy as np
import pytest

from adbench_text.detectors._robust_scale import RobustScale, select

EIGHT_USUAL = [0, 1, 2, 3, 4, 5, 6, 7]


def kept(scores, cutoff=1.5, max_dropped=0.2):
    return select(np.array(scores, dtype=float), cutoff, max_dropped)


def test_the_scale_of_scores_most_of_which_are_equal_is_their_standard_deviation():
    scores = np.array([0.3, 0.1 + 0.2, 0.3, 0.3, 5.0])  # 0.1 + 0.2 differs by rounding
    assert RobustScale.fit(scores) == (0.3, scores.std())


def test_scores_that_are_nothing_but_rounding_have_scale_zero():
    assert RobustScale.fit(np.array([1e-17, 0, 2e-17])).scale == 0


@pytest.mark.parametrize("value", [0, 0.3, -7])
def test_equal_scores_have_scale_zero_and_every_score_is_usual(value):
    scale = RobustScale.fit(np.full(9, value))
    assert scale == (value, 0)
    assert scale.z(np.array([value, 1e9])).tolist() == [0, 0]


def test_documents_above_the_cutoff_are_dropped():
    assert kept([*EIGHT_USUAL, 50, 60], max_dropped=0.5).tolist() == [True] * 8 + [False] * 2
    assert kept([*EIGHT_USUAL, 50, 60], cutoff=13, max_dropped=0.5).sum() == 9


@pytest.mark.parametrize(("max_dropped", "n_dropped"), [(0, 0), (0.09, 0), (0.1, 1), (0.25, 2), (0.5, 3)])
def test_never_more_than_the_share_is_dropped(max_dropped, n_dropped):
    assert (~kept([0, 1, 2, 3, 4, 5, 6, 50, 60, 70, 7], max_dropped=max_dropped)).sum() == n_dropped
    assert kept([0] * 8 + [9] * 4).all()  # the largest scores are equal: all or none


@pytest.mark.parametrize("scores", [[3], [3] * 9])
def test_documents_with_equal_scores_are_all_kept(scores):
    assert kept(scores).all()
