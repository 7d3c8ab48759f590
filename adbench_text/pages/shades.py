"""Colour words by their scores, red for odd and blue for typical, and make pages that show them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined
from numpy.typing import NDArray

from adbench_text.contract.scores import TokenScore, centre
from adbench_text.escaping import no_formula, printable, without_controls

N_SHADES = 9
#: Percentile of the distances from the centre with the deepest shade. With the maximum, most words would be
#: pale.
DEEPEST = 98


class Piece(NamedTuple):
    """A word with its score and the class of its shade, such as ``"odd9"``, or the text between words."""

    text: str
    score: str = ""
    shade: str = ""


@dataclass(frozen=True)
class Scale:
    """The scores that the shades stand for; all documents of a heat map share them."""

    centre: float  #: a word above it is red, a word below it is blue
    odd: float  #: distance from the centre with the deepest red; 0 without red words
    typical: float  #: distance from the centre with the deepest blue; often larger than `odd`
    digits: int  #: decimals to print: enough that the end farther from 0 has three significant digits

    @classmethod
    def of(cls, documents: Iterable[Sequence[TokenScore]], middle: float | None = None) -> "Scale":
        """Return the scale for the words of documents; `middle` is the centre, or None to compute it."""
        finite = [[word for word in words if math.isfinite(word.score)] for words in documents]
        if middle is None:
            middle = centre(finite)
        distances = np.array([word.score - middle for words in finite for word in words])
        odd, typical = _deepest(distances), _deepest(-distances)
        return cls(middle, odd, typical, digits_of(max(middle + odd, typical - middle)))

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
        """Format the score of a word."""
        return f"{score:z.{self.digits}f}"

    def shade(self, score: float) -> str:
        """Return the CSS class of a score, from ``"odd9"`` to ``"typical9"``, or ``""`` for no colour."""
        colour, deepest = ("odd", self.odd) if score > self.centre else ("typical", self.typical)
        if not deepest or math.isnan(score):
            return ""
        step = round(min(abs(score - self.centre) / deepest, 1.0) * N_SHADES)
        return f"{colour}{step}" if step else ""

    def word(self, text: str, score: float) -> Piece:
        """Return a word with its score and shade."""
        return Piece(text, self.number(score), self.shade(score))

    def pieces(self, text: str, words: Sequence[TokenScore], first: int = 0) -> list[Piece]:
        """Return the words of a text from the character `first` on, and the text between them.

        Line breaks at the beginning of the text are left out.
        """
        pieces, position = [], max(first, len(text) - len(text.lstrip("\r\n")))
        for word in words:
            start, end = max(word.start, position), min(word.end, len(text))
            if start >= end:  # outside this text, or within the word before
                continue
            if start > position:
                pieces.append(Piece(text[position:start]))
            pieces.append(self.word(text[start:end], word.score))
            position = end
        return [*pieces, Piece(text[position:])]


def _deepest(distances: NDArray[np.float64]) -> float:
    """Return the distance with the deepest shade, by the positive distances; 0 without any."""
    positive = distances[distances > 0]
    return float(np.percentile(positive, DEEPEST)) if len(positive) else 0.0


def cut(text: str, n_characters: int) -> tuple[str, int]:
    """Cut a text that is too long; return its beginning, and the number of words after it."""
    if len(text) <= n_characters:
        return text, 0
    ends = range(n_characters, n_characters // 2, -1)  # at the last space; a long word is shown in part
    end = next((end for end in ends if text[end].isspace() or text[end - 1].isspace()), n_characters)
    return text[:end].rstrip(), len(text[end:].split())


def digits_of(largest: float) -> int:
    """Return how many decimals give the largest number three significant digits."""
    if not (math.isfinite(largest) and largest > 0):
        return 3
    return min(max(2 - math.floor(math.log10(largest)), 0), 6)


def page(template: str, **values: Any) -> str:
    """Return a page that needs no other file and no network; all values are escaped.

    The name of a template is its package and its file: ``"adbench_text.pages/_shades.css"``. The filter
    ``escape`` shows a text as written. All other texts, such as names, lose characters that change the
    direction.
    """
    return without_controls(_environment().get_template(template).render(values))


@cache
def _environment() -> Environment:
    """Return Jinja's environment, with the filters and values that the templates use."""
    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "no_formula": no_formula,
        "printable": printable,
        "attribute_value": _attribute_value,  # already escaped: a template adds the filter ``safe``
    }
    environment.globals |= {"n_shades": N_SHADES, "deepest": DEEPEST}
    return environment


def _shown(value: Any) -> Any:
    """Return a value of a template as the page shows it, without unprintable characters.

    Markup is returned unchanged.
    """
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _attribute_value(text: str) -> str:
    """Return a text as the value of an HTML attribute. A script reads the same text from it.

    Unprintable characters become character references such as ``&#8206;``, which `printable` does not change.
    """
    escaped = escape(text)
    if printable(escaped) == escaped:
        return escaped
    return "".join(
        character if printable(character) == character else f"&#{ord(character)};" for character in escaped
    )


def _source(name: str) -> str:
    """Return the text of a template; see `page` for its name."""
    package, _, file = name.partition("/")
    return files(package).joinpath(file).read_text(encoding="utf-8")
