"""What the process of a detector returns, and what its class declares, is checked before it is used."""

import math
import pickle
import time
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from commands import adbench

from adbench_text.contract.dataset import Documents
from adbench_text.contract.scores import TokenScore, check_scores
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split import draw
from adbench_text.corpora.split_key import SplitKey
from adbench_text.errors import DetectorError
from adbench_text.run.cell import Cell
from adbench_text.run.measure import measured
from adbench_text.run.result import Example, Point, Result
from adbench_text.store.store import Store

LABELS = np.arange(8) % 2
CORPUS = Corpus(
    "made-up",
    ("zero", "one"),
    Documents([f"train {label}" for label in LABELS], LABELS),
    Documents([f"test{i} {label}" for i, label in enumerate(LABELS)], LABELS),
    "made up",
)
CELL = Cell("d", "default", {}, SplitKey("made-up", "zero"))
SPLIT = draw(CORPUS, CELL.split)
SCORES = SPLIT.outlier + 0.1 * np.arange(len(SPLIT.test))
GOOD = Result(
    CELL,
    time.time(),
    {"fit_seconds": 1.5, "score_seconds": 0.5, "peak_memory_mb": 80.0},
    SCORES,
    curves={"training/loss_total": [Point(1, 0.5, time.time())]},
    ran_on={"device": "abacus"},
)


def taken_over(returned):
    return measured(returned, CELL, SPLIT, CORPUS)


def test_a_result_is_copied_whole():
    result = taken_over(GOOD)
    assert result.status == "ok"
    assert result.metrics["auroc"] == 1
    assert result.metrics["n_train"] == 4
    assert (result.curves, result.ran_on, result.started) == (GOOD.curves, GOOD.ran_on, GOOD.started)
    assert result.scores is not GOOD.scores


class Name(str):
    """A text with a method of a plug-in."""

    def startswith(self, *prefix):
        return True


def test_texts_of_a_result_have_no_methods_of_a_plug_in():
    point = GOOD.curves["training/loss_total"]
    assert "'auroc'" in taken_over(replace(GOOD, curves={Name("auroc"): point})).reason
    taken = taken_over(replace(GOOD, curves={Name("training/x"): point}, ran_on={Name("device"): Name("a")}))
    assert {type(each) for each in (*taken.curves, *taken.ran_on, *taken.ran_on.values())} == {str}


@pytest.mark.parametrize(("index", "is_wrong"), [([0, 1, 2], False), ([7, 3, 5], False), ([2, 0, 1], True)])
def test_a_series_in_another_order_is_refused(index, is_wrong):
    given = pd.Series([0.1, 0.2, 0.3], index)
    with pytest.raises(DetectorError, match="order") if is_wrong else nullcontext():
        assert check_scores(given, 3).tolist() == [0.1, 0.2, 0.3]


EXAMPLE = Example("most abnormal", 1, "one", True, 9.0, "another text", [TokenScore("test1", 0, 5, 1.0)])


@pytest.mark.parametrize(
    ("wrong", "quoted"),
    [
        ({"curves": {"auroc": [Point(1, 0.99, 1.0)]}}, "'auroc'"),
        ({"curves": {"training/x": [(1, 0.5, math.nan)]}}, "nan"),
        ({"curves": {"training/x": [(2**70, 0.5, 1.0)]}}, str(2**70)),
        ({"curves": {"training/x": [(1, "low", 1.0)]}}, "'low'"),
        ({"curves": {"training/x": 5}}, "int"),
        ({"curves": {5: []}}, "5"),
        ({"curves": None}, "NoneType"),
        ({"metrics": {"auroc": 0.99}}, "'auroc'"),
        ({"metrics": {"auroc_seen": 0.99}}, "'auroc_seen'"),
        ({"metrics": {"fit_seconds": -1}}, "got -1"),
        ({"metrics": {"fit_seconds": "fast"}}, "'fast'"),
        ({"started": math.nan}, "nan"),
        ({"started": "today"}, "'today'"),
        ({"scores": None}, "got ()"),
        ({"scores": SCORES[1:]}, "(7,)"),
        ({"scores": np.full(8, math.nan)}, "NaN"),
        ({"word_scores": np.ones(3)}, "(3,)"),
        ({"ran_on": {"device": 5}}, "5"),
        ({"ran_on": "cpu"}, "str"),
        ({"reason": 5}, "got 5"),
        ({"traceback": b"x", "reason": "failed"}, "b'x'"),
        ({"examples": [EXAMPLE]}, "1"),
        ({"examples": [replace(EXAMPLE, tokens=[TokenScore("x", 0, 10**6, 1.0)])] * 8}, "1000000"),
        ({"examples": [replace(EXAMPLE, tokens=[TokenScore("x", 0, 1, math.inf)])] * 8}, "inf"),
        ({"examples": 5}, "int"),
    ],
)
def test_a_value_that_is_not_what_it_should_be_fails_the_cell(wrong, quoted):
    result = taken_over(replace(GOOD, **wrong))
    assert result.status == "failed"
    assert quoted in result.reason
    assert result.metrics.keys() == {"n_train", "n_train_outliers", "n_test", "n_test_outliers"}
    assert pickle.loads(pickle.dumps(result)).reason == result.reason


