"""Detectors of other packages behind the interface of this one."""

import gc
import pickle
import weakref
from typing import ClassVar

import numpy as np
import pytest
from pyod.models.base import BaseDetector
from pyod.models.knn import KNN
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM

from adbench_text.checks import Whole
from adbench_text.contract.scores import TokenScore
from adbench_text.errors import DetectorError, InvalidValueError
from adbench_text.plugins.foreign import SIGN_NOTE, adapted, adapted_copy


class Long:
    """Counts words; it has no random_state."""

    def __init__(self, least=0):
        self.least = least

    def fit(self, texts):
        return self

    def decision_function(self, texts):
        return np.array([len(text.split()) - self.least for text in texts])


class Explained(Long):
    def token_scores(self, texts):
        return [[(text[:3], 0, 3, 1.5)] for text in texts]


def test_scores_of_words_are_used_if_they_exist():
    explained = adapted(Explained)().fit(["sea"])
    assert explained.token_scores(["law"]) == [[TokenScore("law", 0, 3, 1.5)]]
    plain = adapted(Long)().fit(["sea"])
    with pytest.raises(DetectorError, match="Long"):
        plain.token_scores(["law"])


def test_it_asks_for_raw_documents_and_has_reasons_if_it_has_these_members():
    class Raw(Long):
        reads_raw = True

        def reasons(self, texts):
            return [[f"{len(text)} letters"] for text in texts]

    raw, plain = (adapted(kind)().fit(["sea"]) for kind in (Raw, Long))
    assert (raw.reads_raw, plain.reads_raw) == (True, False)
    assert raw.reasons(["law"]) == [["3 letters"]]
    assert plain.reasons(["law"]) == [[]]


def test_set_params_changes_the_scores_and_asks_for_another_fit():
    detector = adapted(Long)(least=1).fit(["sea"])
    assert detector.set_params(least=3) is detector
    assert detector.get_params() == {"least": 3}
    with pytest.raises(InvalidValueError, match="fit"):
        detector.decision_function(["a long storm"])
    assert detector.fit(["sea"]).decision_function(["a long storm"]).tolist() == [0]
    assert adapted(Long)().set_params(least=2).wrapped.least == 2


class Ranged(Long):
    ranges: ClassVar = {"least": Whole(least=0)}

    def check_params(self):
        if self.least == 7:
            raise ValueError("least must not be 7")


def test_values_are_checked_by_ranges_and_by_a_method():
    adapted(Ranged)(least=3).check_params()
    with pytest.raises(InvalidValueError, match=r"least .*got -1"):
        adapted(Ranged)(least=-1).fit(["sea"])
    with pytest.raises(ValueError, match="least must not be 7"):
        adapted(Ranged)(least=7).fit(["sea"])
    assert adapted(Ranged).parameter_ranges()["least"].text == "a whole number of at least 0"


class Normality:
    """Scores as scikit-learn's outlier detectors do: the share of known words."""

    def fit(self, texts, y=None):
        self.known_ = {word for text in texts for word in text.split()}
        return self

    def decision_function(self, texts):
        return np.array([np.mean([word in self.known_ for word in text.split()]) for text in texts])


class Declared(Normality, OutlierMixin, BaseEstimator):
    """With the tags of scikit-learn."""


class Mixed(Normality, OutlierMixin):
    """With the mixin alone."""


def lof():
    nearest = LocalOutlierFactor(6, novelty=True)  # more than the four copies of a text
    return make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0), nearest)


def svm():
    return make_pipeline(TfidfVectorizer(), OneClassSVM())  # sparse


def searched():
    return GridSearchCV(Declared(), {}, scoring=no_score)


def no_score(*_):
    return 0.0


def knn():
    return make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0), KNN(n_neighbors=2))


SEA = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 4
NEAR, FAR = "the crew left the harbour", "court judge verdict"


@pytest.mark.parametrize("kind", [Declared, Mixed, lof, svm, searched])
def test_the_sign_of_scikit_learns_outlier_detectors_is_turned(kind):
    detector = adapted(kind)().fit(SEA)
    own = detector.wrapped.decision_function([NEAR, FAR])
    assert own[0] > own[1]
    scores = detector.decision_function([NEAR, FAR])
    np.testing.assert_array_equal(scores, -own)
    np.testing.assert_array_equal(detector.decision_scores_, -detector.wrapped.decision_function(SEA))
    assert detector.threshold_ == np.quantile(detector.decision_scores_, 0.9)
    assert detector.predict([FAR]) == [1]
    again = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(again.decision_function([NEAR, FAR]), scores)
    assert detector.resources() == {"sign": SIGN_NOTE}  # outdates what was measured with the other sign


def test_a_copy_of_an_object_is_unfitted_cloned_pickled_and_changed():
    made = make_pipeline(TfidfVectorizer(), OneClassSVM(nu=0.2)).fit(SEA)
    copy = adapted_copy(made)
    assert copy.is_turned
    assert not hasattr(copy.wrapped[-1], "offset_")
    for again in (clone(copy), pickle.loads(pickle.dumps(copy))):
        assert again.get_params()["oneclasssvm__nu"] == 0.2
        assert again.fit(SEA).decision_function(["law"]) > again.decision_function(SEA[:1])
    assert copy.set_params(oneclasssvm__nu=0.3).wrapped[-1].nu == 0.3
    assert made[-1].nu == 0.2
    assert clone(adapted_copy(Long(least=1))).fit(["the sea"]).decision_function(["sea"]) == 0


def test_an_object_is_not_kept_after_its_copy():
    made = make_pipeline(TfidfVectorizer(), OneClassSVM())
    kept, copy = weakref.ref(made), adapted_copy(made)
    assert type(copy).__module__ == type(made).__module__
    del made, copy
    gc.collect()
    assert kept() is None


def test_an_object_of_pyod_gets_vectors():
    copy = adapted_copy(KNN(n_neighbors=3, contamination=0.2))
    copy.set_params(encoder="svd")
    for detector in (copy, clone(copy)):
        assert (detector.contamination, detector.get_params()["n_neighbors"]) == (0.2, 3)
        assert detector.fit(SEA).decision_function(["law"]) > 0


def test_a_detector_that_a_function_returns_is_cloned_with_its_hyper_parameters():
    def limited(nu=0.5):
        return make_pipeline(TfidfVectorizer(), OneClassSVM(nu=nu))

    detector = adapted(limited)(nu=0.2)
    assert detector.get_params()["oneclasssvm__nu"] == 0.2
    assert clone(detector).fit(SEA).wrapped[-1].nu == 0.2
    assert detector.set_params(nu=0.3, tfidfvectorizer__binary=True).wrapped[-1].nu == 0.3
    assert detector.wrapped[0].binary


class Turned(Declared, BaseDetector):
    """The author has turned the sign; PyOD's base says so."""

    def __init__(self):
        BaseDetector.__init__(self)

    def decision_function(self, texts):
        return -super().decision_function(texts)


@pytest.mark.parametrize("kind", [Long, knn, Turned])
def test_the_sign_of_all_others_is_kept(kind):
    detector = adapted(kind)().fit(SEA)
    own = detector.wrapped.decision_function([NEAR, FAR])
    np.testing.assert_array_equal(detector.decision_function([NEAR, FAR]), own)
    assert "sign" not in detector.resources()
