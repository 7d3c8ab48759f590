"""The words of other documents of the same kind: a detector may judge its documents against them.

m(w) counts a word in the other documents, M is the sum of m, q(w) is the frequency of the word in the
language at large, and A = 100,000 words. A document is then judged against the frequency

    q'(w) = (m(w) + A q(w)) / (M + A)
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.text.vocabulary import Vocabulary
from adbench_text.text.words import count_words, parts_of

_WEIGHT = 1e5  # A: the weight of the language at large, in words


class OtherWords:
    """The word counts of the documents of all groups, for a detector that learns from one group.

    >>> others = OtherWords(["ship crew", "ship storm"])
    >>> others.mixed(np.array(["ship", "court"]), np.array([1e-4, 1e-4])).round(6).tolist()
    [0.00012, 0.0001]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts, words = count_words(texts)
        self._words, self._counts = Vocabulary(words.tolist()), np.asarray(counts.sum(axis=0), np.float64)
        self._parts: dict[int, tuple[Vocabulary, NDArray[np.float64]]] = {}

    def mixed(
        self, terms: NDArray[Any], frequency: NDArray[np.float64], characters: int | None = None
    ) -> NDArray[np.float64]:
        """Return q' of terms, given q. With `characters`, terms are the character n-grams of `parts_of`."""
        known, counts = self._terms(characters)
        m = np.append(counts, 0.0)[known.numbers(terms)]
        return np.asarray((m + _WEIGHT * frequency) / (counts.sum() + _WEIGHT))

    def _terms(self, characters: int | None) -> tuple[Vocabulary, NDArray[np.float64]]:
        """Return the terms (words, or their character n-grams) and their counts; n-grams are kept."""
        if characters is None:
            return self._words, self._counts
        if characters not in self._parts:
            self._parts[characters] = _parts(self._words.words, self._counts, characters)
        return self._parts[characters]


def _parts(
    words: Iterable[str], counts: NDArray[np.float64], characters: int
) -> tuple[Vocabulary, NDArray[np.float64]]:
    """Return the character n-grams of words and their counts."""
    of_parts: dict[str, float] = {}
    for word, count in zip(words, counts.tolist(), strict=True):
        for part in parts_of(word, characters):
            of_parts[part] = of_parts.get(part, 0.0) + count
    return Vocabulary(of_parts), np.fromiter(of_parts.values(), np.float64, len(of_parts))
