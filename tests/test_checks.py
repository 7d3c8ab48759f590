import math
import re
from fractions import Fraction

import numpy as np
import pytest

from adbench_text.checks import check_boolean, check_choice, check_number, check_seed, check_whole
from adbench_text.errors import InvalidValueError, UnknownNameError
from adbench_text.plugins.registry import detector
from adbench_text.sweep.cell import Cell
from adbench_text.sweep.construct import build_detector

TEXTS = ["ship sail", "tide wave"]
OWN = ("cvdd", "date", "iforest", "llr", "ocsvm", "pyod-knn")
NO_NAMES = [1, 2.5, True, None, [1], {"a": 1}, np.array(["auto", "rbf"]), np.zeros(2)]
NO_NUMBERS = [True, False, None, "1", [1], np.array([1, 2]), 1j, math.nan, math.inf, -math.inf, 10**400]


# -- the rules


@pytest.mark.parametrize("value", NO_NAMES)
def test_a_choice_of_another_type_than_text_is_an_unknown_name(value):
    with pytest.raises(UnknownNameError) as caught:
        check_choice("kernel", value, ("rbf", "linear"))
    assert str(value) in caught.value.name
    assert "Known: linear, rbf." in str(caught.value)


def test_an_unknown_choice_gets_the_nearest_name():
    check_choice("kernel", "rbf", {"rbf": 0})
    with pytest.raises(UnknownNameError, match=r"^No kernel named 'rbff'\. Did you mean 'rbf'\? Known: "):
        check_choice("kernel", "rbff", ("rbf", "linear"))


@pytest.mark.parametrize("value", [0, 1, "true", "yes", None, [True], np.ones(2)])
def test_only_true_and_false_are_booleans(value):
    check_boolean("normalize", True)
    check_boolean("normalize", False)
    with pytest.raises(InvalidValueError, match=r"^normalize must be true or false, got "):
        check_boolean("normalize", value)


@pytest.mark.parametrize("value", [*NO_NUMBERS[:-1], 1.0, 1.5, 0, -1])
def test_no_whole_number_of_a_size_is_refused(value):
    with pytest.raises(InvalidValueError) as caught:
        check_whole("epochs", value, least=1)
    assert str(caught.value) == f"epochs must be a whole number of at least 1, got {value!r}."


@pytest.mark.parametrize("value", [1, 10**400, np.int64(3), np.uint8(3)])
def test_whole_numbers_of_any_kind_are_taken(value):
    check_whole("epochs", value, least=1)


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize("interval", ["[0, inf)", "(0, inf)", "(0, 1]", "(-inf, inf)"])
def test_what_is_no_finite_number_is_in_no_interval(value, interval):
    with pytest.raises(InvalidValueError) as caught:
        check_number("nu", value, interval)
    assert str(caught.value).endswith(f", got {value!r}.")


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int64(1), Fraction(1, 2)])
def test_finite_numbers_of_any_kind_are_taken(value):
    check_number("nu", value, "(0, 1]")


@pytest.mark.parametrize(
    ("interval", "inside", "outside", "range_"),
    [
        ("(0, 1)", [1e-300, 0.999], [0, 1, -1, 2], "in (0, 1)"),
        ("[0, 1)", [0, 0.999], [-1e-300, 1], "in [0, 1)"),
        ("(0, 0.5]", [1e-300, 0.5], [0, 0.501], "in (0, 0.5]"),
        ("[0, 1]", [0, 1], [-0.1, 1.1], "in [0, 1]"),
        ("(0, inf)", [1e-300, 1e300], [0, -1], "positive"),
        ("[0, inf)", [0, 1e300], [-1e-300], "a number of at least 0"),
    ],
)
def test_an_interval_has_the_ends_that_its_brackets_include(interval, inside, outside, range_):
    for value in inside:
        check_number("nu", value, interval)
    for value in outside:
        with pytest.raises(InvalidValueError) as caught:
            check_number("nu", value, interval)
        assert str(caught.value) == f"nu must be {range_}, got {value!r}."


