"""Heat maps: examples of one detector on one split, ready to be shown."""

from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from adbench_text.pages.shades import Piece, Scale, cut, digits_of
from adbench_text.reports.report import Heatmap
from adbench_text.run.result import Example

N_CHARACTERS = 1500  # of an example are shown
_SHOWN_AS = {  # the finds first; the words do not depend on a threshold
    "most abnormal": "high score",
    "missed outlier": "lowest-scored outlier",
    "inlier taken for an outlier": "highest-scored inlier",
    "most normal": "low score",
}


_OF_PIECE, _OF_WORD = 20, 50  # bytes of markup: two of three pieces of a text are words, and have a score


@dataclass(frozen=True)
class ExampleView:
    """An example of a heat map, ready to be shown; `words` are all of its words, the most odd first."""

    example: Example
    why: str
    score: str
    pieces: list[Piece]
    n_left_out: int
    words: list[Piece]


class Map(NamedTuple):
    """A heat map, ready to be shown; a group has the examples of one reason."""

    title: str
    groups: list[list[ExampleView]]
    scale: Scale

    @property
    def n_bytes(self) -> int:
        """Approximately the bytes of its markup."""
        views = [view for group in self.groups for view in group]
        parts = [(_OF_PIECE, view.pieces) for view in views] + [(_OF_WORD, view.words) for view in views]
        return sum(n_bytes + len(piece.text) for n_bytes, pieces in parts for piece in pieces)


def prepare(heatmap: Heatmap) -> Map:
    """Return a heat map with all computed values."""
    scale = Scale.of([example.tokens for example in heatmap.examples])
    digits = digits_of(max((abs(example.score) for example in heatmap.examples), default=0.0))
    reasons = list(_SHOWN_AS)
    finds_first = sorted(
        heatmap.examples, key=lambda each: reasons.index(each.why) if each.why in reasons else len(reasons)
    )
    groups = groupby(finds_first, key=lambda example: example.why)
    return Map(heatmap.title, [[_view(each, scale, digits) for each in group] for _, group in groups], scale)


def _view(example: Example, scale: Scale, digits: int) -> ExampleView:
    """Return an example ready to be shown; a repeated word has its highest score."""
    text, n_left_out = cut(example.text, N_CHARACTERS)
    highest: dict[str, float] = {}
    for token in sorted(example.tokens, key=lambda token: token.score, reverse=True):
        highest.setdefault(example.text[token.start : token.end], token.score)
    words = [scale.word(*each) for each in highest.items()]
    why = _SHOWN_AS.get(example.why, example.why)
    score = f"{example.score:z.{digits}f}"
    pieces = scale.pieces(text, example.tokens)
    return ExampleView(example, why, score, pieces=pieces, n_left_out=n_left_out, words=words)
