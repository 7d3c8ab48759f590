"""One page of documents whose words are coloured by their scores: red for odd, blue for typical."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from jinja2 import Environment, StrictUndefined, Template

from adbench_text.plugins.scores import TokenScore

N_SHADES = 9
_DEEPEST = 98  # percentile; a few extreme words would leave all others pale
_N_CHARACTERS = 3000  # of a document are shown
_MOST_CHARACTERS = 2_000_000  # of all documents; a browser is slow with more

# characters that HTML forbids, or UTF-8 cannot encode
_UNFIT = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True)
class PageDocument:
    """A document of the page.

    Attributes
    ----------
    facts : sequence of (str, str)
        What is known about it, in order: ``[("rank", "1"), ("id", "X4"), ("p", "0.0016")]``.
    why : str
        The words that make it odd.
    text : str
        As it was written.
    words : sequence of TokenScore
        In the order of the text; empty if the detector has no scores of words.
    centre : float
        Score of a word that speaks neither for odd nor for typical.
    """

    facts: Sequence[tuple[str, str]]
    why: str
    text: str
    words: Sequence[TokenScore]
    centre: float


class _Piece(NamedTuple):
    """A part of a text; `shade` is for example ``"odd3"``, or empty, and so is the score between words."""

    text: str
    shade: str = ""
    score: str = ""


def render(title: str, summary: Sequence[str], documents: Sequence[PageDocument]) -> str:
    """Return a page that needs no other file and no network.

    Parameters
    ----------
    title : str
    summary : sequence of str
        Sentences above the documents.
    documents : sequence of PageDocument
        The most odd first; those beyond the size of a page are left out, which the page says.
    """
    fitting: list[PageDocument] = []
    size = 0
    for document in documents:
        size += min(len(document.text), _N_CHARACTERS)
        if fitting and size > _MOST_CHARACTERS:
            break
        fitting.append(document)
    scale = _Scale.of(fitting)
    page = _template().render(
        title=title,
        summary=summary,
        documents=[(document, *_pieces(document, scale)) for document in fitting],
        n_left_out=len(documents) - len(fitting),
        n_shades=N_SHADES,
        has_words=any(document.words for document in fitting),
    )
    return _UNFIT.sub("\ufffd", page)


class _Scale(NamedTuple):
    """Distances from the centre that have the deepest shades; evidence for odd is often the weaker one."""

    odd: float
    typical: float

    @classmethod
    def of(cls, documents: Sequence[PageDocument]) -> "_Scale":
        distances = np.array([word.score - each.centre for each in documents for word in each.words])
        distances = distances[np.isfinite(distances)]
        sides = distances[distances > 0], -distances[distances < 0]
        return cls(*(float(np.percentile(side, _DEEPEST)) if len(side) else 0.0 for side in sides))

    def shade(self, distance: float) -> str:
        name, deepest = ("odd", self.odd) if distance > 0 else ("typical", self.typical)
        if not deepest or not math.isfinite(distance):
            return ""
        shade = round(min(abs(distance) / deepest, 1.0) * N_SHADES)
        return f"{name}{shade}" if shade else ""


def _pieces(document: PageDocument, scale: _Scale) -> tuple[list[_Piece], int]:
    """Return the text in pieces as far as it is shown, and the number of characters after that."""
    end = len(document.text)
    if end > _N_CHARACTERS:
        end = max(document.text.rfind(" ", 0, _N_CHARACTERS), _N_CHARACTERS // 2)
    pieces, position = [], 0
    for word in document.words:
        if word.end > end:
            break
        if word.start < position:  # a tokenizer may give overlapping tokens
            continue
        if word.start > position:
            pieces.append(_Piece(document.text[position : word.start]))
        shade = scale.shade(word.score - document.centre)
        pieces.append(_Piece(document.text[word.start : word.end], shade, f"{word.score:.2f}"))
        position = word.end
    pieces.append(_Piece(document.text[position:end].rstrip()))
    pieces[0] = pieces[0]._replace(text=pieces[0].text.lstrip("\r\n"))
    return pieces, len(document.text) - end


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = files("adbench_text.reports").joinpath("_odd_page.html").read_text(encoding="utf-8")
    return environment.from_string(source)
