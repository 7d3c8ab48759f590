"""Planted words: some words of normal documents are replaced, and a heat map must find the new ones.

The test documents are the normal ones. In half of them, drawn by the seed, n words are replaced: these are
the outliers. Only words that cleaning leaves are replaced, and only such words are judged. The new words are
in their case and of one kind:

- ``class``: words of documents of the other classes that are not for testing
- ``letters``: random letters, out of those of the training words
- a language, by its code: among its 5,000 most frequent words those that the language of the documents lacks

Of 30 candidates the one whose length is nearest to that of the replaced word is planted, so that lengths give
nothing away.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from adbench_text.contract.cleaner import Cleaner
from adbench_text.corpora.corpus import Corpus, cleaner_of
from adbench_text.corpora.split import Split, restricted
from adbench_text.corpora.words import JudgedWord, judged
from adbench_text.errors import InvalidValueError
from adbench_text.metrics import ALIKE
from adbench_text.text.cleaning import has_frequencies

N_WORDS = 3  # that are planted if no number is given
_N_CANDIDATES = 30
_N_FREQUENT = 5000  # words of a language
_N_DOCUMENTS = 1000  # that words and letters are taken from
_LEAST_SHARE = 1e-3  # of a letter among all
_STREAM = 3  # of random numbers
_CLASS, _LETTERS = "class", "letters"

_Draw = Callable[[int], str]  # returns a word, given the length that it should have


def parsed(planted: str) -> tuple[str, int]:
    """Return kind and number of planted words, given as ``"letters"`` or ``"letters:5"``."""
    kind, colon, number = planted.partition(":")
    is_kind = kind in (_CLASS, _LETTERS) or has_frequencies(kind)
    if not is_kind or (colon and not (number.isdecimal() and int(number))):
        raise InvalidValueError(
            "planted words are letters, class or the code of a language such as de, with their number as in "
            f"letters:5; got {planted!r}."
        )
    return kind, int(number or N_WORDS)


def planted(split: Split, corpus: Corpus, given: str, seed: int, *, raw: bool) -> Split:
    """Return a split with words planted in half of its normal test documents; it has no others.

    `given` is the kind and number of words, see `parsed`. Documents are as written if `raw`, else cleaned.
    """
    kind, n = parsed(given)
    if split.is_ranking:
        raise InvalidValueError(
            "Words are planted in test documents, and this protocol has no training part."
        )
    clean, rng = cleaner_of(corpus), np.random.default_rng([seed, _STREAM])
    texts = {row: corpus.originals[split.places[row]] for row in np.flatnonzero(~split.outlier)}
    spans = {
        row: [(start, end) for start, end in _kept(text, clean) if text[start:end].isalpha()]
        for row, text in texts.items()
    }
    rows = rng.permutation([row for row, of_row in spans.items() if len(of_row) >= 2 * n])
    if len(rows) < 2:
        raise InvalidValueError(
            f"Only {len(rows)} normal test documents of {corpus.name} have {2 * n} words; plant fewer, as in "
            f"{kind}:1."
        )
    is_planted = np.isin(np.arange(len(split.test)), rows[: len(rows) // 2])
    draw = _drawer(kind, split, corpus, clean, rng)
    written, words = list[str](), list[list[JudgedWord]]()
    rows.sort()
    for row in rows:
        text, odd = texts[row], list[tuple[int, int]]()
        if is_planted[row]:
            places = sorted(rng.choice(len(spans[row]), n, replace=False))
            text, odd = _replaced(text, [spans[row][place] for place in places], draw)
        written.append(text)
        words.append(judged(_kept(text, clean), odd))
    split = replace(restricted(split, rows), outlier=is_planted[rows], written=written, words={ALIKE: words})
    return replace(split, test=written if raw else list(map(clean, written)))


def _kept(text: str, clean: Cleaner) -> list[tuple[int, int]]:
    """Return where the words are that cleaning leaves of a document."""
    return [(place.original_start, place.original_end) for place in clean.places(text)]


def _replaced(text: str, spans: Sequence[tuple[int, int]], draw: _Draw) -> tuple[str, list[tuple[int, int]]]:
    """Return a document with other words at these places, and where they are."""
    parts, odd, last, length = list[str](), list[tuple[int, int]](), 0, 0
    for start, end in spans:
        old, word = text[start:end], draw(end - start)
        word = word.upper() if old.isupper() else word.capitalize() if old[0].isupper() else word
        parts += text[last:start], word
        length += start - last
        odd.append((length, length + len(word)))
        length, last = length + len(word), end
    return "".join([*parts, text[last:]]), odd


def _drawer(kind: str, split: Split, corpus: Corpus, clean: Cleaner, rng: np.random.Generator) -> _Draw:
    """Return what draws words of a kind."""
    if kind == _LETTERS:
        return _random_letters(split, clean, rng)
    words = _of_other_classes(split, clean, rng) if kind == _CLASS else _of_language(kind, corpus, clean)
    if not words:
        raise InvalidValueError(
            f"{corpus.name} has no words of the kind {kind!r} to plant; choose another one."
        )

    def draw(length: int) -> str:
        candidates = [words[number] for number in rng.integers(len(words), size=_N_CANDIDATES)]
        return str(min(candidates, key=lambda word: abs(len(word) - length)))

    return draw


def _of_other_classes(split: Split, clean: Cleaner, rng: np.random.Generator) -> list[str]:
    rows = rng.permutation(len(split.pool))[:_N_DOCUMENTS]
    return [word for row in rows for word in clean(split.pool[row]).lower().split() if word.isalpha()]


def _of_language(language: str, corpus: Corpus, clean: Cleaner) -> list[str]:
    from wordfreq import get_frequency_dict, top_n_list

    known = get_frequency_dict(corpus.language, "small") if has_frequencies(corpus.language) else {}
    frequent = top_n_list(language, _N_FREQUENT, "small")
    return [word for word in frequent if word.isalpha() and word not in known and clean(word) == word]


def _random_letters(split: Split, clean: Cleaner, rng: np.random.Generator) -> _Draw:
    texts = [split.train[row] for row in rng.permutation(len(split.train))[:_N_DOCUMENTS]]
    counts: Counter[str] = Counter(
        letter for text in map(clean, texts) for letter in text.lower() if letter.isalpha()
    )
    letters = sorted(each for each, n in counts.items() if n >= _LEAST_SHARE * counts.total())

    def draw(length: int) -> str:
        for _ in range(_N_CANDIDATES):  # until cleaning leaves it
            word = "".join([letters[number] for number in rng.integers(len(letters), size=length)])
            if clean(word) == word:
                break
        return word

    return draw
