"""The ordinary frequency of a word: knowledge from outside the training documents."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.text import vectors

BACKGROUNDS = ("wordfreq", "vectors", "mean", "uniform")

_UNKNOWN = 1e-8  # wordfreq's own floor for its large lists
_N_WORDS = 400_000  # size of GloVe's vocabulary: the rank of an unknown word
_ZIPF_SHIFT = 2.7  # Mandelbrot's correction for the most frequent words
_ZIPF_TOTAL = float((1 / (np.arange(_N_WORDS) + _ZIPF_SHIFT)).sum())


@cache
def wordfreq(language: str) -> dict[str, float]:
    """Return the frequency of each word of a language, as a share of all words."""
    from wordfreq import get_frequency_dict

    return get_frequency_dict(language, wordlist="best")


def zipf(name: str, words: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
    """Return frequencies by Zipf's law over the order of a file of word vectors."""
    rows = vectors.load(name).rows(words)
    is_known = rows >= 0
    ranks = np.full(len(rows), _N_WORDS, dtype=np.float64)
    ranks[is_known] = rows[is_known]
    return np.asarray(1 / (ranks + _ZIPF_SHIFT) / _ZIPF_TOTAL, dtype=np.float64)


def frequencies(background: str, language: str, name: str, words: NDArray[Any]) -> NDArray[np.float64]:
    """Return the background frequency of each word, positive; `name` names the word vectors."""
    if background == "uniform":
        return np.full(len(words), 1 / _N_WORDS)
    found = []
    if background in ("wordfreq", "mean"):
        table = wordfreq(language)
        found.append(np.array([table.get(word, _UNKNOWN) for word in words], dtype=np.float64))
    if background in ("vectors", "mean"):
        found.append(zipf(name, words))
    mean: NDArray[np.float64] = np.mean(found, axis=0)
    return mean
