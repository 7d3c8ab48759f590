import numpy as np
import pytest

from adbench_text.detectors._references import smallest


@pytest.mark.parametrize("n", [1, 19, 20, 21, 200, 209, 210, 211, 999, 1000, 4003])
@pytest.mark.parametrize("k", [0, 1, 20, 40])
@pytest.mark.parametrize("kinds", [3, 10**6])  # few values are different, or nearly all
def test_the_smallest_values_of_each_row_are_found(n, k, kinds):
    values = np.random.default_rng([n, k, kinds]).integers(0, kinds, (7, n)).astype(np.float64)
    values[1, ::2] = np.inf
    before = values.copy()
    np.testing.assert_array_equal(smallest(values, k), np.sort(values)[:, :k])
    np.testing.assert_array_equal(values, before)


def test_no_row_has_no_smallest_value():
    assert smallest(np.empty((0, 1000)), 20).shape == (0, 20)
