"""Facts about documents as written: numbers of characters and words of several kinds."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.text.languages import has_frequencies, letters_of_list, prepared, word_shares
from adbench_text.text.letters import without_escapes
from adbench_text.text.words import count_words, in_blocks

_MOST_CHARACTERS = 2**21  # of documents to read at a time
_MOST_COUNTED = 2**17  # characters to count at a time; a character needs some thirty bytes

# kinds of characters
_LOWER, _UPPER, _DIGIT, _SPACE, _LINE_END, _POINT, _CALL, _MARK, _SYMBOL, _OTHER = range(10)
_OF_CATEGORY = {"L": _LOWER, "M": _LOWER, "N": _DIGIT, "P": _MARK, "S": _SYMBOL, "Z": _SPACE}
_OF_CHARACTERS = {".,;:": _POINT, "!?": _CALL, "\n": _LINE_END, "#$%&*+/<=>@\\^_`{|}~[]": _SYMBOL}
_LINK = re.compile(r"https?://(?:www\.)?|www\.|[\w.+-]@\w")

Numbers = NDArray[np.float64]


class Fact(NamedTuple):
    """The text of a fact, and how to turn its number into one that a reader understands."""

    text: str
    per: str = ""  # the name of the number to divide by; a share is shown in per cent
    is_share: bool = False
    one: str = ""  # the text for a number of 1, if it differs


FACTS = {
    "characters": Fact("{} characters", one="1 character"),
    "words": Fact("{} words", one="1 word"),
    "letters": Fact("{} letters per word", "words"),
    "different": Fact("{} different words", "words", is_share=True),
    "longest": Fact("longest word of {} characters", one="longest word of 1 character"),
    "digits": Fact("{} digits", "characters", is_share=True),
    "upper": Fact("{} upper-case letters", "characters", is_share=True),
    "points": Fact("{} commas and full stops", "characters", is_share=True),
    "calls": Fact("{} exclamation and question marks", "characters", is_share=True),
    "marks": Fact("{} quotes and brackets", "characters", is_share=True),
    "symbols": Fact("{} symbols", "characters", is_share=True),
    "non_ascii": Fact("{} non-English characters", "characters", is_share=True),
    "lines": Fact("line ends: {}"),
    "links": Fact("links or mail addresses: {}"),
    "unknown": Fact("{} unknown words", "words", is_share=True),
    "surprise": Fact(""),  # of the letters of a word, see `spelling`
}
COLUMN = {name: column for column, name in enumerate(FACTS)}
SURPRISE = COLUMN["surprise"]
_OF_SURPRISE = 0.3  # makes a standard deviation of the surprise as large as the least spread, see `Form`
_OF_KIND = {
    "digits": _DIGIT,
    "upper": _UPPER,
    "points": _POINT,
    "calls": _CALL,
    "marks": _MARK,
    "symbols": _SYMBOL,
    "lines": _LINE_END,
}


def kinds() -> list[str]:
    """Return the names of the facts that count characters or words of some kind."""
    return [*_OF_KIND, "non_ascii", "links", "unknown"]


def numbers(texts: Sequence[str], language: str) -> Numbers:
    """Count `FACTS` in each document, (n_texts, n_facts); the surprise remains 0."""
    letters = letters_of_list(language)
    texts = [without_escapes(text).translate(letters) if letters else without_escapes(text) for text in texts]
    return np.concatenate([_numbers(block, language) for block in in_blocks(texts, _MOST_CHARACTERS)])


def logarithms(counted: Numbers) -> Numbers:
    """Return the logarithms of the `numbers` of documents, of the same shape.

    Counts become shares of the characters or of the words. They are smoothed: a count of 0 says little about
    a short document.
    """
    n = {name: counted[:, column] for name, column in COLUMN.items()}
    logs = np.log((counted + 0.5) / (n["characters"] + 10)[:, None])
    for name in ("characters", "words", "longest"):
        logs[:, COLUMN[name]] = np.log(1 + n[name])
    for name in ("letters", "different"):
        logs[:, COLUMN[name]] = np.log((n[name] + 1) / (n["words"] + 1))
    logs[:, SURPRISE] = _OF_SURPRISE * n["surprise"]  # already consists of logarithms
    return logs


def shown(counted: Numbers) -> Numbers:
    """Return the `numbers` of documents for a reader: a fact with `Fact.per` is divided by that number."""
    result = counted.copy()
    for name, fact in FACTS.items():
        if fact.per:
            result[:, COLUMN[name]] /= np.maximum(counted[:, COLUMN[fact.per]], 1)
    return result


def format_fact(name: str, own: float, of_others: float) -> str:
    """Return a fact about a document and about the others; empty if both have the same text.

    >>> format_fact("digits", 0.41, 0.011), format_fact("unknown", 0, 0.12), format_fact("words", 1, 26)
    ('41 % digits (others 1 %)', 'no unknown words (others 12 %)', '1 word (others 26)')
    """
    fact = FACTS[name]
    texts = [_text_of(number, fact) for number in (own, of_others)]
    if texts[0] == texts[1]:
        return ""
    counted = fact.text.removeprefix("{} ").removesuffix(": {}")
    text = fact.text.format(texts[0]) if own or counted == fact.text else f"no {counted}"
    text = fact.one if fact.one and texts[0] == "1" else text
    return f"{text} (others {texts[1]})"


def _text_of(number: float, fact: Fact) -> str:
    if fact.is_share:
        return f"{100 * number:.0f} %"
    return f"{number:.1f}" if fact.per else f"{number:,.0f}"


def _numbers(texts: list[str], language: str) -> Numbers:
    kinds = np.concatenate([_n_of_kinds(block) for block in in_blocks(texts, _MOST_COUNTED)])
    result = np.zeros((len(texts), len(FACTS)))
    result[:, COLUMN["characters"]] = [*map(len, texts)]
    result[:, COLUMN["letters"]] = kinds[:, _LOWER] + kinds[:, _UPPER]
    result[:, COLUMN["non_ascii"]] = [len(text) - len(text.encode("ascii", "ignore")) for text in texts]
    for name, kind in _OF_KIND.items():
        result[:, COLUMN[name]] = kinds[:, kind]
    for name, of_texts in _of_words(texts, language).items():
        result[:, COLUMN[name]] = of_texts
    return result


def _n_of_kinds(texts: list[str]) -> NDArray[np.int64]:
    """Count the characters of each kind in each document, of shape (n_texts, n_kinds)."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    row, n_kinds = np.repeat(np.arange(len(texts)), [*map(len, texts)]), _OTHER + 1
    cells = np.bincount(row * n_kinds + _kinds(codes), minlength=len(texts) * n_kinds)
    return cells.reshape(-1, n_kinds)


