"""Terms of documents: their words, for counting what they are about."""

from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import chain, pairwise

from adbench_text.text.words import IDEOGRAPHS, words

_LONG, _PIECE = 20, 4  # a longer word is a phrase without spaces; it is cut into pieces


def terms_of(cleaned: str) -> Iterator[str]:
    """Yield the terms of a cleaned document: its words, but not numbers.

    Chinese characters and Hiragana have no spaces between words, so two neighbours are a term. A very long
    word, as in Thai, is cut into pieces.

    >>> [*terms_of("ships 1987 k8s"), *terms_of("海港的")]
    ['ships', 'k8s', '海港', '港的']
    """
    found = words(cleaned)  # each ideograph is a word
    if not _has_ideographs(cleaned):
        yield from chain.from_iterable(map(_parts, found))
        return
    for word, following in pairwise([*found, ""]):
        if not IDEOGRAPHS.match(word):
            yield from _parts(word)
        elif IDEOGRAPHS.match(following):
            yield word + following


def different_terms(cleaned: str, left_out: Collection[str]) -> list[str]:
    """Return the different terms of a cleaned document, except terms in `left_out`."""
    if _has_ideographs(cleaned):
        terms = dict.fromkeys(terms_of(cleaned))
    else:  # the same terms, without looking at a word twice
        terms = dict.fromkeys(chain.from_iterable(map(_parts, dict.fromkeys(words(cleaned)))))
    return [term for term in terms if term not in left_out]


def _has_ideographs(text: str) -> bool:
    return not text.isascii() and IDEOGRAPHS.search(text) is not None


@lru_cache(maxsize=2**16)
def _parts(word: str) -> tuple[str, ...]:
    """Return a word; pieces if it is very long; nothing without letters."""
    if len(word) > _LONG:
        return tuple(word[start : start + _PIECE] for start in range(len(word) - _PIECE + 1))
    return (word,) if any(map(str.isalpha, word)) else ()
