"""Find families of near-copies: documents that share most of their words.

Two documents are near-copies if they share about 80 % of their distinct words (Jaccard similarity). MinHash
estimates the similarity (Broder, 1997): a document has 100 minimal hashes of its words, and one byte of every
hash is kept (Li and Koenig, WWW 2010). The share of equal bytes estimates the similarity, with a standard
deviation of 0.04 at 0.8. Documents are compared if five bytes are equal in one of 20 bands
(locality-sensitive hashing). Each is compared only with the first of them, so the time is linear in the
number of documents.

If a text has no spaces, as in Chinese or in a line of JSON, pieces of four characters replace words.
"""

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from adbench_text.text.words import split_texts

Sketches = NDArray[np.uint8]  # of shape (n_texts, N_HASHES)

N_HASHES = 100
_OF_A_BAND = 5
#: Least similarity of near-copies.
SHARED = 0.8
#: A lower value for a model and between the parts of a split: estimates vary, and no near-copy may be missed.
OF_MODEL = 0.7
_LEAST_WORDS = 4  # distinct words; documents with fewer are similar by chance
_LONG = 20  # mean characters of a word; a text with longer words has no spaces between words
_PIECE = 4  # characters
_ROWS = 500  # texts whose hashes, which are Python integers, fit into a cache
_BLOCK = 2**16  # pairs to compare at a time
_MOST_BITS = 22  # of the flags of bands: more flags do not fit into a cache
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio
_SEED = 0


def sketches(texts: Sequence[str]) -> Sketches:
    """Return the MinHash of each cleaned document; zeros if it has fewer than four distinct words."""
    from rensa import RMinHash

    numbers, ends, vocabulary = split_texts(texts)
    hashes = np.array(RMinHash.hash_token_sets([vocabulary.tolist()])[0], dtype=np.uint64)
    of_words, n_words = hashes[numbers], np.diff(ends)
    found = np.empty((len(texts), N_HASHES), dtype=np.uint8)
    for start in range(0, len(texts), _ROWS):
        rows = ends[start : start + _ROWS + 1].astype(np.uint64)
        digests = RMinHash.digest_matrix_from_flat_token_hashes(
            of_words[rows[0] : rows[-1]], rows - rows[0], num_perm=N_HASHES, seed=_SEED
        )
        found[start : start + _ROWS] = _first_bytes(digests.to_rows())
    found[_n_different(numbers, n_words, len(vocabulary)) < _LEAST_WORDS] = 0
    for row, text in enumerate(texts):
        if len(text) >= _LONG * max(n_words[row], 1):  # it has no spaces between words
            pieces = {text[start : start + _PIECE] for start in range(len(text) - _PIECE + 1)}
            of_pieces = RMinHash.digests_from_token_sets([pieces], num_perm=N_HASHES, seed=_SEED)
            found[row] = _first_bytes(of_pieces) if len(pieces) >= _LEAST_WORDS else 0
    return found


def _first_bytes(digests: list[list[int]]) -> Sketches:
    """Return one byte of every hash."""
    values = array("I")
    for digest in digests:
        values.fromlist(digest)  # three times as fast as `np.fromiter`
    return np.frombuffer(values, dtype=np.uintc).astype(np.uint8).reshape(-1, N_HASHES)


def _n_different(numbers: NDArray[np.int32], n_words: NDArray[np.int64], n_numbers: int) -> NDArray[np.int64]:
    """Return how many different numbers each text has, given the numbers of all texts."""
    text = np.repeat(np.arange(len(n_words)), n_words)
    keys = np.sort(text * n_numbers + numbers)  # the words of a text stay together
    return np.bincount(text[np.diff(keys, prepend=-1) > 0], minlength=len(n_words))


def families(
    of_texts: Sketches, shared: float = SHARED, order: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return for each document the place of its representative: an earlier near-copy, or itself.

    Near-copies of a near-copy belong to the same family. `shared` is the least similarity of near-copies.
    A row is a position in `of_texts`, and a place is a position in `order`: the document with the place i has
    the row ``order[i]``. `order` may leave out documents; by default rows and places are the same.
    """
    order = np.arange(len(of_texts)) if order is None else order
    representative = np.arange(len(order))
    place_of = np.full(len(of_texts), -1)  # by row
    place_of[order] = representative
    # rows without a representative, sorted: in this order, reading their sketches is fast
    is_open = np.any(of_texts, axis=1) & (place_of >= 0)
    for begin in range(0, N_HASHES, _OF_A_BAND):
        rows, bands = np.flatnonzero(is_open), _bands(of_texts, begin)
        places = np.sort(place_of[rows[_repeated(bands[rows])]])
        _, index, which = np.unique(bands[order[places]], return_index=True, return_inverse=True)
        first = places[index[which]]  # the first place with the same band
        places, first = places[first != places], first[first != places]
        for start in range(0, len(places), _BLOCK):
            some, of_some = places[start : start + _BLOCK], first[start : start + _BLOCK]
            is_equal = of_texts[order[some]] == of_texts[order[of_some]]
            equal = is_equal.sum(axis=1, dtype=np.uint8) / N_HASHES
            is_near = (equal - 1 / 256) / (1 - 1 / 256) >= shared  # one byte in 256 is equal by chance
            representative[some[is_near]] = of_some[is_near]
            is_open[order[some[is_near]]] = False
    while not np.array_equal(further := representative[representative], representative):
        representative = further
    return representative


def _bands(of_texts: Sketches, begin: int) -> NDArray[np.uint64]:
    """Return the bytes of a band of each document as one number."""
    padded = np.zeros((len(of_texts), 8), dtype=np.uint8)
    padded[:, :_OF_A_BAND] = of_texts[:, begin : begin + _OF_A_BAND]
    return padded.view(np.uint64).ravel()


def _repeated(values: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the places of values that occur more than once; few values do, so a hash table is slower."""
    ordered = np.sort(values)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    n_bits = min(len(values).bit_length(), _MOST_BITS)
    is_flagged = np.zeros(2**n_bits, dtype=np.bool_)
    is_flagged[_flags(repeated, n_bits)] = True
    places = np.flatnonzero(is_flagged[_flags(values, n_bits)])  # some of them by chance
    found = np.searchsorted(repeated, values[places])
    is_repeated: NDArray[np.bool_] = repeated[np.minimum(found, len(repeated) - 1)] == values[places]
    return places[is_repeated]


def _flags(values: NDArray[np.uint64], n_bits: int) -> NDArray[np.uint64]:
    """Return a number of `n_bits` bits for each value (Knuth's multiplicative hashing)."""
    return (values * _GOLDEN) >> np.uint64(64 - n_bits)


def numbered_families(texts: Sequence[str], shared: float = OF_MODEL) -> NDArray[np.int64]:
    """Return a number for each cleaned document: copies and near-copies have the same number.

    `shared` is the least similarity of near-copies. The default is below `SHARED`, because the similarity is
    an estimate, and no near-copy may be missed.
    """
    place_of: dict[str, int] = {}
    places = [place_of.setdefault(text, len(place_of)) for text in texts]
    numbers: NDArray[np.int64] = families(sketches([*place_of]), shared)[places]
    return numbers
