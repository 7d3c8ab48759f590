"""Words that are in more new documents than expected, given the documents of a model.

If no word has grown, the documents of the model and the new ones are random parts of all documents. Then k
documents with the same word have at least n new ones with the probability P(X >= n), where X is binomial with
k trials and the share of new documents. This p is multiplied by the number of words that are frequent enough
for such a p (Tarone, Biometrics 1990).

A document counts once, with its near-copies. If both files have near-copies of it, its words do not count. In
the share of new documents, each file counts its part of the near-copies.
"""

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from scipy.special import betainc

from adbench_text.calibration import LEAST_P, GrownWords
from adbench_text.text.terms import different_terms
from adbench_text.text.words import text_key

_LEAST_KEPT = 2  # documents of a word that the model keeps
_LEAST = 20  # documents of the model, and new documents
_LEAST_WITH = 3  # new documents with a word
_SHARED = 0.5  # least share of the new documents with a word that are in a group, to join it
_MOST_GROUPS = 10
_N_WORDS = 6  # words that name a group

Array = NDArray[np.float64]


class KnownWords(NamedTuple):
    """The words of the documents that a model was fitted on, as digests.

    A word of only one document is not kept.
    """

    keys: NDArray[np.uint64]  # sorted
    n_with: NDArray[np.int64]  # number of documents with each word
    n_documents: int  # with words
    n_pairs: int  # of a document and one of its words, also of words that are not kept

    @classmethod
    def of(cls, cleaned: Iterable[str], left_out: Collection[str]) -> Self:
        """Count in how many different documents each word is, except words in `left_out`."""
        counts, n_documents, n_pairs = Counter[str](), 0, 0
        for terms in (different_terms(text, left_out) for text in cleaned):
            counts.update(terms)
            n_documents, n_pairs = n_documents + bool(terms), n_pairs + len(terms)
        kept = {text_key(word): n for word, n in counts.items() if n >= _LEAST_KEPT}
        keys = np.array(sorted(kept), dtype=np.uint64)
        return cls(keys, np.array([kept[key] for key in keys.tolist()], np.int64), n_documents, n_pairs)

    def places(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Return the place of each word in `keys`, or -1."""
        wanted = np.array([*map(text_key, words)], dtype=np.uint64)
        first, last = (np.searchsorted(self.keys, wanted, side) for side in ("left", "right"))
        return np.where(last > first, first, -1)


class NewWords:
    """The words of new documents, in the order in which the documents were added."""

    def __init__(self) -> None:
        self._number_of: dict[str, int] = {}
        self._numbers, self._ends = array("i"), array("q", [0])

    def add(self, terms: Iterable[str]) -> int:
        """Add a document, given its different words; return its place."""
        numbers = self._number_of
        self._numbers.extend([numbers.setdefault(term, len(numbers)) for term in terms])
        self._ends.append(len(self._numbers))
        return len(self._ends) - 2

    @property
    def n_words(self) -> NDArray[np.int64]:
        """Number of different words of each document."""
        return np.diff(np.asarray(self._ends))

    def grown(self, known: KnownWords, new: Array, counted: Array) -> Iterator[tuple[int, GrownWords]]:
        """Yield the words that have grown, and the place of a document with them.

        The word with the smallest p takes its documents, and the next word is tested on the other documents.

        Parameters
        ----------
        known : KnownWords
        new : float64 array of shape (n_documents,)
            The new share of each document and its near-copies. It is 1 if the model has none of them.
        counted : float64 array of shape (n_documents,)
            The expected number of near-copies of each document in `known`, at most 1.
        """
        taken, has_words = new * counted, self.n_words > 0
        n_new, n_old = float(new[has_words].sum()), known.n_documents - float(taken[has_words].sum())
        if min(n_new, n_old) < _LEAST:
            return
        entries = np.ones(len(self._numbers)), np.asarray(self._numbers), np.asarray(self._ends)
        has_word = csc_array(csr_array(entries, shape=(len(new), len(self._number_of))))
        words, places = [*self._number_of], known.places(self._number_of)
        n_known = np.append(known.n_with, 1)[places]  # a word that is not kept may be in one document
        n_in_old = np.maximum(n_known - has_word.T @ counted, 0.0)
        rest = np.floor(new)  # without documents that both files have
        n_with = has_word.T @ rest
        pairs_new, pairs_old = float(self.n_words @ new), known.n_pairs - float(self.n_words @ taken)
        # in longer documents every word is more frequent, although no subject has grown
        share = max(n_new / (n_new + n_old), pairs_new / (pairs_new + pairs_old))
        totals = np.sort(np.append(n_with + n_in_old, np.delete(known.n_with, places[places >= 0])))

        def p_of(n: Array, in_old: Array) -> Array:
            p = np.where(n >= _LEAST_WITH, betainc(np.maximum(n, 1), in_old + 1, share), 1.0)
            least = np.log(np.maximum(p, 1e-300)) / np.log(share)  # documents that a word needs for such a p
            n_words = len(totals) - np.searchsorted(totals, least * (1 - 1e-9))
            adjusted: Array = np.minimum(p * np.maximum(n_words, 1), 1.0)
            return adjusted

        some = np.flatnonzero(p_of(n_with, n_in_old) < LEAST_P)  # among fewer documents, p is larger
        has_some = csc_array(has_word[:, some])
        for _ in range(_MOST_GROUPS):
            n = has_some.T @ rest
            p = p_of(n, n_in_old[some])
            order = np.argsort(p, kind="stable")
            significant = order[p[order] < LEAST_P]
            if not len(significant):
                return
            members, joined = _group(has_some, significant, rest > 0)
            best, n_expected = significant[0], n_in_old[some[significant[0]]] * n_new / n_old
            named = [words[some[place]] for place in joined[:_N_WORDS]]
            n_named = has_some[:, joined] @ np.ones(len(joined))
            typical = int(np.where(members, n_named, -1).argmax())
            yield typical, GrownWords(named, round(n[best]), float(n_expected), float(p[best]))
            rest[members] = 0.0


def _group(
    has_word: "csc_array[Any]", words: NDArray[np.int64], is_left: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], list[int]]:
    """Return the documents that are left and have the first word, and the words that are mostly in them.

    Documents of these words join the group.
    """
    members, joined, waiting, n = np.zeros_like(is_left), list[int](), words.tolist(), -1
    while len(waiting) != n:
        n = len(waiting)
        for word in list(waiting):
            of_word = has_word.indices[has_word.indptr[word] : has_word.indptr[word + 1]]
            of_word = of_word[is_left[of_word]]
            if not joined or members[of_word].sum() >= max(_SHARED * len(of_word), 1):
                members[of_word] = True
                joined.append(word)
                waiting.remove(word)
    return members, joined
