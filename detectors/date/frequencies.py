"""The frequency of word pieces in English and in training documents, and the log-odds of both.

V is the number of word pieces.
"""

import numpy as np
from numpy.typing import NDArray

from adbench_text.memo import remember
from adbench_text.text.wordpiece import FIRST, WordPiece

_LEAST = 1e-8  # frequency of a piece that no word has; wordfreq's lowest value in large lists
_SMOOTHING = 1e4  # weight of the generator's frequencies in pieces, like `smoothing` in `llr`


@remember(2)
def english(pieces: WordPiece) -> NDArray[np.float64]:
    """Return the frequency of each piece in English, (V,), from wordfreq's words, cut into pieces.

    Special tokens have a frequency of 0.
    """
    from wordfreq import get_frequency_dict

    words = get_frequency_dict("en", wordlist="best")
    encoded = pieces.encode(list(words))
    of_word = np.fromiter(words.values(), dtype=np.float64, count=len(words))
    sums = np.bincount(encoded.ids, np.repeat(of_word, np.diff(encoded.ends)), minlength=pieces.size)
    found = np.maximum(sums, _LEAST * sums.sum())
    found[pieces.special] = 0
    return np.asarray(found / found.sum(), dtype=np.float64)


def uniform(pieces: WordPiece) -> NDArray[np.float64]:
    """Return the frequency of each piece that `RandomGenerator` draws, (V,)."""
    found = np.ones(pieces.size)
    found[:FIRST] = 0
    return np.asarray(found / found.sum(), dtype=np.float64)


def log_odds(
    counts: NDArray[np.int64], drawn: NDArray[np.float64], mask_share: float, special: list[int]
) -> NDArray[np.float64]:
    """Return the log-odds that a piece was replaced, if only the piece is known, (V,).

    p is the frequency of a piece in the training documents, g its frequency in the draws of the generator,
    and m the share of masked tokens. Then the piece replaces another one with probability m g (1 - p), and is
    original with (1 - m) p + m g p. A network that sees one token at a time cannot do better.

    The value is 0 for special tokens, for pieces that are never drawn, and if there is only one piece.
    """
    p = (counts + _SMOOTHING * drawn) / (counts.sum() + _SMOOTHING)
    result = np.zeros(len(p))
    known = (drawn > 0) & (drawn < 1)
    known[special] = False
    p, g = p[known], drawn[known]
    result[known] = np.log(mask_share * g * (1 - p)) - np.log(p * (1 - mask_share + mask_share * g))
    return result
