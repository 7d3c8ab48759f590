"""Documents with marked odd words."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from commands import adbench
from sklearn.metrics import average_precision_score, roc_auc_score

from adbench_text.contract.dataset import Dataset, Documents, Edition, OddWords
from adbench_text.contract.detector import TextDetector, TokenScore
from adbench_text.corpora.class_files import ClassFiles
from adbench_text.corpora.corpus import Corpus, load
from adbench_text.corpora.split import draw
from adbench_text.corpora.split_key import SplitKey
from adbench_text.errors import DataError
from adbench_text.run import evaluate as module
from adbench_text.run.cell import Cell
from adbench_text.run.evaluate import evaluate
from adbench_text.run.words import cut_alike, marked, marked_words
from adbench_text.testing.topics import texts_about
from adbench_text.text.words import word_positions

SEA = [f"The {text}." for text in texts_about("sea", 5, 0)]


class Notes(Dataset):
    """A dataset that knows the odd words of its test documents."""

    name, classes, inliers = "notes", ("normal", "odd"), ("normal",)
    source = licence = citation = "made up"
    is_cleaned = False

    def edition(self):
        return Edition("published", "1", is_published=True)

    def read(self):
        texts = ["the ship left", "a zzqxv harbour", "the crew, not fresh", "the storm"]
        words = [OddWords([]), OddWords([(2, 7)], [(0, 1), (2, 7), (8, 15)]), OddWords([(10, 19)]), None]
        return Documents(SEA, [0] * 5), Documents(texts, [0, 1, 1, 1], words)


class Lengths(TextDetector):
    """A word is as abnormal as it is long; a document has the mean."""

    def _fit(self, texts):
        pass

    def _score(self, texts):
        return np.array([float(len(text)) for text in texts])

    def token_scores(self, texts):
        return [[TokenScore(*word, float(len(word.word))) for word in word_positions(text)] for text in texts]


@pytest.fixture
def run(monkeypatch):
    def run(corpus, detector=None, inlier="normal"):
        monkeypatch.setattr(module, "build_detector", lambda cell: detector or Lengths())
        return evaluate(Cell("d", "default", {}, SplitKey(corpus.name, inlier)), corpus)

    return run


def spans(words, text):
    return [text[word.start : word.end] for word in words if word.is_odd]


# -- what a dataset knows


def test_words_are_cut_alike_and_odd_where_a_span_touches_them():
    text = "It's not fresh: 2 €!"
    words = marked(cut_alike(text), [(5, 14)])
    assert [text[word.start : word.end] for word in words] == "It ' s not fresh : 2 € !".split()
    assert spans(words, text) == ["not", "fresh"]
    assert spans(marked(cut_alike(text), [(7, 10)]), text) == ["not", "fresh"]


def test_a_corpus_keeps_the_words_of_its_test_documents(home):
    corpus = load(Notes())
    written = corpus.written_test
    assert json.loads(json.dumps(written.words)) == [
        [[], []],
        [[[2, 7]], [[0, 1], [2, 7], [8, 15]]],
        [[[10, 19]], []],
        None,
    ]
    assert written.words == load(Notes()).written_test.words  # from the cache
    assert corpus.test.texts == written.texts  # not cleaned
    assert corpus.digest != replace(corpus, written_test=replace(written, words=())).digest
    assert len(corpus.limited(2).written_test.words) == len(corpus.limited(2).test) == 3
    assert corpus.raw.test.words == written.words


def test_a_split_has_the_words_of_its_documents_in_their_order(home):
    corpus = load(Notes())
    split = draw(corpus, SplitKey("notes", "normal", seed=1))
    words = marked_words(corpus, split)
    alike, published = (
        dict(zip(split.test, words[name], strict=True)) for name in ("word_", "published_word_")
    )
    assert {text: spans(words, text) for text, words in alike.items()} == {
        "the ship left": [],
        "a zzqxv harbour": ["zzqxv"],
        "the crew, not fresh": ["not", "fresh"],
        "the storm": [],
    }
    assert (len(alike["the ship left"]), len(alike["the storm"])) == (3, 0)  # where nobody has looked
    assert spans(published["a zzqxv harbour"], "a zzqxv harbour") == ["zzqxv"]
    assert published["the crew, not fresh"] == []


@pytest.mark.parametrize(
    ("spans", "quoted"),
    [
        ([(3, 9)], r"the span \[3, 9\] .* 8 characters"),
        ([(-1, 2)], r"the span \[-1, 2\] .* 8 characters"),
        ([(4, 4)], r"the span \[4, 4\] .* 8 characters"),
        ([(4, 7), (0, 5)], r"[^[]*\[0, 5\] .*\[4, 7\] overlap"),
    ],
)
def test_a_span_that_is_no_part_of_a_document_is_an_error(spans, quoted):
    with pytest.raises(ValueError, match=f"^words .*position 1: {quoted}"):
        Documents(["ship", "the ship"], [0, 0], [None, OddWords(spans)])


def test_each_document_needs_its_words():
    with pytest.raises(ValueError, match=r"document .*, got 2 texts, 1 words"):
        Documents(["a", "b"], [0, 0], [None])


# -- what is measured


def test_the_words_of_all_documents_are_measured_together(home, run):
    metrics = run(load(Notes())).metrics
    words = ["the", "ship", "left", "a", "zzqxv", "harbour", "the", "crew", ",", "not", "fresh"]
    odd = [word in ("zzqxv", "not", "fresh") for word in words]
    lengths = [4.0 if word == "," else len(word) for word in words]  # it has no score: the median
    assert metrics["word_auroc"] == roc_auc_score(odd, lengths)
    assert metrics["word_ap"] == average_precision_score(odd, lengths)
    assert metrics["published_word_auroc"] == 0.5  # "a" is shorter, "harbour" longer than "zzqxv"
    assert metrics["word_max_auroc"] == roc_auc_score([0, 1, 1], [4, 7, 5])
    assert "published_word_max_auroc" not in metrics  # only one document has such words


def test_a_detector_without_scores_of_words_has_no_metrics_of_words(home, run):
    class Units(Lengths):
        token_scores = TextDetector.token_scores

    result = run(load(Notes()), Units())
    assert result.status == "ok"
    assert result.word_scores is None
    assert not [name for name in result.metrics if "word" in name]


def test_scores_of_words_that_are_no_numbers_fail_the_cell(home, run):
    class Broken(Lengths):
        def token_scores(self, texts):
            return [[TokenScore("the", 0, 3, float("nan"))] for _ in texts]

    result = run(load(Notes()), Broken())
    assert result.status == "failed"
    assert "score=nan" in result.reason


def test_words_that_cleaning_removes_are_neither_odd_nor_typical(run):
    train, test = Documents(["ship", "law"], [0, 1]), Documents(["ship crew", "harbour"], [0, 1])
    marks = [OddWords([]), OddWords([(4, 11)])]
    written = Documents(["The ship, the crew", "The harbour!"], [0, 1], marks)
    corpus = Corpus("made-up", ("sea", "law"), train, test, "made up", written_test=written)
    result = run(corpus, inlier="sea")
    split = draw(corpus, SplitKey("made-up", "sea"))
    texts, scores = corpus.written_texts(split.places), iter(result.word_scores)
    found = {
        (text[word.start : word.end], next(scores))
        for text, words in zip(texts, marked_words(corpus, split)["word_"], strict=True)
        for word in words
    }
    others = ("The", "the", ",", "!")  # they have the median of the words that are left
    assert found == {("ship", 4), ("crew", 4), ("harbour", 7), *((other, 4) for other in others)}


# -- the user's own documents


def rows(odd):
    sea, law = (
        [f"The {text}." for text in texts_about(topic, 60, 0, compounds=True)] for topic in ("sea", "law")
    )
    ours = [{"text": text, "label": "sea"} for text in sea]
    return [*ours, *({"text": text, "label": "law", "odd": odd(text)} for text in law)]


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_own_documents_say_which_words_are_odd(home, tmp_path):
    path = write(tmp_path / "a.jsonl", rows(lambda text: [[4, 9]]))
    corpus = load(ClassFiles(path, odd_words="odd"))
    assert [bool(words) for words in corpus.written_test.words] == [
        label == 0 for label in corpus.test.labels
    ]  # law, sea
    assert re.search("odd words .*'odd', unknown .* 18 test documents", corpus.edition)
    other = load(ClassFiles(write(tmp_path / "b.jsonl", rows(lambda text: [])), odd_words="odd"))
    assert other.digest != corpus.digest
    of_text = load(ClassFiles(write(tmp_path / "c.jsonl", rows(lambda text: "[[4, 9]]")), odd_words="odd"))
    assert of_text.digest == corpus.digest  # as in a CSV
    command = ["run", "-d", "knn-words", "-s", f"files:{path}", "--odd-words", "odd", "--inlier", "sea"]
    result = adbench(
        *command, "--contamination", "0", "-v", "--no-report", "--tracking-uri", f"sqlite:///{tmp_path}/a.db"
    )
    assert "word_auroc 0." in result.output, result.output


def test_places_of_odd_words_are_those_of_the_text_as_it_was_written(home, tmp_path):
    lines = [
        {**row, "text": f"A&amp;B {row['text']}"} for row in rows(lambda text: [[8, 11], [12, len(text) + 7]])
    ]
    corpus = load(ClassFiles(write(tmp_path / "a.jsonl", lines), odd_words="odd"))
    assert all(text.startswith("A&amp;B ") for text in corpus.written_test.texts)


@pytest.mark.parametrize(
    ("odd", "quoted"),
    [
        ("here", r"'odd' .*\[\[0, 5\]\], got 'here'\."),
        ([[0]], r"'odd' .*\[\[0, 5\]\], got '\[\[0\]\]'\."),
        ([["0", "5"]], r"'odd' .*\[\[0, 5\]\], got '.*0.*5.*'\."),
        (7, r"'odd' .*\[\[0, 5\]\], got '7'\."),
        ([[0, 5], [3, 8]], r"'odd': .*\[0, 5\] .*\[3, 8\] overlap"),
        ([[0, 5000]], r"'odd': the span \[0, 5000\] .* \d+ characters"),
    ],
)
def test_a_wrong_row_is_one_line(home, tmp_path, odd, quoted):
    lines = rows(lambda text: [])
    lines[100]["odd"] = odd
    with pytest.raises(DataError) as raised:
        load(ClassFiles(write(tmp_path / "a.jsonl", lines), odd_words="odd"))
    assert re.search(rf"^a\.jsonl, line 101: {quoted}", str(raised.value))
    assert "\n" not in str(raised.value)
