"""Test sets whose outliers are thinned to a share."""

from itertools import pairwise

import numpy as np
import pytest

from adbench_text.corpora.split import check_key, thinned
from adbench_text.corpora.split_key import ALL_OUTLIERS, SplitKey
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


@pytest.mark.parametrize(
    ("share", "quoted"),
    [
        (0.9, r"0\.9 .* 180 outliers .* 20 inliers, .* 80 outliers .80\.0%"),
        (0.01, r"0\.01 .*no outlier, .* 20 inliers"),
    ],
)
def test_a_share_that_cannot_be_had_is_refused(share, quoted):
    with pytest.raises(InvalidValueError, match=f"^test_outliers {quoted}"):
        thinned(OUTLIER, share, seed=0)


@pytest.mark.parametrize("share", [0, -0.1, 1.5, np.nan, np.inf])
def test_a_share_outside_its_range_is_refused(share):
    with pytest.raises(InvalidValueError, match=rf"^test_outliers .*\(0, 1\], got {share}\.$"):
        check_key(SplitKey("tiny", "sea", test_outliers=share))


def test_a_share_of_1_keeps_all_outliers():
    check_key(SplitKey("tiny", "sea", test_outliers=ALL_OUTLIERS))
    assert SplitKey("tiny", "sea", test_outliers=ALL_OUTLIERS) == SplitKey("tiny", "sea")
