"""The second stage of a ranking: survey all documents, and find copies and near-copies.

Documents are read once, in chunks, and their texts are not kept. The key of a document is a seeded digest of
its words. Documents with the same words, and near-copies, are a family. A family has one representative in
each part of the ranking. Only representatives are scored.

A detector learns from a sample of its part: the representatives among the documents with the smallest keys.
So the sample depends neither on the order of the documents nor on copies.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.checks import Whole
from adbench_text.contract.cleaner import Cleaner
from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import Chunk, Rows, cleaned_by, results_of
from adbench_text.documents.source import TextSource
from adbench_text.text.copies import N_HASHES, SHARED, families, sketches
from adbench_text.text.words import text_key

_WITHOUT_WORDS, _AS_WRITTEN = b"without words", b"as written"


class Facts(NamedTuple):
    """Facts about surveyed documents, with one entry for each document."""

    keys: NDArray[np.uint64]  # 0 for an empty document
    raw_keys: NDArray[np.uint64]  # keys of the raw documents; 0 for an empty document
    has_words: NDArray[np.bool_]
    sketches: NDArray[np.uint8]  # MinHash: of shape (n, N_HASHES), or (0, N_HASHES) without near-copies
    lengths: NDArray[np.uint32]  # number of characters of the cleaned documents


@dataclass(frozen=True)
class Surveyor:
    """Surveys a chunk of documents. It may run in a worker process."""

    cleaners: Sequence[Cleaner]
    seed: int
    with_sketches: bool  # whether to find near-copies

    def __call__(self, chunk: Chunk) -> Facts:
        """Return the facts about the documents of a chunk; its numbers are the numbers of their cleaners."""
        texts = chunk.texts
        words = cleaned_by(self.cleaners, texts, chunk.numbers)
        cleaned = [own if own and not own.isspace() else "" for own in words]
        keys = [
            self._key(own) if own else self._key(text.strip(), _WITHOUT_WORDS)
            for text, own in zip(texts, cleaned, strict=True)
        ]
        return Facts(
            keys=np.array(keys, dtype=np.uint64),
            raw_keys=np.array(list(map(self._raw_key, texts, cleaned, keys)), dtype=np.uint64),
            has_words=np.array([bool(own) for own in cleaned]),
            sketches=sketches(cleaned) if self.with_sketches else np.empty((0, N_HASHES), dtype=np.uint8),
            lengths=np.array(list(map(len, cleaned)), dtype=np.uint32),
        )

    def _raw_key(self, text: str, cleaned: str, key: int) -> int:
        """Return the key of a raw document, given the key of its words."""
        return key if not cleaned or cleaned == text.strip() else self._key(text.strip(), _AS_WRITTEN)

    def _key(self, text: str, kind: bytes = b"") -> int:
        """Return the seeded key of a text, 0 if it is empty; keys of different kinds differ."""
        return text_key(text, kind, self.seed) if text else 0


def surveyed(
    source: TextSource,
    surveyor: Surveyor,
    cleaner_of: NDArray[np.int64] | None,
    jobs: int | str,
    progress: OnProgress,
) -> Facts:
    """Survey all documents, given the number of the cleaner for each; None for the first cleaner."""
    columns: list[bytearray] = [bytearray() for _ in Facts._fields]
    with closing(results_of(surveyor, source.chunks(numbers=cleaner_of), jobs)) as of_chunks:
        for facts in of_chunks:
            for content, values in zip(columns, facts, strict=True):
                content += values.tobytes()
            progress("reading", len(columns[2]), None)  # `has_words` has one byte for each document
    keys, raw_keys, has_words, all_sketches, lengths = columns
    return Facts(
        keys=np.frombuffer(keys, dtype=np.uint64),
        raw_keys=np.frombuffer(raw_keys, dtype=np.uint64),
        has_words=np.frombuffer(has_words, dtype=np.bool_),
        sketches=np.frombuffer(all_sketches, dtype=np.uint8).reshape(-1, N_HASHES),
        lengths=np.frombuffer(lengths, dtype=np.uint32),
    )


@dataclass(frozen=True)
class Families:
    """The families of all documents: copies and near-copies."""

    facts: Facts
    of_rows: Rows  # number of the family, for each document
    place: Rows  # the document with the smallest place represents its family
    has_near_copies: bool  # whether near-copies were looked for

    @classmethod
    def of(cls, facts: Facts, shared: float = SHARED, *, shortest: bool = False) -> Self:
        """Return the families of documents.

        `shared` is the least similarity of near-copies. The document with the smallest key represents a
        family. With `shortest`, the shortest one does, because near-copies often add text to it.
        """
        # the first row with each key, in order of the keys, and the number of the key for each row
        _, first_row, number = np.unique(facts.keys, return_index=True, return_inverse=True)
        by_key = np.arange(len(first_row))
        if not len(facts.sketches):  # documents of a family have the same key
            return cls(facts, by_key[number], by_key[number], has_near_copies=False)
        order = np.argsort(facts.lengths[first_row], kind="stable") if shortest else by_key
        place, family = np.empty_like(order), np.empty_like(order)
        place[order] = by_key
        # the first one of a family represents it, and its place is the number of the family
        family[order] = families(facts.sketches, shared, first_row[order])
        return cls(facts, family[number], place[number], has_near_copies=True)

    def without_sketches(self) -> Self:
        """Return the same families without the sketches, which take most of the memory."""
        return replace(self, facts=self.facts._replace(sketches=self.facts.sketches[:0].copy()))

    def n_different(self, number: Rows) -> Rows:
        """Count the different documents with words for each number, given a number for each document."""
        known = self.facts.has_words
        different = np.unique(np.stack([number[known], self.of_rows[known]]), axis=1)
        return np.bincount(different[0], minlength=int(number.max(initial=-1)) + 1)


@dataclass(frozen=True)
class Survey:
    """Which documents are scored in each part, by words or by form. Rows identify documents.

    By words, no two representatives of a part are equal: documents with words differ after cleaning. Other
    documents, such as lines of digits, differ in their raw text.
    """

    facts: Facts
    part: Rows  # number of the part, for each row
    keys: NDArray[np.uint64]  # for each row: key of its words, or of the raw document
    representative: Rows  # for each row: the row that is scored for it, or -1 for an empty document
    n_sample: int
    has_near_copies: bool  # whether near-copies were looked for

    @classmethod
    def by_words(cls, families: Families, part: Rows, n_sample: int) -> Self:
        """Return a survey in which a document represents all documents of its family in its part.

        `part` is the number of the part of each row, and `n_sample` the size of the sample of a part.
        """
        Whole(2).check("sample", n_sample)
        representative = _first_rows(part, families.of_rows, families.place)
        representative[families.facts.keys == 0] = -1  # these documents are empty
        return cls(
            facts=families.facts,
            part=part,
            keys=families.facts.keys,
            representative=representative,
            n_sample=n_sample,
            has_near_copies=families.has_near_copies,
        )

    def by_form(self) -> Self:
        """Return which documents are scored by form.

        These are the same documents if near-copies were looked for. Otherwise the first document represents
        all documents of its part with the same raw text.
        """
        if self.has_near_copies:
            return self
        representative = np.where(self.representative >= 0, self._first_written, -1)
        return replace(self, keys=self.facts.raw_keys, representative=representative)

    def __len__(self) -> int:
        return len(self.part)

    @cached_property
    def is_representative(self) -> NDArray[np.bool_]:
        """Whether each document is scored."""
        is_representative: NDArray[np.bool_] = self.representative == np.arange(len(self))
        return is_representative

    @cached_property
    def is_near(self) -> NDArray[np.bool_]:
        """Whether each document is a near-copy of its representative."""
        is_near: NDArray[np.bool_] = self.representative >= 0
        is_near &= self.facts.keys[self.representative] != self.facts.keys
        return is_near

    @cached_property
    def _first_written(self) -> Rows:
        """For each row: the first row of its part with the same raw text."""
        return _first_rows(self.part, self.facts.raw_keys)

    @property
    def is_duplicate(self) -> NDArray[np.bool_]:
        """Whether each document has the same raw text as an earlier one of its part."""
        is_later: NDArray[np.bool_] = self._first_written != np.arange(len(self))
        return is_later & ~self.is_near & (self.representative >= 0)

    @property
    def n_same_words(self) -> int:
        """Number of documents with the same words as another one but a different raw text."""
        is_copy = (self.representative >= 0) & ~self.is_representative & ~self.is_near
        return int((is_copy & ~self.is_duplicate).sum())

    def sample(self, rows: Rows) -> Rows:
        """Return the sample of a part (`rows`), sorted by key: documents with words, then documents without.

        So the detector learns the same whatever the order of the file.
        """
        keys = self.keys[rows]
        largest = _smallest(keys[keys > 0], self.n_sample).max(initial=0)
        in_sample = rows[self.is_representative[rows] & (keys <= largest)]
        sample: Rows = in_sample[np.lexsort((self.keys[in_sample], ~self.facts.has_words[in_sample]))]
        return sample

    def size_of_whole_sample(self, rows: Rows) -> int:
        """Return the least size of a sample with all representatives of a part (`rows`).

        Near-copies of representatives may have smaller keys, and count.
        """
        keys = self.keys[rows]
        largest = keys[self.is_representative[rows]].max(initial=0)
        return len(np.unique(keys[(keys > 0) & (keys <= largest)]))

    def rest(self, rows: Rows) -> Rows:
        """Return the representatives of a part (`rows`, sorted) outside its sample, sorted."""
        is_rest = self.is_representative[rows]
        is_rest[np.searchsorted(rows, self.sample(rows))] = False
        rest: Rows = rows[is_rest]
        return rest

    def sizes(self) -> "pd.Series[int]":
        """Return the size of each family, by the row of its representative, sorted by key."""
        sizes = pd.Series(self.representative[self.representative >= 0]).value_counts()
        return sizes.iloc[np.argsort(self.keys[sizes.index])]


def _smallest(keys: NDArray[np.uint64], n: int) -> NDArray[np.uint64]:
    """Return the n smallest different keys, sorted; sorting all keys would take several times as long."""
    n_looked_at = n
    while n_looked_at < len(keys):
        smallest = np.unique(np.partition(keys, n_looked_at)[:n_looked_at])
        if len(smallest) >= n:
            return smallest[:n]
        n_looked_at *= 2  # some keys are equal
    return np.unique(keys)[:n]


def _first_rows(part: Rows, kind: NDArray[Any], place: Rows | None = None) -> Rows:
    """Return for each row the first row of the same part and kind, sorted by place and row."""
    keys = (kind, part) if place is None else (place, kind, part)
    rows = np.lexsort(keys)  # the last key counts first
    is_first = np.ones(len(rows), dtype=np.bool_)
    is_first[1:] = (np.diff(part[rows]) != 0) | (kind[rows][1:] != kind[rows][:-1])
    first = np.empty(len(rows), dtype=np.int64)
    first[rows] = rows[is_first][np.cumsum(is_first) - 1]
    return first
