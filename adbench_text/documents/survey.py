"""The second stage of a ranking: a first look at all documents, and which of them are different.

Documents are read once, a chunk at a time, and their texts are not kept. The key of a document is a seeded
digest of its words. Documents with the same words, and near-copies, are a family. Where documents are ranked
in parts, such as groups, a family has a representative in each part: only it is scored there, for the others.

A detector learns from a sample of a part: of the documents with the smallest keys, the representatives. So
the sample depends neither on the order of the documents nor on copies.
"""

from collections.abc import Iterator, Sequence
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
from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.documents.source import TextSource
from adbench_text.text.copies import N_HASHES, SHARED, families, sketches
from adbench_text.text.words import text_key

_WITHOUT_WORDS, _AS_WRITTEN = b"without words", b"as written"

Rows = NDArray[np.int64]


class Facts(NamedTuple):
    """What is kept of documents after a first look; one entry each."""

    keys: NDArray[np.uint64]  # 0 for an empty document
    raw_keys: NDArray[np.uint64]  # of the documents as they were written; likewise
    has_words: NDArray[np.bool_]
    sketches: NDArray[np.uint8]  # of shape (n, N_HASHES); (0, N_HASHES) if near-copies are not known
    lengths: NDArray[np.uint32]  # characters of the cleaned documents


@dataclass(frozen=True)
class Surveyor:
    """Takes a first look at a chunk of documents; it may run in a worker process."""

    cleaners: Sequence[Cleaner]
    seed: int
    with_sketches: bool  # whether near-copies are known; if not, each document has a form of its own

    def __call__(self, chunk: tuple[Sequence[str], Sequence[int]]) -> Facts:
        """Return what is kept of texts, given the number of the cleaner of each."""
        texts, numbers = chunk
        cleaners = [self.cleaners[number] for number in numbers]
        words = (cleaner(text) for cleaner, text in zip(cleaners, texts, strict=True))
        cleaned = [own if own and not own.isspace() else "" for own in words]
        keys = [
            self._key(own) if own else self._key(text.strip(), _WITHOUT_WORDS)
            for text, own in zip(texts, cleaned, strict=True)
        ]
        return Facts(
            np.array(keys, dtype=np.uint64),
            np.array(list(map(self._raw_key, texts, cleaned, keys, cleaners)), dtype=np.uint64),
            np.array([bool(own) for own in cleaned]),
            sketches(cleaned) if self.with_sketches else np.empty((0, N_HASHES), dtype=np.uint8),
            np.array(list(map(len, cleaned)), dtype=np.uint32),
        )

    def _raw_key(self, text: str, cleaned: str, key: int, cleaner: Cleaner) -> int:
        """Return the key of a document as it was written, given the key of its words."""
        is_written_so = cleaner.language is None or not cleaned or cleaned == text
        return key if is_written_so else self._key(text.strip(), _AS_WRITTEN)

    def _key(self, text: str, kind: bytes = b"") -> int:
        return text_key(text, kind, self.seed) if text else 0


def surveyed(
    source: TextSource,
    surveyor: Surveyor,
    cleaner_of: NDArray[np.int64] | None,
    jobs: int | str,
    progress: OnProgress,
) -> Facts:
    """Look at all documents once, given the number of the cleaner of each; None stands for the first one."""
    kept: list[bytearray] = [bytearray() for _ in Facts._fields]
    with closing(results_of(surveyor, _with_cleaners(source, cleaner_of), jobs)) as of_chunks:
        for facts in of_chunks:
            for content, values in zip(kept, facts, strict=True):
                content += values.tobytes()
            progress("reading", len(kept[2]), None)  # one byte for each document
    keys, raw_keys, has_words, all_sketches, lengths = kept
    return Facts(
        np.frombuffer(keys, dtype=np.uint64),
        np.frombuffer(raw_keys, dtype=np.uint64),
        np.frombuffer(has_words, dtype=np.bool_),
        np.frombuffer(all_sketches, dtype=np.uint8).reshape(-1, N_HASHES),
        np.frombuffer(lengths, dtype=np.uint32),
    )


def _with_cleaners(
    source: TextSource, cleaner_of: NDArray[np.int64] | None
) -> Iterator[tuple[list[str], list[int]]]:
    begin = 0
    for texts in in_chunks(source):
        end = begin + len(texts)
        yield texts, [0] * len(texts) if cleaner_of is None else cleaner_of[begin:end].tolist()
        begin = end


