import math
import re
from fractions import Fraction

import numpy as np
import pytest

from adbench_text.checks import SEED, Boolean, Choice, Number, Whole
from adbench_text.errors import InvalidValueError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.plugins.registry import detector

OWN = ["pyod-knn", *(plugin.name for plugin in registry.plugins("detectors").values() if plugin.class_name)]
NO_NAMES = [1, 2.5, True, None, [1], {"a": 1}, np.array(["auto", "rbf"]), np.zeros(2)]
NO_NUMBERS = [True, False, None, "1", [1], np.array([1, 2]), 1j, math.nan, math.inf, -math.inf, 10**400]


# -- the rules


def refusal(values, value, name="nu"):
    with pytest.raises(InvalidValueError) as caught:
        values.check(name, value)
    return caught.value


@pytest.mark.parametrize("value", NO_NAMES)
def test_a_choice_of_another_type_than_text_is_an_unknown_name(value):
    error = refusal(Choice(("rbf", "linear")), value)
    assert isinstance(error, UnknownNameError)
    assert str(value) in error.name
    assert "Known: linear, rbf." in str(error)


@pytest.mark.parametrize(
    ("values", "taken", "refused", "text"),
    [
        (Boolean(), [True, False], [0, 1, "true", None, [True], np.ones(2)], "true .*false"),
        (
            Whole(1),
            [1, 10**400, np.int64(3), np.uint8(3)],
            [*NO_NUMBERS[:-1], 1.0, 1.5, 0, -1],
            "a whole .* 1",
        ),
        (Whole(1, nullable=True), [1, None], [0, False], "None or a whole .* 1"),
        (
            SEED,
            [None, 0, 2**32 - 1, np.int64(5)],
            [True, False, -1, 2**32, 1.0, "1", [1], math.nan],
            r"None or in 0 \.\.\. 4294967295",
        ),
        (
            Number("(-inf, inf)"),
            [-1e300, np.float32(0.5), np.int64(1), Fraction(1, 2)],
            NO_NUMBERS,
            r"in \(-inf, inf\)",
        ),
        (Number("(0, 1)"), [1e-300, 0.999], [0, 1, -1, 2, *NO_NUMBERS], r"in \(0, 1\)"),
        (Number("[0, 1)"), [0, 0.999], [-1e-300, 1], r"in \[0, 1\)"),
        (Number("(0, 0.5]"), [1e-300, 0.5], [0, 0.501], r"in \(0, 0\.5\]"),
        (Number("[0, 1]"), [0, 1], [-0.1, 1.1], r"in \[0, 1\]"),
        (Number("(0, inf)"), [1e-300, 1e300], [0, -1], "positive"),
        (Number(), [0, 1e300], [-1e-300, *NO_NUMBERS], "a number .* 0"),
        (Number("(0, inf)", nullable=True), [None, 4], [0, "null"], "None or positive"),
    ],
)
def test_values_out_of_a_range_are_quoted_with_the_range(values, taken, refused, text):
    for value in taken:
        values.check("nu", value)
    for value in refused:
        error = str(refusal(values, value))
        assert re.match(f"nu must be {text}, got ", error)
        assert error.endswith(f", got {value!r}.")


# -- the detectors, built as the command line builds them


@pytest.mark.parametrize("name", OWN)
def test_each_hyper_parameter_of_ours_declares_its_values_and_refuses_others(name):
    kind = detector(name)
    own = kind._own_defaults() if name.startswith("pyod") else {}
    ranges, defaults = kind.parameter_ranges(), kind.default_params()
    assert ranges.keys() == defaults.keys() - own.keys()
    for parameter, values in ranges.items():
        values.check(parameter, defaults[parameter])
        for wrong in ([1], {}, True, math.nan, math.inf, -1):
            if not (isinstance(values, Boolean) and wrong is True):
                with pytest.raises(InvalidValueError):
                    kind().set_params(**{parameter: wrong}).check_params()


@pytest.mark.parametrize("share", [True, 0.6, "0.1", None, [1]])
def test_every_detector_checks_its_contamination_before_pyod_does(share):
    with pytest.raises(
        InvalidValueError, match=rf"^contamination .*\(0, 0\.5\], got {re.escape(repr(share))}\.$"
    ):
        detector("llr")(contamination=share)