@pytest.mark.parametrize("seed", [True, False, -1, 2**32, 1.0, "1", [1], math.nan])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(InvalidValueError, match=r"^random_state must be None or in 0 "):
        check_seed(seed)


@pytest.mark.parametrize("seed", [None, 0, 2**32 - 1, np.int64(5)])
def test_a_seed_is_none_or_a_whole_number_of_32_bits(seed):
    check_seed(seed)


# -- the detectors, built as the command line builds them


def build(name, **settings):
    return build_detector(Cell(name, "default", settings, "pydocs", "text", 0.0, 0))


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("ocsvm", {"svd_components": True}, "svd_components must be a whole number of at least 1, got True."),
        ("llr", {"smoothing": math.inf}, "smoothing must be positive, got inf."),
        (
            "ocsvm",
            {"encoder": [1]},
            "No encoder named '[1]'. Known: max, mean, minilm, svd, tfidf, wordllama.",
        ),
        ("ocsvm", {"kernel": "rbff"}, "No kernel named 'rbff'. Did you mean 'rbf'? Known: linear, rbf."),
    ],
)
def test_a_wrong_value_is_quoted_with_its_range_or_the_nearest_name(name, settings, message):
    with pytest.raises(InvalidValueError) as caught:
        build(name, **settings)
    assert str(caught.value) == message


def of_kind(name, kind):
    """Return the names of the hyper-parameters whose default is of a kind."""
    own = detector(name)._own_defaults() if name.startswith("pyod") else {}
    defaults = detector(name)().get_params()
    return [key for key, value in defaults.items() if type(value) in kind and key not in own]


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("value", [[1], {}, True, 3, None])
def test_no_choice_of_a_detector_takes_anything_but_a_name(name, value):
    choices = of_kind(name, {str})
    assert choices
    for choice in choices:
        if (name, choice) != ("llr", "vectors"):
            with pytest.raises(UnknownNameError, match="named '"):
                detector(name)().set_params(**{choice: value}).check_params()


def test_vectors_of_llr_are_checked_where_it_reads_them():
    build("llr", vectors="glove")
    for background in ("vectors", "mean"):
        with pytest.raises(UnknownNameError, match="No word vectors named 'glove'"):
            build("llr", background=background, vectors="glove")
        with pytest.raises(UnknownNameError, match="No word vectors named '3'"):
            build("llr", background=background, vectors=3)


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("value", [True, "1", [1], math.nan, math.inf, -1])
def test_every_number_of_a_detector_is_finite_and_no_boolean(name, value):
    numbers = of_kind(name, {int, float})
    assert "contamination" in numbers
    for number in numbers:
        with pytest.raises(InvalidValueError, match=f"^{number} must be "):
            detector(name)().set_params(**{number: value}).check_params()


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("seed", [True, -1, "1", [1]])
def test_every_detector_checks_its_seed(name, seed):
    with pytest.raises(InvalidValueError, match=r"^random_state must be None or in "):
        detector(name)(random_state=seed).fit(TEXTS)


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("share", [True, 0.6, "0.1", None, [1]])
def test_every_detector_checks_its_contamination_before_it_runs(name, share):
    message = re.escape(f"contamination must be in (0, 0.5], got {share!r}.")
    with pytest.raises(InvalidValueError, match=message):
        detector(name)().set_params(contamination=share).check_params()
    with pytest.raises(InvalidValueError, match=message):
        detector(name)(contamination=share)


def test_a_thresholder_is_a_contamination_as_it_is_for_pyod():
    class Thresholder:
        def fit(self, scores):
            self.thresh_ = np.median(scores)
            self.labels_ = (scores > self.thresh_).astype(int)

    fitted = detector("llr")(contamination=Thresholder()).fit([*TEXTS * 3, "judge court"])
    assert fitted.labels_.sum() == 1


@pytest.mark.parametrize("value", [1, 0, "true", None])
def test_normalize_is_a_boolean(value):
    with pytest.raises(InvalidValueError, match=r"^normalize must be true or false, got "):
        build("iforest", normalize=value)
