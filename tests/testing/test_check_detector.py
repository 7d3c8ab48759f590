"""Each way to break the detector contract is named, with file and line."""

import re

import numpy as np
import pytest

from adbench_text import storage
from adbench_text.contract.detector import TextDetector, TokenScore
from adbench_text.contract.scores import TEST_BATCH
from adbench_text.testing import ContractError, check_detector


class Sound(TextDetector):
    """The share of words that no training text has."""

    def _fit(self, texts):
        self._words = {word for text in texts for word in text.split()}

    def _score(self, texts):
        return np.array([self._unknown(text) for text in texts])

    def _unknown(self, text):
        words = text.split()
        return float(np.mean([word not in self._words for word in words])) if words else 0.0


class UpsideDown(Sound):
    def _score(self, texts):
        return -super()._score(texts)


class Constant(Sound):
    def _score(self, texts):
        return np.full(len(texts), 0.9350724237877682)  # `std` is not 0


class Raising(Sound):
    def _fit(self, texts):
        raise RuntimeError("no luck")


class Renaming(Sound):
    def __init__(self, *, k=1, **shared):
        super().__init__(**shared)
        self.k = k + 1


class Stubborn(Sound):
    def __init__(self, *, k=1, **shared):
        super().__init__(**shared)
        self.k = k

    def set_params(self, **params):
        return self


class Unseeded(Sound):
    def _fit(self, texts):
        super()._fit(texts)
        self._noise = np.random.default_rng().normal()

    def _score(self, texts):
        return super()._score(texts) + self._noise


class Ranking(Sound):
    def _score(self, texts):
        return super()._score(texts) + np.arange(len(texts))[::-1] / 1000


class Positional(Sound):
    """The same in both directions, and declared to depend on the batch."""

    regime = TEST_BATCH

    def _score(self, texts):
        return super()._score(texts) + np.abs(np.arange(len(texts)) - len(texts) / 2) / 1000


class Chunked(Sound):
    """Compares a text with the 512 that it is scored with."""

    def _score(self, texts):
        scores = super()._score(texts)
        for begin in range(0, len(texts), 512):
            scores[begin : begin + 512] -= scores[begin : begin + 512].mean()
        return scores


class NotRanking(Sound):
    @property
    def regime(self):
        return TEST_BATCH


class Remembering(Sound):
    def _fit(self, texts):
        before = getattr(self, "_words", set())
        super()._fit(texts)
        self._words |= before


class Sorting(Sound):
    def _fit(self, texts):
        texts.sort()
        super()._fit(texts)


class Fragile(Sound):
    def _unknown(self, text):
        return sum(word not in self._words for word in text.split()) / len(text.split())


class Unpicklable(Sound):
    def _fit(self, texts):
        super()._fit(texts)
        self._key = lambda text: text


class Twice(Sound):
    @classmethod
    def presets(cls, dataset):
        return {"pair": [{"contamination": 0.2}, {"contamination": 0.2}], "typo": [{"contamintion": 0.2}]}


class Vague(Sound):
    regime = "a lot"

    def resources(self):
        return {"words": 3}


class Displaced(Sound):
    def token_scores(self, texts):
        return [[TokenScore(text.split()[0], 1, 3, 0.0)] for text in texts]


def broken_rules(kind) -> list[str]:
    with pytest.raises(ContractError) as caught:
        check_detector(kind)
    first, *lines = str(caught.value).split("\n")
    assert first.split()[0] == kind.__name__
    return [line.strip() for line in lines]


def line_after(method) -> str:
    return f"(test_check_detector.py:{method.__code__.co_firstlineno + 1})"


def test_a_sound_detector_keeps_its_contract():
    check_detector(Sound)
    check_detector(Sound, {"contamination": 0.2})


def test_a_wrong_sign_is_named():
    (line,) = broken_rules(UpsideDown)
    assert "AUROC 0 %" in line


@pytest.mark.parametrize(
    ("kind", "problem", "place"),
    [
        (Constant, "all 40 scores are 0.935", ""),
        (Raising, "RuntimeError: no luck", line_after(Raising._fit)),
        (Renaming, "Cannot clone|other hyper-parameters", ""),
        (Stubborn, "set_params", ""),
        (Unseeded, "same seed .*random_state", ""),
        (Ranking, "another order, .*, by ", ""),
        (Positional, "batch, .*order", ""),
        (Chunked, "another order", ""),
        (NotRanking, "regime .*'unlabelled test batch'", ""),
        (Remembering, "second fit", ""),
        (Sorting, "list .*copy", ""),
        (Fragile, "the text '' of 0 characters: ZeroDivisionError", line_after(Fragile._unknown)),
        (Unpicklable, "pickle", ""),
        (Twice, "'pair' of 20news", ""),
        (Twice, "'typo' of 20news: no hyper-parameter 'contamintion'", ""),
        (Vague, "regime .*got 'a lot'", ""),
        (Vague, "resources\\(\\)", ""),
        (Displaced, r"text\[1:3\]", ""),
    ],
)
def test_a_broken_rule_is_one_line_and_an_error_has_file_and_line(kind, problem, place):
    lines = [line for line in broken_rules(kind) if re.search(problem, line)]
    assert len(lines) == 1
    assert lines[0].endswith(place)


def test_what_cannot_learn_is_checked_no_further():
    assert len(broken_rules(Raising)) == 1


class Duck:
    """Has two methods only."""

    def fit(self, texts):
        self.words = {word for text in texts for word in text.split()}

    def decision_function(self, texts):
        return [sum(word not in self.words for word in text.split()) for text in texts]


def test_a_detector_needs_no_base_class():
    check_detector(Duck)


class Weak(Sound):
    """Better than chance on no topic: a wrong sign and weakness are different."""

    def _score(self, texts):
        return np.array([float(len(text) % 7) for text in texts])


def test_a_weak_detector_breaks_no_rule():
    check_detector(Weak)


def test_a_check_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv(storage.CACHE, str(tmp_path))
    check_detector("iforest")
    assert list(tmp_path.iterdir()) == []
    assert storage.cache_dir() == tmp_path
