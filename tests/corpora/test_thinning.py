"""Test sets whose outliers are thinned to a share."""

from itertools import pairwise

import numpy as np
import pytest

from adbench_text.corpora.split import thinned
from adbench_text.errors import InvalidValueError

OUTLIER = np.arange(100) % 5 != 0  # 20 inliers and 80 outliers


@pytest.mark.parametrize(("share", "n"), [(0.05, 1), (0.2, 5), (0.5, 20), (0.8, 80)])
def test_the_outliers_make_up_the_share_and_all_inliers_are_kept(share, n):
    kept = thinned(OUTLIER, share, seed=0)
    assert OUTLIER[kept].sum() == n
    assert set(np.flatnonzero(~OUTLIER)) <= set(kept)
    assert (np.diff(kept) > 0).all()  # in their order, none twice


def test_the_draw_depends_on_the_seed_alone():
    first = thinned(OUTLIER, 0.2, seed=3)
    np.testing.assert_array_equal(thinned(OUTLIER, 0.2, seed=3), first)
    assert len({tuple(thinned(OUTLIER, 0.2, seed)) for seed in range(20)}) == 20


def test_a_higher_share_contains_the_outliers_of_a_lower_one():
    shares = [set(thinned(OUTLIER, share, seed=1)) for share in (0.1, 0.3, 0.6, 0.8)]
    assert all(lower < higher for lower, higher in pairwise(shares))


def test_the_test_set_is_not_changed():
    before = OUTLIER.copy()
    thinned(OUTLIER, 0.1, seed=0)
    np.testing.assert_array_equal(OUTLIER, before)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan"), float("inf")])
def test_a_share_out_of_range_is_refused(share):
    with pytest.raises(InvalidValueError, match=rf"^test_outliers must be in \(0, 1\), got {share:g}\.$"):
        thinned(OUTLIER, share, seed=0)


def test_a_share_above_that_of_the_test_set_is_refused_with_what_there_is():
    message = r"^test_outliers 0\.9 asks for 180 outliers beside 20 inliers, but .* only 80, which is 80\.0%"
    with pytest.raises(InvalidValueError, match=message):
        thinned(OUTLIER, 0.9, seed=0)


def test_a_share_that_leaves_no_outlier_is_refused():
    with pytest.raises(InvalidValueError, match=r"^test_outliers 0\.01 leaves no outlier beside 20 inliers"):
        thinned(OUTLIER, 0.01, seed=0)
