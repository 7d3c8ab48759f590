"""Scores of documents by order: words of the cleaned text, form of the raw text."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
ScoreFunction = Callable[[list[str]], Array]


def scores_by_order(
    texts: Sequence[str], cleaned: Sequence[str], by_words: ScoreFunction, by_form: ScoreFunction | None
) -> dict[str, Array]:
    """Return the scores of documents, raw and cleaned; NaN for an empty text."""
    scores = {"words": _scores(cleaned, by_words)}
    return scores if by_form is None else scores | {"form": _scores(texts, by_form)}


def is_by_words(table: pd.DataFrame, order: str) -> "pd.Series[bool]":
    """Return for each document whether an order ranks it by its words; otherwise it does by its form."""
    by_smaller_p = table["p"] <= table["p_form"]
    return by_smaller_p if order == "both" else pd.Series(order == "words", table.index)


def _scores(texts: Sequence[str], score: ScoreFunction) -> Array:
    """Return the scores of texts; NaN for an empty one, which the detector does not get."""
    scores = np.full(len(texts), np.nan)
    if rows := [row for row, text in enumerate(texts) if text.strip()]:
        scores[rows] = score([texts[row] for row in rows])
    return scores
