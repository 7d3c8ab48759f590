"""Measure how well the scores of words find the odd words of test documents.

Only a corpus with marked words, `Documents.words`, has such metrics.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.contract.dataset import OddWords, Spans
from adbench_text.contract.scores import (
    Scores,
    TokenScore,
    centre,
    check_scores,
    check_token_scores,
    original_words,
    plain_token_scores,
)
from adbench_text.corpora.corpus import Corpus, cleaner_of
from adbench_text.corpora.split import Split
from adbench_text.errors import DetectorError
from adbench_text.metrics import ALIKE, AS_PUBLISHED, HIGHEST, WORD_METRICS

if TYPE_CHECKING:
    from adbench_text.contract.detector import TextDetector

_ALIKE = re.compile(r"\w+|[^\w\s]")


class MarkedWord(NamedTuple):
    """A word ``text[start:end]`` of a document as written."""

    start: int
    end: int
    is_odd: bool


#: The words of each test document, by the prefix of their metrics.
MarkedWords = dict[str, list[list[MarkedWord]]]


def marked(spans: Spans, odd: Spans) -> list[MarkedWord]:
    """Return the words at `spans`; a word is odd if it overlaps an odd span."""
    return [
        MarkedWord(start, end, any(begin < end and start < stop for begin, stop in odd))
        for start, end in spans
    ]


def cut_alike(text: str) -> list[tuple[int, int]]:
    r"""Return the words and the punctuation characters of a document: ``\w+|[^\w\s]``."""
    return [match.span() for match in _ALIKE.finditer(text)]


def marked_words(corpus: Corpus, split: Split) -> MarkedWords:
    """Return the words of the test documents of a split, as written; empty if no document has marks.

    The words of a normal document are not odd. A document without marks has no words here.
    """
    if corpus.written_test is None or not corpus.written_test.words:
        return {}
    written = corpus.written_test.take(split.places)
    of_editions: MarkedWords = {ALIKE: [], AS_PUBLISHED: []}
    for text, marks, is_outlier in zip(written.texts, written.words, split.outlier, strict=True):
        known = OddWords(()) if marks is None else marks
        odd = known.odd if is_outlier else ()
        of_editions[ALIKE].append(marked(cut_alike(text), odd) if marks is not None else [])
        of_editions[AS_PUBLISHED].append(marked(known.published, odd))
    return {edition: documents for edition, documents in of_editions.items() if any(documents)}


def word_scores(detector: "TextDetector", corpus: Corpus, split: Split) -> Scores | None:
    """Return the scores of the `marked_words` in their order; None without marked words or scores of words.

    A word with several tokens gets their highest score. A word without a score, for example because cleaning
    removes it, gets the score of a word that is neither odd nor typical, as on a heat map.
    """
    if not (words := marked_words(corpus, split)):
        return None
    try:
        of_texts = [*map(plain_token_scores, detector.token_scores(list(split.test)))]
    except DetectorError:  # the detector scores a document as a unit
        return None
    for text, tokens in zip(split.test, of_texts, strict=True):
        check_token_scores(tokens, text)
    middle = centre(of_texts)
    if corpus.is_cleaned and not detector.reads_raw:
        clean, written = cleaner_of(corpus), corpus.written_texts(split.places)
        of_texts = [
            original_words(text, clean.spans(text), tokens)
            for text, tokens in zip(written, of_texts, strict=True)
        ]
    return np.array(
        [
            score
            for documents in words.values()
            for of_document, tokens in zip(documents, of_texts, strict=True)
            for score in _highest(of_document, tokens, middle)
        ]
    )


def _highest(words: Sequence[MarkedWord], tokens: Sequence[TokenScore], middle: float) -> list[float]:
    """Return the highest score of the tokens of each word, or `middle`."""
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]
    of_words = [tokens[bisect_right(ends, word.start) : bisect_left(starts, word.end)] for word in words]
    return [max((token.score for token in of_word), default=middle) for of_word in of_words]


def metrics_of_words(corpus: Corpus, split: Split, scores: Scores | None) -> dict[str, float]:
    """Return the metrics of `scores`, which `word_scores` returned; empty if it returned None.

    For each edition there are metrics over all words, and metrics over documents, where the highest word
    judges a document. An edition whose words are all odd, or all others, has no metrics.
    """
    if scores is None:
        return {}
    words = marked_words(corpus, split)
    rest = check_scores(scores, sum(len(each) for documents in words.values() for each in documents))
    metrics: dict[str, float] = {}
    for edition, documents in words.items():
        is_odd = np.array([word.is_odd for of_document in documents for word in of_document], dtype=np.bool_)
        values, rest = np.split(rest, [len(is_odd)])
        metrics |= _metrics(edition, is_odd, values)
        # a document without words has no highest word
        lengths = np.array([len(of_document) for of_document in documents if of_document])
        starts = np.cumsum(lengths) - lengths
        has_odd, highest = np.maximum.reduceat(is_odd, starts), np.maximum.reduceat(values, starts)
        metrics |= _metrics(f"{edition}{HIGHEST}", has_odd, highest)
    return metrics


def _metrics(prefix: str, is_odd: NDArray[np.bool_], values: Scores) -> dict[str, float]:
    """Return the metrics by their names with a prefix; empty without both odd and other values."""
    if is_odd.all() or not is_odd.any():
        return {}
    return {f"{prefix}{name}": metric(is_odd, values) for name, metric in WORD_METRICS.items()}
