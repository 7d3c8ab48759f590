import tracemalloc
from collections import Counter
from math import log, sqrt

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from adbench_text.contract.scores import FROM_SCRATCH
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about
from adbench_text.text.words import words

KNNWords = registry.detector("knn-words")
TRAIN = [*texts_about("sea", 12, seed=0), "the crew", "crew the crew", "", "a law of the sea"]
TEST = [
    "the crew of a ship",
    "ship ship ship crew",
    "zzqxv",
    "",
    "zzqxv crew",
    *texts_about("law", 2, seed=0),
]


def four_grams(text):
    return CountVectorizer(analyzer="char_wb", ngram_range=(4, 4)).build_analyzer()(" ".join(words(text)))


def weights(text, train, terms=words):
    frequency = Counter(term for other in train for term in set(terms(other)))
    return {
        term: (1 + log(n)) * (log((1 + len(train)) / (1 + frequency[term])) + 1)
        for term, n in Counter(terms(text)).items()
    }


def cosine_distance(a, b):
    lengths = sqrt(sum(x * x for x in a.values())) * sqrt(sum(x * x for x in b.values()))
    return 1 - sum(x * b.get(word, 0) for word, x in a.items()) / lengths if lengths else 1


def brute_force(text, train, k, terms=words, without=None):
    others = [other for place, other in enumerate(train) if place != without]
    own = weights(text, others, terms)
    distances = sorted(cosine_distance(own, weights(other, train, terms)) for other in others)
    return np.mean(distances[:k])


@pytest.mark.parametrize(
    ("k", "characters", "terms"),
    [*((k, None, words) for k in (1, 3, 15, 16, 100)), (3, 4, four_grams), (16, 4, four_grams)],
)
def test_it_is_the_mean_distance_to_the_nearest_training_documents(k, characters, terms):
    detector = KNNWords(k=k, characters=characters).fit(TRAIN)
    expected = [brute_force(text, TRAIN, k, terms) for text in TEST]
    np.testing.assert_allclose(detector.decision_function(TEST), expected, atol=1e-12)
    expected = [brute_force(text, TRAIN, k, terms, without=place) for place, text in enumerate(TRAIN)]
    np.testing.assert_allclose(detector.decision_scores_, expected, atol=1e-12)


@pytest.mark.parametrize("train", [["ship sail"], ["", ""], ["!?"]])
def test_a_corpus_without_neighbours_is_far_from_everything_else(train):
    detector = KNNWords().fit(train)
    assert detector.decision_scores_.tolist() == [1] * len(train)
    assert detector.decision_function(["court", ""]).tolist() == [1, 1]


def test_memory_does_not_grow_with_the_number_of_training_documents_that_share_a_word():
    detector = KNNWords().fit(texts_about("sea", 500, seed=0))

    def peak(texts):
        vectors = detector._vectors(texts, detector._idf)
        tracemalloc.start()
        detector._mean_distances(vectors)
        try:
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = (peak(texts_about("sea", n, seed=1)) for n in (500, 5000))
    assert many < 10 * few + 100_000
    assert many < 4_000_000  # a matrix of all similarities has 20 million bytes


def test_neighbours_are_looked_for_among_the_references():
    detector = KNNWords(k=2, references=6, random_state=1).fit(TRAIN)
    drawn = set(np.random.default_rng(1).permutation(len(TRAIN))[:6].tolist())

    def expected(text, without=None):
        others = [other for place, other in enumerate(TRAIN) if place != without]
        own = weights(text, others)
        references = [TRAIN[place] for place in drawn - {without}]
        return np.mean(sorted(cosine_distance(own, weights(other, TRAIN)) for other in references)[:2])

    np.testing.assert_allclose(detector.decision_function(TEST), [expected(text) for text in TEST])
    left_out = [expected(text, without=place) for place, text in enumerate(TRAIN)]
    np.testing.assert_allclose(detector.decision_scores_, left_out)


@pytest.mark.parametrize("settings", [{}, {"characters": 4}, {"references": 6}], ids=str)
def test_the_mean_of_the_scores_of_words_is_the_score(settings):
    detector = KNNWords(k=2, random_state=1, **settings).fit(TRAIN)
    some = [text for text in TEST if text]

    def means(documents):
        return [np.mean([word.score for word in words]) for words in documents]

    np.testing.assert_allclose(
        means(detector.token_scores(some)), detector.decision_function(some), atol=1e-12
    )
    places = [15, 0, 12]
    left_out = means(detector.training_token_scores(places))
    np.testing.assert_allclose(left_out, detector.decision_scores_[places], atol=1e-12)
    assert detector.token_scores([""]) == [[]]


def test_words_that_the_neighbours_lack_have_the_highest_scores():
    [words] = KNNWords(k=5).fit(TRAIN).token_scores(["the ship zzqxv"])
    assert [word.token for word in words] == ["the", "ship", "zzqxv"]
    assert max(words, key=lambda word: word.score).token == "zzqxv"


def test_it_knows_nothing_but_the_training_documents():
    assert KNNWords().regime == FROM_SCRATCH
    assert KNNWords().resources() == {}


@pytest.mark.parametrize("characters", [None, 4])
def test_the_effect_of_the_length_is_a_line_that_is_taken_away(characters):
    plain, adjusted = (
        KNNWords(k=3, characters=characters, adjusted=adjusted).fit(TRAIN) for adjusted in (False, True)
    )
    x = np.log1p([len(words(text)) for text in TRAIN])
    slope = np.polyfit(x, plain.decision_scores_, 1)[0]
    assert slope != 0
    expected = plain.decision_scores_ - slope * (x - x.mean())
    np.testing.assert_allclose(adjusted.decision_scores_, expected, atol=1e-12)
    assert np.polyfit(x, adjusted.decision_scores_, 1)[0] == pytest.approx(0, abs=1e-12)
    texts = [*TEST, " ".join(TRAIN)]  # the last is longer than any of them
    of_test = np.clip(np.log1p([len(words(text)) for text in texts]), x.min(), x.max())
    expected = plain.decision_function(texts) - slope * (of_test - x.mean())
    np.testing.assert_allclose(adjusted.decision_function(texts), expected, atol=1e-12)
    means = [np.mean([token.score for token in tokens]) for tokens in adjusted.token_scores(TEST) if tokens]
    with_words = [score for score, text in zip(expected, texts[:-1], strict=False) if words(text)]
    np.testing.assert_allclose(means, with_words, atol=1e-9)


def test_documents_of_one_length_show_no_effect_of_it():
    texts = ["ship crew", "crew sea", "sea storm", "storm ship"]
    plain, adjusted = (KNNWords(k=2, adjusted=adjusted).fit(texts) for adjusted in (False, True))
    np.testing.assert_array_equal(plain.decision_scores_, adjusted.decision_scores_)
    assert plain.decision_function(["a law of the sea"]) == adjusted.decision_function(["a law of the sea"])
