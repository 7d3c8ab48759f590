"""Which detectors of PyOD use the test batch."""

import sys

import numpy as np
import pytest

from adbench_text.plugins import registry
from adbench_text.plugins.pyod_batch import scores_by_batch
from adbench_text.plugins.pyod_detector import PyODDetector


class Alone:
    """Scores each vector by itself."""

    def __init__(self, n_features, contamination=0.1):
        self.n_features = n_features

    def fit(self, X):
        assert X.shape[1] == self.n_features
        return self

    def decision_function(self, X):
        return np.linalg.norm(X, axis=1)


class Ranked:
    """Scores a vector by its rank in the batch."""

    def fit(self, X):
        return self

    def decision_function(self, X):
        return np.linalg.norm(X, axis=1).argsort().argsort()


class Blocks(Ranked):
    """Ranks within blocks of ten."""

    def decision_function(self, X):
        parts = np.split(X, range(10, len(X), 10))
        return np.concatenate([super(Blocks, self).decision_function(part) for part in parts])


class Single(Alone):
    """Computes in single precision."""

    def decision_function(self, X):
        return super().decision_function(X) * (1 + 1e-6 * len(X))


class Random(Ranked):
    """Scores at random."""

    def decision_function(self, X):
        return np.random.normal(size=len(X))  # noqa: NPY002


class Undefined(Ranked):
    """Returns no number."""

    def decision_function(self, X):
        return np.full(len(X), np.nan)


class Failing:
    """Prints, then fails."""

    def __init__(self):
        print("no package", file=sys.stderr)
        raise ModuleNotFoundError("no package")


@pytest.mark.parametrize(
    ("kind", "uses_batch"),
    [
        *((Alone, False), (Ranked, True), (Blocks, True), (Single, False)),
        *((Random, False), (Undefined, False), (Failing, False)),
    ],
)
def test_a_detector_is_tested_alone_and_in_company(kind, uses_batch, capsys):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    assert scores_by_batch(kind) is uses_batch
    assert capsys.readouterr() == ("", "")
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_a_class_is_tested_once():
    n_fits = []

    class Counted(Ranked):
        def fit(self, X):
            n_fits.append(len(X))
            return self

    assert [scores_by_batch(Counted) for _ in range(3)] == [True] * 3
    assert len(n_fits) == 1


@pytest.mark.parametrize(
    ("name", "regime"),
    [
        ("pyod-ecod", "unlabelled test batch"),
        ("pyod-sos", "unlabelled test batch"),
        ("pyod-knn", "word frequencies or vectors"),
    ],
)
def test_the_regime_names_the_batch_or_the_knowledge_of_the_encoder(name, regime):
    assert registry.detector(name)().regime == regime


@pytest.mark.parametrize(
    ("encoder", "regime"), [("tfidf", "word frequencies or vectors"), ("svd", "from scratch")]
)
def test_a_detector_that_cannot_be_tested_keeps_the_regime_of_its_encoder(encoder, regime):
    detector = type("Untestable", (PyODDetector,), {"wrapped": Failing})
    assert detector(encoder=encoder).regime == regime
