"""Documents that share most of their words: one of them speaks for its family.

Two documents are near-copies if they share about 80 % of their different words (Jaccard similarity). A
document is known by one byte of each of 100 minimal hashes of its words (MinHash: Broder, 1997; a few bits of
each: Li and Koenig, WWW 2010). The share of equal bytes estimates the similarity; its standard deviation is
0.04 at 0.8. Documents with five equal bytes in one of 20 places are compared (locality-sensitive hashing),
each with the first of them only, so that the time grows with the number of documents.

Of a text without spaces, as in Chinese or a line of JSON, pieces of four characters stand for words.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Sketches = NDArray[np.uint8]  # of shape (n_texts, N_HASHES)

N_HASHES = 100
_OF_A_BAND = 5
#: Least similarity of near-copies.
SHARED = 0.8
#: The same in a model and between the parts of a split: similarities are estimated, and none may be missed.
OF_MODEL = 0.7
_LEAST_WORDS = 4  # different ones: shorter documents are alike by chance
_LONG = 20  # characters of a word on average: what has longer ones is not written in words
_PIECE = 4  # characters
_BLOCK = 2**16  # pairs that are compared at a time
_SEED = 0


def sketches(texts: Sequence[str]) -> Sketches:
    """Return the sketch of each cleaned document; zeros for one of fewer than four different words."""
    from rensa import RMinHash

    found = np.zeros((len(texts), N_HASHES), dtype=np.uint8)
    words_of = {
        row: words for row, text in enumerate(texts) if len(words := set(_words(text))) >= _LEAST_WORDS
    }
    if words_of:
        digests = RMinHash.digests_from_token_sets(words_of.values(), num_perm=N_HASHES, seed=_SEED)
        found[[*words_of]] = np.array(digests, dtype=np.uint32).astype(np.uint8)
    return found


def _words(text: str) -> list[str]:
    """Return the words of a text, or pieces of its characters if it is not written in words."""
    words = text.split()
    if len(text) < _LONG * max(len(words), 1):
        return words
    return [text[start : start + _PIECE] for start in range(len(text) - _PIECE + 1)]


def families(of_texts: Sketches, shared: float = SHARED) -> NDArray[np.int64]:
    """Return for each document the place of the one that speaks for it: a near-copy before it, or itself.

    Near-copies of a near-copy belong to the same family. `shared` is the least similarity of near-copies.
    """
    speaker = np.arange(len(of_texts))
    rest = np.flatnonzero(of_texts.any(axis=1))
    for begin in range(0, N_HASHES, _OF_A_BAND):
        bytes_of = np.zeros((len(rest), 8), dtype=np.uint8)
        bytes_of[:, :_OF_A_BAND] = of_texts[rest, begin : begin + _OF_A_BAND]
        band = bytes_of.view(np.uint64).ravel()
        is_shared = pd.Series(band).duplicated(keep=False).to_numpy()  # few are, and only these are sorted
        sharing = rest[is_shared]
        _, index, which = np.unique(band[is_shared], return_index=True, return_inverse=True)
        first = sharing[index[which]]
        others, first = sharing[first != sharing], first[first != sharing]
        for start in range(0, len(others), _BLOCK):
            some, of_some = others[start : start + _BLOCK], first[start : start + _BLOCK]
            equal = (of_texts[some] == of_texts[of_some]).mean(axis=1)
            is_near = (equal - 1 / 256) / (1 - 1 / 256) >= shared  # one byte in 256 is equal by chance
            speaker[some[is_near]] = of_some[is_near]
        rest = rest[speaker[rest] == rest]
    while (further := speaker[speaker]).tolist() != speaker.tolist():
        speaker = further
    return speaker


def numbered_families(texts: Sequence[str], shared: float = OF_MODEL) -> NDArray[np.int64]:
    """Return a number for each cleaned document, the same for the documents of a family and their copies.

    `shared` is the least similarity of near-copies; by default none of `SHARED` is missed.
    """
    place_of: dict[str, int] = {}
    places = [place_of.setdefault(text, len(place_of)) for text in texts]
    numbers: NDArray[np.int64] = families(sketches([*place_of]), shared)[places]
    return numbers
