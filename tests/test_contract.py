"""What every detector and every dataset must do."""

import pickle
from functools import cache

import numpy as np
import pytest
from pyod.models.base import BaseDetector
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from topics import texts_about, write_vectors

from adbench_text.errors import DetectorError, InvalidValueError, PluginError
from adbench_text.plugins import registry
from adbench_text.plugins.regimes import TEST_BATCH
from adbench_text.sweep.construct import parameters
from adbench_text.text.cleaning import clean

OWN = [name for name in registry.names("detectors") if not name.startswith("pyod-")]
QUICK_PYOD = ["pyod-copod", "pyod-ecod", "pyod-hbos", "pyod-knn", "pyod-lof", "pyod-pca"]
ALL_PYOD = [name for name in registry.names("detectors") if name.startswith("pyod-")]
QUICK = [*OWN, *QUICK_PYOD]

TRAIN = texts_about("sea", 80, seed=0)
TEST = texts_about("sea", 20, seed=1) + texts_about("law", 20, seed=2)
OUTLIER = np.arange(40) >= 20


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_vectors(tmp_path_factory.mktemp("vectors") / "topics.vec")


@pytest.fixture(scope="module")
def make(vectors: str):
    """Makes an unfitted detector with its small settings, and those given on top of them."""

    def make(name: str, **settings):
        kind = registry.detector(name)
        settings = {**getattr(kind, "test_settings", {}), **settings}
        if "vectors" in parameters(kind):
            settings = {"vectors": vectors, **settings}
        return kind(random_state=0, **settings)

    return make


@pytest.fixture(scope="module")
def fitted(make):
    """Gives a detector fitted on TRAIN, the same one to every test: they may only read from it."""

    @cache
    def fitted(name: str, **settings):
        return make(name, **settings).fit(TRAIN)

    return fitted


@pytest.mark.parametrize("name", QUICK)
def test_it_is_a_pyod_detector_whose_parameters_are_stored_as_given(make, name):
    detector = make(name, contamination=0.2)
    assert isinstance(detector, BaseDetector)
    assert detector.get_params()["contamination"] == 0.2
    assert clone(detector).get_params() == detector.get_params()
    assert detector.set_params(contamination=0.3).get_params()["contamination"] == 0.3


@pytest.mark.parametrize("name", QUICK)
def test_outliers_score_higher(fitted, name):
    scores = fitted(name).decision_function(TEST)
    assert scores.shape == (40,)
    assert scores.dtype == np.float64
    assert roc_auc_score(OUTLIER, scores) > 0.95


@pytest.mark.parametrize("name", QUICK)
def test_a_clone_with_the_same_seed_gives_the_same_scores(fitted, name):
    second = clone(fitted(name)).fit(TRAIN)
    np.testing.assert_array_equal(second.decision_function(TEST), fitted(name).decision_function(TEST))


@pytest.mark.parametrize("name", QUICK)
def test_scores_do_not_depend_on_the_batch_or_its_order_unless_the_regime_names_the_batch(fitted, name):
    detector = fitted(name)
    scores = detector.decision_function(TEST)
    single = [detector.decision_function([text])[0] for text in TEST[15:25]]
    if detector.regime == TEST_BATCH:
        assert np.abs(single - scores[15:25]).max() > 0.01 * scores.std()
    else:
        backwards = detector.decision_function(TEST[::-1])[::-1]
        np.testing.assert_allclose(backwards, scores, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(single, scores[15:25], rtol=1e-5, atol=1e-6)


def test_empirical_distributions_use_the_test_batch_and_neighbours_do_not(make):
    regimes = {name: make(name).regime for name in QUICK_PYOD}
    assert {name for name, regime in regimes.items() if regime == TEST_BATCH} == {"pyod-copod", "pyod-ecod"}


@pytest.mark.parametrize("name", QUICK)
def test_fitting_again_forgets_the_first_fit(make, fitted, name):
    detector = make(name).fit(TEST)
    detector.decision_scores_  # noqa: B018  # asked for, so remembered
    again = detector.fit(TRAIN)
    assert again is detector
    np.testing.assert_array_equal(again.decision_function(TEST), fitted(name).decision_function(TEST))
    assert again.decision_scores_.shape == (80,)


@pytest.mark.parametrize("name", QUICK)
def test_pyods_attributes_and_predictions(fitted, name):
    detector = fitted(name)
    assert detector.decision_scores_.shape == (80,)
    assert detector.threshold_ == pytest.approx(
        np.quantile(detector.decision_scores_, 1 - detector.contamination)
    )
    np.testing.assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)
    np.testing.assert_array_equal(
        detector.predict(TEST), detector.decision_function(TEST) > detector.threshold_
    )
    probability = detector.predict_proba(TEST)
    assert probability.shape == (40, 2)
    np.testing.assert_allclose(probability.sum(axis=1), 1)