def _of_words(texts: list[str], language: str) -> dict[str, NDArray[np.float64]]:
    """Count words, unique words, characters of the longest word, links and unknown words."""
    known = _known(language)
    counts, vocabulary = count_words([prepared(text, language) for text in texts])
    n_different, lengths = np.diff(counts.indptr), np.array([*map(len, vocabulary), 0])
    longest = np.zeros(len(texts))
    has_words = n_different > 0
    if has_words.any():
        longest[has_words] = np.maximum.reduceat(lengths[counts.indices], counts.indptr[:-1][has_words])
    is_unknown = [word not in known and word.isalpha() for word in vocabulary] if known else 0
    return {
        "words": counts.sum(axis=1),
        "different": n_different,
        "longest": longest,
        "links": np.array(list(map(_n_links, texts))),
        "unknown": counts @ (np.zeros(len(vocabulary)) + is_unknown),
    }


def _n_links(text: str) -> int:
    return len(_LINK.findall(text)) if "@" in text or "://" in text or "www." in text else 0


def _kinds(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Return the kind of each character, given its code."""
    is_there = np.bincount(codes) > 0
    kind_of = np.full(len(is_there), _OTHER, dtype=np.uint8)
    for code in np.flatnonzero(is_there).tolist():
        kind_of[code] = _kind(chr(code))
    return kind_of[codes]


@cache
def _kind(character: str) -> int:
    for characters, kind in _OF_CHARACTERS.items():
        if character in characters:
            return kind
    category = unicodedata.category(character)
    if character == "\t":
        return _SPACE
    return _UPPER if category in ("Lu", "Lt") else _OF_CATEGORY.get(category[0], _OTHER)


@cache
def _known(language: str) -> frozenset[str] | None:
    """Return the words of a language; None if wordfreq has no list."""
    if not has_frequencies(language):
        return None
    return frozenset(word_shares(language, "small"))  # a large list also has words of other languages
