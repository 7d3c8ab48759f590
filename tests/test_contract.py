"""What every detector and every dataset must do."""

from functools import cache

import numpy as np
import pytest
from parameters import slow
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from adbench_text.contract.scores import TEST_BATCH
from adbench_text.errors import DetectorError, InvalidValueError, PluginError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import parameters
from adbench_text.testing import check_detector, dataset_rules
from adbench_text.testing.dataset_rules import ReadDataset
from adbench_text.testing.rules import check, raise_broken
from adbench_text.testing.topics import texts_about, write_vectors
from adbench_text.text.cleaning import clean

OWN = [
    plugin.name
    for plugin in registry.plugins("detectors").values()
    if not (plugin.is_member or plugin.is_foreign)
]
FOREIGN = {plugin.name for plugin in registry.plugins("datasets").values() if plugin.is_foreign}
OWN_DATASETS = [name for name in registry.names("datasets") if name not in FOREIGN]
QUICK_PYOD = ["pyod-copod", "pyod-ecod", "pyod-hbos", "pyod-knn", "pyod-lof", "pyod-pca"]
ALL_PYOD = [name for name in registry.names("detectors") if name.startswith("pyod-")]
TRAINED = ("cvdd", "date")  # networks
QUICK = [name for name in (*OWN, *QUICK_PYOD) if name not in TRAINED]
DETECTORS = pytest.mark.parametrize("name", [*QUICK, *slow(*TRAINED)])

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


@DETECTORS
def test_a_detector_keeps_its_contract(name):
    check_detector(name)


@DETECTORS
def test_outliers_score_higher(fitted, name):
    assert roc_auc_score(OUTLIER, fitted(name).decision_function(TEST)) > 0.95


@DETECTORS
@pytest.mark.parametrize(
    "ask",
    [
        lambda detector: detector.decision_function(TEST),
        lambda detector: detector.predict(TEST),
        lambda detector: detector.learned(),
        lambda detector: detector._texts_of_training(),
    ],
)
def test_before_a_fit_the_error_is_that_of_scikit_learn_and_ours(make, name, ask):
    detector = make(name)
    with pytest.raises(NotFittedError, match=rf"^{type(detector).__name__} .*fit\(texts\)") as error:
        ask(detector)
    assert isinstance(error.value, InvalidValueError)


@DETECTORS
def test_predictions_follow_from_the_scores(fitted, name):
    detector = fitted(name)
    scores, threshold = detector.decision_scores_, detector.threshold_
    assert threshold == pytest.approx(np.quantile(scores, 1 - detector.contamination))
    np.testing.assert_array_equal(detector.labels_, scores > threshold)
    np.testing.assert_array_equal(detector.predict(TEST), detector.decision_function(TEST) > threshold)
    np.testing.assert_allclose(detector.predict_proba(TEST).sum(axis=1), 1)


@DETECTORS
def test_what_is_no_list_of_texts_or_no_value_is_refused(fitted, make, name):
    for wrong in ("one bare string", [], [1, 2], ["fine", None], b"bytes"):
        for method in (make(name).fit, fitted(name).decision_function):
            with pytest.raises(InvalidValueError):
                method(wrong)
    values = {setting: object() for setting in type(make(name)).parameter_ranges()}
    for setting, value in [*values.items(), ("contamination", 0), ("contamination", 0.9)]:
        with pytest.raises(InvalidValueError):
            make(name).set_params(**{setting: value}).fit(TRAIN)


def test_empirical_distributions_use_the_test_batch_and_neighbours_do_not(make):
    regimes = {name: make(name).regime for name in QUICK_PYOD}
    assert {name for name, regime in regimes.items() if regime == TEST_BATCH} == {"pyod-copod", "pyod-ecod"}


@pytest.mark.parametrize(
    ("name", "setting", "quoted"),
    [
        ("ocsvm", {"nu": "much"}, r"nu .*\(0, 1.*, got 'much'"),
        ("ocsvm", {"encoder": "tfdif"}, "encoder .*'tfdif'.*'tfidf'"),
        ("llr", {"language": "xx"}, "language .*'xx'"),
        ("date", {"score": "plrmd"}, "score .*'plrmd'.*'pl_rmd'"),
        ("date", {"vocabulary": "bert"}, "vocabulary .*'bert'"),
        ("date", {"n_patterns": 1, "mask_share": 0.01}, r"n_patterns .* 0, .*, got 1\."),
        ("date", {"hidden": 30}, r"hidden .* 4, got 30\."),
        ("date", {"max_length": 4, "n_patterns": 7}, r"n_patterns .* 6, .* of 4 .*, got 7\."),
        ("date", {"n_patterns": 0}, "n_patterns=0 .*, got rmd_weight=.*; .*rmd_weight=0 "),
        ("date", {"rtd_weight": 0}, "score='pl' .*rtd_weight, got 0"),
        ("date", {"rmd_weight": 0, "score": "pl_rmd"}, "score='pl_rmd' .*rmd_weight, got 0"),
    ],
)
def test_a_wrong_hyper_parameter_is_refused(make, name, setting, quoted):
    with pytest.raises(InvalidValueError, match=quoted):
        make(name).set_params(**setting).fit(TRAIN)


def lacks_a_package(error: Exception) -> bool:
    return "needs the package" in str(error) or "needs a package" in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL_PYOD)
def test_every_detector_of_pyod_runs_or_names_what_it_lacks(make, name):
    try:
        detector = make(name)
        labels = [0] * (len(TRAIN) - 5) + [1] * 5 if detector.takes_labels else None
        detector.fit(TRAIN, labels)
        scores = detector.decision_function(TEST)
    except (DetectorError, PluginError) as error:
        if not lacks_a_package(error):
            raise
        pytest.skip(str(error))
    assert np.isfinite(scores).all()
    assert scores.shape == (40,)


class Cached(ReadDataset):
    """A dataset whose first reading is shared by all tests."""

    def __init__(self, name, load):
        super().__init__(registry.dataset(name), name)
        self.loads = [load.__wrapped__, load]  # the second one reads anew

    def load(self):
        return self.loads.pop()(self.name)


@pytest.mark.parametrize("name", OWN_DATASETS)
def test_a_dataset_keeps_its_contract(real_corpus, name):
    source = Cached(name, real_corpus)
    assert len(source.corpus.digest) <= 36
    rules = [rule for rule in dataset_rules.RULES if rule is not dataset_rules.has_an_edition]
    raise_broken(name, check(rules, source, type(source.dataset).__module__))


# read as they were written, as published
SHORT = {"sst-far", "rostd", "banking-near", "banking-far"}
SHORT |= {"hint3-curekart", "hint3-powerplay11", "hint3-sofmattress", "rasa-demo", "onion"}


@pytest.mark.parametrize("name", OWN_DATASETS)
def test_documents_are_clean_unless_short_or_all_their_words_are_judged(real_corpus, name):
    loaded = real_corpus(name)
    assert loaded.is_cleaned == (name not in SHORT and not name.startswith("words-"))
    for part in (loaded.train, loaded.test):
        assert len(part.texts) == len(part.labels)
        assert all(part.texts)
        some = part.texts[:200]
        assert not loaded.is_cleaned or [clean(text) for text in some] == some


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
