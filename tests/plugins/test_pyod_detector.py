"""Detectors of PyOD: which of them use the test batch, and which cannot be saved."""

from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone

from adbench_text.contract.scores import FROM_SCRATCH, TEST_BATCH, WORDS
from adbench_text.errors import DetectorError, PluginError
from adbench_text.isolation import seed_generators
from adbench_text.plugins import registry
from adbench_text.plugins.pyod_detector import SCORED_BY_BATCH, PyODDetector

N_COMPANY = 33  # odd: RGraph scores blocks of ten
TOLERANCE = 1e-3  # of the standard deviation of the scores; networks compute in single precision


def company_counts(kind, is_supervised: bool) -> bool:
    """Return whether a detector with default settings scores vectors otherwise in company than alone."""
    rng = np.random.default_rng(0)
    train, batch, company = (rng.normal(size=(n, 8)) for n in (80, 30, N_COMPANY))
    company *= np.linspace(0.25, 4, N_COMPANY)[:, np.newaxis]
    settings = {"random_state": 0, "n_features": 8}
    accepted = {name: value for name, value in settings.items() if name in signature(kind).parameters}
    seed_generators(0)
    labels = [np.arange(len(train)) < 20] if is_supervised else []
    detector = kind(**accepted).fit(train, *labels)
    together = np.concatenate([company, batch])
    alone, again, last = (np.asarray(detector.decision_function(X.copy())) for X in (batch, batch, together))
    tolerance = TOLERANCE * alone.std()
    is_random = np.abs(alone - again).max() > tolerance
    return bool(not is_random and np.abs(alone - last[N_COMPANY:]).max() > tolerance)


def scored_by_batch(name: str) -> bool:
    try:
        detector = registry.detector(name)
        return company_counts(detector.wrapped, detector().takes_labels)
    except (PluginError, ImportError) as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", ["pyod-copod", "pyod-sos", "pyod-knn", "pyod-lof"])
def test_the_list_of_detectors_that_use_the_batch_is_true_of_some(name):
    assert scored_by_batch(name) is (registry.detector(name).wrapped.__module__ in SCORED_BY_BATCH)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in registry.names("detectors") if name.startswith("pyod-")])
def test_the_list_of_detectors_that_use_the_batch_is_true(name):
    assert scored_by_batch(name) is (registry.detector(name)().regime == TEST_BATCH)


def test_a_supervised_detector_learns_from_known_outliers_and_needs_them():
    sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    law = ["the court heard a witness", "the judge gave a verdict", "the witness left the court"] * 3
    detector = registry.detector("pyod-devnet")(encoder="svd", svd_components=3, random_state=0, epochs=5)
    with pytest.raises(DetectorError, match=r"DevNet .*--known-outliers"):
        detector.fit(sea)
    y = np.repeat([np.nan, 1], [len(sea), len(law)])
    scores = detector.fit([*sea, *law], y).decision_scores_
    assert scores.shape == y.shape
    assert np.isfinite(scores).all()
    others = clone(detector).fit([*law * 4, *sea[:9]], np.repeat([np.nan, 1], [36, 9]))
    assert others.decision_function(sea).mean() != pytest.approx(scores[: len(sea)].mean())


@pytest.mark.parametrize(
    ("name", "encoder", "regime"),
    [("ecod", "svd", TEST_BATCH), ("knn", "tfidf", WORDS), ("knn", "svd", FROM_SCRATCH)],
)
def test_the_regime_names_the_batch_or_the_knowledge_of_the_encoder(name, encoder, regime):
    assert registry.detector(f"pyod-{name}")(encoder=encoder).regime == regime


def test_a_detector_of_another_package_inherits_or_declares_its_regime():
    copod = registry.detector("pyod-copod").wrapped
    inherited = type("Mine", (copod,), {})
    declared = type("Mine", (copod,), {"regime": WORDS})
    assert type("A", (PyODDetector,), {"wrapped": inherited})().regime == TEST_BATCH
    assert type("B", (PyODDetector,), {"wrapped": declared})().regime == WORDS


@pytest.mark.parametrize("name", ["auto-encoder", "alad", "lunar", "mo-gaal", "vae"])
def test_a_network_cannot_be_saved(name):
    assert registry.detector(f"pyod-{name}")().trusted_types is None


class Drawing:
    """Prints, and scores by random numbers of NumPy's global generator."""

    def __init__(self, size=3, normalize=False, contamination=0.1, random_state=0, verbose=True):
        self.size, self.normalize, self.random_state, self.verbose = size, normalize, random_state, verbose

    def fit(self, X):
        print("epoch 1")

    def decision_function(self, X):
        return np.random.rand(len(X))  # noqa: NPY002


def test_what_a_detector_draws_while_it_scores_repeats_with_a_seed_and_not_without(capsys):
    kind = type("Adapted", (PyODDetector,), {"wrapped": Drawing})
    seeded, again, unseeded = (
        kind(encoder="svd", random_state=seed).fit(["ship crew", "crew sail"]) for seed in (1, 1, None)
    )
    texts = ["ship", "sail"]
    np.testing.assert_array_equal(seeded.decision_function(texts), seeded.decision_function(texts))
    np.testing.assert_array_equal(seeded.decision_function(texts), again.decision_function(texts))
    assert (unseeded.decision_function(texts) != unseeded.decision_function(texts)).any()
    assert capsys.readouterr().out == ""


def test_a_parameter_with_the_name_of_one_of_ours_is_ours():
    detector = type("Adapted", (PyODDetector,), {"wrapped": Drawing})(encoder="svd", size=5)
    assert {"size": 5, "normalize": True}.items() <= detector.get_params().items()
    assert "verbose" not in detector.get_params()
    wrapped = detector.fit(["ship crew", "crew sail"])._detector
    assert (wrapped.size, wrapped.normalize) == (5, False)
