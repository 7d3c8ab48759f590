"""Every detector gives the same scores after it was saved and loaded."""

import warnings

import numpy as np
import pytest
from parameters import slow

from adbench_text.contract.detector import TextDetector
from adbench_text.documents.models.folder import load_model as load
from adbench_text.documents.models.folder import save_model as save
from adbench_text.documents.models.model import Model, TrainingFacts
from adbench_text.errors import DetectorError, InvalidValueError, PluginError
from adbench_text.isolation import seed_generators
from adbench_text.plugins import registry
from adbench_text.plugins.foreign import adapted
from adbench_text.testing.topics import texts_about, write_vectors

OWN = [
    plugin.name
    for plugin in registry.plugins("detectors").values()
    if not (plugin.is_member or plugin.is_foreign)
]
QUICK_PYOD = ["ecod", "iforest", "knn", "kpca", "lof"]
ALL_PYOD = [name for name in registry.names("detectors") if name.startswith("pyod-")]

TRAIN = [*texts_about("sea", 58, seed=0), "the marker sentence of the training documents", ""]
TEST = [
    *texts_about("sea", 10, seed=1),
    *texts_about("law", 10, seed=2),
    "",
    "unheard of, naïve ¿words?",
    "ship",
]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_vectors(tmp_path_factory.mktemp("vectors") / "topics.vec")


def scores_of(detector: TextDetector) -> np.ndarray:
    seed_generators(0)  # some of PyOD's draw numbers to score
    return detector.decision_function(TEST)


def model_of(detector, name, calibration, calibrated_by="leave-one-out") -> Model:
    return Model(detector, name, {"words": calibration}, calibrated_by, TrainingFacts.of(TRAIN, "sea"))


