"""The notation of detectors with presets and settings."""

import re

import pytest

from adbench_text.errors import InvalidValueError
from adbench_text.plugins.configure import DetectorChoice, format_name, split_list, text_of_settings


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        (" llr ", DetectorChoice("llr")),
        ("llr:robust", DetectorChoice("llr", "robust")),
        ("knn-words( k = 5 )", DetectorChoice("knn-words", settings={"k": 5})),
        ("date:paper(score=mp)", DetectorChoice("date", "paper", {"score": "mp"})),
        (
            "ocsvm(encoder=svd,normalize=false)",
            DetectorChoice("ocsvm", None, {"encoder": "svd", "normalize": False}),
        ),
        (
            "other(detector=ocsvm(nu=0.2, k=3))",
            DetectorChoice("other", None, {"detector": "ocsvm(nu=0.2, k=3)"}),
        ),
        ("pyod-vae(sizes=[8, 4])", DetectorChoice("pyod-vae", settings={"sizes": [8, 4]})),
        ("scores:folder/a:b(c)", DetectorChoice("scores:folder/a:b(c)")),
        (
            "ensemble(members=llr(cap=3, topics=4), knn-words(k=5), llr, random_state=1)",
            DetectorChoice(
                "ensemble",
                settings={"members": "llr(cap=3, topics=4), knn-words(k=5), llr", "random_state": 1},
            ),
        ),
    ],
)
def test_a_detector_is_a_name_with_a_preset_and_settings(text, choice):
    assert DetectorChoice.parse(text) == choice


@pytest.mark.parametrize(
    "text", ["llr", "llr:robust", "ocsvm(encoder=svd, nu=0.2)", "ensemble(members=llr(cap=3), knn-words)"]
)
def test_a_detector_is_written_as_it_is_read(text):
    choice = DetectorChoice.parse(text)
    assert format_name(choice.name, choice.preset or "default", text_of_settings(choice.settings)) == text


WRONG = ["", "llr(", "llr(a=1", "llr)a=1(", "(k=5)", "llr()", "llr:"]


@pytest.mark.parametrize(
    ("text", "quoted"), [*zip(WRONG, WRONG, strict=True), ("llr(5)", "5"), ("llr(=5)", "=5")]
)
def test_other_texts_are_refused(text, quoted):
    with pytest.raises(InvalidValueError, match=re.escape(f"got {quoted!r}")):
        DetectorChoice.parse(text)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("llr(cap=3)", "default"),
        ("date", "paper"),
        ("date(score=mp)", "paper(score=mp)"),
        ("ensemble", "robust"),
        ("ensemble(encoder=svd)", "robust(encoder=svd)"),
        ("ensemble:clean(encoder=svd)", "clean(encoder=svd)"),
        ("ensemble(members=llr)", "default"),
        ("ensemble:default", "default"),
    ],
)
def test_without_a_preset_that_of_the_class_is_meant_unless_the_settings_replace_all_of_it(text, label):
    assert DetectorChoice.parse(text).label == label


def test_a_list_is_split_at_commas_outside_brackets():
    assert split_list("llr, pyod-vae(sizes=[8, 4], a=1),date") == [
        "llr",
        "pyod-vae(sizes=[8, 4], a=1)",
        "date",
    ]
    assert split_list("llr,") == ["llr", ""]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("robust", DetectorChoice("ensemble", "robust")),
        ("clean(encoder=svd)", DetectorChoice("ensemble", "clean", {"encoder": "svd"})),
        ("llr:robust", DetectorChoice("llr", "robust")),
        ("rubust", DetectorChoice("rubust")),
    ],
)
def test_a_preset_of_the_default_detector_need_not_name_it(written, expected):
    assert DetectorChoice.parse(written) == expected
