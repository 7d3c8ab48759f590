"""How often word pieces occur in English and in training documents, and the log-odds between both.

V is the number of word pieces.
"""

import numpy as np
from numpy.typing import NDArray

from adbench_text.memo import remember
from adbench_text.text.wordpiece import FIRST, WordPiece

_LEAST = 1e-8  # frequency of a piece that no word has; wordfreq's own floor for its large lists
_SMOOTHING = 1e4  # pieces that the generator's frequencies count for, as words do in `llr`


@remember(2)
def english(pieces: WordPiece) -> NDArray[np.float64]:
    """Return the frequency of each piece in English, (V,): that of wordfreq's words, cut into pieces.

    Special tokens have none.
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
    """Return the frequency of each piece in the draws of `RandomGenerator`, (V,)."""
    found = np.ones(pieces.size)
    found[:FIRST] = 0
    return np.asarray(found / found.sum(), dtype=np.float64)


def log_odds(
    counts: NDArray[np.int64], drawn: NDArray[np.float64], mask_share: float, special: list[int]
) -> NDArray[np.float64]:
    """Return the log-odds that a piece was replaced, by its identity alone, (V,).

    With p the frequency of a piece in the training documents, g that in the draws of the generator and m the
    share of masked tokens, it is a replacement of another piece with m g (1 - p), and original with
    (1 - m) p + m g p. No network that sees one token at a time can do better.

    Special tokens, which are no words, have 0. So have pieces that are never drawn, and the only one.
    """
    p = (counts + _SMOOTHING * drawn) / (counts.sum() + _SMOOTHING)
    result = np.zeros(len(p))
    known = (drawn > 0) & (drawn < 1)
    known[special] = False
    p, g = p[known], drawn[known]
    result[known] = np.log(mask_share * g * (1 - p)) - np.log(p * (1 - mask_share + mask_share * g))
    return result
