"""Words of test documents that are judged one by one: each is odd or not."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adbench_text.contract.dataset import OddWords, Spans
from adbench_text.metrics import ALIKE, AS_PUBLISHED

_ALIKE = re.compile(r"\w+|[^\w\s]")


class JudgedWord(NamedTuple):
    """A word ``text[start:end]`` of a document as it was written."""

    start: int
    end: int
    is_odd: bool


#: The words of each test document, by what the names of their metrics begin with.
JudgedWords = Mapping[str, Sequence[Sequence[JudgedWord]]]


def judged(spans: Spans, odd: Spans) -> list[JudgedWord]:
    """Return words; one is odd if it has a part in a span that is odd."""
    return [
        JudgedWord(start, end, any(begin < end and start < stop for begin, stop in odd))
        for start, end in spans
    ]


def cut_alike(text: str) -> list[tuple[int, int]]:
    r"""Return the words of a document, and each of its signs: ``\w+|[^\w\s]``."""
    return [match.span() for match in _ALIKE.finditer(text)]


def judged_words(
    texts: Sequence[str], words: Sequence[OddWords | None], is_outlier: Sequence[bool]
) -> JudgedWords:
    """Return the words of test documents as they were written; those of a normal document are not odd.

    A document has none if nothing is known about it.
    """
    found: dict[str, list[list[JudgedWord]]] = {ALIKE: [], AS_PUBLISHED: []}
    for text, of_text, is_odd in zip(texts, words, is_outlier, strict=True):
        odd = of_text.odd if of_text and is_odd else ()
        found[ALIKE].append(judged(cut_alike(text), odd) if of_text else [])
        found[AS_PUBLISHED].append(judged(of_text.published, odd) if of_text else [])
    return {name: of_texts for name, of_texts in found.items() if any(of_texts)}
