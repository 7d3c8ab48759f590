"""Scores of documents that had no part in them, and how many new ones are called odd by them."""

import numpy as np
import pandas as pd
import pytest

from adbench_text.calibration import p_values
from adbench_text.detectors.knn_words import KNNWords
from adbench_text.detectors.llr import LLR
from adbench_text.documents.left_out import KnownLabels, left_out
from adbench_text.errors import InvalidValueError
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about

SEA = texts_about("sea", 40, 0)


def test_a_detector_that_leaves_out_is_fitted_once_on_everything():
    scored = left_out(LLR(background="uniform"), SEA)
    assert scored.method == "leave-one-out"
    for place in (0, 7):
        rest = LLR(background="uniform").fit([text for i, text in enumerate(SEA) if i != place])
        assert scored.scores[place] == pytest.approx(rest.decision_function([SEA[place]])[0], rel=1e-9)


def test_words_of_a_training_document_leave_it_out_too():
    texts = [*SEA, "lighthouse lighthouse ship"]
    scored = left_out(LLR(background="uniform"), texts)
    own = {word.token: word.score for word in scored.token_scores(pd.Series(texts[-1:], [len(SEA)]))[0]}
    rest = LLR(background="uniform").fit(SEA)
    others = {word.token: word.score for word in rest.token_scores([texts[-1]])[0]}
    assert own == pytest.approx(others)
    assert own["lighthouse"] > 0 > own["ship"]
    assert LLR(background="uniform").fit(texts).token_scores([texts[-1]])[0][0].score < 0  # with itself


def test_other_detectors_are_fitted_without_each_fold():
    scored = left_out(registry.detector("pyod-knn")(encoder="svd", n_neighbors=3), SEA)
    assert scored.method == "cross-fitted over 10 folds"
    assert len(scored._detectors) == 10
    detector = scored._detectors[scored._fold_of[3]]
    assert SEA[3] not in detector._training_texts
    assert scored.scores[3] == pytest.approx(detector.decision_function([SEA[3]])[0])


def zipf_texts(n, seed):
    rng = np.random.default_rng(seed)
    chance = 1 / (np.arange(2000) + 2.7)
    lengths = rng.poisson(20, n) + 1
    return [" ".join(f"w{word}" for word in rng.choice(2000, k, p=chance / chance.sum())) for k in lengths]


@pytest.mark.parametrize("detector", [LLR(background="uniform"), KNNWords(k=3)], ids=["llr", "knn-words"])
def test_at_most_about_alpha_of_new_normal_documents_are_called_odd(detector):
    rates = []
    for seed in range(10):
        train, test = zipf_texts(200, 2 * seed), zipf_texts(200, 2 * seed + 1)
        calibration = left_out(detector, train).scores
        p = p_values(detector.decision_function(test), calibration)
        rates.append([(p <= alpha).mean() for alpha in (0.05, 0.1)])
    share_of_alpha = np.mean(rates, axis=0) / [0.05, 0.1]
    assert (share_of_alpha < 1.3).all()
    assert (share_of_alpha > 0.5).all()


def test_one_fold_is_refused():
    with pytest.raises(InvalidValueError, match=r"n_folds .*got 1"):
        left_out(LLR(background="uniform"), SEA, n_folds=1)


def test_each_fold_learns_from_known_outliers_and_from_its_own_fine_documents():
    law, is_fine = texts_about("law", 5, 1), np.arange(40) < 8
    detector = registry.detector("knn-vectors")(encoder="svd", svd_components=4, k=3)
    scored = left_out(detector, SEA, known=KnownLabels(law, is_fine))
    assert len(scored.scores) == 40
    for fold, fitted in enumerate(scored._detectors):
        assert fitted._known_labels.odd == law
        assert fitted._known_labels.is_fine.tolist() == is_fine[scored._fold_of != fold].tolist()
        assert len(fitted._texts_of_training()) == 36


def test_known_outliers_have_no_score_beside_the_documents():
    law = texts_about("law", 5, 1)
    scored = left_out(LLR(background="uniform"), SEA, known=KnownLabels(law))
    assert len(scored.scores) == 40
    plain = left_out(LLR(background="uniform"), SEA)
    assert (scored.scores < plain.scores).all()  # none of their words is among the outliers
    words = scored.token_scores(pd.Series({3: SEA[3]}))[0]
    assert sum(word.score for word in words) / (len(words) + 5) == pytest.approx(scored.scores[3])


def test_a_detector_that_takes_no_labels_learns_nothing_of_known_outliers():
    forest = registry.detector("iforest")(encoder="svd", svd_components=4, n_estimators=5, random_state=0)
    known = left_out(forest, SEA, n_folds=2, known=KnownLabels(texts_about("law", 5, 1)))
    np.testing.assert_array_equal(known.scores, left_out(forest, SEA, n_folds=2).scores)
