"""Labels of training documents: 1 is odd, 0 is fine, NaN is unknown."""

import numpy as np
import pytest

from adbench_text.contract.labels import NOTHING_KNOWN, KnownLabels, split_known
from adbench_text.errors import InvalidValueError

NAN = float("nan")
TEXTS = ["ship", "court", "crew", "judge"]


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_labels_tell_known_outliers_from_the_others(kind):
    odd, known = split_known(TEXTS, kind([0, 1, NAN, 1]))
    assert odd.tolist() == [False, True, False, True]
    assert known.odd == ["court", "judge"]
    assert known.is_fine.tolist() == [True, False]


@pytest.mark.parametrize("y", [[NAN] * 4, [0] * 4, [False] * 4])
def test_without_known_outliers_none_is_odd(y):
    odd, known = split_known(TEXTS, y)
    assert (odd.any(), known.odd) == (False, [])


class Spy:
    takes_labels = True

    def fit(self, *given):
        self.given = given
        return self


def test_a_detector_that_takes_labels_gets_those_of_the_documents_that_are_kept():
    fine, kept = np.array([True, False, True]), np.array([True, True, False])
    texts, labels = KnownLabels(["odd"], fine).fit(Spy(), ["a", "b", "c"], kept).given
    assert texts == ["a", "b", "odd"]
    np.testing.assert_array_equal(labels, [0, NAN, 1])


def test_without_knowledge_a_detector_gets_documents_alone():
    class Other(Spy):
        takes_labels = False

    assert KnownLabels(["odd"]).fit(Other(), ["a"]).given == (["a"],)
    assert NOTHING_KNOWN.fit(Spy(), ["a"]).given == (["a"],)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 0], r"4 texts, got shape \(2,\)"),
        ([[1, 0, 0, 0]], r"4 texts, got shape \(1, 4\)"),
        (1.0, r"4 texts, got shape \(\)"),
        (["odd", "fine", "", ""], r"y .*got \['odd'"),
        ([0, 1, 2, NAN], r"got 2\."),
        ([0, 1, -1, NAN], r"got -1\."),
        ([1, 1, 1, 1], "All 4 texts"),
    ],
)
def test_other_labels_are_an_error_of_one_line(y, message):
    with pytest.raises(InvalidValueError, match=message) as error:
        split_known(TEXTS, y)
    assert "\n" not in str(error.value)
