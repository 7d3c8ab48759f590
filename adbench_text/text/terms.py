"""Terms of documents: their words, for counting what they are about."""

from collections.abc import Collection, Iterator
from itertools import pairwise

from adbench_text.text.words import IDEOGRAPHS, words

_LONG, _PIECE = 20, 4  # a longer word is a phrase without spaces; it is cut into pieces


def terms_of(cleaned: str) -> Iterator[str]:
    """Yield the words of a cleaned document that have letters.

    Chinese characters and Hiragana have no spaces between words: two neighbours are a term. A very long word,
    as in Thai, is cut into pieces.

    >>> [*terms_of("ships 1987 k8s"), *terms_of("海港的")]
    ['ships', 'k8s', '海港', '港的']
    """
    found = words(cleaned)
    for word, following in pairwise([*found, ""]):
        if IDEOGRAPHS.match(word):
            if IDEOGRAPHS.match(following):
                yield word + following
        elif len(word) > _LONG:
            yield from (word[start : start + _PIECE] for start in range(len(word) - _PIECE + 1))
        elif any(map(str.isalpha, word)):
            yield word


def different_terms(cleaned: str, left_out: Collection[str]) -> list[str]:
    """Return the different terms of a cleaned document, except terms in `left_out`."""
    return [term for term in dict.fromkeys(terms_of(cleaned)) if term not in left_out]