def fitted_and_loaded(name, folder, **settings):
    kind = registry.detector(name)
    fitted = kind(random_state=0, **{**kind.test_settings, **settings}).fit(TRAIN)
    before = scores_of(fitted)
    calibration = np.sort(fitted.decision_scores_)
    save(model_of(fitted, name, calibration), folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load(folder)
    loaded = model.detector
    np.testing.assert_array_equal(scores_of(loaded), before)
    np.testing.assert_array_equal(model.calibration, calibration)
    np.testing.assert_array_equal(loaded.decision_scores_, fitted.decision_scores_)
    assert loaded.threshold_ == fitted.threshold_
    np.testing.assert_array_equal(loaded.labels_, fitted.labels_)
    seed_generators(0)
    probabilities = fitted.predict_proba(TEST)
    seed_generators(0)
    np.testing.assert_array_equal(loaded.predict_proba(TEST), probabilities)
    assert loaded.ran_on_ == fitted.ran_on_
    assert loaded.get_params() == fitted.get_params()
    np.testing.assert_array_equal(loaded.kept_, fitted.kept_)
    assert (model.name, model.calibrated_by) == (name, "leave-one-out")
    assert model.training == TrainingFacts.of(TRAIN, "sea")
    return fitted, loaded


SETTINGS = [
    *((name, {}) for name in OWN),
    ("llr", {"background": "uniform", "cap": None}),
    ("llr", {"background": "mean", "em_rounds": 5, "coherence": 2, "vectors": "topics"}),
    ("llr", {"background": "vectors", "em_rounds": 5, "vectors": "topics"}),
    ("ocsvm", {"encoder": "mean", "vectors": "topics"}),
    ("ocsvm", {"encoder": "tfidf", "vectors": "topics"}),
    ("iforest", {"encoder": "svd", "n_estimators": 10}),
    ("ensemble", {"members": "llr, knn-words(k=5), pyod-lof(encoder=svd)"}),
    ("date", {"steps": 5, "score": "pl_rmd", "generator": "small"}),
    ("date", {"steps": 5, "generator": "english", "prior": True, "score": "log_odds"}),
    ("date", {"steps": 5, "n_patterns": 0, "rmd_weight": 0, "generator": "large"}),
    ("cvdd", {"vectors": "topics", "min_count": 3, "epochs": 2}),
    ("cvdd", {"vectors": "topics", "min_count": 0, "epochs": 2}),
]


NETWORKS = [each for each in SETTINGS if each[0] in ("cvdd", "date")]


@pytest.mark.parametrize(
    ("name", "settings"), [*[each for each in SETTINGS if each not in NETWORKS], *slow(*NETWORKS)]
)
def test_a_loaded_detector_scores_as_before_and_has_no_training_text(tmp_path, vectors, name, settings):
    if "vectors" in registry.detector(name).default_params():
        settings = {"vectors": "topics", **settings}
    settings = {key: vectors if value == "topics" else value for key, value in settings.items()}
    fitted, loaded = fitted_and_loaded(name, tmp_path / "model", **settings)
    content = b"".join(path.read_bytes() for path in (tmp_path / "model").rglob("*") if path.is_file())
    assert b"marker sentence" not in content
    assert TRAIN[-2] not in repr(vars(loaded))
    # others keep words in the order of the text
    if name in ("llr", "date", "ocsvm"):
        assert b"markersentence" not in content
    try:
        words = fitted.token_scores(TEST)
    except (DetectorError, InvalidValueError):  # it scores a document as a unit
        return
    assert loaded.token_scores(TEST) == words


@pytest.mark.parametrize("name", [f"pyod-{name}" for name in QUICK_PYOD])
def test_some_detectors_of_pyod(tmp_path, name):
    fitted_and_loaded(name, tmp_path / "model", encoder="svd", svd_components=5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL_PYOD)
def test_every_detector_of_pyod_that_can_be_fitted(tmp_path, name):
    try:
        detector = registry.detector(name)(random_state=0, encoder="svd")
        if detector.trusted_types is None:
            pytest.skip("a network")
        detector.fit(TRAIN).decision_function(TEST)
    except (DetectorError, PluginError) as error:  # a missing package, or scores of NaN
        pytest.skip(str(error))
    fitted_and_loaded(name, tmp_path / "model", encoder="svd")


def test_scores_of_training_texts_are_not_computed_unless_wanted(tmp_path):
    fitted = registry.detector("llr")(background="uniform").fit(TRAIN)
    model = model_of(fitted, "llr", np.zeros(1), "cross-fitted")
    loaded = load(save(model, tmp_path / "model")).detector
    assert "decision_scores_" not in vars(fitted)
    np.testing.assert_array_equal(scores_of(loaded), scores_of(fitted))
    with pytest.raises(AttributeError, match=r"LLR .*saved without"):
        loaded.threshold_  # noqa: B018


class Counter:
    """A detector of another package."""

    trusted_types = ()

    def __init__(self, factor: int = 1) -> None:
        self.factor = factor

    def fit(self, texts):
        self.mean = float(np.mean([len(text) for text in texts]))

    def decision_function(self, texts):
        return np.array([self.factor * abs(len(text) - self.mean) for text in texts])


def test_a_detector_of_another_package_that_trusts_types(tmp_path, monkeypatch):
    kind = adapted(Counter)
    monkeypatch.setattr(registry, "detector", lambda name: kind)
    fitted = kind(factor=2).fit(TRAIN)
    model = model_of(fitted, "llr", fitted.decision_scores_, "training scores")  # the name of any plug-in
    loaded = load(save(model, tmp_path / "model")).detector
    assert loaded.wrapped.factor == 2
    np.testing.assert_array_equal(scores_of(loaded), scores_of(fitted))


class OfAPlugin(TextDetector):
    def _fit(self, texts):
        pass

    def _score(self, texts):
        return np.zeros(len(texts))


def test_a_detector_without_trusted_types_cannot_be_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "detector", lambda name: OfAPlugin)
    model = model_of(OfAPlugin().fit(TRAIN), "of-a-plugin", np.zeros(1))
    with pytest.raises(InvalidValueError, match=r"of-a-plugin .*trusted_types"):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["OfAPlugin", "llr"])
def test_a_detector_that_its_name_does_not_lead_to_cannot_be_saved(name, tmp_path):
    model = model_of(OfAPlugin().fit(TRAIN), name, np.zeros(1))
    with pytest.raises(InvalidValueError, match=f"{name} .*no name"):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_an_unfitted_detector_cannot_be_saved(tmp_path):
    model = model_of(registry.detector("llr")(), "llr", np.zeros(1), "none")
    with pytest.raises(InvalidValueError, match=r"LLR .*fit"):
        save(model, tmp_path / "model")


def test_a_loaded_detector_can_be_fitted_again(tmp_path):
    fitted, loaded = fitted_and_loaded("llr", tmp_path / "model", background="uniform")
    other = loaded.fit(TEST)
    assert len(other.decision_scores_) == len(TEST)
    np.testing.assert_array_equal(other.decision_scores_, fitted.fit(TEST).decision_scores_)
