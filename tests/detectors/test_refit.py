import pickle
from collections import Counter

import numpy as np
import pytest
from observers import Watching
from sklearn.metrics import roc_auc_score

from adbench_text.errors import DetectorError, InvalidValueError
from adbench_text.plugins import registry
from adbench_text.plugins.detector import TextDetector
from adbench_text.plugins.foreign import adapted
from adbench_text.plugins.scores import FROM_SCRATCH, WORDS
from adbench_text.testing.topics import texts_about, write_vectors
from adbench_text.text.words import words

Refit = registry.detector("refit")
TRAIN = texts_about("sea", 60, seed=0) + texts_about("law", 10, seed=1)
TEST = texts_about("sea", 60, seed=2) + texts_about("law", 30, seed=4)
MIXED = TEST[:60] + [" ".join(pair) for pair in zip(TEST[:30], TEST[60:], strict=True)]
OUTLIER = np.arange(90) >= 60
EIGHT_USUAL = [0, 1, 2, 3, 4, 5, 6, 7]


class Numbers(TextDetector):
    """Scores a text by its number, and stores what it was fitted on."""

    def __init__(self):
        super().__init__()
        self.fits = []

    def _fit(self, texts):
        self.fits.append(list(map(float, texts)))
        if self.observer:
            self.observer.begin()
            self.observer.losses(len(texts), 20, {"loss": 0.5})
            self.observer.trace(len(texts))

    def _score(self, texts):
        return np.array([float(text) for text in texts])


class OtherPackage:
    """A detector of another package: how rare the words are in the training documents."""

    def fit(self, texts):
        self._counts = Counter(word for text in texts for word in words(text))

    def decision_function(self, texts):
        return np.array([np.mean([1 / (1 + self._counts[word]) for word in words(text)]) for text in texts])


@pytest.fixture
def detector_named(monkeypatch):
    """Return a function that makes a class the only detector of the registry, under any name."""
    return lambda kind: monkeypatch.setattr(registry, "load", lambda *_: kind)


@pytest.fixture
def fit_numbers(monkeypatch):
    """Fit `refit` on numbers, with a detector whose scores they are."""

    def fit(values, observer=None, **settings):
        monkeypatch.setattr(registry, "load", lambda *_: Numbers)
        detector = Refit(detector="numbers", **settings)
        detector.observer = observer
        return detector.fit([str(value) for value in values])

    return fit


@pytest.mark.parametrize(
    ("detector", "test"),
    [
        ("llr(smoothing=10, cap=20)", MIXED),
        ("knn-words(k=8)", TEST),
        ("pyod-knn(encoder=mean, vectors={path}, n_neighbors=8)", TEST),
    ],
)
def test_it_sets_the_contamination_aside_and_improves_the_ranking(detector, test, tmp_path):
    path = write_vectors(tmp_path / "topics.vec")
    refitted = Refit(detector=detector.format(path=path), cutoff=2.5, random_state=0).fit(TRAIN)
    (plain,) = refitted.build_members()
    assert refitted.kept_[:60].all()
    assert refitted.kept_[60:].sum() <= 2
    before = roc_auc_score(OUTLIER, plain.fit(TRAIN).decision_function(test))
    assert before < roc_auc_score(OUTLIER, refitted.decision_function(test)) == 1


def test_it_fits_a_detector_of_another_package_again(detector_named):
    detector_named(OtherPackage)
    detector = Refit(detector="another", cutoff=2.5).fit(TRAIN)
    assert detector.kept_.tolist() == [True] * 60 + [False] * 10
    assert detector.decision_function(["judge court"]) == [1]  # no longer a known word


def test_documents_above_the_cutoff_are_set_aside(fit_numbers):
    detector = fit_numbers([*EIGHT_USUAL, 50, 60], max_dropped=0.5)
    assert detector.kept_.tolist() == [True] * 8 + [False] * 2
    assert detector._detector.fits == [[*EIGHT_USUAL, 50, 60], EIGHT_USUAL]
    assert fit_numbers([*EIGHT_USUAL, 50, 60], cutoff=13, max_dropped=0.5).kept_.sum() == 9


@pytest.mark.parametrize(("max_dropped", "n_dropped"), [(0, 0), (0.09, 0), (0.1, 1), (0.25, 2), (0.5, 3)])
def test_never_more_than_the_share_is_set_aside(fit_numbers, max_dropped, n_dropped):
    kept = fit_numbers([0, 1, 2, 3, 4, 5, 6, 50, 60, 70, 7], max_dropped=max_dropped).kept_
    assert (~kept).sum() == n_dropped
    assert fit_numbers([0] * 8 + [9] * 4).kept_.all()  # the largest scores are equal: all or none


def test_documents_with_equal_scores_are_all_kept_and_fitted_once(fit_numbers):
    for values in ([3], [3] * 9):
        detector = fit_numbers(values, rounds=5)
        assert detector.kept_.all()
        assert len(detector._detector.fits) == 1


def test_it_stops_when_a_round_keeps_the_same_documents(fit_numbers):
    assert len(fit_numbers([*EIGHT_USUAL, 50], rounds=9)._detector.fits) == 2


def test_all_training_documents_have_scores_those_set_aside_as_unseen_ones():
    detector = Refit(detector="knn-words(k=8)").fit(TRAIN)
    inner, kept = detector._detector, detector.kept_
    assert detector.decision_scores_.shape == detector.labels_.shape == (70,)
    np.testing.assert_array_equal(detector.decision_scores_[kept], inner.decision_scores_)
    aside = [text for text, is_kept in zip(TRAIN, kept, strict=True) if not is_kept]
    np.testing.assert_array_equal(detector.decision_scores_[~kept], inner.decision_function(aside))


def test_a_document_that_was_set_aside_may_return(fit_numbers, monkeypatch):
    scores = iter([[*EIGHT_USUAL, 50, 0], [*EIGHT_USUAL, 0, 50]])
    monkeypatch.setattr(Refit, "_score_training", lambda self, texts: np.array(next(scores)))
    detector = fit_numbers(range(10), rounds=2)
    assert detector.kept_.tolist() == [True] * 9 + [False]
    assert [len(texts) for texts in detector._detector.fits] == [10, 9, 9]


def test_an_observer_sees_the_trainings_as_one(fit_numbers):
    watching = Watching(trace_every=7)
    detector = fit_numbers([*EIGHT_USUAL, 50], observer=watching)
    assert watching.told == [(9, 20, {"loss": 0.5}), (17, 29, {"loss": 0.5})]
    assert watching.calls == ["begin", "trace 0", "losses 9", "trace 9", "losses 17", "trace 17"]
    assert detector._detector.observer is None


def test_it_has_the_abilities_of_its_detector():
    words = Refit(detector="llr").fit(TRAIN)
    assert words.token_scores(["ship"])[0][0].token == "ship"
    assert words.regime == WORDS
    neighbours = Refit(detector="knn-words").fit(TRAIN)
    assert neighbours.regime == FROM_SCRATCH
    with pytest.raises(DetectorError, match="no scores of words"):
        neighbours.token_scores(["ship"])
    assert neighbours.tables() == {}
    assert pickle.loads(pickle.dumps(neighbours)).kept_.sum() == neighbours.kept_.sum()


def test_a_detector_that_does_not_declare_its_knowledge_has_no_regime(detector_named):
    detector_named(OtherPackage)
    assert Refit(detector="another").regime is None
    assert adapted(OtherPackage)().regime is None


def test_two_detectors_are_refused():
    with pytest.raises(InvalidValueError, match="refit fits one detector, got 'llr, knn-words'"):
        Refit(detector="llr, knn-words").fit(TRAIN)
