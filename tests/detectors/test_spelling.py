"""How surprising the letters of words are, and how form shows them."""

import math

import numpy as np
import pandas as pd
import pytest

from adbench_text.detectors.form import _highest as form_highest
from adbench_text.detectors.form import spelling as module
from adbench_text.detectors.form.spelling import Spelling
from adbench_text.documents.left_out import left_out
from adbench_text.plugins import registry
from adbench_text.text.words import words

Form = registry.detector("form")

SEA = [
    f"The {ship} left the {place} when the storm was over, and the crew of {n} men sang."
    for n, ship in enumerate(["ship", "vessel", "ferry", "schooner", "trawler"] * 6)
    for place in ["harbour", "port", "bay"]
]


def surprises(spelling, texts, leave_out=False):
    """The surprise of each word, by document."""
    found, different = spelling.surprise(texts, leave_out=leave_out)
    return [
        {different[column]: row[0, column] for column in row.tocoo().coords[1]}
        for row in (found[[number]] for number in range(len(texts)))
    ]


def spelled_words(text):
    return [word for word in words(text) if not word.isdecimal()]


def information(word, training, n_letters=None):
    """Minus the logarithm of the probability of each letter, by the formulas of the module, one at a time."""
    spelled = [f"\0\0{other}" for text in training for other in spelled_words(text)]
    n_letters = n_letters or len({letter for other in spelled for letter in other[2:]}) + 1

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
    spelling = Spelling.fit(SEA[:10])
    [found] = surprises(spelling, [word])
    expected = sum(information(word, SEA[:10])) - len(word) * spelling.mean
    assert found[word] == pytest.approx(expected / (spelling.deviation * math.sqrt(len(word) + 3)))


@pytest.mark.parametrize("most_cells", [module._MOST_CELLS, 1000])
def test_a_training_document_is_judged_without_its_own_letters(most_cells, monkeypatch):
    monkeypatch.setattr(module, "_MOST_CELLS", most_cells)
    texts = [*SEA[:20], "the xq7zz9 xq7zz9 ship"]
    spelling = Spelling.fit(texts)
    found = surprises(spelling, texts, leave_out=True)
    for row in (20, 3):
        rest = [text for place, text in enumerate(texts) if place != row]
        # the number of different letters is that of all documents
        n_letters = len({letter for text in texts for word in spelled_words(text) for letter in word}) + 1
        for word in spelled_words(texts[row]):
            of_letters = sum(information(word, rest, n_letters)) - len(word) * spelling.mean
            expected = of_letters / (spelling.deviation * math.sqrt(len(word) + 3))
            assert found[row][word] == pytest.approx(expected)
    assert found[20]["xq7zz9"] > surprises(spelling, texts)[20]["xq7zz9"]  # its own letters make it usual


def test_documents_without_words_surprise_nobody():
    spelling = Spelling.fit(["!!", "12 34"])
    assert surprises(spelling, ["!!", "12 34"], leave_out=True) == [{}, {}]
    assert surprises(spelling, ["", "7"]) == [{}, {}]
    assert np.isfinite(surprises(spelling, ["words"])[0]["words"])
    assert np.isfinite(Form().fit(["!!", "12 34", "?"]).decision_function(["words at last", ""])).all()


def test_a_usual_word_is_no_fact_even_if_there_is_no_other():
    detector = Form().fit(["ship"] * 5)
    surprise, _ = detector._spelling.surprise(["ship"])
    assert surprise.data <= 1e-9
    assert form_highest(surprise).tolist() == [0]


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
    own_text = pd.Series({len(SEA): odd})
    assert scored.reasons(own_text)[0][0].startswith('"xq7zz9"')
    [[*_, word, _, _]] = [scored.token_scores(own_text)[0]]
    [[*_, own, _, _]] = Form().fit([*SEA, odd]).token_scores([odd])
    assert word.token == own.token == "xq7zz9"
    assert word.score > own.score
