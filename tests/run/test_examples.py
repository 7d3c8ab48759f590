import json
import re

import numpy as np
import pytest

from adbench_text.contract.dataset import Documents
from adbench_text.contract.detector import TextDetector, TokenScore
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split import divided, restricted
from adbench_text.errors import InvalidValueError
from adbench_text.run.examples import choose, examples_of, from_json, to_json
from adbench_text.text.cleaning import clean

WORD = re.compile(r"\w+")
OUTLIER = np.array([False] * 6 + [True] * 6)
SCORES = np.array([0.1, 0.2, 0.3, 0.4, 0.8, 0.9, 0.0, 0.15, 0.6, 0.7, 0.95, 1.0])


def test_mistakes_come_first_and_no_document_twice():
    chosen = choose(OUTLIER, SCORES, n=2)
    assert chosen == [
        ("missed outlier", 6),
        ("missed outlier", 7),
        ("inlier taken for an outlier", 5),
        ("inlier taken for an outlier", 4),
        ("most abnormal", 11),
        ("most abnormal", 10),
        ("most normal", 0),
        ("most normal", 1),
    ]


class Lengths(TextDetector):
    """A word is as abnormal as it is long."""

    def _fit(self, texts):
        pass

    def _score(self, texts):
        return np.array([float(len(text)) for text in texts])

    def token_scores(self, texts):
        return [[TokenScore(text, 0, len(text), float(len(text)))] for text in texts]


@pytest.fixture
def corpus():
    test = Documents(["a", "bb", "ccc", "dddd", "e" * 5000], np.array([0, 1, 0, 1, 1]))
    return Corpus("made-up", ("zero", "one"), test, test, "made up")


def zero(corpus, places=None):
    split = divided(corpus, ["zero"])
    return split if places is None else restricted(split, places)


def test_documents_of_a_thinned_test_set_keep_their_places(corpus):
    detector = Lengths().fit(corpus.train.texts)
    documents = np.array([0, 2, 3])
    chosen = examples_of(detector, corpus, zero(corpus, documents), np.array([1.0, 3.0, 4.0]))
    assert {(e.document, e.text, e.label, e.outlier) for e in chosen} == {
        *((0, "a", "zero", False), (2, "ccc", "zero", False), (3, "dddd", "one", True))
    }


class Words(Lengths):
    """Each word, with its length as its score."""

    def token_scores(self, texts):
        return [
            [TokenScore(m.group(), *m.span(), float(len(m.group()))) for m in WORD.finditer(t)] for t in texts
        ]


@pytest.mark.parametrize(("end", "score"), [(40, 1.0), (2, float("nan"))])
def test_a_word_that_is_not_in_the_cleaned_text_is_no_score(end, score):
    class Outside(Lengths):
        def token_scores(self, texts):
            return [[TokenScore("it", 0, end, score)] for _ in texts]

    originals = ["The ships, 2 at a time, in the old harbour of the town.", "The STORM\nis coming"]
    written = Documents(originals, np.array([0, 1]))
    test = Documents([*map(clean, originals)], written.labels)
    corpus = Corpus("made-up", ("zero", "one"), test, test, "made up", written_test=written)
    with pytest.raises(ValueError, match="'it'"):
        examples_of(Outside().fit(test.texts), corpus, zero(corpus), np.array([1.0, 2.0]))


def test_the_words_of_examples_are_marked_in_the_text_as_it_was_written():
    originals = ["(Ships, 2 at a time.)", "The STORM\nis coming", "LÄNGER!"]
    test = Documents([clean(text) for text in originals], np.array([0, 1, 1]))
    corpus = Corpus(
        "made-up", ("zero", "one"), test, test, "made up", written_test=Documents(originals, test.labels)
    )
    marked = [
        (5.0, ["Ships", "time"], originals[0]),
        (6.0, ["STORM", "coming"], originals[1]),
        (6.0, ["LÄNGER"], originals[2]),
    ]
    for places in (np.arange(3), np.array([1, 2]), np.array([0, 2])):
        examples = examples_of(Words(), corpus, zero(corpus, places), np.zeros(len(places)))
        assert sorted(example.document for example in examples) == places.tolist()
        for example in examples:
            highest, words, text = marked[example.document]
            assert example.text == text
            assert [text[token.start : token.end] for token in example.tokens] == words
            assert max(token.score for token in example.tokens) == highest


def test_the_words_of_raw_documents_are_marked_where_the_detector_found_them():
    originals = ["The STORM 7", "Ships!"]
    test = Documents([clean(text) for text in originals], np.array([0, 1]))
    written = Documents(originals, test.labels)
    corpus = Corpus(
        *("made-up", ("zero", "one"), test, test, "made up"), written_train=written, written_test=written
    )
    detector = type("Raw", (Words,), {"reads_raw": True})()
    examples = examples_of(detector, corpus, zero(corpus.raw), np.zeros(2))
    found = {example.text: [token.token for token in example.tokens] for example in examples}
    assert found == {"The STORM 7": ["The", "STORM", "7"], "Ships!": ["Ships"]}


def test_examples_carry_class_score_and_token_scores(corpus):
    detector = Lengths().fit(corpus.train.texts)
    scores = detector.decision_function(corpus.test.texts)
    examples = {example.document: example for example in examples_of(detector, corpus, zero(corpus), scores)}
    assert examples[3].label == "one"
    assert examples[3].outlier
    assert examples[3].score == 4
    assert examples[3].tokens == [TokenScore("dddd", 0, 4, 4.0)]
    assert examples[0].label == "zero"
    assert not examples[0].outlier
    assert 4 not in examples, "a very long text is no example"
    assert from_json(to_json(list(examples.values()))) == list(examples.values())


def test_a_detector_without_token_scores_has_no_examples(corpus):
    class Plain(TextDetector):
        def _fit(self, texts):
            pass

        def _score(self, texts):
            return np.arange(len(texts))

    assert examples_of(Plain(), corpus, zero(corpus), np.arange(5.0)) == []

    class Refusing(Lengths):
        def token_scores(self, texts):
            raise InvalidValueError("as a whole")

    assert examples_of(Refusing(), corpus, zero(corpus), np.arange(5.0)) == []


def entry(**changes) -> dict:
    values = {"why": "most normal", "document": 1, "label": "zero", "outlier": False, "score": 1, "text": "a"}
    return {**values, "tokens": [["a", 0, 1, 0.5]], **changes}


@pytest.mark.parametrize(
    "text",
    [
        *("", "junk", "null", "[null]", "[{}]"),
        100_000 * "[",
        '{"a":' * 100_000,
        "[" + "9" * 5000 + "]",
        json.dumps([entry()])[:-9],
        json.dumps(entry()),
        *(json.dumps([entry(**{name: None})]) for name in ("document", "score", "tokens")),
        json.dumps([entry(score=10**400)]),
        *(
            json.dumps([entry(tokens=[token])])
            for token in (["a", 0, 1], ["a", "b", 1, 1], ["a", 0, 1, None], "abcd")
        ),
    ],
    ids=lambda text: text[:60],
)
def test_what_is_no_example_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        from_json(text)


def test_token_scores_of_any_numbers_can_be_kept(corpus):
    class Odd(Lengths):
        def token_scores(self, texts):
            return [[("a", np.int64(0), np.int32(1), np.float32(0.5))] for _ in texts]

    examples = examples_of(Odd().fit(["a"]), corpus, zero(corpus), np.arange(5.0))
    assert from_json(to_json(examples)) == examples
