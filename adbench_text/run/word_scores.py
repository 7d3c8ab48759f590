"""Scores of the words of test documents, and how well they find the odd ones."""

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np

from adbench_text.contract.scores import Scores, centre, check_scores, original_words
from adbench_text.corpora.corpus import Corpus, cleaner_of
from adbench_text.corpora.split import Split
from adbench_text.errors import AdbenchTextError
from adbench_text.metrics import HIGHEST, WORD_METRICS

if TYPE_CHECKING:
    from adbench_text.contract.detector import TextDetector


def word_scores(detector: "TextDetector", corpus: Corpus, split: Split) -> Scores | None:
    """Return the scores of the words of a split, one edition after the other; None if there are none.

    A word of several tokens has their highest score. A word without a score, such as one that cleaning
    removes, has that of a word which is neither odd nor typical, as on a heat map.
    """
    if not split.words:
        return None
    try:
        of_texts = detector.token_scores(list(split.test))
    except AdbenchTextError:  # it scores a document as a unit
        return None
    middle, scores = centre(of_texts), list[float]()
    if corpus.is_cleaned and not detector.reads_raw:
        clean, pairs = cleaner_of(corpus), zip(split.written, of_texts, strict=True)
        of_texts = [original_words(text, clean.places(text), tokens) for text, tokens in pairs]
    for documents in split.words.values():
        for words, tokens in zip(documents, of_texts, strict=True):
            starts, ends = [token.start for token in tokens], [token.end for token in tokens]
            for word in words:
                parts = tokens[bisect_right(ends, word.start) : bisect_left(starts, word.end)]
                scores.append(max((part.score for part in parts), default=middle))
    return np.array(scores)


def metrics_of_words(split: Split, scores: Scores) -> dict[str, float]:
    """Return the metrics of the words of a split; those of an edition without odd words are missing."""
    n_words = sum(len(words) for documents in split.words.values() for words in documents)
    checked = check_scores(scores, n_words)
    metrics: dict[str, float] = {}
    for edition, documents in split.words.items():
        is_odd = np.array([word.is_odd for words in documents for word in words], dtype=np.bool_)
        own, checked = np.split(checked, [len(is_odd)])
        lengths = np.array([len(words) for words in documents if words])
        starts = np.cumsum(lengths) - lengths
        highest = np.maximum.reduceat(is_odd, starts), np.maximum.reduceat(own, starts)
        for start, (odd, values) in {edition: (is_odd, own), f"{edition}{HIGHEST}": highest}.items():
            if odd.any() and not odd.all():
                metrics |= {f"{start}{name}": metric(odd, values) for name, metric in WORD_METRICS.items()}
    return metrics
