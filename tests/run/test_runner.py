"""The runner knows no store: anything that keeps results will do."""

import time
from contextlib import contextmanager

import numpy as np
import pytest

from adbench_text.corpora.corpus import Corpus
from adbench_text.plugins.dataset import Documents
from adbench_text.plugins.foreign import adapted
from adbench_text.run import runner
from adbench_text.sweep.sweep import Sweep, choose


class Kept:
    """A store in memory."""

    def __init__(self) -> None:
        self.results, self.ids, self.summarised, self.swept = [], set(), [], []

    def finished(self, datasets):
        return self.ids

    @contextmanager
    def sweep(self, corpora, title):
        self.swept.append((list(corpora), title))
        yield

    def log(self, result, definition, corpus):
        self.results.append(result)
        self.ids.add(runner.cell_id(definition))

    def summarise(self, definitions):
        self.summarised += definitions


class Listener:
    """A watcher that keeps what it receives."""

    def __init__(self) -> None:
        self.messages, self.begun, self.ended = [], [], []

    def message(self, text):
        self.messages.append(text)

    def begin(self, todo, finished):
        self.begun.append((todo, finished))

    def started(self, cell): ...

    def step(self, *_): ...

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
    detectors = choose(["llr"], None, {"background": "uniform"})
    return Sweep(detectors, ["pydocs"], ["numpy", "scipy"], [0.0])


def test_cells_are_kept_summarised_and_not_run_again(corpus, sweep):
    store, listener, reported = Kept(), Listener(), []
    cells = sweep.expand()
    results = runner.run_sweep(sweep, cells, store, listener, report=reported.append)
    assert [result.cell for result in results] == cells == [kept.cell for kept in store.results]
    assert store.swept == [(["pydocs"], "llr at 0%")]
    assert len(store.summarised) == 2
    assert reported == [{"pydocs": corpus}]
    assert listener.ended == ["ok", "ok"]
    assert runner.run_sweep(sweep, cells, store, listener, report=reported.append) == []
    assert listener.begun == [(2, 0), (0, 2)]
    assert len(reported) == 1


def test_a_slow_preparation_is_announced_and_a_quick_one_is_not(corpus, sweep, monkeypatch):
    class Slow:
        def prepare(self, texts):
            time.sleep(0.2)

        def fit(self, texts): ...

        def decision_function(self, texts):
            return np.arange(len(texts))

    listener = Listener()
    runner.prepare(sweep.expand(), {"pydocs": corpus}, listener)
    assert listener.messages == []
    monkeypatch.setattr(runner, "_PATIENCE", 0.01)
    monkeypatch.setattr(runner, "build_detector", lambda cell: adapted(Slow)())
    runner.prepare(sweep.expand()[:1], {"pydocs": corpus}, listener)
    expected = "preparing the documents of pydocs for llr background=uniform, once; this may take minutes"
    assert listener.messages == [expected]
