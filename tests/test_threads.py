"""The number of threads decides how long a figure takes, and not what it is."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from adbench_text.plugins.configure import build
from adbench_text.text import encoders

DETECTORS = {
    "iforest": {"encoder": "svd"},
    "ocsvm": {"encoder": "svd"},
    "knn-vectors": {"encoder": "svd"},
    "pyod-pca": {"encoder": "svd"},
    "pyod-cblof": {"encoder": "svd"},
    "pyod-auto-encoder": {"encoder": "svd"},
    "llr": {"topics": 8},
    "ensemble": {},
    "ngrams": {},
    "form": {},
}


@pytest.fixture(scope="module")
def documents() -> list[str]:
    """Documents of many words, some of them frequent, so that sums have many terms."""
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, 3001)
    words = np.array([f"word{'abcdefghij'[i % 10]}{i}" for i in range(3000)])
    return [" ".join(rng.choice(words, 60, p=frequency / frequency.sum())) for _ in range(500)]


def scores(name: str, settings: dict, documents: list[str], threads: int) -> np.ndarray:
    encoders._fit_encoder.forget()
    encoders._encode.forget()
    with threadpool_limits(threads):
        detector = build(name, settings, seed=0).fit(documents[:400])
        return detector.decision_function(documents[400:])


@pytest.mark.parametrize("name", DETECTORS)
def test_one_thread_and_two_give_the_same_scores(name, documents):
    one, two = (scores(name, DETECTORS[name], documents, n) for n in (1, 2))
    assert two == pytest.approx(one, rel=1e-6, abs=1e-6)
