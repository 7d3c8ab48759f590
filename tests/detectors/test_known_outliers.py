"""Detectors that learn from known outliers: ``fit(texts, y)``."""

import re

import numpy as np
import pytest

from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.folder import load_model, save_model
from adbench_text.errors import InvalidValueError
from adbench_text.plugins import registry
from adbench_text.testing.topics import TOPICS, texts_about, write_vectors

SEA = texts_about("sea", 60, seed=0)
LAW, SKY = texts_about("law", 8, seed=1), texts_about("sky", 8, seed=2)
NEW_SEA, NEW_LAW, NEW_SKY = (texts_about(topic, 20, seed=3) for topic in ("sea", "law", "sky"))
NEW = [*NEW_SEA, *NEW_LAW, *NEW_SKY]
NAN = float("nan")
Y = np.array([NAN] * len(SEA) + [1.0] * len(LAW))


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """Return a function that makes a detector by name, on vectors of the topics."""
    path = write_vectors(tmp_path_factory.mktemp("vectors") / "topics.vec")
    on_vectors = {"encoder": "mean", "vectors": path, "references": 40}
    members = f"llr, knn-words(k=5, references=40), knn-vectors(encoder=mean, vectors={path})"
    settings = {
        "llr": {},
        "llr:topics": {"topics": 4},
        "llr:robust": {"background": "uniform", "em_rounds": 3},
        "knn-words": {"k": 5, "references": 40},
        "knn-vectors": {"k": 5, **on_vectors},
        "ensemble": {"members": members},
    }
    return lambda name: registry.detector(name.partition(":")[0])(random_state=0, **settings[name])


NAMES = ["llr", "llr:topics", "llr:robust", "knn-words", "knn-vectors", "ensemble"]


@pytest.mark.parametrize("name", NAMES)
def test_known_outliers_are_no_training_documents(make, name):
    detector, without = make(name).fit([*SEA, *LAW], Y), make(name).fit(SEA)
    assert detector.takes_labels
    assert detector._texts_of_training() == SEA
    assert len(detector.decision_scores_) == len(detector.labels_) == len(Y)
    np.testing.assert_allclose(detector.decision_scores_[Y == 1], detector.decision_function(LAW))
    if without.kept_ is not None:
        assert detector.kept_.tolist() == without.kept_.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_known_outliers_may_come_in_any_place(make, name):
    texts, order = np.array([*SEA, *LAW]), [*range(60, 64), *range(30), *range(67, 63, -1), *range(30, 60)]
    last, mixed = make(name).fit(texts.tolist(), Y), make(name).fit(texts[order].tolist(), Y[order])
    np.testing.assert_allclose(mixed.decision_function(NEW), last.decision_function(NEW), rtol=1e-5)
    np.testing.assert_allclose(mixed.decision_scores_, last.decision_scores_[order], rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_labels_that_say_nothing_change_no_bit(make, name):
    plain = make(name).fit(SEA)
    for y in ([NAN] * len(SEA), [0] * len(SEA)):
        detector = make(name).fit(SEA, y)
        np.testing.assert_array_equal(detector.decision_function(NEW), plain.decision_function(NEW))
        np.testing.assert_array_equal(detector.decision_scores_, plain.decision_scores_)


@pytest.mark.parametrize("name", ["llr", "llr:topics", "llr:robust", "knn-vectors", "ensemble"])
def test_documents_like_known_outliers_rise(make, name):
    """Beside SEA, training has some documents about law and sky, so that neither stands out by itself."""
    texts = [*SEA, *texts_about("law", 3, seed=7), *texts_about("sky", 3, seed=7)]
    plain = make(name).fit(texts)
    marked = make(name).fit([*texts, *LAW], [NAN] * len(texts) + [1] * len(LAW))

    def above(detector):
        """Return how far documents about law are above those about the sky."""
        return detector.decision_function(NEW_LAW).mean() - detector.decision_function(NEW_SKY).mean()

    assert above(marked) > above(plain) + 0.003


@pytest.mark.parametrize("name", ["ocsvm", "iforest", "pyod-knn"])
def test_a_detector_that_takes_no_labels_ignores_them(name):
    def make():
        return registry.detector(name)(encoder="svd", svd_components=5, random_state=0)

    detector, plain = make().fit([*SEA, *LAW], "no labels"), make().fit([*SEA, *LAW])
    assert not detector.takes_labels
    np.testing.assert_array_equal(detector.decision_function(NEW), plain.decision_function(NEW))
    assert len(detector.decision_scores_) == len(Y)


def test_an_ensemble_takes_labels_if_a_member_does():
    ensemble = registry.detector("ensemble")
    assert ensemble(members="ocsvm, llr").takes_labels
    assert not ensemble(members="ocsvm, iforest").takes_labels
    detector = ensemble(members="ocsvm(encoder=svd), iforest(encoder=svd)", random_state=0)
    detector.fit([*SEA, *LAW], Y)
    assert len(detector._texts_of_training()) == len(Y)


def test_a_member_that_takes_no_labels_has_no_known_outliers_either():
    kind = registry.detector("ensemble")
    detector = kind(members="llr, ocsvm(encoder=svd, svd_components=5)", random_state=0).fit([*SEA, *LAW], Y)
    llr, ocsvm = detector._members
    assert llr._texts_of_training() == ocsvm._texts_of_training() == SEA
    assert not ocsvm._known_labels.odd


@pytest.mark.parametrize("name", NAMES)
def test_wrong_labels_leave_a_detector_unfitted(make, name):
    detector = make(name)
    with pytest.raises(InvalidValueError, match="got 3"):
        detector.fit(SEA, [3.0] * len(SEA))
    with pytest.raises(InvalidValueError, match="All 60 texts"):
        detector.fit(SEA, [1] * len(SEA))
    assert not detector.__sklearn_is_fitted__()


# Saved models


@pytest.mark.parametrize("name", ["llr:robust", "knn-words", "knn-vectors", "ensemble"])
def test_a_saved_model_scores_the_same_and_holds_no_text_of_an_outlier(make, name, home, tmp_path):
    law, names = " ".join(TOPICS["law"]), ["zebra walrus", "otter heron", "badger stoat", "weasel lynx"]
    secret = [f"{law} {pair}" for pair in names]
    model = fit_model(SEA, make(name), outliers=[*secret, secret[0].upper(), ""])
    assert model.training.options["n_outliers"] == 4
    loaded = load_model(save_model(model, tmp_path / "model"))
    expected = model.detector.decision_function([*NEW, *secret])
    np.testing.assert_array_equal(loaded.detector.decision_function([*NEW, *secret]), expected)
    files = [path for path in (tmp_path / "model").rglob("*") if path.is_file()]
    stored = b"".join(path.read_bytes() for path in files)
    assert not any(re.search(pair.replace(" ", r"\W+").encode(), stored, re.IGNORECASE) for pair in names)
    assert "_known_labels" not in vars(loaded.detector)
