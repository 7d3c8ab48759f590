"""Heat maps: documents whose words are coloured by their scores, red for odd and blue for typical."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined

from adbench_text.plugins.scores import TokenScore, centre
from adbench_text.reports.report import Heatmap
from adbench_text.run.result import Example

N_SHADES = 9
DEEPEST = 98  # percentile; the few most extreme words would leave all others pale
N_CHARACTERS = 1500  # of an example are shown
_N_CHARACTERS_OF_DOCUMENT = 3000  # of a user's own document
_MOST_BYTES = 900_000  # of all documents of a page; a browser is slow with more
_OF_WORD, _OF_DOCUMENT = 55, 400  # bytes that each takes besides its text, about

_SHOWN_AS = {  # the finds first; in words that are true of all of a kind: no threshold is involved
    "most abnormal": "high score",
    "missed outlier": "lowest-scored outlier",
    "inlier taken for an outlier": "highest-scored inlier",
    "most normal": "low score",
}

# characters that HTML forbids, or UTF-8 cannot encode
_UNFIT = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Piece(NamedTuple):
    """A word with its score and the class of its shade, such as ``"odd9"``, or the text between words."""

    text: str
    score: str = ""
    shade: str = ""


@dataclass(frozen=True)
class Scale:
    """The scores that the shades represent, common to all documents of a heat map."""

    centre: float  #: a word above it is red, a word below it is blue
    odd: float  #: distance from the centre with the deepest red, 0 if there is no such word
    typical: float  #: the same of blue; evidence for odd is often the weaker one
    digits: int  #: decimals that give the largest end three significant digits

    @classmethod
    def of(cls, documents: Iterable[Sequence[TokenScore]], middle: float | None = None) -> "Scale":
        """Return the scale of the words of documents; without a given centre it is that of these words."""
        finite = [[word for word in words if math.isfinite(word.score)] for words in documents]
        if middle is None:
            middle = centre(finite)
        distances = np.array([word.score - middle for words in finite for word in words])
        sides = distances[distances > 0], -distances[distances < 0]
        odd, typical = (float(np.percentile(side, DEEPEST)) if len(side) else 0.0 for side in sides)
        return cls(middle, odd, typical, _digits(max(middle + odd, typical - middle)))

    @property
    def is_empty(self) -> bool:
        """Whether no word is coloured."""
        return not self.odd and not self.typical

    @property
    def ends(self) -> tuple[str, str, str]:
        """The scores with the deepest blue, no colour and the deepest red."""
        typical, middle, odd = self.centre - self.typical, self.centre, self.centre + self.odd
        return self.number(typical), self.number(middle), self.number(odd)

    def number(self, score: float) -> str:
        """Return the score of a word as it is shown."""
        return f"{score:z.{self.digits}f}"

    def shade(self, score: float) -> str:
        """Return the class of a score, from ``"odd9"`` to ``"typical9"``, or ``""`` for no colour."""
        name, deepest = ("odd", self.odd) if score > self.centre else ("typical", self.typical)
        if not deepest or math.isnan(score):
            return ""
        step = round(min(abs(score - self.centre) / deepest, 1.0) * N_SHADES)
        return f"{name}{step}" if step else ""

    def word(self, text: str, score: float) -> Piece:
        """Return a word with its score and shade."""
        return Piece(text, self.number(score), self.shade(score))

    def pieces(self, text: str, words: Sequence[TokenScore]) -> list[Piece]:
        """Return the pieces of a text, as far as it is shown."""
        pieces, position = [], len(text) - len(text.lstrip("\r\n"))
        for word in words:
            start, end = max(word.start, position), min(word.end, len(text))
            if start >= end:  # beyond what is shown, or within the word before
                continue
            if start > position:
                pieces.append(Piece(text[position:start]))
            pieces.append(self.word(text[start:end], word.score))
            position = end
        return [*pieces, Piece(text[position:])]


@dataclass(frozen=True)
class Shown:
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
    groups: list[list[Shown]]
    scale: Scale


def prepare(heatmap: Heatmap) -> Map:
    """Return a heat map with everything that can be computed of it."""
    scale = Scale.of([example.tokens for example in heatmap.examples])
    digits = _digits(max((abs(example.score) for example in heatmap.examples), default=0.0))
    order = list(_SHOWN_AS)
    finds_first = sorted(
        heatmap.examples, key=lambda each: order.index(each.why) if each.why in order else len(order)
    )
    groups = groupby(finds_first, key=lambda example: example.why)
    return Map(heatmap.title, [[_shown(each, scale, digits) for each in group] for _, group in groups], scale)


def _shown(example: Example, scale: Scale, digits: int) -> Shown:
    text, n_left_out = _cut(example.text, N_CHARACTERS)
    highest: dict[str, float] = {}
    for token in sorted(example.tokens, key=lambda token: token.score, reverse=True):
        highest.setdefault(example.text[token.start : token.end], token.score)
    words = [scale.word(*each) for each in highest.items()]
    why = _SHOWN_AS.get(example.why, example.why)
    score = f"{example.score:z.{digits}f}"
    return Shown(example, why, score, scale.pieces(text, example.tokens), n_left_out, words)


def _cut(text: str, n_characters: int) -> tuple[str, int]:
    """Return the beginning of a text that is not too long, and the number of words after it."""
    if len(text) <= n_characters:
        return text, 0
    beginning = text[: n_characters + 1].rsplit(maxsplit=1)[0]
    beginning = beginning if len(beginning) <= n_characters else text[:n_characters]
    return beginning, len(text[len(beginning) :].split())


def _digits(largest: float) -> int:
    """Return the decimals that give the largest of some numbers three significant digits."""
    if not (math.isfinite(largest) and largest > 0):
        return 3
    return min(max(2 - math.floor(math.log10(largest)), 0), 6)


class PageDocument(NamedTuple):
    """A document of the page of own documents."""

    facts: Sequence[tuple[str, str]]  #: in order: ``[("rank", "1"), ("id", "X4"), ("p", "0.0016")]``
    why: Sequence[str]  #: the words that make it odd
    text: str  #: as it was written
    words: Sequence[TokenScore]  #: in the order of the text; empty if the detector has no scores of words


def page_of_documents(
    summary: Sequence[str], sections: Mapping[str, Sequence[PageDocument]], middle: float
) -> str:
    """Return a page of lists of a user's own documents, by heading; those without room are counted.

    The sentences of `summary` are above them. A word with the score `middle` is neither odd nor typical.
    """
    fitting = [
        (heading, document, *text)
        for heading, documents in sections.items()
        for document, text in _fitting(documents, _MOST_BYTES / len(sections))
    ]
    scale = Scale.of([document.words for _, document, _, _ in fitting], middle)
    shown = [
        (heading, document, scale.pieces(text, document.words), n_left_out)
        for heading, document, text, n_left_out in fitting
    ]
    has_words = any(document.words for _, document, _, _ in fitting)
    return page(
        "_odd_page.html",
        summary=summary,
        documents=shown,
        ends=scale.ends,
        n_documents_left_out=sum(map(len, sections.values())) - len(shown),
        has_words=has_words,
    )


def _fitting(
    documents: Sequence[PageDocument], most_bytes: float
) -> Iterator[tuple[PageDocument, tuple[str, int]]]:
    """Yield the first documents that fit on a page, at least one, each with what `_cut` makes of its text."""
    n_bytes = 0
    for number, document in enumerate(documents):
        text, n_left_out = _cut(document.text, _N_CHARACTERS_OF_DOCUMENT)
        n_words = sum(word.start < len(text) for word in document.words)
        n_bytes += len(text.encode(errors="replace")) + _OF_WORD * n_words + _OF_DOCUMENT
        if number and n_bytes > most_bytes:
            return
        yield document, (text, n_left_out)


def page(template: str, **values: Any) -> str:
    """Return a page that needs no other file and no network; all values are escaped."""
    return _UNFIT.sub("\ufffd", _environment().get_template(template).render(values))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"n_shades": N_SHADES, "deepest": DEEPEST}
    return environment


def _source(name: str) -> str:
    return files("adbench_text.reports.formats").joinpath(name).read_text(encoding="utf-8")
