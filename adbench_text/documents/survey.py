"""A first look at all documents: which of them are different, and a sample to learn from.

Documents are read once, a chunk at a time, and are not kept. The sample holds the documents with the smallest
keys, seeded digests of their words: it depends neither on their order nor on copies, and a family of
near-copies is in the sample if any of it is: the one with the smallest key speaks for it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.documents.copies import N_HASHES, families, sketches
from adbench_text.documents.progress import OnProgress
from adbench_text.plugins.cleaner import Cleaner
from adbench_text.text.words import text_key

_WITHOUT_WORDS = b"without words"


class FileTexts:
    """Documents that are read again each time that they are needed; `read` returns them."""

    def __init__(self, read: Callable[[], Iterable[str]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())


class Seen(NamedTuple):
    """What is kept of a chunk."""

    keys: NDArray[np.uint64]  # 0 for an empty document
    has_words: NDArray[np.bool_]
    sketches: NDArray[np.uint8]
    sampled: dict[int, tuple[str, str]]  # as written and cleaned, by key: those that may be in the sample


@dataclass(frozen=True)
class Look:
    """Looks at documents; a worker process may do it."""

    cleaner: Cleaner
    seed: int
    with_sketches: bool

    def __call__(self, chunk: tuple[int, Sequence[str]]) -> Seen:
        """Return what is kept of documents, given the largest key that may be in the sample."""
        largest, texts = chunk
        cleaned = [text if text and not text.isspace() else "" for text in map(self.cleaner, texts)]
        pairs = list(zip(texts, cleaned, strict=True))
        keys = [self._key(own) if own else self._key(text.strip(), _WITHOUT_WORDS) for text, own in pairs]
        return Seen(
            np.array(keys, dtype=np.uint64),
            np.array([bool(own) for own in cleaned]),
            sketches(cleaned) if self.with_sketches else np.empty((0, N_HASHES), dtype=np.uint8),
            # of copies the first one: later ones are put in before
            {key: pair for key, pair in zip(keys[::-1], pairs[::-1], strict=True) if 0 < key <= largest},
        )

    def _key(self, text: str, kind: bytes = b"") -> int:
        return text_key(text, kind, self.seed) if text else 0


@dataclass(frozen=True)
class Survey:
    """What is known of all documents after a first look.

    The different documents are rows: those with words, then those without words, such as a line of digits,
    which are different as they were written. Both are in the order of their keys, so that the order of the
    file changes nothing that is learned from them.
    """

    row_of: NDArray[np.int64]  # of each place; -1 for an empty document
    place_of: NDArray[np.int64]  # of each row: the first place of the document that is scored
    n_with_words: int  # rows
    is_near: NDArray[np.bool_]  # whether the document at a place is a near-copy of the one that is scored
    sample: NDArray[np.int64]  # rows to learn from, in their order
    written: list[str]  # the documents of the sample
    cleaned_with_words: list[str]  # those with words, which come first

    @property
    def rest(self) -> NDArray[np.int64]:
        """The rows outside the sample, in the order of their places."""
        rest = np.setdiff1d(np.arange(len(self.place_of)), self.sample)
        return rest[np.argsort(self.place_of[rest])]

    def positions(self, places: Sequence[int]) -> list[int]:
        """Return the positions of documents in the sample, -1 for those outside."""
        rows = self.row_of[list(places)]
        found = np.searchsorted(self.sample, rows)
        is_in = np.append(self.sample, -1)[found] == rows
        positions: list[int] = np.where(is_in, found, -1).tolist()
        return positions


def survey(texts: Iterable[str], look: Look, n_sample: int, jobs: int | str, progress: OnProgress) -> Survey:
    """Look at documents once."""
    sample = _Sample(n_sample)
    keys, has_words, of_texts = bytearray(), bytearray(), bytearray()
    chunks = ((sample.largest, chunk) for chunk in in_chunks(texts))
    with closing(results_of(look, chunks, jobs)) as looked:
        for seen in looked:
            keys += seen.keys.tobytes()
            has_words += seen.has_words.tobytes()
            of_texts += seen.sketches.tobytes()
            sample.add(seen.sampled)
            progress("reading", len(has_words), None)
    return _joined(
        np.frombuffer(keys, dtype=np.uint64),
        np.frombuffer(has_words, dtype=np.bool_),
        np.frombuffer(of_texts, dtype=np.uint8).reshape(-1, N_HASHES),
        sample,
    )


class _Sample:
    """The documents with the smallest keys."""

    def __init__(self, n: int) -> None:
        self._n = n
        self.largest = 2**64 - 1  # key that may be among them
        self.documents: dict[int, tuple[str, str]] = {}

    def add(self, sampled: dict[int, tuple[str, str]]) -> None:
        for key, pair in sampled.items():
            self.documents.setdefault(key, pair)
        if len(self.documents) >= 2 * self._n:
            self.cut()

    def cut(self) -> None:
        """Keep the smallest keys."""
        if len(self.documents) > self._n:
            keys = np.array(list(self.documents), dtype=np.uint64)
            self.largest = int(np.partition(keys, self._n - 1)[self._n - 1])
            self.documents = {key: pair for key, pair in self.documents.items() if key <= self.largest}


def _joined(
    keys: NDArray[np.uint64], has_words: NDArray[np.bool_], of_texts: NDArray[np.uint8], sample: _Sample
) -> Survey:
    """Return the survey, given what was kept of each document."""
    sample.cut()
    # In the order of their keys, so that the smallest key speaks for a family.
    different, first, which = np.unique(keys, return_index=True, return_inverse=True)
    speaker = families(of_texts[first]) if len(of_texts) else np.arange(len(different))
    rows = np.flatnonzero((speaker == np.arange(len(different))) & (different > 0))
    rows = rows[np.argsort(~has_words[first[rows]], kind="stable")]
    row_of = np.full(len(different), -1)
    row_of[rows] = np.arange(len(rows))
    in_sample = different[rows] <= sample.largest
    documents = [sample.documents[key] for key in different[rows[in_sample]].tolist()]
    return Survey(
        row_of=row_of[speaker[which]],
        place_of=first[rows],
        n_with_words=int(has_words[first[rows]].sum()),
        is_near=speaker[which] != which,
        sample=np.flatnonzero(in_sample),
        written=[written for written, _ in documents],
        cleaned_with_words=[cleaned for _, cleaned in documents if cleaned],
    )
