"""Benchmark of a cell of pydocs: `llr`, and the harness around a detector that costs nothing."""

import tempfile
from unittest.mock import patch

import numpy as np
from timing import compare

from adbench_text.corpora import corpus
from adbench_text.corpora.split import contaminate, divided
from adbench_text.corpora.split_key import SplitKey
from adbench_text.plugins import registry
from adbench_text.plugins.foreign import adapted
from adbench_text.run import evaluate
from adbench_text.run.cell import Cell
from adbench_text.run.definition import definition
from adbench_text.store.store import Store
from adbench_text.text.words import _count_words


class Free:
    def fit(self, texts):
        return self

    def decision_function(self, texts):
        return np.random.default_rng(0).normal(size=len(texts))


if __name__ == "__main__":
    pydocs, llr = corpus.load(registry.dataset("pydocs")), registry.detector("llr")
    split = contaminate(divided(pydocs, ["scipy"]), 0.1, seed=0)
    cell = Cell("llr", "default", {}, SplitKey("pydocs", "scipy", 0.1))

    def fit_and_score():
        _count_words.forget()
        return llr().fit(split.train).decision_function(split.test)

    def run_and_log():
        store.keep(evaluate.evaluate(cell, pydocs), definition(cell, pydocs), pydocs)
        store.log_kept()

    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/mlflow.db")
        with (
            patch.object(evaluate, "build_detector", lambda cell: adapted(Free)()),
            store.sweep({"pydocs": pydocs}, "benchmark"),
        ):
            compare(
                f"A cell of pydocs: {len(split.train):,} training, {len(split.test):,} test documents",
                {
                    "split, measure and log, without a detector": run_and_log,
                    "llr in a sweep, where cells share the test texts": lambda: (
                        llr().fit(split.train).decision_function(split.test)
                    ),
                    "llr": fit_and_score,
                },
                rounds=15,
            )
