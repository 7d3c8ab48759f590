import json
import platform
import re
import time
from dataclasses import replace

import numpy as np
import psutil
import pytest

from adbench_text.contract.dataset import Documents
from adbench_text.contract.detector import TextDetector
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split_key import SplitKey
from adbench_text.memo import credit
from adbench_text.metrics import all_metrics
from adbench_text.plugins.foreign import adapted
from adbench_text.run import evaluate as module
from adbench_text.run.cell import Cell
from adbench_text.run.evaluate import _peak_memory, evaluate
from adbench_text.run.progress import Progress

N = 40
SPLIT = SplitKey("made-up", "zero")
CELL = Cell("d", "default", {}, SPLIT)


@pytest.fixture
def corpus() -> Corpus:
    labels = np.arange(N) % 2
    train = Documents([f"train{i} class{label}" for i, label in enumerate(labels)], labels)
    test = Documents([f"test{i} class{label}" for i, label in enumerate(labels)], labels)
    return Corpus("made-up", ("zero", "one"), train, test, "made up")


@pytest.fixture
def run(corpus, monkeypatch):
    def run(detector, progress=None, corpus=corpus, **more):
        ours = detector if isinstance(detector, TextDetector) else adapted(lambda: detector)()
        monkeypatch.setattr(module, "build_detector", lambda cell: ours)
        return evaluate(replace(CELL, split=replace(SPLIT, **more)), corpus, progress or Progress())

    return run


class Spy:
    def fit(self, texts):
        self.seen = list(texts)
        return self

    def decision_function(self, texts):
        self.asked = list(texts)
        return [float("class1" in text) for text in texts]


@pytest.fixture
def written(corpus) -> Corpus:
    """The same corpus with its documents as they were written."""
    parts = {"written_train": corpus.train, "written_test": corpus.test}
    return replace(
        corpus,
        **{name: Documents([f"The {t}!" for t in part.texts], part.labels) for name, part in parts.items()},
    )


@pytest.mark.parametrize("reads_raw", [True, False])
def test_a_detector_gets_raw_documents_if_it_asks_for_them(run, corpus, written, reads_raw):
    spy = Spy()
    spy.reads_raw = reads_raw
    result = run(spy, corpus=written)
    source = written.raw if reads_raw else corpus
    assert sorted(spy.seen) == sorted(text for text in source.train.texts if "class0" in text)
    assert sorted(spy.asked) == sorted(source.test.texts)
    assert result.metrics["n_train"] == N / 2
    assert run(spy).status == ("failed" if reads_raw else "ok")  # a corpus without them


def test_a_cell_is_fit_score_and_measure(run, corpus):
    spy = Spy()
    result = run(spy)
    assert result.status == "ok"
    assert sorted(spy.seen) == sorted(text for text in corpus.train.texts if "class0" in text)
    assert spy.asked == [corpus.test.texts[place] for place in result.places]
    assert sorted(spy.asked) == sorted(corpus.test.texts)
    expected = all_metrics(corpus.test.labels[result.places] == 1, np.array(result.scores))
    assert {name: result.metrics[name] for name in expected} == expected
    assert result.metrics["auroc"] == 1
    assert 50 < result.metrics["peak_memory_mb"] < 1e5
    counts = {
        name: result.metrics[name] for name in ("n_train", "n_train_outliers", "n_test", "n_test_outliers")
    }
    assert counts == {"n_train": 20, "n_train_outliers": 0, "n_test": 40, "n_test_outliers": 20}


def test_contamination_reaches_the_training_texts_and_not_the_test_texts(run, corpus):
    spy = Spy()
    result = run(spy, contamination=0.2)
    assert sum("class1" in text for text in spy.seen) == result.metrics["n_train_outliers"] == 5
    assert sorted(spy.asked) == sorted(corpus.test.texts)


def test_outliers_of_the_test_set_are_thinned_and_the_training_texts_are_the_same(run, corpus):
    complete, thinned = Spy(), Spy()
    run(complete, contamination=0.2)
    result = run(thinned, contamination=0.2, test_outliers=0.2)
    assert thinned.seen == complete.seen
    assert thinned.asked == [corpus.test.texts[place] for place in result.places]
    assert sum("class0" in text for text in thinned.asked) == 20
    assert (result.metrics["n_test"], result.metrics["n_test_outliers"]) == (25, 5)
    assert len(result.scores) == 25
    assert result.metrics["auroc"] == 1


