"""Scores of words, from the cleaned document back to the document as it was written."""

from collections.abc import Sequence

import numpy as np

from adbench_text.plugins.scores import TokenScore
from adbench_text.text.cleaning import Cleaner

N_WHY = 4  # words that explain a document
N_TYPICAL = 30  # documents, from which the scale of the scores of words is read


def original_words(text: str, cleaner: Cleaner, scored: Sequence[TokenScore]) -> list[TokenScore]:
    """Return the scores of the words of a document, with their places in the original.

    Parameters
    ----------
    text : str
        The original.
    cleaner : Cleaner
    scored : sequence of TokenScore
        Of tokens of the cleaned document, in order; a word of several tokens has their highest score.
    """
    words, position = [], 0
    for place in cleaner.places(text):
        while position < len(scored) and scored[position].end <= place.start:
            position += 1
        scores = []
        while position < len(scored) and scored[position].start < place.end:
            scores.append(scored[position].score)
            position += 1
        if scores:
            start, end = place.original_start, place.original_end
            words.append(TokenScore(text[start:end], start, end, max(scores)))
    return words


def centre(documents: Sequence[Sequence[TokenScore]]) -> float:
    """Return the score above which a word speaks for odd, from the words of some typical documents.

    It is 0 where scores have both signs, and otherwise their median.
    """
    scores = np.array([word.score for words in documents for word in words])
    if not len(scores) or (scores.min() < 0 < scores.max()):
        return 0.0
    return float(np.median(scores))


def odd_words(words: Sequence[TokenScore], least: float, n: int) -> list[str]:
    """Return the n different words with the highest scores above the least, in lower case."""
    strongest = sorted((word for word in words if word.score > least), key=lambda word: -word.score)
    return list(dict.fromkeys(word.token.lower() for word in strongest))[:n]
