"""Scores of documents and of single tokens, and the checks of both; it imports no library but numpy."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.errors import DetectorError, InvalidValueError

Scores = NDArray[np.float64]


class TokenScore(NamedTuple):
    """Contribution of the token ``text[start:end]`` to the abnormality of its document."""

    token: str
    start: int
    end: int
    score: float


def check_texts(texts: Sequence[str], *, may_be_empty: bool = False) -> list[str]:
    """Return documents as a list.

    Raises
    ------
    InvalidValueError
        If `texts` is a bare string, a table, empty, or holds anything but strings.
    """
    if isinstance(texts, str | bytes):
        raise InvalidValueError("texts must be a sequence of strings, got one bare string; put it in a list.")
    # a table would be read as the names of its columns
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        raise InvalidValueError(
            f"texts must be a sequence of strings, got a {type(texts).__name__}; give one column, as in "
            "table['text']."
        )
    checked = list(texts)
    if not checked and not may_be_empty:
        raise InvalidValueError("texts must hold at least one document, got none.")
    for position, text in enumerate(checked):
        if not isinstance(text, str):
            raise InvalidValueError(
                f"texts must be strings, got {type(text).__name__} at position {position}: {text!r:.60}"
            )
    return checked


def check_scores(scores: Any, n_texts: int) -> Scores:
    """Return scores as float64 of shape (n_texts,).

    Raises
    ------
    DetectorError
        If there are not `n_texts` of them, or any is NaN or infinite.
    """
    try:
        checked = np.array(scores, dtype=np.float64)  # a copy: the detector may change its own array later
    except (TypeError, ValueError) as error:
        raise DetectorError(f"scores must be numbers, got {type(scores).__name__}: {error}") from error
    if checked.shape != (n_texts,):
        raise DetectorError(f"expected scores of shape ({n_texts},), got {checked.shape}.")
    for name, count in (("NaN", np.isnan(checked).sum()), ("infinite", np.isinf(checked).sum())):
        if count:
            raise DetectorError(f"{count} of {n_texts} scores are {name}.")
    return checked
