import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from adbench_text.detectors.llr.mixture import Counts, cap_of
from adbench_text.detectors.llr.topics import Topics
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about
from adbench_text.text.words import count_words

LLR = registry.detector("llr")
TWO = [*texts_about("sea", 200, seed=0), *texts_about("law", 200, seed=1)]
SETTINGS = {"background": "uniform", "smoothing": 30, "cap": None, "random_state": 0}


def mixed(n, seed):
    """Return documents, each with words of both topics."""
    halves = zip(texts_about("sea", n, seed), texts_about("law", n, seed + 1), strict=True)
    return [" ".join(sea.split()[:6] + law.split()[:6]) for sea, law in halves]


def test_several_topics_find_documents_that_belong_to_none():
    test = [*texts_about("sea", 40, seed=2), *texts_about("law", 40, seed=3), *mixed(40, seed=4)]
    outlier = np.arange(120) >= 80
    one, several = (
        roc_auc_score(outlier, LLR(**SETTINGS, topics=n).fit(TWO).decision_function(test)) for n in (1, 4)
    )
    assert one < 0.65
    assert several > 0.99


def fitted(texts, topic):
    """Return topics without a search for the groups: `topic` is that of each document."""
    counts = Counts(count_words(texts).counts)
    topics = Topics.__new__(Topics)
    topics._smoothing, topics._cap = 30.0, 2.0
    topics._learn(counts, np.asarray(topic), 2)
    return topics, counts


def test_a_training_document_is_judged_without_its_own_counts():
    texts, topic = TWO[195:205], [0] * 5 + [1] * 5
    topics, counts = fitted(texts, topic)
    vocabulary = count_words(texts).vocabulary
    background = np.linspace(0.001, 0.02, len(vocabulary))
    background_of = dict(zip(vocabulary, background, strict=True))
    left_out = topics.judged_left_out(counts, background)
    for place, text in enumerate(texts):
        others = texts[:place] + texts[place + 1 :]
        without, _ = fitted(others, topic[:place] + topic[place + 1 :])
        row_of = {word: row for row, word in enumerate(count_words(others).vocabulary)}
        own, words = count_words([text])
        rows = np.array([row_of.get(word, -1) for word in words])
        judged = without.judged(Counts(own), rows, np.array([background_of[word] for word in words]))
        assert left_out.sums[place] == pytest.approx(judged.sums[0])
        entries = left_out.entries[counts.rows == place]
        assert sorted(entries) == pytest.approx(sorted(judged.entries))
        one = topics.judged_left_out(Counts(counts.matrix[[place]]), background, np.array([place]))
        assert one.sums == pytest.approx([judged.sums[0]])


@pytest.mark.parametrize("em_rounds", [0, 5])
def test_scores_of_words_add_up_to_those_of_the_documents(em_rounds):
    texts = [*TWO, *texts_about("sky", 20, seed=5)]
    detector = LLR(**SETTINGS, topics=4, em_rounds=em_rounds).fit(texts)
    places, test = [3, 250, 410], mixed(3, seed=6)
    for scores, words in (
        (detector.decision_scores_[places], detector.training_token_scores(places)),
        (detector.decision_function(test), detector.token_scores(test)),
    ):
        sums = [sum(word.score for word in of_text) / (len(of_text) + 5) for of_text in words]
        assert scores == pytest.approx(sums)


@pytest.mark.parametrize("em_rounds", [0, 5])
def test_the_order_of_the_documents_changes_no_bit_of_a_score(em_rounds):
    order = np.random.default_rng(0).permutation(len(TWO))
    shuffled = [TWO[place] for place in order]
    first, second = (LLR(**SETTINGS, topics=4, em_rounds=em_rounds).fit(texts) for texts in (TWO, shuffled))
    assert second.decision_scores_.tolist() == first.decision_scores_[order].tolist()
    scores, reversed_scores = first.decision_function(TWO), second.decision_function(TWO[::-1])
    assert reversed_scores.tolist() == scores[::-1].tolist()


def test_documents_that_stand_out_have_no_part_in_the_topics():
    detector = LLR(**SETTINGS, topics=4, em_rounds=5).fit([*TWO, *texts_about("sky", 20, seed=8)])
    assert detector.kept_[:400].mean() > 0.6
    assert not detector.kept_[400:].any()
    assert [topics._counts.shape[0] for topics in detector._topics] == [1, 3]


def test_the_cap_is_the_evidence_of_a_share_of_the_words():
    evidence, counts = np.array([[4.0, 1.0], [3.0, 2.0]]), np.array([[10.0, 40.0], [20.0, 30.0]])
    assert [cap_of(evidence, counts, capped) for capped in (0.05, 0.1, 0.3, 0.6)] == [4, 3, 2, 1]


@pytest.mark.parametrize("em_rounds", [0, 5])
def test_training_documents_without_words_have_no_cap(em_rounds):
    detector = LLR(**SETTINGS, topics=4, capped=0.3, em_rounds=em_rounds).fit(["", " "])
    assert detector.decision_scores_.tolist() == [0, 0]
    assert detector.decision_function(["ship"]) == pytest.approx([0])


def test_a_small_corpus_has_one_topic():
    few = TWO[::3]
    several = LLR(**SETTINGS, topics=16).fit(few).decision_function(TWO)
    np.testing.assert_allclose(several, LLR(**SETTINGS).fit(few).decision_function(TWO), atol=1e-12)
