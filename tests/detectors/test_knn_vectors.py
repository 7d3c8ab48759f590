import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

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
