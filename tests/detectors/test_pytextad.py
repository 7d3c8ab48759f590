"""PyTextAD's own detectors, where the package is installed."""

import sys
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from adbench_text.contract.scores import TEST_BATCH
from adbench_text.detectors import pytextad
from adbench_text.errors import PluginError
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about, write_vectors

needs_pytextad = pytest.mark.skipif(
    not find_spec("pytextad"), reason="needs the package pytextad: pip install pytextad"
)

NAMES = [name for name in registry.names("detectors") if name.startswith("pytextad-")]
#: Settings with which a slow detector learns the texts in seconds.
QUICK: dict[str, dict[str, Any]] = {
    "pytextad-dte-categorical": {"epochs": 50},
    "pytextad-rsrae": {"n_epochs": 50},
}
RANDOM = {"pytextad-ddae"}

TRAIN = texts_about("sea", 80, seed=0)
TEST = texts_about("sea", 20, seed=1) + texts_about("law", 20, seed=2)
OUTLIER = np.arange(40) >= 20


def test_without_the_package_the_message_names_the_command(monkeypatch):
    for module in [name for name in sys.modules if name.startswith("pytextad.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pytextad", None)
    with pytest.raises(PluginError, match=r"pytextad-sik needs .* run: pip install pytextad$"):
        registry.detector("pytextad-sik")


def test_detectors_under_other_licences_are_no_members():
    names = set(pytextad.members())
    assert {"sik", "dte-gaussian"} <= names
    assert not names & {"goad", "tccm", "dagmm", "drocc", "ganomaly", "icl", "mcm", "slad"}
    assert not names & {"normalizingflow", "normalizing-flow", "fate", "ddpm", "dte-inverse-gamma"}
    assert set(registry.names("detectors")) >= {f"pytextad-{name}" for name in names}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Give a detector fitted on TRAIN, the same one to every test: they may only read from it."""
    vectors = write_vectors(tmp_path_factory.mktemp("data") / "topics.vec")

    @cache
    def fitted(name: str, repeat: int = 0):
        kind = registry.detector(name)
        return kind(random_state=0, vectors=vectors, **QUICK.get(name, {})).fit(TRAIN)

    return fitted


@needs_pytextad
@pytest.mark.parametrize("name", NAMES)
def test_outliers_score_higher(fitted, name):
    scores = fitted(name).decision_function(TEST)
    assert scores.shape == (40,)
    assert scores.dtype == np.float64
    assert roc_auc_score(OUTLIER, scores) > 0.95


@needs_pytextad
@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_scores(fitted, name):
    first, second = (fitted(name, repeat).decision_function(TEST) for repeat in range(2))
    np.testing.assert_array_equal(first, second)


@needs_pytextad
@pytest.mark.parametrize("name", NAMES)
def test_scores_do_not_depend_on_the_batch_unless_the_regime_names_the_batch(fitted, name):
    if name in RANDOM:
        pytest.skip("its scores are random: a text in another place gets other noise")
    detector = fitted(name)
    scores = detector.decision_function(TEST)
    alone = np.array([detector.decision_function([text])[0] for text in TEST[15:25]])
    assert (detector.regime == TEST_BATCH) is (name == "pytextad-aderh")
    if detector.regime == TEST_BATCH:
        assert np.abs(alone - scores[15:25]).max() > 0.01 * scores.std()
    else:
        np.testing.assert_allclose(alone, scores[15:25], rtol=1e-4, atol=1e-4 * scores.std())


@needs_pytextad
@pytest.mark.parametrize("name", NAMES)
def test_odd_texts_get_finite_scores(fitted, name):
    odd = ["", " \n\t", "zzz qqq", "ship", "ship " * 2_000, "a" * 5_000, "船", "\x00\x01ship\x7f", "\ud800"]
    scores = fitted(name).decision_function(odd)
    assert scores.shape == (len(odd),)
    assert np.isfinite(scores).all()


@needs_pytextad
@pytest.mark.parametrize("name", NAMES)
def test_it_has_pyods_attributes_and_names_the_version(fitted, name):
    detector = fitted(name)
    assert detector.decision_scores_.shape == (80,)
    assert np.isfinite(detector.decision_scores_).all()
    assert detector.ran_on_.keys() <= {"device"}
    assert detector.resources()["pytextad"]
