"""The n-gram model against its formulas, one symbol at a time."""

from collections import Counter
from math import log

import numpy as np
import pytest

from adbench_text.detectors.ngrams import NGrams, kneser_ney
from adbench_text.detectors.ngrams.kneser_ney import KneserNey

SEA = ["the ship left", "a ship sank", "the crew left the ship", "", "the crew sank", "the ship", "the ship"]
END = "\0"


class Slow:
    """Modified Kneser-Ney smoothing as it is written down; `discounts` are those of each length."""

    def __init__(self, texts, longest, discounts, n_symbols):
        self.longest, self.discounts, self.n_symbols = longest, discounts, n_symbols
        documents = [["<"] * (longest - 1) + [*text, END] for text in texts]
        self.counts = {
            longest: Counter(
                tuple(document[place - longest : place])
                for document in documents
                for place in range(longest, len(document) + 1)
            )
        }
        for length in range(longest - 1, 0, -1):
            self.counts[length] = Counter(n_gram[1:] for n_gram in self.counts[length + 1])

    def probability(self, before, symbol):
        if before is None:
            return 1 / self.n_symbols
        length = len(before) + 1
        after = {n_gram: c for n_gram, c in self.counts[length].items() if n_gram[:-1] == before}
        shorter = self.probability(before[1:] if before else None, symbol)
        if not after:
            return shorter
        kept = lambda c: self.discounts[length - 1][min(c, 3)]  # noqa: E731
        own = after.get((*before, symbol), 0)
        return (own - kept(own) + sum(map(kept, after.values())) * shorter) / sum(after.values())

    def surprise(self, text):
        padded = ["<"] * (self.longest - 1) + [*text, END]
        places = range(self.longest - 1, len(padded))
        return [
            -log(self.probability(tuple(padded[place - self.longest + 1 : place]), padded[place]))
            for place in places
        ]


def discounts_of(model):
    return [order.discounts for order in model.orders]


@pytest.mark.parametrize("longest", [1, 2, 3, 6])
def test_new_documents_have_the_probabilities_of_the_formula(longest):
    model = KneserNey.fit(SEA, longest)
    slow = Slow(SEA, longest, discounts_of(model), len(model.characters) + 3)
    new = ["the sheep", "xyz", "", "a crew"]
    surprise, ends = model.surprise(new, model.lookup())
    assert ends.tolist() == [0, 10, 14, 15, 22]
    for text, begin, end in zip(new, ends, ends[1:], strict=False):
        assert surprise[begin:end] == pytest.approx(slow.surprise(text), abs=1e-12)


@pytest.mark.parametrize("longest", [1, 2, 3, 6])
def test_a_training_document_has_the_probabilities_of_the_others(longest):
    model = KneserNey.fit(SEA, longest)
    surprise, ends = model.surprise_left_out(SEA, model.lookup())
    for place, text in enumerate(SEA):
        others = SEA[:place] + SEA[place + 1 :]
        slow = Slow(others, longest, discounts_of(model), len(model.characters) + 3)
        own = surprise[ends[place] : ends[place + 1]]
        assert own == pytest.approx(slow.surprise(text), abs=1e-9)


@pytest.mark.parametrize("largest", [0, 200, kneser_ney._LARGEST_TABLE])
def test_tables_change_no_probability(monkeypatch, largest):
    model, new = KneserNey.fit(SEA, 6), ["the sheep", "xyz", "", "a crew"]
    of_all = model.lookup()
    monkeypatch.setattr(kneser_ney, "_LARGEST_TABLE", largest)
    lookup = model.lookup()
    assert sum(table is not None for table in lookup.tables) == {0: 0, 200: 1}.get(largest, 6)
    for of_texts, texts in ((model.surprise, new), (model.surprise_left_out, SEA)):
        np.testing.assert_array_equal(of_texts(texts, lookup)[0], of_texts(texts, of_all)[0])


def test_discounts_are_those_of_chen_and_goodman():
    times = {1: 6, 2: 3, 3: 2, 4: 1}  # number of characters that occur so often
    letters = iter("abcdefghijkl")
    text = "".join(next(letters) * count for count, n in times.items() for _ in range(n))
    (order,) = KneserNey.fit([text], 1).orders
    # the end of the document occurs once, too
    y = 7 / (7 + 2 * 3)
    assert order.discounts == pytest.approx([0, 1 - 2 * y * 3 / 7, 2 - 3 * y * 2 / 3, 3 - 4 * y * 1 / 2])


def test_probabilities_of_all_symbols_add_up_to_one():
    model = KneserNey.fit(SEA, 3)
    slow = Slow(SEA, 3, discounts_of(model), len(model.characters) + 3)
    symbols = [*map(chr, model.characters.tolist()), END, "unknown", "<"]
    for before in ("th", "he", "zz"):
        total = sum(slow.probability(tuple(before), symbol) for symbol in symbols)
        assert total == pytest.approx(1)


def test_a_score_is_of_the_perplexity_of_characters_and_the_end():
    detector = NGrams(length=3).fit(SEA)
    surprise, ends = detector._model.surprise(["the ship"], detector._lookup)
    perplexity = np.exp(surprise.mean())
    assert detector.decision_function(["The SHIP"]) == pytest.approx([1 - perplexity**-2])
    assert ends.tolist() == [0, 9]


def test_a_word_has_the_mean_of_its_characters():
    detector = NGrams(length=3).fit(SEA)
    text = "İ ship, xq7"  # in lower case the first character would be two
    surprise, _ = detector._model.surprise(["i ship, xq7"], detector._lookup)
    words = {word.token: word.score for word in detector.token_scores([text])[0]}
    assert words == pytest.approx(
        {"i̇": surprise[0], "ship": surprise[2:6].mean(), "xq7": surprise[8:11].mean()}
    )


def test_training_documents_leave_themselves_out_in_blocks_too(monkeypatch):
    detector = NGrams().fit(SEA)
    scores, words = detector.decision_scores_, detector.training_token_scores([2, 0])
    monkeypatch.setattr("adbench_text.detectors.ngrams._MOST_CHARACTERS", 10)
    again = NGrams().fit(SEA)
    assert again.decision_scores_.tolist() == scores.tolist()
    assert again.training_token_scores([2, 0]) == words
    assert again.decision_function(SEA).tolist() == detector.decision_function(SEA).tolist()


def test_some_training_documents_can_be_learned_from():
    detector = NGrams(length=3, references=3, random_state=1).fit(SEA)
    known = sorted(detector._places.tolist())
    of_known = NGrams(length=3).fit([SEA[place] for place in known])
    expected = of_known.decision_function(SEA)
    expected[known] = of_known.decision_scores_
    assert detector.decision_scores_ == pytest.approx(expected)
    for place, words in zip([1, 2], detector.training_token_scores([1, 2]), strict=True):
        own = of_known.training_token_scores([known.index(place)]) if place in known else [None]
        assert words == (own[0] or of_known.token_scores([SEA[place]])[0])


def test_a_corpus_without_characters_is_learned():
    detector = NGrams().fit(["", ""])
    assert np.isfinite(detector.decision_function(["", "ship"])).all()


def test_a_lone_surrogate_is_a_character():
    detector = NGrams().fit(["a\ud800b", "ab"])
    assert np.isfinite(detector.decision_function(["\udfff", "a\ud800b"])).all()


def test_least_discount_is_above_zero():
    (order,) = KneserNey.fit(["aaaa"], 1).orders
    assert (order.discounts[1:] >= kneser_ney._LEAST_DISCOUNT).all()
    assert (order.discounts <= np.arange(4)).all()
