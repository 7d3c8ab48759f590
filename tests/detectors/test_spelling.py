"""How surprising the letters of words are, and what form says of them."""

import math

import numpy as np
import pytest

from adbench_text.detectors.form.spelling import Spelling, spelled_words
from adbench_text.documents.left_out import left_out
from adbench_text.plugins import registry

Form = registry.detector("form")

SEA = [
    f"The {ship} left the {place} when the storm was over, and the crew of {n} men sang."
    for n, ship in enumerate(["ship", "vessel", "ferry", "schooner", "trawler"] * 6)
    for place in ["harbour", "port", "bay"]
]


def information(word, training):
    """Minus the logarithm of the probability of each letter, by the formulas of the module, one at a time."""
    spelled = [f"\0\0{other}" for text in training for other in spelled_words(text)]
    n_letters = len({letter for other in spelled for letter in other[2:]}) + 1

    def count(letters, end=0):
        """Return how often these are the letters up to a letter of a word, or up to `end` letters before."""
        places = [(other, place + 1 - end) for other in spelled for place in range(2, len(other))]
        return sum(other[place - len(letters) : place] == letters for other, place in places)

    result, text = [], f"\0\0{word}"
    for place in range(2, len(text)):
        share = 1 / n_letters
        for order in (1, 2, 3):
            n_gram = text[place - order + 1 : place + 1]
            share = (count(n_gram) + 3 * share) / (count(n_gram[:-1], end=1) + 3)
        result.append(-math.log(share))
    return result


@pytest.mark.parametrize("word", ["harbour", "xq7zz9", "ship", "é", "港"])
def test_the_surprise_of_a_word_follows_the_formulas(word):
    spelling, _ = Spelling.fit([SEA[:10]])
    [[found]] = spelling.of_documents([[word]])
    of_letters = information(word, SEA[:10])
    expected = sum(of_letters) - len(word) * spelling.mean
    assert found == pytest.approx(expected / (spelling.deviation * math.sqrt(len(word) + 3)))


def test_a_training_document_is_judged_without_its_own_letters():
    texts = [*SEA[:20], "the xq7zz9 ship"]
    spelling, highest = Spelling.fit([texts])
    without, _ = Spelling.fit([texts[:-1]])
    same_scale = without._replace(mean=spelling.mean, deviation=spelling.deviation)
    # the number of different letters alone is of all documents
    counts = [same_scale.counts[0]._replace(keys=spelling.counts[0].keys)]
    counts[0] = counts[0]._replace(counts=without.counts[0].of(spelling.counts[0].keys, None))
    same_scale = same_scale._replace(counts=counts + same_scale.counts[1:])
    words = spelled_words(texts[-1])
    np.testing.assert_allclose(
        spelling.of_documents([spelled_words(text) for text in texts], leave_out=True)[-1],
        same_scale.of_documents([words])[0],
    )
    assert highest[-1] == pytest.approx(same_scale.highest([texts[-1]])[0])
    assert highest[-1] > spelling.highest([texts[-1]])[0]  # its own letters make it usual


def test_the_blocks_of_the_documents_change_nothing():
    one, whole = Spelling.fit([SEA])
    several, parts = Spelling.fit([SEA[:3], SEA[3:50], SEA[50:]])
    np.testing.assert_allclose(whole, parts)
    np.testing.assert_allclose(one.highest(["a xq7zz9"]), several.highest(["a xq7zz9"]))


def test_documents_without_words_surprise_nobody():
    spelling, highest = Spelling.fit([["!!", "12 34"]])
    assert highest.tolist() == [0, 0]
    assert spelling.highest(["", "7"]).tolist() == [0, 0]
    assert np.isfinite(spelling.highest(["words at last"])).all()


def test_the_word_with_random_letters_has_the_highest_score_and_is_named():
    text = "The ferry left xq7zz9 the port."
    detector = Form().fit(SEA)
    [scored] = detector.token_scores([text])
    odd = max(scored, key=lambda token: token.score)
    assert text[odd.start : odd.end] == odd.token == "xq7zz9"
    assert [token.token for token in scored] == ["the", "ferry", "left", "xq7zz9", "the", "port"]
    assert detector.reasons([text])[0][0] == '"xq7zz9": unusual characters'
    assert detector.reasons(["The ferry left qqxvzzk the port."])[0][0].startswith(
        '"qqxvzzk": unusual letters'
    )


def test_a_training_document_has_the_reason_of_a_new_one():
    odd = "The ferry left xq7zz9 the port."
    scored = left_out(Form(), [*SEA, odd])
    assert scored.reasons([odd], [len(SEA)])[0][0].startswith('"xq7zz9"')
    [[*_, word, _, _]] = [scored.token_scores([odd], [len(SEA)])[0]]
    [[*_, own, _, _]] = Form().fit([*SEA, odd]).token_scores([odd])
    assert word.token == own.token == "xq7zz9"
    assert word.score > own.score