def test_an_object_that_is_no_result_fails_the_cell():
    assert "{'auroc': 0.99}" in taken_over({"auroc": 0.99}).reason


def test_of_examples_only_the_scores_of_words_are_the_detectors():
    examples = taken_over(replace(GOOD, examples=[EXAMPLE] * 8)).examples
    assert {example.text for example in examples} == {*SPLIT.test}
    scored = dict(zip(SPLIT.places, SCORES, strict=True))
    assert {example.document: example.score for example in examples} == scored
    assert all(example.outlier == (example.label == "one") for example in examples)


# -- on the command line


DETECTORS = '''
import math
from adbench_text.contract.detector import TextDetector
from adbench_text.contract.scores import PRE_TRAINED
from adbench_text.run.result import Point
import numpy as np


class Base(TextDetector):
    def _fit(self, texts):
        self.known = set(" ".join(texts).split())

    def _score(self, texts):
        return np.array([sum(w not in self.known for w in t.split()) / (len(t.split()) or 1) for t in texts])

    curves = None

    @property
    def observer(self):
        return self._observer

    @observer.setter
    def observer(self, observer):
        self._observer = observer
        if observer is not None and self.curves is not None:
            observer.curves = self.curves


class Claims(Base):
    curves = {"auroc": [Point(1, 0.99, 1.0)], "fpr95": [Point(9, 0.01, 1.0)]}


class Tuples(Base):
    curves = {"training/x": [(1, 0.5)]}


class Timeless(Base):
    curves = {"training/x": [Point(1, 0.5, math.nan)]}


class Comma(Base):
    regime = PRE_TRAINED,


class Number(Base):
    regime = 5


class Letters(Base):
    computes_with = "numpy"


class Oracle(Base):
    is_oracle = "no"


class Ran(Base):
    ran_on_ = {"device": object}


class Foreign:
    """It has the base class of no package."""

    regime = PRE_TRAINED,

    def fit(self, texts):
        return self

    def decision_function(self, texts):
        return np.array([float(len(text)) for text in texts])
'''
WRONG = {
    "Claims": "'auroc'",
    "Tuples": "unpack",
    "Timeless": "got nan",
    "Comma": "got ('pre-trained',)",
    "Number": "got 5",
    "Letters": "got 'numpy'",
    "Oracle": "got 'no'",
    "Foreign": "got ('pre-trained',)",
}


@pytest.mark.usefixtures("toy_path", "own_files")
def test_what_a_detector_claims_or_declares_wrongly_fails_its_cell_alone(here):
    (here / "mine.py").write_text(DETECTORS, encoding="utf-8")
    chosen = " ".join(f"-d ./mine.py:{name}" for name in (*WRONG, "Ran"))
    options = "-s tiny --inlier sea --contamination 0 --jobs 1"
    result = adbench(f"run {chosen} -d llr {options}")
    assert result.exit_code == 3
    cells = Store(create=False).cells(["tiny"]).set_index("detector")
    assert {*cells.index[cells["status"] == "ok"]} == {"llr", "mine.py:Ran"}
    for name, quoted in WRONG.items():
        (line,) = [line for line in result.stderr.splitlines() if f"failed: mine.py:{name} " in line]
        assert quoted in line
    for command in ("report", "report --format csv", "list detectors"):
        assert adbench(command).exit_code == 0
    for name in ("Comma", "Number", "Letters", "Oracle"):
        refused = adbench(f"info ./mine.py:{name}")
        assert refused.exit_code == 1
        assert WRONG[name] in refused.stderr
