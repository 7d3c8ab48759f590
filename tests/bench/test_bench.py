"""Benchmarks, run by `make bench`: compare each line with its reference of the same run.

Machines differ and drift; what to read is the ratio of two lines of one run.
"""

import subprocess
import sys
import time

import numpy as np
import pytest

from adbench_text import storage
from adbench_text.contract.vector_detector import Encoding
from adbench_text.corpora import corpus
from adbench_text.corpora.split import contaminate, divided
from adbench_text.plugins import registry
from adbench_text.run.cell import Cell
from adbench_text.run.definition import definition
from adbench_text.run.evaluate import evaluate
from adbench_text.text import encoders
from adbench_text.text.cleaning import clean
from adbench_text.text.encoders import fit_encoder
from adbench_text.text.words import _count_words, count_words

pytestmark = pytest.mark.bench


@pytest.fixture(scope="module")
def pydocs():
    return corpus.load(registry.dataset("pydocs"))


@pytest.fixture(scope="module")
def raw_texts():
    return registry.dataset("pydocs").read()[0].texts


@pytest.fixture(scope="module")
def split(pydocs):
    return contaminate(divided(pydocs, ["scipy"]), 0.1, seed=0)


@pytest.mark.benchmark(group="cleaning 3,500 docstrings")
def test_clean(benchmark, raw_texts):
    benchmark(lambda: [clean(text) for text in raw_texts])


@pytest.mark.benchmark(group="cleaning 3,500 docstrings")
def test_clean_reference_nltk_tokenizer(benchmark, raw_texts):
    from nltk.tokenize import NLTKWordTokenizer

    tokenize = NLTKWordTokenizer().tokenize
    benchmark.pedantic(lambda: [tokenize(text.lower()) for text in raw_texts], rounds=3)


@pytest.fixture(scope="module")
def word_vectors(pydocs, tmp_path_factory):
    """A made-up file of 50-dimensional vectors of every word of the corpus."""
    rng = np.random.default_rng(0)
    vocabulary = count_words([*pydocs.train.texts, *pydocs.test.texts]).vocabulary
    path = tmp_path_factory.mktemp("vectors") / "made-up.vec"
    matrix = rng.normal(size=(len(vocabulary), 50)).astype(np.float32)
    rows = zip(vocabulary, matrix, strict=True)
    path.write_text("".join(f"{word} {' '.join(f'{x:.4f}' for x in row)}\n" for word, row in rows))
    return str(path), dict(zip(vocabulary, matrix, strict=True))


def encode(texts, method, path):
    for remembered in (_count_words, encoders._fit_encoder, encoders._encode):
        remembered.forget()
    return fit_encoder(Encoding(method, path, True, 100, 0), texts)(texts)


@pytest.mark.benchmark(group="encoding 3,500 documents in 50 dimensions")
@pytest.mark.parametrize("method", ["mean", "tfidf"])
def test_encode(benchmark, pydocs, word_vectors, method):
    benchmark(encode, pydocs.train.texts, method, word_vectors[0])


@pytest.mark.benchmark(group="encoding 3,500 documents in 50 dimensions")
def test_encode_reference_numpy_mean_per_document(benchmark, pydocs, word_vectors):
    of_word = word_vectors[1]
    texts = pydocs.train.texts
    benchmark(
        lambda: [np.mean([of_word[w] for w in t.split() if w in of_word] or [0], axis=0) for t in texts]
    )


@pytest.mark.benchmark(group="a cell of pydocs: 555 training, 1,750 test documents")
def test_llr_fit_and_score(benchmark, split):
    kind = registry.detector("llr")

    def fit_and_score():
        _count_words.forget()
        return kind().fit(split.train).decision_function(split.test)

    benchmark(fit_and_score)


@pytest.mark.benchmark(group="a cell of pydocs: 555 training, 1,750 test documents")
def test_llr_fit_and_score_in_a_sweep_that_shares_the_test_texts(benchmark, split):
    kind = registry.detector("llr")
    kind().fit(split.train).decision_function(split.test)
    benchmark(lambda: kind().fit(split.train).decision_function(split.test))


@pytest.mark.benchmark(group="a cell of pydocs: 555 training, 1,750 test documents")
def test_harness_per_cell_without_detector(benchmark, pydocs, tmp_path, monkeypatch):
    """Split, measure and log a cell whose detector costs nothing: the overhead of the harness."""
    from adbench_text.plugins.foreign import adapted
    from adbench_text.run import evaluate as module
    from adbench_text.store.store import Store

    scores = np.random.default_rng(0).normal(size=len(pydocs.test))

    class Free:
        def fit(self, texts):
            return self

        def decision_function(self, texts):
            return scores

    monkeypatch.setattr(module, "build_detector", lambda cell: adapted(Free)())
    cell = Cell("llr", "default", {}, "pydocs", "scipy", 0.1, 0)
    store = Store(f"sqlite:///{tmp_path / 'mlflow.db'}")
    with store.sweep({"pydocs": pydocs}, "benchmark"):

        def run_and_log():
            store.keep(evaluate(cell, pydocs), definition(cell, pydocs), pydocs)
            store.log_kept()

        benchmark(run_and_log)


def cpu_seconds(code: str) -> float:
    """Return the least CPU time of a fresh interpreter, of seven."""
    import resource

    seconds = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds)


def test_help_against_import_click(capsys):
    help_ = cpu_seconds(
        "import sys; sys.argv = ['adbench-text', '--help']; from adbench_text.cli.main import main; main()"
    )
    click = cpu_seconds("import click")
    with capsys.disabled():
        print(f"\nadbench-text --help: {help_:.3f} s of CPU, {help_ / click:.2f} times that of import click")


def test_report_and_ui_on_a_missing_store_against_help(capsys, tmp_path):
    code = """if True:
        from adbench_text.cli.main import main
        try:
            main({})
        except SystemExit:
            pass
    """
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    help_ = cpu_seconds(code.format(["--help"]))
    for command in ("report", "ui"):
        seconds = cpu_seconds(code.format([command, "--tracking-uri", uri]))
        with capsys.disabled():
            print(
                f"\n{command} on a missing store: {seconds:.3f} s of CPU, {seconds / help_:.2f} times --help"
            )


def test_first_against_second_loading_of_word_vectors(capsys, tmp_path, monkeypatch, data_dir):
    from adbench_text.text import vectors

    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(data_dir))
    monkeypatch.setenv(storage.CACHE, str(tmp_path))
    seconds = []
    for _ in range(2):
        vectors._open.cache_clear()
        begin = time.perf_counter()
        vectors.load("glove-wiki-gigaword-50")
        seconds.append(time.perf_counter() - begin)
    with capsys.disabled():
        first, second = seconds
        ratio = second / first
        print(f"\nGloVe-50: {first:.2f} s first, {second:.3f} s then, {ratio:.3f} of it")
