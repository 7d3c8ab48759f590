"""The ordinary frequency of a word or a character n-gram: knowledge from outside the training documents.

The frequency of an n-gram is the sum over the words that contain it, as a share of all n-grams.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from adbench_text.text import vectors
from adbench_text.text.languages import word_shares

Background = Literal["wordfreq", "vectors", "mean", "uniform"]
BACKGROUNDS: tuple[Background, ...] = get_args(Background)

_UNKNOWN = 1e-8  # wordfreq's lowest value in large lists
_LEAST = 1e-7  # frequency of words whose n-grams are counted; rarer words are 1 to 3 % of a text
_N_WORDS = 400_000  # size of GloVe's vocabulary: the rank of an unknown word
_ZIPF_SHIFT = 2.7  # Mandelbrot's correction for the most frequent words
_ZIPF_TOTAL = float((1 / (np.arange(_N_WORDS) + _ZIPF_SHIFT)).sum())


def wordfreq(language: str) -> Mapping[str, float]:
    """Return the frequency of each word of a language, as a share of all words."""
    return word_shares(language)


def zipf(name: str, words: Sequence[Any] | NDArray[Any], language: str = "en") -> NDArray[np.float64]:
    """Return frequencies by Zipf's law over the order of a file of word vectors."""
    return by_rank(vectors.load(name).rows(words, language))


def by_rank(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return frequencies by Zipf's law, given the rows of words in a file of word vectors; -1 is unknown."""
    is_known = rows >= 0
    ranks = np.full(len(rows), _N_WORDS, dtype=np.float64)
    ranks[is_known] = rows[is_known]
    return np.asarray(1 / (ranks + _ZIPF_SHIFT) / _ZIPF_TOTAL, dtype=np.float64)


def frequencies(
    background: str, language: str, name: str, terms: NDArray[Any], characters: int | None
) -> NDArray[np.float64]:
    """Return the positive background frequency of each term.

    `background` is one of `BACKGROUNDS`. `name` is the name or the file of word vectors; ``wordfreq`` and
    ``uniform`` do not read it. If `characters` is None, terms are words. Otherwise `characters` is the length
    of character n-grams, and terms are n-grams from `parts_of`.
    """
    if background == "uniform":
        return np.full(len(terms), 1 / _N_WORDS)
    if characters is not None:
        return _parts(background, language, name, characters).of(terms)
    return _of_words(background, language, name, terms)


def _of_words(background: str, language: str, name: str, words: Any) -> NDArray[np.float64]:
    found = []
    if background in ("wordfreq", "mean"):
        table = wordfreq(language)
        found.append(np.array([table.get(word, _UNKNOWN) for word in words], dtype=np.float64))
    if background in ("vectors", "mean"):
        found.append(zipf(name, words, language))
    mean: NDArray[np.float64] = np.mean(found, axis=0)
    return mean


@cache
def _parts(background: str, language: str, name: str, characters: int) -> "Parts":
    words = [] if background == "vectors" else [w for w, f in wordfreq(language).items() if f >= _LEAST]
    words += [] if background == "wordfreq" else vectors.load(name).spelled(language)
    known = list(dict.fromkeys(words))
    return Parts(known, _of_words(background, language, name, known), characters)


class Parts:
    """The frequencies of all character n-grams of some words.

    They are stored by 64-bit hashes: a language has millions of n-grams, and texts would need a hundred times
    the memory.

    >>> parts = Parts(["ship", "ships"], np.array([0.5, 0.5]), 5)
    >>> parts.of(["ship ", " ship", "hips "]).round(2)
    array([0.2, 0.4, 0.2])
    """

    def __init__(self, words: Sequence[str], frequency: NDArray[np.float64], n: int) -> None:
        self._n = n
        # All n-grams of all words at once, each by its start in the joined words. A shorter word is one
        # n-gram. The frequencies of equal hashes are added up.
        lengths = np.array([len(word) + 2 for word in words], dtype=np.int64)
        codes = _codes("".join([f" {word} " for word in words]) + "\0" * n)
        ends = np.cumsum(lengths)
        n_parts = np.maximum(lengths - n + 1, 1)
        offsets = np.arange(n_parts.sum()) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
        starts = np.repeat(ends - lengths, n_parts) + offsets
        left = np.repeat(ends, n_parts) - starts  # characters from a start to the end of the word
        hashes = np.zeros(len(starts), dtype=np.uint64)
        for place, factor in enumerate(_factors(n)):
            hashes += np.where(place < left, codes[starts + place], 0).astype(np.uint64) * factor
        order = np.argsort(hashes)
        weights = np.repeat(frequency, n_parts)[order]
        self._hashes, first = np.unique(hashes[order], return_index=True)
        self._share = np.add.reduceat(weights, first) / weights.sum() if len(first) else weights

    def of(self, parts: Sequence[str] | NDArray[Any]) -> NDArray[np.float64]:
        """Return the frequency of each n-gram."""
        if not len(parts) or not len(self._hashes):
            return np.full(len(parts), _UNKNOWN)
        codes = _codes("".join([part.ljust(self._n, "\0") for part in parts])).reshape(len(parts), self._n)
        hashes = (codes.astype(np.uint64) * _factors(self._n)).sum(axis=1, dtype=np.uint64)
        place = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        is_known = self._hashes[place] == hashes
        return np.maximum(np.where(is_known, self._share[place], 0), _UNKNOWN)


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _factors(n: int) -> NDArray[np.uint64]:
    return np.random.default_rng(0).integers(2**64, size=n, dtype=np.uint64) | np.uint64(1)
