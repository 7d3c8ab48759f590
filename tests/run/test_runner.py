"""The runner knows no store: anything that keeps results will do."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, OutlierMixin
from sweep_processes import wait_until

from adbench_text.contract.dataset import Documents
from adbench_text.corpora import split
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split_key import SplitKey
from adbench_text.detectors.llr import LLR
from adbench_text.errors import TrackingError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DetectorChoice
from adbench_text.plugins.foreign import SIGN_NOTE, adapted
from adbench_text.run import preparation, runner
from adbench_text.run.engine import Local
from adbench_text.run.progress import Progress
from adbench_text.run.sweep import Sweep


class Kept:
    """A store in memory."""

    def __init__(self) -> None:
        self.results, self.statuses, self.summarised, self.swept = [], {}, [], []
        self.waiting, self.reachable = [], True

    def ended(self, datasets):
        return self.statuses

    @contextmanager
    def sweep(self, corpora, title):
        self.swept.append((list(corpora), title))
        yield

    def keep(self, result, definition, corpus):
        self.waiting.append((result, runner.cell_id(definition)))

    def log_kept(self):
        if not self.reachable:
            raise TrackingError("lost.")
        for result, cell in self.waiting:
            self.results.append(result)
            self.statuses[cell] = result.status
        self.waiting.clear()
        return {}

    def summarise(self, definitions):
        self.summarised += definitions


class Listener(Progress):
    """Keeps what it receives."""

    def __init__(self) -> None:
        self.messages, self.begun, self.ended = [], [], []

    def message(self, text, kind="note"):
        self.messages.append(text)

    def begin(self, todo, finished, failed):
        self.begun.append((len(todo), finished, failed))

    def done(self, result):
        self.ended.append(result.status)


@pytest.fixture
def corpus(monkeypatch) -> Corpus:
    labels = np.arange(60) % 2
    words = np.array(["ship harbour sail", "judge court statute"])
    texts = [f"{words[label]} {i % 7}" for i, label in enumerate(labels)]
    made = Corpus("pydocs", ("numpy", "scipy"), Documents(texts, labels), Documents(texts, labels), "made up")
    monkeypatch.setattr(runner, "load", lambda dataset, limit: made)
    return made


@pytest.fixture
def sweep() -> Sweep:
    detectors = [DetectorChoice("llr", settings={"background": "uniform"})]
    return Sweep(detectors, ["pydocs"], ["numpy", "scipy"], [0.0])


def test_cells_are_kept_summarised_and_not_run_again(corpus, sweep):
    store, listener, reported = Kept(), Listener(), []

    def keep(*made: object) -> None:
        reported.append(made)

    cells = sweep.expand()
    results = runner.run_sweep(sweep, cells, store, listener, Local(0), report=keep)
    assert [result.cell for result in results] == cells == [kept.cell for kept in store.results]
    assert store.swept == [(["pydocs"], "llr at 0%")]
    assert len(store.summarised) == 2
    assert reported == [({"pydocs": corpus}, cells)]
    assert listener.ended == ["ok", "ok"]
    assert runner.run_sweep(sweep, cells, store, listener, Local(0), report=keep) == []
    assert listener.begun == [(2, 0, 0), (0, 2, 0)]
    assert len(reported) == 1


def test_a_split_is_drawn_once_to_measure_all_its_cells(corpus, sweep, monkeypatch):
    drawn = []

    def draw(corpus, key):
        drawn.append(key)
        return split.draw(corpus, key)

    detectors = [replace(each, settings={"cap": cap}) for each in sweep.detectors for cap in (1, 2, 3)]
    sweep = replace(sweep, detectors=detectors, seeds=[0, 1])
    cells = sweep.expand()
    monkeypatch.setattr(runner, "draw", draw)
    monkeypatch.setattr(runner, "impossible", lambda splits, corpora: {})  # it draws, too
    results = runner.run_sweep(sweep, cells, Kept(), Listener(), Local(0))
    assert [result.status for result in results] == ["ok"] * 12
    assert drawn == sweep.splits()
    assert len(drawn) == 4


def test_a_split_is_checked_by_its_labels_alone(corpus):
    for documents in (corpus.train, corpus.test):
        documents.texts.clear()
    keys = [SplitKey("pydocs", "numpy", level) for level in (0.1, 0.49)]
    many = SplitKey("pydocs", "numpy", test_outliers=0.9)
    reasons = runner.impossible([*keys, many], {"pydocs": corpus})
    assert list(reasons) == [many]
    assert " 270 outliers " in reasons[many]


def test_a_detector_is_built_once_to_check_it_and_once_for_each_cell(corpus, sweep, monkeypatch):
    built = []

    class Counted(LLR):
        def __init__(self, *, cap=None, random_state=None):
            built.append(random_state)
            super().__init__(cap=cap, background="uniform", random_state=random_state)

    known = registry.detector
    monkeypatch.setattr(registry, "detector", lambda name: Counted if name == "llr" else known(name))
    sweep = replace(sweep, detectors=[DetectorChoice("llr", settings={"cap": cap}) for cap in (1, 2)])
    results = runner.run_sweep(sweep, sweep.expand(), Kept(), Listener(), Local(0))
    assert [result.status for result in results] == ["ok"] * 4
    assert built.count(0) == 2 + len(results)  # it has no seed where its defaults are read


def test_a_detector_whose_presets_cannot_be_read_fails_alone(corpus, sweep, monkeypatch):
    class NoPresets(LLR):
        @classmethod
        def presets(cls, dataset):
            raise RuntimeError("no presets today")

    known = registry.detector
    monkeypatch.setattr(registry, "detector", lambda name: NoPresets if name == "ocsvm" else known(name))
    sweep = replace(sweep, detectors=[DetectorChoice("ocsvm"), *sweep.detectors])
    results = runner.run_sweep(sweep, sweep.expand(), Kept(), Listener(), Local(0))
    failed = [result for result in results if result.status != "ok"]
    assert len(results) - len(failed) == len(failed) == 2
    assert all("no presets today" in result.reason for result in failed)


def test_failed_cells_are_run_again_on_request_only(corpus, sweep):
    store, listener = Kept(), Listener()
    cells = sweep.expand()
    runner.run_sweep(sweep, cells, store, listener, Local(0))
    store.statuses = dict(zip(store.statuses, ["timed out", "ok"], strict=True))
    assert runner.run_sweep(sweep, cells, store, listener, Local(0)) == []
    again = runner.run_sweep(sweep, cells, store, listener, Local(0), retry_failed=True)
    assert [result.cell for result in again] == cells[:1]
    assert listener.begun == [(2, 0, 0), (0, 2, 1), (1, 1, 0)]


def test_a_cell_whose_result_the_store_refuses_has_failed(corpus, sweep, monkeypatch):
    store, listener = Kept(), Listener()
    log_kept = store.log_kept

    def refuse():
        found = {runner.cell_id(store.definition): "no such name"} if store.waiting else {}
        return found | log_kept()

    def keep(result, definition, corpus):
        store.definition = definition
        Kept.keep(store, result, definition, corpus)

    monkeypatch.setattr(store, "log_kept", refuse)
    monkeypatch.setattr(store, "keep", keep)
    results = runner.run_sweep(sweep, sweep.expand(), store, listener, Local(0))
    assert [result.status for result in results] == ["failed", "failed"]
    assert any("no such name" in message for message in listener.messages)


def test_a_store_that_is_lost_costs_no_cell(corpus, sweep, monkeypatch):
    store, listener = Kept(), Listener()
    cells = sweep.expand()
    done = listener.done
    monkeypatch.setattr(store, "reachable", True)

    def lose(result):
        done(result)
        store.reachable = False

    listener.done = lose
    with pytest.raises(TrackingError):
        runner.run_sweep(sweep, cells, store, listener, Local(0))
    assert [result.cell for result, _ in store.waiting] == cells
    assert listener.messages[-1].startswith("lost. ")
    assert "kept" in listener.messages[-1]
    store.reachable = True
    assert runner.run_sweep(sweep, cells, store, listener, Local(0)) == []
    assert [result.cell for result in store.results] == cells


def test_summaries_that_a_killed_sweep_left_are_made_by_the_next_one(corpus, sweep):
    store, cells = Kept(), sweep.expand()
    runner.run_sweep(sweep, cells, store, Listener(), Local(0))
    store.summarised.clear()
    assert runner.run_sweep(sweep, cells, store, Listener(), Local(0)) == []
    assert len(store.summarised) == 2


def test_a_slow_preparation_is_announced_and_a_quick_one_is_not(corpus, sweep, monkeypatch):
    class Slow:
        def prepare(self, texts):
            wait_until(lambda: listener.messages)

        def fit(self, texts): ...

        def decision_function(self, texts):
            return np.arange(len(texts))

    listener = Listener()
    preparation.prepare(sweep.expand(), {"pydocs": corpus}, listener)
    assert listener.messages == []
    monkeypatch.setattr(preparation, "_PATIENCE", 0.01)
    monkeypatch.setattr(preparation, "build_detector", lambda cell: adapted(Slow)())
    preparation.prepare(sweep.expand()[:1], {"pydocs": corpus}, listener)
    expected = "preparing the documents of pydocs for llr(background=uniform), once; this may take minutes"
    assert listener.messages == [expected]


def test_a_turned_sign_is_announced_once_for_each_detector(corpus, sweep, monkeypatch):
    class Normality(OutlierMixin, BaseEstimator):
        def fit(self, texts, y=None): ...

        def decision_function(self, texts): ...

    listener = Listener()
    monkeypatch.setattr(preparation, "build_detector", lambda cell: adapted(Normality)())
    two = [DetectorChoice("llr", settings={"background": "uniform"}), DetectorChoice("llr")]
    preparation.prepare(replace(sweep, detectors=two).expand(), {"pydocs": corpus}, listener)
    assert listener.messages == [f"llr: {SIGN_NOTE}"]


def test_the_turned_sign_of_a_member_is_announced(corpus, sweep, monkeypatch):
    listener = Listener()
    turned = registry.detector("llr")()
    monkeypatch.setattr(turned, "resources", lambda: {"member2.sign": SIGN_NOTE})
    monkeypatch.setattr(preparation, "build_detector", lambda cell: turned)
    preparation.prepare(sweep.expand(), {"pydocs": corpus}, listener)
    assert f"llr: {SIGN_NOTE}" in listener.messages
