"""Each way to break the dataset contract is named."""

import itertools
import re

import numpy as np
import pytest

from adbench_text.contract.dataset import Dataset, Documents, Edition, Redraw
from adbench_text.testing import ContractError, check_dataset

COUNTER = itertools.count()


class Weather(Dataset):
    name = "weather"
    classes = ("rain", "sun")
    source = licence = citation = "made up"

    def edition(self):
        return Edition("made up", "1")

    def read(self):
        part = Documents(["wet grey sky", "warm bright sky", "7"], np.array([0, 1, 1]))
        return part, part


class Nameless(Weather):
    name = citation = ""
    classes = "rain"


class Restless(Weather):
    def edition(self):
        return Edition("made up", str(next(COUNTER)))

    def read(self):
        part = Documents([f"wet grey sky {'abc' * next(COUNTER)}", "warm bright sky"], np.array([0, 1]))
        return part, part


class OfPairs(Weather):
    def read(self):
        return [("wet grey sky", 0)], [("warm bright sky", 1)]


class Empty(Weather):
    def read(self):
        return Documents(["wet", "7"], np.array([0, 1])), Documents(["wet", "sun"], np.array([0, 1]))


class OfNormal(Weather):
    inliers = ("rain", "sun")


class Unsure(Weather):
    protocol = "redrawn"


class Trained(Weather):
    protocol = "redrawn"
    redraw = Redraw(0.5)


class Drawn(Weather):
    protocol = "redrawn"
    redraw = Redraw(n_of_class=1)


class Folded(Drawn):
    redraw = Redraw(folds=2)


class OfPairedDocuments(Folded):
    def read(self):
        texts = ["wet grey sky", "cold rain", "warm bright sky", "hot sand"]
        return Documents([], []), Documents(texts, [0, 0, 1, 1])


def test_a_sound_dataset_keeps_its_contract():
    check_dataset(Weather)
    check_dataset(OfPairedDocuments)
    check_dataset(Drawn)
    check_dataset(Weather())


@pytest.mark.parametrize(
    ("kind", "problems"),
    [
        (Nameless, ["name", "citation", "classes .*got 'rain'"]),
        (Restless, [r"edition\(\)", r"read\(\)"]),
        (OfPairs, ["Documents.*got list, list"]),
        (OfNormal, [r"inliers .*got \('rain', 'sun'\)"]),
        (Unsure, ["redraw .*got None"]),
        (Trained, ["test part, got 2"]),
        (Folded, ["folds: .*rain 1, sun 1, and 2 more that are empty"]),
        (Empty, ["'sun' of weather"]),
    ],
)
def test_a_broken_rule_is_named(kind, problems):
    with pytest.raises(ContractError) as caught:
        check_dataset(kind)
    lines = str(caught.value).split("\n")[1:]
    assert len(lines) == len(problems)
    for line, problem in zip(lines, problems, strict=True):
        assert re.search(problem, line)
