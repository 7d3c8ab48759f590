"""Heat maps: documents whose words are coloured by their scores, red for odd and blue for typical."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
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
_N_CHARACTERS_FOLDED = 2500  # of a user's own document
_N_CHARACTERS_OF_NAME = 80
_N_CHARACTERS_OF_EXCERPT, _N_BEFORE = 160, 24  # at most, and before the first odd word
_MOST_BYTES = 900_000  # of all documents of a page; a browser is slow with more
_OF_WORD, _OF_DOCUMENT = 55, 1200  # bytes that each takes besides its text, at most
_N_FIRST_LINES = 5  # are open where no word is odd
_FEWEST_FOLDED = 3  # lines
_N_ROWS = 20  # of a table; the others are folded

_SHOWN_AS = {  # the finds first; in words that are true of all of a kind: no threshold is involved
    "most abnormal": "high score",
    "missed outlier": "lowest-scored outlier",
    "inlier taken for an outlier": "highest-scored inlier",
    "most normal": "low score",
}

# characters that HTML forbids, or UTF-8 cannot encode
_LINE = re.compile(r".{1,100}(?!\S)[^\S\n]*\n?|.{1,100}\n?|\n")  # long ones are broken as they would be shown
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

    def pieces(self, text: str, words: Sequence[TokenScore], first: int = 0) -> list[Piece]:
        """Return the pieces of a text from its character `first`, as far as it is shown."""
        pieces, position = [], max(first, len(text) - len(text.lstrip("\r\n")))
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
    places = range(n_characters, 0, -1)
    end = next((end for end in places if text[end].isspace() or text[end - 1].isspace()), n_characters)
    beginning = text[:end].rstrip()
    return beginning, len(text[end:].split())


def _digits(largest: float) -> int:
    """Return the decimals that give the largest of some numbers three significant digits."""
    if not (math.isfinite(largest) and largest > 0):
        return 3
    return min(max(2 - math.floor(math.log10(largest)), 0), 6)


class PageDocument(NamedTuple):
    """A document of the page of own documents."""

    rank: str
    id: str
    facts: Mapping[str, str]  #: in order: ``{"p": "0.0016", "score": "4.2"}``
    why: Sequence[str]  #: the words that make it odd
    text: str  #: as it was written
    words: Sequence[TokenScore]  #: in the order of the text; empty if the detector has no scores of words


class _Part(NamedTuple):
    """A part of a document, from `start` to `end`; of folded lines, only the first may be shown."""

    start: int
    end: int
    n_folded: int  #: words, 0 for open lines
    n_left_out: int  #: words after the end


class _OnPage(NamedTuple):
    """A document as it is shown."""

    document: PageDocument
    name: str
    excerpt: _Part
    parts: list[_Part]

    @classmethod
    def of(cls, document: PageDocument) -> "_OnPage":
        """Return a document with its name, an excerpt and its parts."""
        first = {word.token.lower(): word.start for word in reversed(document.words)}
        odd = [first[word] for word in document.why if word in first]
        return cls(document, _start(document.id), _excerpt(document.text, odd), list(_parts(document, odd)))

    @property
    def n_bytes(self) -> int:
        """The bytes that it takes on a page, at most."""
        parts = [self.excerpt, *self.parts]
        texts = [self.document.text[part.start : part.end] for part in parts]
        texts += [*self.document.facts.values(), *2 * (self.name, *self.document.why)]
        n_words = sum(
            word.start < part.end and word.end > part.start for part in parts for word in self.document.words
        )
        n_bytes = sum(len(escape(_UNFIT.sub("\ufffd", text)).encode()) for text in texts)
        return n_bytes + _OF_WORD * n_words + _OF_DOCUMENT


def page_of_documents(
    title: str,
    made: Sequence[str],
    summary: Sequence[str],
    sections: Mapping[str, Sequence[PageDocument]],
    middle: float,
    notes: Sequence[str] = (),
    id_name: str = "id",
) -> str:
    """Return a page of lists of a user's own documents, by heading; those without room are counted.

    `made` is how and when the page was made. A word with the score `middle` is neither odd nor typical.
    """
    lists = {
        heading: list(_fitting(documents, _MOST_BYTES / len(sections)))
        for heading, documents in sections.items()
    }
    every = [shown.document for of_list in lists.values() for shown in of_list]
    return page(
        "_odd_page.html",
        title=title,
        made=made,
        summary=summary,
        notes=notes,
        id_name=id_name,
        lists=lists,
        scale=Scale.of([document.words for document in every], middle),
        n_left_out=sum(map(len, sections.values())) - len(every),
        has_words=any(document.words for document in every),
    )


def _fitting(documents: Sequence[PageDocument], most_bytes: float) -> Iterator[_OnPage]:
    """Yield the first documents that fit on a page, at least one."""
    n_bytes = 0
    for number, shown in enumerate(map(_OnPage.of, documents)):
        n_bytes += shown.n_bytes
        if number and n_bytes > most_bytes:
            return
        yield shown


def _excerpt(text: str, odd: Sequence[int]) -> _Part:
    """Return the part of a text with the most odd words, or its beginning; `odd` is where they begin."""
    room = _N_CHARACTERS_OF_EXCERPT - _N_BEFORE
    most = max(odd, key=lambda start: sum(start <= each < start + room for each in odd), default=0)
    before = text[:most][-_N_BEFORE:]
    if most > _N_BEFORE:
        before = before.partition(" ")[2]  # the first word may be cut
    start = most - len(before)
    shown, n_left_out = _cut(text[start:].lstrip(), _N_CHARACTERS_OF_EXCERPT)
    start = text.index(shown, start)
    return _Part(start, start + len(shown), 0, n_left_out)


def _parts(document: PageDocument, odd: Sequence[int]) -> Iterator[_Part]:
    """Yield the parts of a text: the lines around the words that make it odd are open, the others folded."""
    text = document.text
    ends = [match.end() for match in _LINE.finditer(text)]
    lines_of_odd = [bisect_right(ends, start) for start in odd]
    is_open = {line + step for line in lines_of_odd for step in (-1, 0, 1)} or set(range(_N_FIRST_LINES))
    runs: list[tuple[bool, int]] = []  # whether it is folded, and its last line
    for is_kept, of_run in groupby(range(len(ends)), key=is_open.__contains__):
        lines = list(of_run)
        is_folded = not is_kept and len(lines) >= _FEWEST_FOLDED
        if runs and runs[-1][0] == is_folded:
            runs.pop()
        runs.append((is_folded, lines[-1]))
    start, room = 0, _N_CHARACTERS_FOLDED
    for is_folded, last in runs:
        lines_of_run = text[start : ends[last]]
        shown, n_left_out = _cut(lines_of_run, room) if is_folded else (lines_of_run, 0)
        room -= len(shown) if is_folded else 0
        yield _Part(start, start + len(shown), len(lines_of_run.split()) if is_folded else 0, n_left_out)
        start = ends[last]


def _start(text: str) -> str:
    return text if len(text) <= _N_CHARACTERS_OF_NAME else f"{text[:_N_CHARACTERS_OF_NAME]}…"


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
    environment.globals |= {"n_shades": N_SHADES, "deepest": DEEPEST, "n_rows": _N_ROWS}
    return environment


def _source(name: str) -> str:
    return files("adbench_text.reports.formats").joinpath(name).read_text(encoding="utf-8")