@pytest.mark.parametrize("name", QUICK)
def test_odd_texts_get_finite_scores(make, fitted, name):
    odd = ["", " \n\t", "zzz qqq", "ship", "ship " * 20_000, "a" * 50_000]
    odd += ["船 が 港 に", "\x00\x01ship\x7f", "🙂", "ſhip", "\ud800"]
    has_encoder = "encoder" in parameters(registry.detector(name))
    for settings in [{"encoder": "tfidf"}, {"encoder": "svd"}] if has_encoder else [{}]:
        for detector in (fitted(name, **settings), make(name, **settings).fit(TRAIN + odd)):
            scores = detector.decision_function(odd)
            assert scores.shape == (len(odd),)
            assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("wrong", ["one bare string", [], [1, 2], ["fine", None], b"bytes"])
def test_wrong_input_is_refused(make, fitted, name, wrong):
    with pytest.raises(InvalidValueError, match="texts must"):
        make(name).fit(wrong)
    with pytest.raises(InvalidValueError, match="texts must"):
        fitted(name).decision_function(wrong)


@pytest.mark.parametrize("name", QUICK)
def test_a_fitted_detector_can_be_pickled(fitted, name):
    detector = fitted(name)
    again = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(again.decision_function(TEST), detector.decision_function(TEST))


@pytest.mark.parametrize("name", QUICK)
def test_an_unfitted_detector_is_an_error(make, name):
    with pytest.raises(InvalidValueError, match="not fitted yet"):
        make(name).decision_function(TEST)
    assert not hasattr(make(name), "decision_scores_")


@pytest.mark.parametrize("name", QUICK)
def test_a_threshold_outside_its_range_is_refused(make, name):
    with pytest.raises(ValueError, match="contamination must be in"):
        make(name).set_params(contamination=0.9).fit(TRAIN)
    with pytest.raises(ValueError, match="contamination must be in"):
        make(name, contamination=0)


