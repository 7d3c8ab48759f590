"""Documents with the same words: a document must not be judged by its own copies."""

from collections.abc import Sequence

import numpy as np

from adbench_text.text.words import count_words

_MOST_WORDS = 0.7  # of the words of two documents
_LEAST_WORDS = 4  # of a document: shorter ones are alike by chance


def grouped(cleaned: Sequence[str]) -> tuple[dict[str, int], dict[int, int | None], list[int]]:
    """Return the first place of each text, of which document each is a copy, and the places without words.

    Examples
    --------
    >>> grouped(["ship sails", "", "tide", "ship sails"])
    ({'ship sails': 0, 'tide': 2}, {0: None, 2: None, 3: 0}, [1])
    """
    first_of: dict[str, int] = {}
    copy_of: dict[int, int | None] = {}
    empty = []
    for place, text in enumerate(cleaned):
        if not text or text.isspace():
            empty.append(place)
            continue
        first = first_of.setdefault(text, place)
        copy_of[place] = first if first != place else None
    return first_of, copy_of, empty


def near_copies(texts: Sequence[str], rows: Sequence[int]) -> list[int]:
    """Return those of some documents that share most of their different words with another document.

    At least 70 % of the words of the two are in both (Jaccard similarity).

    Examples
    --------
    >>> prize = "won a prize of cash call {} to claim"
    >>> near_copies([prize.format("now"), prize.format("today"), "the ship left the harbour"], [0, 2])
    [0]
    """
    if not rows:
        return []
    has_word = count_words(texts).counts.astype(bool).astype(np.int64)
    size = np.asarray(has_word.sum(axis=1))
    shared = (has_word @ has_word[rows].T).tocoo()  # of each document with each of some
    one, other = shared.coords
    other = np.asarray(rows)[other]
    share = shared.data / (size[one] + size[other] - shared.data)
    is_near = (share >= _MOST_WORDS) & (one != other) & (size[other] >= _LEAST_WORDS)
    return sorted(set(other[is_near].tolist()))
