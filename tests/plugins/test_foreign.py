"""Detectors of other packages behind the interface of this one."""

import numpy as np
import pandas as pd
import pytest

from adbench_text.errors import DetectorError, InvalidValueError
from adbench_text.plugins import registry
from adbench_text.plugins.adbench import ADBenchDetector
from adbench_text.plugins.foreign import adapted
from adbench_text.plugins.scores import TokenScore


class Long:
    """Counts words; it has no random_state."""

    def __init__(self, least=0):
        self.least = least

    def fit(self, texts):
        return self

    def decision_function(self, texts):
        return np.array([len(text.split()) - self.least for text in texts])


class Explained(Long):
    def token_scores(self, texts):
        return [[(text[:3], 0, 3, 1.5)] for text in texts]

    def tables(self):
        return {"lengths": pd.DataFrame({"length": [3]})}


def test_scores_of_words_and_tables_are_used_if_they_exist():
    explained = adapted(Explained)().fit(["sea"])
    assert explained.token_scores(["law"]) == [[TokenScore("law", 0, 3, 1.5)]]
    assert list(explained.tables()) == ["lengths"]
    plain = adapted(Long)().fit(["sea"])
    assert plain.tables() == {}
    with pytest.raises(DetectorError, match="it has no scores of words"):
        plain.token_scores(["law"])


def test_set_params_changes_the_scores_and_asks_for_another_fit():
    detector = adapted(Long)(least=1).fit(["sea"])
    assert detector.set_params(least=3) is detector
    assert detector.get_params() == {"least": 3}
    with pytest.raises(InvalidValueError, match="not fitted"):
        detector.decision_function(["a long storm"])
    assert detector.fit(["sea"]).decision_function(["a long storm"]).tolist() == [0]
    assert adapted(Long)().set_params(least=2).wrapped.least == 2


def test_adbench_gives_a_seed_only_to_what_takes_one(monkeypatch):
    monkeypatch.setattr(registry, "detector", lambda name: adapted(Long))
    model = ADBenchDetector(seed=0, model_name="long", least=1).fit(["the sea"])
    assert model.predict_score(["a long storm", "sea"]).tolist() == [2, 0]