def test_ranked_documents_get_the_scores_of_the_fit(run, corpus):
    class LeavesOut(TextDetector):
        def _fit(self, texts):
            self.seen = texts

        def _score(self, texts):
            return np.array([float("class0" in text) for text in texts])

        def _score_training(self, texts):
            return -self._score(texts)

    detector = LeavesOut()
    result = run(detector, protocol="rank-all")
    assert sorted(detector.seen) == sorted(corpus.test.texts)
    np.testing.assert_array_equal(result.scores, detector.decision_scores_)
    assert result.metrics["auroc"] == 1
    assert result.metrics["n_train_outliers"] == result.metrics["n_test_outliers"] == 20


def test_a_split_that_a_corpus_cannot_have_fails_the_cell(corpus, monkeypatch):
    monkeypatch.setattr(module, "build_detector", lambda cell: adapted(Spy)())
    result = module.scored(replace(CELL, split=replace(SPLIT, test_outliers=0.9)), corpus)
    assert result.status == "failed"
    assert "test_outliers 0.9 needs 180 outliers" in result.reason


def answers(scores):
    class Answering(Spy):
        def decision_function(self, texts):
            return scores

    return Answering()


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([np.nan, *range(N - 1)], "1 of 40 scores are NaN"),
        ([np.inf, -np.inf, *range(N - 2)], "2 of 40 scores are infinite"),
        ([3.0] * N, "all 40 scores are 3"),
        (list(range(N - 1)), r"\(40,\), got \(39,\)"),
        (np.zeros((N, 1)), r"\(40,\), got \(40, 1\)"),
        (None, r"\(40,\), got \(\)|got NoneType: |NaN"),
        (["high"] * N, "numbers, got list: .*high"),
        (1j * np.arange(N), "numbers, got ndarray: .*complex"),
        ([complex(i) for i in range(N)], "numbers, got list: .*complex"),
        (np.ma.masked_less(np.arange(N), 2), "2 of 40 scores are masked"),
        ([[1], [2, 3]], "numbers, got list: .*inhomogeneous"),
    ],
)
def test_unusable_scores_fail_the_cell_with_the_reason(run, scores, reason):
    result = run(answers(scores))
    assert result.status == "failed"
    assert re.search(f"^DetectorError: .*{reason}", result.reason)
    assert result.scores is None
    assert "auroc" not in result.metrics
    assert "Traceback" in result.traceback


def test_a_detector_that_raises_fails_its_cell_alone(run):
    class Raising(Spy):
        def fit(self, texts):
            raise RuntimeError("no\n luck")

    result = run(Raising())
    place = f"test_evaluate.py:{Raising.fit.__code__.co_firstlineno + 1}"
    assert (result.status, result.reason) == ("failed", f"RuntimeError: no luck ({place})")
    assert result.metrics["n_train"] == 20


