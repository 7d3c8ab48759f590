"""Heat maps as plain data: documents cut into pieces, each word with its score and its shade."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from adbench_text.plugins.scores import TokenScore
from adbench_text.reports.report import Heatmap
from adbench_text.run.result import Example

N_SHADES = 9
DEEPEST = 98  # percentile; the few most extreme words would leave all others pale
N_CHARACTERS = 1500  # of a document are shown

_SHOWN_AS = {  # the finds first; in words that are true of all of a kind: no threshold is involved
    "most abnormal": "high score",
    "missed outlier": "lowest-scored outlier",
    "inlier taken for an outlier": "highest-scored inlier",
    "most normal": "low score",
}


class Piece(NamedTuple):
    """A part of a text: a word with its score and its shade (0 for none), or the characters between words.

    The shade is positive for red, which is odd, and negative for blue, which is typical.
    """

    text: str
    score: str = ""
    shade: int = 0

    @property
    def colour(self) -> str:
        """The class of its colour, ``"s9"`` for the deepest red and ``"t9"`` for the deepest blue."""
        return "" if not self.shade else f"s{self.shade}" if self.shade > 0 else f"t{-self.shade}"


@dataclass(frozen=True)
class Scale:
    """The scores that the shades represent, common to all examples of a heat map.

    Attributes
    ----------
    low : float
        Up to this a word is not red; at least 0, so that a negative score is never red.
    high : float
        From this a word has the deepest red; equal to `low` where no word is red.
    cool : float
        From this a word is not blue; at most 0 if some scores are negative, otherwise the median.
    cold : float
        Up to this a word has the deepest blue; equal to `cool` where no word is blue.
    """

    low: float
    high: float
    cool: float
    cold: float

    @classmethod
    def of(cls, scores: Sequence[float]) -> "Scale":
        """Return the scale of these scores."""
        finite = [score for score in scores if math.isfinite(score)] or [0.0]
        cold, middle, high = map(float, np.percentile(finite, [100 - DEEPEST, 50, DEEPEST]))
        low, cool = max(middle, 0.0), min(middle, 0.0) if min(finite) < 0 else middle
        if high <= low:  # nearly all alike: the few others count
            high = max(finite)
        if cold >= cool:
            cold = min(finite)
        return cls(low, max(high, low), cool, min(cold, cool))

    @property
    def is_empty(self) -> bool:
        """Whether no word is coloured."""
        return self.high <= self.low and self.cold >= self.cool

    def shade(self, score: float) -> int:
        """Return 0 for no colour, up to `N_SHADES` for the deepest red, down to its negative for blue."""
        if score > self.low and self.high > self.low:
            return self._step((score - self.low) / (self.high - self.low))
        if score < self.cool and self.cold < self.cool:
            return -self._step((self.cool - score) / (self.cool - self.cold))
        return 0

    @staticmethod
    def _step(share: float) -> int:
        return max(math.ceil(min(share, 1.0) * N_SHADES), 1)


@dataclass(frozen=True)
class Shown:
    """An example, ready to be shown.

    Attributes
    ----------
    why : str
        What it is an example of.
    pieces : list of Piece
        Joined, the text as far as it is shown.
    n_left_out : int
        Words after that.
    words : list of Piece
        All of the text, each once with its highest score, the most abnormal first.
    """

    example: Example
    why: str
    score: str
    pieces: list[Piece]
    n_left_out: int
    words: list[Piece]


@dataclass(frozen=True)
class Map:
    """A heat map, ready to be shown, grouped by why; the four ends are those of its scale."""

    title: str
    groups: list[list[Shown]]
    low: str
    high: str
    cool: str
    cold: str
    is_empty: bool


def prepare(heatmap: Heatmap) -> Map:
    """Return a heat map with everything that can be computed of it."""
    scale = Scale.of([token.score for example in heatmap.examples for token in example.tokens])
    of_words = _digits(max(scale.high, -scale.cold))
    of_texts = _digits(max((abs(example.score) for example in heatmap.examples), default=0.0))
    order = list(_SHOWN_AS)
    finds_first = sorted(
        heatmap.examples, key=lambda each: order.index(each.why) if each.why in order else len(order)
    )
    prepared = [_shown(example, scale, of_words, of_texts) for example in finds_first]
    groups = [list(group) for _, group in groupby(prepared, key=lambda each: each.example.why)]
    low, high, cool, cold = (
        _number(value, of_words) for value in (scale.low, scale.high, scale.cool, scale.cold)
    )
    return Map(heatmap.title, groups, low, high, cool, cold, scale.is_empty)


def _shown(example: Example, scale: Scale, of_words: int, of_texts: int) -> Shown:
    end = _end(example.text)
    pieces = list(_pieces(example.text[:end], example.tokens, scale, of_words))
    n_left_out = len(example.text[end:].split())
    why = _SHOWN_AS.get(example.why, example.why)
    score = _number(example.score, of_texts)
    return Shown(example, why, score, pieces, n_left_out, _words(example, scale, of_words))


def _end(text: str) -> int:
    """Return how much of a text is shown: all of it, or so much that no word is cut."""
    if len(text) <= N_CHARACTERS:
        return len(text)
    whole_words = text[: N_CHARACTERS + 1].rsplit(maxsplit=1)[0]
    return len(whole_words) if len(whole_words) <= N_CHARACTERS else N_CHARACTERS


def _pieces(text: str, tokens: Sequence[TokenScore], scale: Scale, digits: int) -> Iterator[Piece]:
    position = 0
    for token in tokens:
        start, end = max(token.start, position), min(token.end, len(text))
        if start >= end:  # beyond what is shown, or within the token before
            continue
        if start > position:
            yield Piece(text[position:start])
        yield Piece(text[start:end], _number(token.score, digits), scale.shade(token.score))
        position = end
    if position < len(text):
        yield Piece(text[position:])


def _words(example: Example, scale: Scale, digits: int) -> list[Piece]:
    highest: dict[str, float] = {}
    for token in sorted(example.tokens, key=lambda token: token.score, reverse=True):
        highest.setdefault(example.text[token.start : token.end], token.score)
    return [Piece(word, _number(score, digits), scale.shade(score)) for word, score in highest.items()]


def _digits(largest: float) -> int:
    """Return the decimals that give the largest of some numbers three significant digits."""
    if not (math.isfinite(largest) and largest > 0):
        return 3
    return min(max(2 - math.floor(math.log10(largest)), 0), 6)


def _number(value: float, digits: int) -> str:
    return f"{value:z.{digits}f}"