@pytest.mark.parametrize(
    ("name", "setting", "message"),
    [
        ("ocsvm", {"nu": 0}, "nu must be in"),
        ("ocsvm", {"nu": "much"}, "nu must be in"),
        ("ocsvm", {"kernel": "poly"}, "No kernel named 'poly'"),
        ("ocsvm", {"encoder": "tfdif"}, "Did you mean 'tfidf'"),
        ("ocsvm", {"normalize": "yes"}, "normalize must be"),
        ("iforest", {"n_estimators": 0}, "n_estimators must be"),
        ("iforest", {"svd_components": 0.5}, "svd_components must be"),
        ("llr", {"background": "wordfrequency"}, "Did you mean 'wordfreq'"),
        ("llr", {"smoothing": 0}, "smoothing must be"),
        ("llr", {"smoothing": "abc"}, "smoothing must be positive, got 'abc'"),
        ("iforest", {"vectors": "glove"}, "No word vectors named 'glove'"),
        ("date", {"score": "plrmd"}, "Did you mean 'pl_rmd'"),
        ("date", {"vocabulary": "bert"}, "No vocabulary named 'bert'"),
        ("date", {"steps": 0}, "steps must be a whole number of at least 1, got 0"),
        ("date", {"batch_size": 1.5}, "batch_size must be a whole number"),
        ("date", {"mask_share": 1}, "mask_share must be in"),
        ("date", {"learning_rate": float("nan")}, "learning_rate must be positive, got nan"),
        ("date", {"generator": [1]}, "No generator named"),
        ("date", {"learning_rate": 10}, "learning_rate . weight_decay must be below 1"),
        ("date", {"n_patterns": 1, "mask_share": 0.01}, "masks no position"),
        ("date", {"random_state": -1}, "random_state must be None or in"),
        ("date", {"rtd_weight": -1}, "rtd_weight must be a number of at least 0"),
        ("date", {"dropout": "none"}, "dropout must be in"),
        ("date", {"hidden": 30}, "hidden must be a multiple of 4"),
        ("date", {"max_length": 4, "n_patterns": 7}, "n_patterns must be at most 6"),
        ("date", {"n_patterns": 0}, "set rmd_weight=0 too"),
        ("date", {"rtd_weight": 0}, "score='pl' needs a positive rtd_weight, got 0"),
        ("date", {"rmd_weight": 0, "score": "pl_rmd"}, "score='pl_rmd' needs a positive rmd_weight, got 0"),
        ("llr", {"shrinkage": -1}, "shrinkage must be"),
        ("llr", {"language": "xx"}, "No language"),
        ("llr", {"background": "vectors", "vectors": "fasttext-local"}, "no order of frequency"),
    ],
)
def test_a_wrong_hyper_parameter_is_refused(make, name, setting, message):
    with pytest.raises(InvalidValueError, match=message):
        make(name).set_params(**setting).fit(TRAIN)


@pytest.mark.parametrize("name", OWN)
def test_every_configuration_of_a_preset_is_valid_and_no_two_are_equal(make, name):
    for settings in registry.detector(name).presets("20news").values():
        assert len({str(sorted(one.items())) for one in settings}) == len(settings)
        for one in settings:
            make(name, **one).check_params()


def lacks_a_package(error: Exception) -> bool:
    return "needs the package" in str(error) or "needs a package" in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL_PYOD)
def test_every_detector_of_pyod_runs_or_names_what_it_lacks(make, name):
    try:
        detector = make(name).fit(TRAIN)
        scores = detector.decision_function(TEST)
    except (DetectorError, PluginError) as error:
        if not lacks_a_package(error):
            raise
        pytest.skip(str(error))
    assert np.isfinite(scores).all()
    assert scores.shape == (40,)
    part = detector.decision_function(TEST[:30])  # no smaller: some look for 20 neighbours in the batch
    again = detector.decision_function(TEST[:30])
    if detector.regime != TEST_BATCH and np.array_equal(part, again):  # not random
        np.testing.assert_allclose(part, scores[:30], rtol=1e-3, atol=1e-3 * scores.std())


@pytest.mark.parametrize("name", registry.names("datasets"))
def test_a_dataset_states_its_facts(name):
    dataset = registry.dataset(name)
    assert len(set(dataset.classes)) == len(dataset.classes) >= 2
    for fact in (dataset.name, dataset.source, dataset.licence, dataset.citation):
        assert isinstance(fact, str)
        assert fact


@pytest.mark.parametrize("name", registry.names("datasets"))
def test_a_dataset_gives_clean_documents_of_every_class(real_corpus, name):
    loaded = real_corpus(name)
    for part in (loaded.train, loaded.test):
        assert set(part.labels.tolist()) == set(range(len(loaded.classes)))
        assert len(part.texts) == len(part.labels)
        assert all(part.texts)
        assert [clean(text) for text in part.texts[:200]] == part.texts[:200]
    again = real_corpus.__wrapped__(name)  # loads it anew
    assert (again.digest, again.edition) == (loaded.digest, loaded.edition)
    assert len(loaded.digest) <= 36


def test_no_parameter_of_pyod_has_the_name_of_one_of_ours():
    ours = parameters(registry.detector("iforest")).keys() - {"n_estimators", "contamination", "random_state"}
    for name in ALL_PYOD:
        try:
            kind = registry.detector(name)
        except PluginError as error:
            if not lacks_a_package(error):
                raise
            continue
        assert not ours & kind._own_defaults().keys(), name
