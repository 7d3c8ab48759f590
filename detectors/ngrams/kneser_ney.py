"""Modified Kneser-Ney smoothing of n-grams of characters; each training document can be left out exactly.

c(h z) counts how often the character z follows the characters h in the training documents. A character has
the probability

    P(z | h) = (c(h z) - D[c(h z)] + (sum over y of D[c(h y)]) P(z | h without its first character)) / c(h)

where c(h) is the sum over all characters, and D[c] is the discount that an n-gram with the count c gives to
unknown ones (Chen and Goodman, 1999, "An empirical study of smoothing techniques for language modeling",
section 3). For n-grams shorter than the longest, c is the number of distinct characters that come before
them. Below single characters, all characters are equally likely.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Tables = list[NDArray[np.int32] | None]

_UNKNOWN, _START, _END = range(3)  # symbols; the symbols of characters follow
_LARGEST_TABLE = 2**22  # keys
_LEAST_DISCOUNT = 0.05  # a small corpus may have no n-gram with some count

# The values of the n-grams of one length for each symbol: counts, discounts, totals, and given discounts.
_Evidence = tuple[Array, Array, Array, Array]


class Order(NamedTuple):
    """The n-grams of one length, numbered in order of their keys; number 0 is for unknown ones.

    The key of an n-gram is the number of the n-gram without its last symbol, times the number of unique
    symbols, plus its last symbol.
    """

    keys: Numbers
    counts: Array
    discounts: Array  # for counts of 0, 1, 2, and 3 or more
    totals: Array  # sums of the counts after each n-gram that is one symbol shorter
    given: Array  # sums of the discounts after it

    @classmethod
    def fit(cls, keys: Numbers, counts: Array, n_shorter: int, n_symbols: int) -> Self:
        """Sum up n-grams with these `counts`."""
        of_counts = np.bincount(np.minimum(counts[counts > 0], 5).astype(np.int64), minlength=5)[1:5]
        one, two, *_ = more = np.maximum(of_counts, 1)
        y = one / (one + 2 * two)
        kept = np.arange(1, 4) - np.arange(2, 5) * y * more[1:] / more[:-1]
        discounts = np.append(0.0, np.clip(kept, _LEAST_DISCOUNT, np.arange(1, 4)))
        order = cls(keys, counts, discounts, np.empty(0), np.empty(0))
        shorter = keys[1:] // n_symbols
        totals, given = (
            np.bincount(shorter, values[1:], n_shorter).astype(np.float64)
            for values in (counts, order.discount(counts))
        )
        return order._replace(totals=totals, given=given)

    def table(self, n_keys: int) -> NDArray[np.int32] | None:
        """Return the number of each possible key, and of -1 at the end; None if the table would be large."""
        if n_keys >= _LARGEST_TABLE:
            return None
        table = np.zeros(n_keys + 1, np.int32)
        table[self.keys[1:]] = np.arange(1, len(self.keys))
        return table

    def numbers(self, keys: Numbers, table: NDArray[np.int32] | None) -> Numbers:
        """Return the numbers of n-grams, from their table if there is one: this takes a tenth of the time."""
        if table is not None:
            return table[keys].astype(np.int64)
        if len(keys) > len(self.keys):  # a hash table is faster
            return np.maximum(pd.Index(self.keys).get_indexer(pd.Index(keys)), 0)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, 0)

    def discount(self, counts: Array) -> Array:
        """Return the discounts of counts."""
        return self.discounts[np.minimum(counts, 3).astype(np.int64)]


class KneserNey(NamedTuple):
    """An n-gram model of characters."""

    characters: NDArray[np.uint32]  # unique, in order
    orders: list[Order]  # from single characters on

    @classmethod
    def fit(cls, texts: Sequence[str], longest: int) -> Self:
        """Learn from documents; `longest` is the length of the longest n-grams."""
        model = cls(np.unique(_characters(texts)), [])
        codes, _, offset = model._symbols(texts, longest)
        numbers, is_counted = [np.zeros(len(codes), np.int64)], offset >= longest - 1
        tables = list[tuple[Numbers, Numbers]]()
        for shorter in range(longest):
            keys, first, own = _different(model._keys(numbers[-1], codes, offset, shorter))
            if keys[0] >= 0:  # no n-gram begins before a document
                keys, first, own = np.append(-1, keys), np.append(0, first), own + 1
            tables.append((keys, first))
            numbers.append(own)
        orders, counts = list[Order](), np.empty(0)
        for shorter in reversed(range(longest)):
            keys, first = tables[shorter]
            if not orders:
                counts = np.bincount(numbers[longest][is_counted], minlength=len(keys)).astype(np.float64)
            n_shorter = len(tables[shorter - 1][0]) if shorter else 1
            orders.append(Order.fit(keys, counts, n_shorter, model._n_symbols))
            # an n-gram without its first symbol counts once for each symbol that comes before it
            counts = np.bincount(numbers[shorter][first[counts > 0]], minlength=n_shorter).astype(np.float64)
        return model._replace(orders=orders[::-1])

    @property
    def _n_symbols(self) -> int:
        """Number of unique symbols."""
        return len(self.characters) + _END + 1

    def _symbols(self, texts: Sequence[str], longest: int) -> tuple[Numbers, Numbers, Numbers]:
        """Return the symbols of documents, and for each its document and its place there."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + longest  # with start and end symbols
        document = np.repeat(np.arange(len(texts)), lengths)
        offset = np.arange(len(document)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        is_end = offset == lengths[document] - 1
        codes = np.full(len(document), _START, np.int64)
        codes[is_end] = _END
        found = _characters(texts)
        places = np.minimum(np.searchsorted(self.characters, found), len(self.characters) - 1)
        is_known = self.characters[places] == found if len(self.characters) else np.zeros(len(found), bool)
        codes[(offset >= longest - 1) & ~is_end] = np.where(is_known, places + _END + 1, _UNKNOWN)
        return codes, document, offset

    def _keys(self, numbers: Numbers, codes: Numbers, offset: Numbers, shorter: int) -> Numbers:
        """Return the keys of the n-grams that end at each symbol, given the numbers of shorter n-grams."""
        before = np.roll(numbers, 1) if shorter else numbers
        return np.where(offset >= shorter, before * self._n_symbols + codes, -1)

    def tables(self) -> Tables:
        """Return what makes `surprise` faster: the table of each order, see `Order.table`."""
        n_shorter = [1, *(len(order.keys) for order in self.orders)]
        return [order.table(n * self._n_symbols) for order, n in zip(self.orders, n_shorter, strict=False)]

    def surprise(
        self, texts: Sequence[str], tables: Tables | None = None, *, leave_out: bool = False
    ) -> tuple[Array, Numbers]:
        """Return -log P of the characters and the end of each document, of shape (n_characters + n_texts,).

        The second array, of shape (n_texts + 1,), says where documents begin. If it is called ``starts``,
        document i has the values ``[starts[i] : starts[i + 1]]``. With `leave_out`, the documents are
        training documents, and each is left out of the counts. The discounts come from all documents.
        `tables` is the result of `tables()`; it only makes this faster.
        """
        longest = len(self.orders)
        codes, document, offset = self._symbols(texts, longest)
        # numbers[k]: the n-gram of length k that ends at each symbol
        numbers, no_tables = [np.zeros(len(codes), np.int64)], [None] * longest
        for shorter, (order, table) in enumerate(zip(self.orders, tables or no_tables, strict=True)):
            numbers.append(order.numbers(self._keys(numbers[-1], codes, offset, shorter), table))
        # the characters and the ends, without start symbols
        places = np.flatnonzero(offset >= longest - 1)
        at = [of_length[places] for of_length in numbers]
        if leave_out:
            evidence = reversed([*self._left_out(at, document[places])])
        else:
            # the n-grams that end one symbol earlier
            before = [at[0], *(of_length[places - 1] for of_length in numbers[1:-1])]
            evidence = map(_evidence, self.orders, at[1:], before)
        share: Array = np.full(len(places), 1 / self._n_symbols)
        for counts, discounts, totals, given in evidence:
            known = (counts - discounts + given * share) / np.maximum(totals, 1)
            share = np.where(totals > 0, known, share)
        return -np.log(share), np.searchsorted(document[places], np.arange(len(texts) + 1))

    def _left_out(self, at: Sequence[Numbers], document: Numbers) -> Iterator[_Evidence]:
        """Yield the evidence of the other training documents, the longest n-grams first.

        `at` has for each length the numbers of the n-grams that end at each symbol.
        """
        gone: Numbers | None = None
        for length in range(len(self.orders), 0, -1):
            order = self.orders[length - 1]
            cells, first, places = _different(document * len(order.keys) + at[length])
            own = np.bincount(places if gone is None else np.searchsorted(cells, gone), minlength=len(cells))
            number, of_document = at[length][first], document[first]
            counts = order.counts[number] - own
            discounts, shorter = order.discount(counts), order.keys[number] // self._n_symbols
            less = order.discount(order.counts[number]) - discounts
            # cells are in order of documents and keys, so that equal ones are neighbours
            is_next = (np.diff(of_document) != 0) | (np.diff(shorter) != 0)
            of_shorter = np.cumsum(np.append(False, is_next))[: len(cells)]
            totals = order.totals[shorter] - np.bincount(of_shorter, own)[of_shorter]
            given = order.given[shorter] - np.bincount(of_shorter, less)[of_shorter]
            yield counts[places], discounts[places], totals[places], given[places]
            if length > 1:  # n-grams that no other document has do not count
                is_gone = counts == 0
                n_shorter = len(self.orders[length - 2].keys)
                gone = of_document[is_gone] * n_shorter + at[length - 1][first[is_gone]]


def _different(keys: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the unique keys in order, their first places, and the number of the key at each place.

    `numpy.unique` returns the same, but takes several times as long if keys repeat.
    """
    own, different = pd.factorize(keys, sort=True)
    first = np.empty(len(different), np.int64)
    first[own[::-1]] = np.arange(len(own))[::-1]  # the last value for a place stays
    return different, first, own


def _evidence(order: Order, numbers: Numbers, before: Numbers) -> _Evidence:
    counts = order.counts[numbers]
    return counts, order.discount(counts), order.totals[before], order.given[before]


def _characters(texts: Sequence[str]) -> NDArray[np.uint32]:
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