class BareError(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize("error", [BareError(), SystemExit(0), ValueError("\x1b[2J \udcff")])
def test_whatever_a_detector_raises_fails_its_cell_in_one_printable_line(run, error):
    class Raising(Spy):
        def fit(self, texts):
            raise error

    result = run(Raising())
    assert result.status == "failed"
    assert result.reason.startswith(f"{type(error).__name__}:")
    assert result.reason.isprintable()


def test_the_name_of_a_loss_is_never_that_of_a_metric(run):
    class Boasting(Training):
        def fit(self, texts):
            self.observer.losses(300, 300, {"auroc": 0.99, "fit_seconds": -1})
            return super().fit(texts)

    result = run(Boasting())
    assert result.curves.keys() == {"training/auroc", "training/fit_seconds", "training/loss_total"}
    assert result.metrics["auroc"] == 1


def reachable(value, depth=4):
    """Yield what is reached from an object by its attributes, its items, and what functions hold."""
    yield value
    if depth and not isinstance(value, str | bytes | int | float | np.generic | type):
        held = [*getattr(value, "__dict__", {}).values(), *(getattr(value, "args", None) or ())]
        held += [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
        held += list(value.values() if isinstance(value, dict) else ())
        held += list(value[:50] if isinstance(value, list | tuple) else ())
        for each in held:
            yield from reachable(each, depth - 1)


@pytest.mark.parametrize("protocol", ["one-vs-rest", "rank-all"])
def test_no_label_is_reached_from_what_a_detector_is_given(run, protocol):
    class Looking(Training):
        def fit(self, texts):
            self.found = [type(each).__name__ for each in reachable(self.observer)]
            self.arrays = [each for each in reachable(self.observer) if isinstance(each, np.ndarray)]
            return super().fit(texts)

    detector = Looking()
    assert run(detector, protocol=protocol).status == "ok"
    assert "dict" in detector.found  # it has found the curves
    assert {"Corpus", "Split", "Documents"}.isdisjoint(detector.found)
    assert detector.arrays == []


def test_only_what_was_an_oracle_before_the_cells_gets_labels(corpus, monkeypatch):
    monkeypatch.setattr(module, "build_detector", lambda cell: Oracle())
    result = module.scored(CELL, corpus, is_oracle=False)
    assert "an oracle was asked for scores without the labels" in result.reason


def test_an_interruption_is_no_failure_of_the_detector(run):
    class Interrupted(Spy):
        def fit(self, texts):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Interrupted())


class Training(Spy):
    """Trains in four steps of which it tells two; its scores become right at the third."""

    observer = None

    def fit(self, texts):
        self.step = 0
        for self.step in range(1, 5):
            if self.step % 2 == 0:
                self.observer.losses(self.step, 4, {"loss_total": 1 / self.step})
        self.ran_on_ = {"device": "abacus"}
        return self

    def decision_function(self, texts):
        return np.array(super().decision_function(texts)) * (1 if self.step > 2 else -1)


def test_the_losses_of_a_training_are_curves_and_are_passed_on(run, monkeypatch):
    told, progress = [], Progress()
    monkeypatch.setattr(progress, "step", lambda *what: told.append(what))
    result = run(Training(), progress)
    assert [point[:2] for point in result.curves["training/loss_total"]] == [(2, 0.5), (4, 0.25)]
    assert result.started < result.curves["training/loss_total"][0].time < time.time()
    assert told == [(CELL, 2, 4, {"loss_total": 0.5}), (CELL, 4, 4, {"loss_total": 0.25})]
    assert result.ran_on == {"device": "abacus"}


class Telling(Spy):
    """Tells the losses that a test gives."""

    observer = None

    def __init__(self, *told) -> None:
        super().__init__()
        self.told = told

    def fit(self, texts):
        self.observer.losses(*self.told)
        return super().fit(texts)


@pytest.mark.parametrize("told", [(np.int64(1), np.int64(3)), (0, 3), (5, 3), (1, 2**63 - 1)])
def test_any_whole_number_is_a_step(told, run, monkeypatch):
    passed_on, progress = [], Progress()
    monkeypatch.setattr(progress, "step", lambda cell, *what: passed_on.append(what))
    result = run(Telling(*told, {"total": np.float32(0.5), 5: 1}), progress)
    assert result.status == "ok"
    assert {name: curve[0][:2] for name, curve in result.curves.items()} == {
        "training/total": (told[0], 0.5),
        "training/5": (told[0], 1.0),
    }
    assert json.loads(json.dumps(passed_on)) == [[*map(int, told), {"total": 0.5, "5": 1.0}]]


@pytest.mark.parametrize(
    ("told", "quoted"),
    [
        ((2**70, 2**70, {}), str(2**70)),
        ((-1, 3, {}), "got -1"),
        (("one", 3, {}), "got 'one'"),
        ((1.5, 3, {}), "got 1.5"),
        ((1, 2**70, {}), "steps must be"),
        ((1, 3, {"total": "low"}), "'low'"),
        ((1, 3, [1]), "AttributeError"),
    ],
)
def test_losses_that_no_store_can_hold_fail_the_cell(told, quoted, run):
    result = run(Telling(*told))
    assert result.status == "failed"
    assert quoted in result.reason


def test_a_negative_cost_fails_the_cell(run):
    class Indebted(Spy):
        def fit(self, texts):
            credit(-100)
            return super().fit(texts)

    result = run(Indebted())
    assert result.status == "failed"
    assert re.search(r"fit_seconds .*, got -99\.", result.reason)


def test_a_training_that_fails_keeps_its_curves_and_its_device(run):
    class Diverging(Training):
        def fit(self, texts):
            super().fit(texts)
            raise RuntimeError("no luck")

    result = run(Diverging())
    assert result.status == "failed"
    assert [point.value for point in result.curves["training/loss_total"]] == [0.5, 0.25]
    assert result.ran_on == {"device": "abacus"}


class Oracle(TextDetector):
    """A detector that scores only with the test labels."""

    is_oracle = True

    def _fit(self, texts):
        pass

    def _score(self, texts):
        raise AssertionError("an oracle was asked for scores without the labels")

    def oracle_scores(self, texts, outlier):
        outlier, given = outlier.copy(), outlier
        given[:] = False  # the labels of the cell stay
        return outlier + 0.5 * np.array(["test1" in text for text in texts])


def test_memory_held_for_a_moment_is_seen():
    with _peak_memory() as nothing:
        pass
    with _peak_memory() as memory:
        held = np.ones(25_000_000)  # 200 MB
        held.sum()
        for _ in range(5):
            held = np.sqrt(held)
        del held
    assert 150 < memory[0] - nothing[0] < 1000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc, which keeps freed memory")
def test_a_cell_is_not_charged_for_memory_that_was_freed_before():
    chunks = [bytes(2000) for _ in range(150_000)]  # 300 MB, with one chunk after them in use
    last = chunks.pop()
    del chunks
    before = psutil.Process().memory_info().rss / 1e6
    with _peak_memory() as memory:
        pass
    assert last
    assert before - memory[0] > 200


def test_an_oracle_gets_the_test_labels(run):
    result = run(Oracle())
    assert result.status == "ok"
    assert result.metrics["auroc"] == 1


def test_what_another_packages_detector_calls_ran_on_or_observer_does_no_harm(run):
    class Odd(Spy):
        ran_on_ = "cpu"
        is_oracle = "mine"

        @property
        def observer(self):
            return "mine"

    class Broken(Odd):
        @property
        def ran_on_(self):
            raise RuntimeError

    for detector in (Odd(), Broken()):
        result = run(detector)
        assert (result.status, result.ran_on) == ("ok", {})


class Learning(TextDetector):
    takes_labels = True

    def _fit(self, texts):
        self.learned_from = texts
        self.odd = self._known_labels.odd

    def _score(self, texts):
        return np.array([float("class1" in text) + 1e-3 * len(text) for text in texts])


def test_a_detector_that_takes_labels_gets_the_known_outliers(run, corpus):
    detector = Learning()
    result = run(detector, known=4)
    assert sorted(detector.learned_from) == sorted(text for text in corpus.train.texts if "class0" in text)
    assert len(detector.odd) == 4
    assert all("class1" in text for text in detector.odd)
    assert result.metrics["auroc_seen"] == result.metrics["auroc"] == 1
    assert "auroc_unseen" not in result.metrics  # there is one other class


def test_other_detectors_are_run_without_known_outliers(run, corpus):
    spy = Spy()
    run(spy, known=4)
    assert sorted(spy.seen) == sorted(text for text in corpus.train.texts if "class0" in text)


def test_outliers_of_seen_and_of_unseen_classes_are_measured_apart(run):
    labels = np.arange(60) % 3
    parts = (
        Documents([f"{part}{i} class{label}" for i, label in enumerate(labels)], labels)
        for part in ("a", "b")
    )
    corpus = Corpus("made-up", ("zero", "one", "two"), *parts, "made up")
    metrics = run(Learning(), corpus=corpus, known=3, known_from="one").metrics
    assert metrics["auroc_seen"] == 1
    assert metrics["auroc_unseen"] < 0.6
    assert metrics["auroc"] == pytest.approx((metrics["auroc_seen"] + metrics["auroc_unseen"]) / 2)