@dataclass(frozen=True)
class Families:
    """The families of all documents: copies and near-copies."""

    facts: Facts
    of_rows: Rows  # number of the family
    place: Rows  # of each document in its family: the smallest one represents it

    @classmethod
    def of(cls, facts: Facts, shared: float = SHARED, *, shortest: bool = False) -> Self:
        """Return the families of documents.

        `shared` is the least similarity of near-copies. With `shortest`, the shortest document represents a
        family, without what was added to its near-copies.
        """
        different, first, which = np.unique(facts.keys, return_index=True, return_inverse=True)
        place = family = np.arange(len(different))
        if len(facts.sketches):
            lengths = facts.lengths[first] if shortest else place
            order = np.argsort(lengths, kind="stable")
            place, family = np.empty_like(order), np.empty_like(order)
            place[order] = np.arange(len(order))
            family[order] = families(facts.sketches[first[order]], shared)
        return cls(facts, family[which], place[which])

    def n_different(self, number: Rows) -> Rows:
        """Return how many different documents with words have each number; each document has one."""
        known = self.facts.has_words
        different = np.unique(np.stack([number[known], self.of_rows[known]]), axis=1)
        return np.bincount(different[0], minlength=int(number.max(initial=-1)) + 1)


@dataclass(frozen=True)
class Survey:
    """Which documents are scored in each part, by words or by form; a document is identified by its row.

    By words, no two representatives of a part are equal: documents with words differ after cleaning, others,
    such as lines of digits, as they were written.
    """

    facts: Facts
    part: Rows  # number of the part of each row
    keys: NDArray[np.uint64]  # of the words of each row, or of the document as it was written
    representative: Rows  # of each row: the row that is scored for it; -1 if it is empty
    n_sample: int

    @classmethod
    def by_words(cls, families: Families, part: Rows, n_sample: int) -> Self:
        """Return which document represents each family in each part."""
        Whole(2).check("sample", n_sample)
        representative = _first_rows(part, families.of_rows, families.place)
        representative[families.facts.keys == 0] = -1
        return cls(families.facts, part, families.facts.keys, representative, n_sample)

    def by_form(self) -> Self:
        """Return which documents are scored by their form: the same ones, if near-copies are known.

        If not, the first document represents all documents of its part that were written so.
        """
        if len(self.facts.sketches):
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
        """Of each row: the first row of its part that was written so."""
        return _first_rows(self.part, self.facts.raw_keys)

    @property
    def is_duplicate(self) -> NDArray[np.bool_]:
        """Whether each document was written as an earlier one of its part."""
        is_later: NDArray[np.bool_] = self._first_written != np.arange(len(self))
        return is_later & ~self.is_near & (self.representative >= 0)

    @property
    def n_same_words(self) -> int:
        """Number of documents with the words of another one that was written otherwise."""
        is_copy = (self.representative >= 0) & ~self.is_representative & ~self.is_near
        return int((is_copy & ~self.is_duplicate).sum())

    def sample(self, rows: Rows) -> Rows:
        """Return the documents of a part to learn from: with words, then the others, in order of their keys.

        So the order of the file changes nothing that is learned.
        """
        keys = self.keys[rows]
        largest = np.unique(keys[keys > 0])[: self.n_sample].max(initial=0)
        found = rows[self.is_representative[rows] & (keys <= largest)]
        sample: Rows = found[np.lexsort((self.keys[found], ~self.facts.has_words[found]))]
        return sample

    def rest(self, rows: Rows) -> Rows:
        """Return the representatives of a part outside its sample, in order."""
        is_rest = self.is_representative[rows]
        is_rest[np.searchsorted(rows, self.sample(rows))] = False
        rest: Rows = rows[is_rest]
        return rest

    def sizes(self) -> "pd.Series[int]":
        """Return the number of documents of each family, by the row of its representative, by their keys."""
        found = pd.Series(self.representative[self.representative >= 0]).value_counts()
        return found.iloc[np.argsort(self.keys[found.index])]


def _first_rows(part: Rows, kind: NDArray[Any], place: Rows | None = None) -> Rows:
    """Return for each row the first one of its part and kind, in the order of their places and their rows."""
    keys = (kind, part) if place is None else (place, kind, part)
    order = np.lexsort(keys)
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (np.diff(part[order]) != 0) | (kind[order][1:] != kind[order][:-1])
    first = np.empty(len(order), dtype=np.int64)
    first[order] = order[is_first][np.cumsum(is_first) - 1]
    return first
