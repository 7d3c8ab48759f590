"""TokenCore's documents with marked words, as they were published."""

import numpy as np
import pytest

from adbench_text.contract.detector import TextDetector, TokenScore
from adbench_text.corpora.corpus import load
from adbench_text.corpora.split import draw
from adbench_text.corpora.split_key import SplitKey
from adbench_text.run import evaluate as module
from adbench_text.run.cell import Cell
from adbench_text.run.evaluate import evaluate
from adbench_text.run.words import cut_alike, marked, marked_words

# documents, odd ones; words and odd ones as published, and cut alike. TokenCore counts a word twice that one
# message of words-sms has once.
COUNTS = {
    "words-sms": (4518, 393, 81_569, 418, 82_196, 424),
    "words-review": (1100, 50, 35_488, 282, 36_223, 859),
    "words-grammar": (300, 30, 2746, 47, 2746, 47),
}
# what the number of letters of a word finds, in percent: AUROC and AP as published, and cut alike
LEAKS = {"words-sms": (99.1, 48.8, 97.9, 48.0), "words-review": (90.1, 50.9, 56.6, 5.5)}
LEAK_OF_SHORT_WORDS = (92.2, 16.9, 92.2, 16.9)


@pytest.mark.parametrize(("name", "counts"), COUNTS.items(), ids=COUNTS)
def test_documents_and_words_are_as_many_as_published(real_dataset, name, counts):
    parts = real_dataset(name).read()
    texts = [text for part in parts for text in part.texts]
    words = [of_text for part in parts for of_text in part.words]
    alike = [marked(cut_alike(text), each.odd) for text, each in zip(texts, words, strict=True)]
    assert counts == (
        *(len(texts), sum(bool(each.odd) for each in words)),
        *(sum(len(each.published) for each in words), sum(len(each.odd) for each in words)),
        *(sum(map(len, alike)), sum(word.is_odd for each in alike for word in each)),
    )
    train, test = parts
    n_normal = counts[0] - counts[1]
    assert (len(train), len(test)) == (n_normal // 2, counts[0] - n_normal // 2)
    assert not train.labels.any()
    assert (test.labels == [bool(each.odd) for each in test.words]).all()


class Lengths(TextDetector):
    """A word is as odd as it is long, or short; `words` are those of each document."""

    def __init__(self, *, words=None, sign=1, **shared):
        super().__init__(**shared)
        self.words = words
        self.sign = sign

    def _fit(self, texts):
        pass

    def _score(self, texts):
        return np.array([float(len(text)) for text in texts])

    def token_scores(self, texts):
        def scored(text):
            return [
                TokenScore(text[start:end], start, end, float(self.sign * (end - start)))
                for start, end, _ in self.words[text]
            ]

        return [scored(text) for text in texts]


@pytest.mark.parametrize(
    ("name", "sign", "figures"),
    [*((name, 1, figures) for name, figures in LEAKS.items()), ("words-grammar", -1, LEAK_OF_SHORT_WORDS)],
)
def test_the_length_of_a_word_has_the_figures_of_the_leak(real_dataset, monkeypatch, name, sign, figures):
    corpus, cell = load(real_dataset(name)), Cell("lengths", "default", {}, SplitKey(name, "normal"))
    split, found = draw(corpus, cell.split), list[float]()
    words = marked_words(corpus, split)
    for edition in ("published_word_", "word_"):
        detector = Lengths(words=dict(zip(split.test, words[edition], strict=True)), sign=sign)
        monkeypatch.setattr(module, "build_detector", lambda cell, detector=detector: detector)
        metrics = evaluate(cell, corpus).metrics
        found += [metrics[f"{edition}auroc"], metrics[f"{edition}ap"]]
    assert [round(100 * figure, 1) for figure in found] == list(figures)
