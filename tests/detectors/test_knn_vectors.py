import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from adbench_text.detectors.knn_vectors import _direction
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about

KNNVectors = registry.detector("knn-vectors")
TRAIN = texts_about("sea", 40, seed=0)
TEST = [*texts_about("sea", 5, seed=1), *texts_about("law", 5, seed=1)]


class Lengths(KNNVectors):
    """Vectors that a test can compute: the numbers of six letters, of different lengths."""

    name = "lengths"

    def _fit(self, texts):
        self._encoder = vectors
        self._fit_vectors(vectors(texts))


def vectors(texts):
    return np.array([[text.count(letter) for letter in "aeinrt"] for text in texts], dtype=np.float32)


@pytest.mark.parametrize("k", [1, 3, 39, 100])
@pytest.mark.parametrize("block", [7, 500])
def test_it_is_the_mean_distance_to_the_nearest_training_documents(monkeypatch, k, block):
    monkeypatch.setattr("adbench_text.detectors.knn_vectors._ROWS", block)
    detector = Lengths(k=k).fit(TRAIN)
    library = NearestNeighbors(metric="cosine").fit(vectors(TRAIN))
    distances, _ = library.kneighbors(vectors(TEST), min(k, 40))
    np.testing.assert_allclose(detector.decision_function(TEST), distances.mean(axis=1), atol=1e-6)
    distances, _ = library.kneighbors(n_neighbors=min(k, 39))  # each leaves itself out
    np.testing.assert_allclose(detector.decision_scores_, distances.mean(axis=1), atol=1e-6)


def test_neighbours_are_among_the_references():
    detector = Lengths(k=3, references=10, random_state=0).fit(TRAIN)
    places = detector._places
    assert len(set(places)) == 10
    library = NearestNeighbors(metric="cosine").fit(vectors(TRAIN)[places])
    own, _ = library.kneighbors(n_neighbors=3)
    np.testing.assert_allclose(detector.decision_scores_[places], own.mean(axis=1), atol=1e-6)
    others = np.setdiff1d(np.arange(40), places)
    distances, _ = library.kneighbors(vectors(TRAIN)[others], 3)
    np.testing.assert_allclose(detector.decision_scores_[others], distances.mean(axis=1), atol=1e-6)


def test_what_has_no_vector_is_far_from_everything():
    detector = Lengths().fit(["ship", "crew", "!"])
    assert detector.decision_scores_[2] == 1
    assert detector.decision_function(["", "xyz"]).tolist() == [1, 1]
    assert Lengths().fit(["ship"]).decision_scores_.tolist() == [1]


@pytest.mark.parametrize(("encoder", "is_left_out"), [("mean", True), ("tfidf", False), ("svd", False)])
def test_a_document_takes_part_in_its_score_if_the_encoder_learns_from_it(encoder, is_left_out):
    assert KNNVectors(encoder=encoder).leaves_out_self == is_left_out


def test_a_score_does_not_depend_on_the_other_documents():
    detector = KNNVectors(k=5, encoder="wordllama").fit(texts_about("sea", 60, seed=0))
    texts = texts_about("sea", 30, seed=1) + texts_about("law", 30, seed=2)
    alone = [detector.decision_function([text])[0] for text in texts]
    np.testing.assert_allclose(detector.decision_function(texts), alone, rtol=1e-12)


# Known outliers

ODD = ["eee ee", "eeee a", "eee r", "ee e n"]
FINE = 10  # of the training documents, from the first on
NAN = float("nan")


def unit(texts):
    X = vectors(texts).astype(np.float64)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def by_hand(train, odd, fine):
    """The direction to known outliers, its length and its offset, as the module describes them."""
    centre, others = unit(train).mean(axis=0), unit(train)

    def towards(mean):
        direction = mean - centre
        return direction / (others @ direction).std()

    z = [
        (own - centre) @ towards(np.delete(unit(odd), place, axis=0).mean(axis=0))
        for place, own in enumerate(unit(odd))
    ]
    direction = towards(unit(odd).mean(axis=0))
    of_fine = (unit(fine) - centre) @ direction if fine else np.zeros(0)
    weight = (sum(z) / (len(odd) + 3) - of_fine.sum() / (len(fine) + 3)) / 2
    return min(max(weight, 0), 1) * direction, weight


@pytest.mark.parametrize("n_fine", [0, FINE])
def test_the_score_rises_towards_known_outliers(n_fine):
    y = [0.0] * n_fine + [NAN] * (40 - n_fine) + [1.0] * len(ODD)
    detector, plain = Lengths(k=3).fit([*TRAIN, *ODD], y), Lengths(k=3).fit(TRAIN)
    direction, _ = by_hand(TRAIN, ODD, TRAIN[:n_fine])
    training = plain.decision_scores_
    scale = 1.4826 * np.median(np.abs(training - np.median(training)))
    for texts, given, distances in (
        (TEST, detector.decision_function(TEST), plain.decision_function(TEST)),
        (TRAIN, detector.decision_scores_[:40], training),
    ):
        along = (unit(texts) - unit(TRAIN).mean(axis=0)) @ direction
        np.testing.assert_allclose(given, distances + scale * np.maximum(along, 0), atol=1e-6)
        assert (along < 0).any()  # away from the outliers nothing is lost
        assert (along > 0).any()


def test_documents_known_to_be_normal_weigh_against_the_direction():
    _, without = by_hand(TRAIN, ODD, [])
    fine = ["eee e", "eeee n", "eee t", "ee ee"]
    detector = Lengths(k=3).fit([*TRAIN, *ODD, *fine], [NAN] * 40 + [1.0] * 4 + [0.0] * 4)
    assert without > 0
    assert not detector._towards.any()  # as many that are fine are there


def test_one_known_outlier_has_no_effect():
    plain = Lengths(k=3).fit(TRAIN)
    detector = Lengths(k=3).fit([*TRAIN, ODD[0]], [NAN] * 40 + [1.0])
    np.testing.assert_array_equal(detector.decision_function(TEST), plain.decision_function(TEST))
    np.testing.assert_array_equal(detector.decision_scores_[:40], plain.decision_scores_)


def test_known_outliers_that_are_not_alike_have_no_effect():
    others = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    away, none = np.array([0, 0, 3, 0]), np.empty((0, 4))
    opposite = others.mean(axis=0) + np.array([away, -away])
    assert not _direction(opposite, none, others).any()
    alike = others.mean(axis=0) + np.array([away, away + 0.1])
    assert _direction(alike, none, others)[2] > 0.5


@pytest.mark.parametrize("odd", [["", ""], ["xyz", "!"]])
def test_known_outliers_without_a_vector_have_finite_scores(odd):
    detector = Lengths(k=3).fit([*TRAIN, *odd], [NAN] * 40 + [1.0] * 2)
    assert np.isfinite(detector.decision_function([*TEST, ""])).all()
    same = Lengths(k=3).fit(["ship", "ship", *odd], [NAN] * 2 + [1.0] * 2)  # no deviation
    assert np.isfinite(same.decision_function(TEST)).all()
