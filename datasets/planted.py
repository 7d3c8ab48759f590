"""Planted words: words of some test documents are replaced, and a detector must find the new words.

All classes of another dataset are normal together, and its training documents are for training. In half of
its test documents, random letters or frequent words of another language replace three words. A fixed seed
draws documents and words. Test documents with fewer than six words are left out, so that all can have planted
words.

Only words that cleaning keeps are replaced, and only by words that it keeps. A new word has the case of the
old word. Random letters have the length of the old word. If another language is planted, the word with the
nearest length is taken from 30 words. The words as published are the words that cleaning keeps: their length
does not reveal the planted words. The length of all words would, because stop words are short.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from adbench_text.code_version import installed
from adbench_text.contract.dataset import Dataset, Documents, Edition, OddWords, Spans
from adbench_text.datasets.agnews import AGNews
from adbench_text.datasets.newsgroups20 import Newsgroups20
from adbench_text.datasets.pydocs import PyDocs
from adbench_text.text.cleaning import clean, english_words
from adbench_text.text.words import digest

N_PLANTED = 3  # words of a document
LEAST_WORDS = 2 * N_PLANTED  # in a test document
_SEED = 0
_N_CANDIDATES = 30
_N_FREQUENT = 5000  # words of a language
_N_DOCUMENTS = 1000  # to count letters in
_LEAST_SHARE = 1e-3  # of a letter among all letters

_Draw = Callable[[int], str]  # returns a word of about the given length


class _Planted(Dataset):
    """The documents of another dataset, with words planted in half of its test documents."""

    classes = ("normal", "planted")
    inliers = ("normal",)
    contamination = (0.0,)  # the training part has no outliers
    underlying: ClassVar[type[Dataset]]
    words_of: ClassVar[str] = ""  # language of the new words; empty for random letters

    def __init_subclass__(cls) -> None:
        of = cls.underlying
        cls.source, cls.licence, cls.citation, cls.files = of.source, of.licence, of.citation, of.files

    def edition(self) -> Edition:
        """Return the edition of the other dataset; the digest includes the planted words."""
        edition = self.underlying().edition()
        release = installed("wordfreq") if self.words_of else ""
        return replace(edition, digest=digest([edition.digest, self.words_of, release, str(_SEED)]))

    def read(self) -> tuple[Documents, Documents]:
        """Read the other dataset, and plant words in its test documents."""
        train, test = self.underlying().read()
        rng = np.random.default_rng(_SEED)
        if self.words_of:
            draw = _frequent_words(self.words_of, self.language, rng)
        else:
            draw = _random_letters(train.texts, rng)
        return Documents(train.texts, [0] * len(train)), _with_planted(test.texts, draw, rng)


class LettersPydocs(_Planted):
    """Docstrings (pydocs); in half of the test documents, three words are random letters."""

    name = "planted-letters-pydocs"
    underlying = PyDocs


class GermanPydocs(LettersPydocs):
    """Docstrings (pydocs); in half of the test documents, three words are German."""

    name = "planted-de-pydocs"
    words_of = "de"


class Letters20News(_Planted):
    """20 Newsgroups; in half of the test documents, three words are random letters."""

    name = "planted-letters-20news"
    underlying = Newsgroups20


class German20News(Letters20News):
    """20 Newsgroups; in half of the test documents, three words are German."""

    name = "planted-de-20news"
    words_of = "de"


class LettersAGNews(_Planted):
    """AG News; in half of the test documents, three words are random letters."""

    name = "planted-letters-agnews"
    underlying = AGNews


class GermanAGNews(LettersAGNews):
    """AG News; in half of the test documents, three words are German."""

    name = "planted-de-agnews"
    words_of = "de"


def _with_planted(texts: Sequence[str], draw: _Draw, rng: np.random.Generator) -> Documents:
    """Return the documents with enough words, and plant words in half of them."""
    found = [(text, spans) for text in texts if len(spans := _replaceable(text)) >= LEAST_WORDS]
    drawn = set(rng.permutation(len(found))[: len(found) // 2].tolist())
    written, words = list[str](), list[OddWords]()
    for row, (text, spans) in enumerate(found):
        odd: Spans = ()
        if row in drawn:
            chosen = sorted(rng.choice(len(spans), N_PLANTED, replace=False))
            text, odd = _replaced(text, [spans[number] for number in chosen], draw)
        written.append(text)
        words.append(OddWords(odd, _kept(text)))
    return Documents(written, [int(row in drawn) for row in range(len(found))], words)


def _kept(text: str) -> list[tuple[int, int]]:
    """Return the spans of the words that cleaning keeps."""
    return [(start, end) for _, start, end in english_words(text)]


def _replaceable(text: str) -> list[tuple[int, int]]:
    """Return the spans of the words that can be replaced by a word of letters.

    A word with other characters, such as digits, cannot be replaced. The first part of a contraction cannot
    be replaced, either: cleaning splits "gonna" into "gon" and "na". If a word replaced "gon", cleaning would
    not find it, because it would not split the new contraction.
    """
    return [
        (start, end)
        for start, end in _kept(text)
        if text[start:end].isalpha() and not text[end : end + 1].isalpha()
    ]


def _replaced(text: str, spans: Spans, draw: _Draw) -> tuple[str, Spans]:
    """Return a document with other words at these places, and the spans of the new words."""
    parts, odd, last, length = list[str](), list[tuple[int, int]](), 0, 0
    for start, end in spans:
        old, word = text[start:end], draw(end - start)
        word = word.upper() if old.isupper() else word.capitalize() if old[0].isupper() else word
        parts += text[last:start], word
        length += start - last
        odd.append((length, length + len(word)))
        length, last = length + len(word), end
    return "".join([*parts, text[last:]]), odd


def _frequent_words(language: str, known_language: str, rng: np.random.Generator) -> _Draw:
    """Return a function that draws frequent words of a language that another language lacks."""
    from wordfreq import get_frequency_dict, top_n_list

    known = get_frequency_dict(known_language, "small")
    frequent = top_n_list(language, _N_FREQUENT, "small")
    words = [word for word in frequent if word.isalpha() and word not in known and clean(word) == word]

    def draw(length: int) -> str:
        candidates: list[str] = [words[number] for number in rng.integers(len(words), size=_N_CANDIDATES)]
        return min(candidates, key=lambda word: abs(len(word) - length))

    return draw


def _random_letters(texts: Sequence[str], rng: np.random.Generator) -> _Draw:
    """Return a function that draws words of random letters, from the letters of some documents."""
    some = [texts[row] for row in rng.permutation(len(texts))[:_N_DOCUMENTS]]
    counts = Counter(letter for text in map(clean, some) for letter in text if letter.isalpha())
    letters = sorted(letter for letter, n in counts.items() if n >= _LEAST_SHARE * counts.total())

    def draw(length: int) -> str:
        while True:
            word = "".join(letters[number] for number in rng.integers(len(letters), size=length))
            if clean(word) == word:  # not a stop word
                return word

    return draw
