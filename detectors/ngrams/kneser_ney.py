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
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Table = NDArray[np.int32] | None

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
        """Return the number of each possible key; None if the table would be large."""
        if n_keys > _LARGEST_TABLE:
            return None
        table = np.zeros(n_keys, np.int32)
        table[self.keys[1:]] = np.arange(1, len(self.keys))
        return table

    def numbers(self, keys: Numbers) -> Numbers:
        """Return the numbers of n-grams, given their keys; 0 for an unknown one."""
        if len(keys) > len(self.keys):  # a hash table is faster
            return np.maximum(pd.Index(self.keys).get_indexer(pd.Index(keys)), 0)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, 0)

    def discount(self, counts: Array) -> Array:
        """Return the discounts of counts."""
        return self.discounts[np.minimum(counts, 3).astype(np.int64)]

    def share(self, counts: Array, before: Numbers, share: Array) -> Array:
        """Return P of n-grams, given their counts, and P of the n-grams without their first symbol.

        `before` has the numbers of the n-grams without their last symbol.
        """
        return _share(counts - self.discount(counts), self.totals[before], self.given[before], share)


class Lookup(NamedTuple):
    """Arrays that make `KneserNey.surprise` several times as fast; for each length of n-grams, from 1 on.

    Most n-grams of a document are known, and the longest known n-gram alone decides P.
    """

    tables: list[Table]  # see `Order.table`
    shares: list[Array]  # P of each n-gram, by its number


class KneserNey(NamedTuple):
    """An n-gram model of characters."""

    characters: NDArray[np.uint32]  # unique, in order
    orders: list[Order]  # from single characters on

    @classmethod
    def fit(cls, texts: Sequence[str], longest: int) -> Self:
        """Learn from documents; `longest` is the length of the longest n-grams."""
        model = cls(np.unique(_characters(texts)), [])
        codes, lengths = model._symbols(texts, longest)
        _, offset = _places(lengths)
        numbers, is_counted = [np.zeros(len(codes), np.int64)], codes != _START
        tables = list[tuple[Numbers, Numbers]]()
        for shorter in range(longest):
            before = np.roll(numbers[-1], 1) if shorter else numbers[-1]
            keys = np.where(offset >= shorter, before * model._n_symbols + codes, -1)
            keys, first, own = _different(keys)
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

    def _symbols(self, texts: Sequence[str], longest: int) -> tuple[Numbers, Numbers]:
        """Return the symbols of documents, with start and end symbols, and the length of each document."""
        found, n_found = _characters(texts), np.fromiter(map(len, texts), np.int64, len(texts))
        code_of = np.full(int(self.characters.max(initial=0)) + 2, _UNKNOWN)
        code_of[self.characters] = np.arange(_END + 1, self._n_symbols)
        lengths = n_found + longest
        codes = np.full(lengths.sum(), _START)
        codes[np.cumsum(lengths) - 1] = _END
        n_before = np.arange(len(texts)) * longest + longest - 1  # start and end symbols before a character
        codes[np.arange(len(found)) + np.repeat(n_before, n_found)] = code_of[
            np.minimum(found, len(code_of) - 1)
        ]
        return codes, lengths

    def _numbers(self, codes: Numbers, tables: Sequence[Table]) -> list[NDArray[Any]]:
        """Return for each length, from 0 on, the number of the n-gram that ends at each symbol.

        The number of an unknown n-gram is 0. The keys of longer n-grams that begin with it are unknown, too,
        because the numbers of known n-grams begin at 1.
        """
        numbers: list[NDArray[Any]] = [np.zeros(len(codes), np.int32)]
        for order, table in zip(self.orders, tables, strict=True):
            # an n-gram from two documents has START after END, so it is unknown
            keys = np.roll(numbers[-1], 1) * np.int64(self._n_symbols) + codes
            numbers.append(order.numbers(keys) if table is None else table[keys])
        return numbers

    def lookup(self) -> "Lookup":
        """Return what makes `surprise` faster."""
        n_symbols, n_shorter, tables, shares = self._n_symbols, 1, list[Table](), list[Array]()
        share, suffix = np.full(1, 1 / n_symbols), np.zeros(1, np.int64)  # of n-grams one symbol shorter
        for length, order in enumerate(self.orders):
            shorter, last = np.divmod(np.maximum(order.keys, 0), n_symbols)
            # the number of each n-gram without its first symbol
            suffix = (
                self.orders[length - 1].numbers(suffix[shorter] * n_symbols + last) if length else shorter
            )
            share = order.share(order.counts, shorter, share[suffix])
            tables.append(order.table(n_shorter * n_symbols))
            shares.append(share)
            n_shorter = len(order.keys)
        return Lookup(tables, shares)

    def surprise(self, texts: Sequence[str], lookup: "Lookup") -> tuple[Array, Numbers]:
        """Return -log P of the characters and the end of each document, of shape (n_characters + n_texts,).

        The second array, of shape (n_texts + 1,), says where documents begin. If it is called ``starts``,
        document i has the values ``[starts[i] : starts[i + 1]]``.
        """
        longest = len(self.orders)
        codes, lengths = self._symbols(texts, longest)
        numbers = self._numbers(codes, lookup.tables)
        places = np.flatnonzero(codes != _START)
        share, rest, rests = np.empty(len(places)), np.arange(len(places)), list[Numbers]()
        for of_length, shares in zip(numbers[:0:-1], lookup.shares[::-1], strict=True):
            own = of_length[places[rest]]
            share[rest] = shares[own]
            rest = rest[own == 0]  # the known n-grams that end there are shorter
            rests.append(rest)
        share[rest] = 1 / self._n_symbols
        for order, of_shorter, unknown in zip(self.orders, numbers[:-1], rests[::-1], strict=True):
            no_counts = np.zeros(len(unknown))
            share[unknown] = order.share(no_counts, of_shorter[places[unknown] - 1], share[unknown])
        return -np.log(share), _starts(lengths, longest)

    def surprise_left_out(self, texts: Sequence[str], lookup: "Lookup") -> tuple[Array, Numbers]:
        """Return the same for training documents; each is left out of the counts.

        The discounts come from all documents.
        """
        longest = len(self.orders)
        codes, lengths = self._symbols(texts, longest)
        document, _ = _places(lengths)
        places = np.flatnonzero(codes != _START)
        at = [of_length[places].astype(np.int64) for of_length in self._numbers(codes, lookup.tables)]
        share: Array = np.full(len(places), 1 / self._n_symbols)
        for counts, discounts, totals, given in reversed([*self._left_out(at, document[places])]):
            share = _share(counts - discounts, totals, given, share)
        return -np.log(share), _starts(lengths, longest)

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


def _places(lengths: Numbers) -> tuple[Numbers, Numbers]:
    """Return for each symbol the number of its document, and its place there."""
    document = np.repeat(np.arange(len(lengths)), lengths)
    return document, np.arange(len(document)) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _starts(lengths: Numbers, longest: int) -> Numbers:
    """Return where documents begin without their start symbols, and where the last one ends."""
    return np.append(0, np.cumsum(lengths - (longest - 1)))


def _share(counts: Array, totals: Array, given: Array, share: Array) -> Array:
    """Return P of n-grams, from their counts less the discounts and P of the n-grams one symbol shorter."""
    return np.where(totals > 0, (counts + given * share) / np.maximum(totals, 1), share)


def _characters(texts: Sequence[str]) -> NDArray[np.uint32]:
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
