"""Scores of the words of a text."""

import re
from collections.abc import Iterable

from adbench_text.contract.scores import TokenScore


def scored(text: str, scores: Iterable[float]) -> list[TokenScore]:
    """Return a score for each word of a text, where spaces end words."""
    words = re.finditer(r"\S+", text)
    return [TokenScore(each.group(), *each.span(), score) for each, score in zip(words, scores, strict=True)]
