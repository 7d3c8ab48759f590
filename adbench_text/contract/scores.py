"""The scores of documents and of words that detectors return, and the settings that they declare.

This module imports only numpy.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.errors import DetectorError, InvalidValueError
from adbench_text.escaping import without_surrogates

Scores = NDArray[np.float64]

# The knowledge of detectors besides the training texts, from less to more; reports compare within these.
FROM_SCRATCH = "from scratch"
WORDS = "word frequencies or vectors"
PRE_TRAINED = "pre-trained"
#: Transductive: the score of a text depends on the other texts of the test set.
TEST_BATCH = "unlabelled test batch"
REGIMES = FROM_SCRATCH, WORDS, PRE_TRAINED, TEST_BATCH

#: Why a detector whose `trusted_types` are None cannot be saved.
UNSAVED = "it declares no trusted_types, or is a network of PyOD"

N_WHY = 4  # words that explain a document
#: A reason: the document is odd, although no word is odd by itself.
TOGETHER = "its words together"
N_TYPICAL = 30  # number of documents that give the scale of the scores of words


class TokenScore(NamedTuple):
    """Contribution of the token ``text[start:end]`` to the abnormality of its document."""

    token: str
    start: int
    end: int
    score: float


_NO_TEXTS = "texts must hold at least one document, got none."


def check_texts(texts: Iterable[str], *, may_be_empty: bool = False) -> list[str]:
    """Return documents as a list, with U+FFFD in place of lone surrogates.

    Raise InvalidValueError if there are no documents, or if they are not a sequence of strings.
    """
    _check_sequence(texts)
    checked = list(texts)
    if not checked and not may_be_empty:
        raise InvalidValueError(_NO_TEXTS)
    if {*map(type, checked)} != {str}:
        for position, text in enumerate(checked):
            _check_text(position, text)
    return [text if text.isascii() else without_surrogates(text) for text in checked]


def checked_texts(texts: Iterable[str]) -> Iterator[str]:
    """Yield documents as `check_texts` returns them, one by one, because all may need much memory."""
    _check_sequence(texts)
    position = -1
    for position, text in enumerate(texts):
        _check_text(position, text)
        yield without_surrogates(text)
    if position < 0:
        raise InvalidValueError(_NO_TEXTS)


def _check_sequence(texts: Any) -> None:
    """Raise InvalidValueError for values that yield something else than documents."""
    if isinstance(texts, str | bytes):
        raise InvalidValueError("texts must be a sequence of strings, got one bare string; put it in a list.")
    # iterating a table yields the names of its columns
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        raise InvalidValueError(
            f"texts must be a sequence of strings, got a {type(texts).__name__}; give one column, as in "
            "table['text']."
        )


def _check_text(position: int, text: Any) -> None:
    """Raise InvalidValueError if a document is not a string."""
    if not isinstance(text, str):
        raise InvalidValueError(
            f"texts must be strings, got {type(text).__name__} at position {position}: {text!r:.60}"
        )


def check_scores(scores: Any, n_texts: int) -> Scores:
    """Return scores as float64 of shape (n_texts,); raise DetectorError if one is missing or not finite.

    A series of pandas whose index has the positions of the texts in another order is also an error.
    """
    index: Any = getattr(scores, "index", None)
    if hasattr(index, "tolist") and _are_shuffled(index.tolist()):
        raise DetectorError("the scores are not in the order of the texts, as the index of the series says.")
    try:
        given = np.asarray(scores)
        if np.iscomplexobj(given):
            raise TypeError("they are complex")
        checked = given.astype(np.float64)  # a copy: the detector may change its own array later
    except (TypeError, ValueError) as error:
        raise DetectorError(f"scores must be numbers, got {type(scores).__name__}: {error}") from error
    if checked.shape != (n_texts,):
        raise DetectorError(f"expected scores of shape ({n_texts},), got {checked.shape}.")
    wrong = {"masked": np.ma.getmask(scores), "NaN": np.isnan(checked), "infinite": np.isinf(checked)}
    for name, places in wrong.items():
        if places.any():
            raise DetectorError(f"{places.sum()} of {n_texts} scores are {name}.")
    return checked


def _are_shuffled(positions: Sequence[Any]) -> bool:
    """Return whether positions are all from 0 on, in another order."""
    in_order = list(range(len(positions)))
    return positions != in_order and Counter(positions) == Counter(in_order)


def plain_token_scores(tokens: Iterable[Iterable[Any]]) -> list[TokenScore]:
    """Return token scores with plain Python values, from tuples of token, start, end and score."""
    return [TokenScore(str(token), int(start), int(end), float(x)) for token, start, end, x in tokens]


def check_token_scores(tokens: Sequence[TokenScore], text: str) -> None:
    """Raise ValueError if a token is not in its text, or its score is not finite."""
    for token in tokens:
        if not (0 <= token.start <= token.end <= len(text) and math.isfinite(token.score)):
            raise ValueError(f"no word of a text of {len(text):,} characters can have {token}")


def plain_reasons(reasons: Iterable[Any]) -> list[str]:
    """Return the reasons of a document as texts; raise TypeError if one is neither a text nor a number.

    >>> plain_reasons(["41 % digits", 3])
    ['41 % digits', '3']
    """
    listed = [] if isinstance(reasons, str) else [*reasons]
    if isinstance(reasons, str) or any(not isinstance(reason, str | Real) for reason in listed):
        raise TypeError(f"the reasons of a document must be a list of texts, got {reasons!r:.60}")
    return [*map(str, listed)]


def original_words(
    text: str, spans: Iterable[tuple[int, int, int, int]], scored: Sequence[TokenScore]
) -> list[TokenScore]:
    """Return the scores of the words of a document, with their spans in the original.

    `spans` has the words of the cleaned document, see `Cleaner.spans`, and `scored` its tokens, in order. A
    word with several tokens gets their highest score, and a word without tokens is left out. A token over
    several words counts for the first one.
    """
    words, position = [], 0
    for start, end, original_start, original_end in spans:
        while position < len(scored) and scored[position].end <= start:
            position += 1
        scores = []
        while position < len(scored) and scored[position].start < end:
            scores.append(scored[position].score)
            position += 1
        if scores:
            token = text[original_start:original_end]
            words.append(TokenScore(token, original_start, original_end, max(scores)))
    return words


def centre(documents: Sequence[Sequence[TokenScore]]) -> float:
    """Return the score above which a word is a sign of odd: 0 if scores have both signs, else the median."""
    scores = np.array([word.score for words in documents for word in words])
    if not len(scores) or (scores.min() < 0 < scores.max()):
        return 0.0
    return float(np.median(scores))
