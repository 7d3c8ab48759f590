"""Benchmark of text: cleaning and encoding, compared with references, and loading of word vectors."""

import os
import tempfile
import time
from pathlib import Path

import numpy as np
from nltk.tokenize import NLTKWordTokenizer
from timing import compare

from adbench_text import storage
from adbench_text.contract.vector_detector import Encoding
from adbench_text.corpora import corpus
from adbench_text.errors import DataError
from adbench_text.plugins import registry
from adbench_text.text import encoders, vectors
from adbench_text.text.cleaning import clean
from adbench_text.text.encoders import fit_encoder
from adbench_text.text.words import _count_words, count_words


def compare_cleaning():
    texts, tokenize = registry.dataset("pydocs").read()[0].texts, NLTKWordTokenizer().tokenize
    ways = {
        "clean": lambda: [clean(text) for text in texts],
        "NLTK's tokenizer": lambda: [tokenize(text.lower()) for text in texts],
    }
    compare(f"Cleaning {len(texts):,} docstrings", ways)


def encode(texts, method, path):
    for remembered in (_count_words, encoders._fit_encoder, encoders._encode):
        remembered.forget()
    return fit_encoder(Encoding(method, path, True, 100, 0), texts)(texts)


def compare_encoding(folder):
    """Compare encoders on a made-up file of 50-dimensional vectors of every word of the corpus."""
    pydocs = corpus.load(registry.dataset("pydocs"))
    texts = pydocs.train.texts
    vocabulary = count_words([*texts, *pydocs.test.texts]).vocabulary
    matrix = np.random.default_rng(0).normal(size=(len(vocabulary), 50)).astype(np.float32)
    rows = zip(vocabulary, matrix, strict=True)
    path = folder / "made-up.vec"
    path.write_text("".join(f"{word} {' '.join(f'{x:.4f}' for x in row)}\n" for word, row in rows))
    of_word = dict(zip(vocabulary, matrix, strict=True))
    ways = {
        "mean": lambda: encode(texts, "mean", str(path)),
        "tfidf": lambda: encode(texts, "tfidf", str(path)),
        "NumPy's mean of each document": lambda: [
            np.mean([of_word[w] for w in text.split() if w in of_word] or [0], axis=0) for text in texts
        ],
    }
    compare(f"Encoding {len(texts):,} documents in 50 dimensions", ways)


def compare_loadings(folder):
    os.environ[storage.CACHE] = str(folder)
    seconds = []
    for _ in range(2):
        vectors._open.cache_clear()
        begin = time.perf_counter()
        try:
            vectors.load("glove-wiki-gigaword-50")
        except DataError as error:
            print(f"\nGloVe-50 is not loaded: {error}")
            return
        seconds.append(time.perf_counter() - begin)
    first, second = seconds
    print(f"\nGloVe-50: {first:.2f} s first, {second:.3f} s then, {second / first:.3f} of it")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        compare_cleaning()
        compare_encoding(Path(name))
        compare_loadings(Path(name))
