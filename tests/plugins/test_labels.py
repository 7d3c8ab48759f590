"""Labels of training documents: 1 is odd, 0 is fine, NaN is unknown."""

import numpy as np
import pytest

from adbench_text.errors import InvalidValueError
from adbench_text.plugins.labels import Labels

NAN = float("nan")
TEXTS = ["ship", "court", "crew", "judge"]


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_labels_tell_known_outliers_from_the_others(kind):
    labels = Labels.of(TEXTS, kind([0, 1, NAN, 1]))
    assert labels.odd == ["court", "judge"]
    assert labels.is_odd.tolist() == [False, True, False, True]
    assert labels.is_fine.tolist() == [True, False]
    assert labels.rest(TEXTS) == ["ship", "crew"]


@pytest.mark.parametrize("y", [None, [NAN] * 4, [0] * 4, [False] * 4])
def test_without_known_outliers_all_documents_are_left(y):
    labels = Labels.of(TEXTS, y)
    assert (labels.odd, labels.is_odd.any()) == ([], False)
    assert labels.rest(TEXTS) is TEXTS


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 0], r"a label for each of 4 texts, got shape \(2,\)"),
        ([[1, 0, 0, 0]], r"a label for each of 4 texts, got shape \(1, 4\)"),
        (1.0, r"a label for each of 4 texts, got shape \(\)"),
        (["odd", "fine", "", ""], r"y must hold 1, 0 or NaN for each text, got \['odd'"),
        ([0, 1, 2, NAN], r"A label is 1 \(odd\), 0 \(fine\) or NaN \(unknown\), got 2\."),
        ([0, 1, -1, NAN], r"got -1\."),
        ([1, 1, 1, 1], "All 4 texts are labelled odd; a detector also needs some that are not"),
    ],
)
def test_other_labels_are_an_error_of_one_line(y, message):
    with pytest.raises(InvalidValueError, match=message) as error:
        Labels.of(TEXTS, y)
    assert "\n" not in str(error.value)
