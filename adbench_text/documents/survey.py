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

from adbench_text.checks import Whole
from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.documents.copies import N_HASHES, families, sketches
from adbench_text.errors import InvalidValueError
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
    """What is known of all documents after a first look; a document is known by its row, from 0 on.

    A document that is scored is an original. The originals with words are different once cleaned, those
    without words, such as a line of digits, as they were written.
    """

    original: NDArray[np.int64]  # of each row: the row of the document that is scored for it; -1 if empty
    has_words: NDArray[np.bool_]
    is_near: NDArray[np.bool_]  # whether a document is a near-copy of the one that is scored
    # rows to learn from: those with words, then the others; in the order of their keys, so that the order of
    # the file changes nothing that is learned
    sample: NDArray[np.int64]
    written: list[str]  # the documents of the sample
    cleaned_with_words: list[str]  # those with words, which come first

    @property
    def is_original(self) -> NDArray[np.bool_]:
        """Whether each document is scored."""
        is_original: NDArray[np.bool_] = self.original == np.arange(len(self.original))
        return is_original

    def rest(self, *, with_words: bool) -> NDArray[np.int64]:
        """Return the originals outside the sample, in order: all, or those with words."""
        is_rest = self.is_original & self.has_words if with_words else self.is_original
        is_rest[self.sample] = False
        return np.flatnonzero(is_rest)


def survey(texts: Iterable[str], look: Look, n_sample: int, jobs: int | str, progress: OnProgress) -> Survey:
    """Look at documents once; raise InvalidValueError if there are too few."""
    Whole(2).check("sample", n_sample)
    sample = _Sample(n_sample)
    of_keys, of_words, of_texts = bytearray(), bytearray(), bytearray()
    chunks = ((sample.largest, chunk) for chunk in in_chunks(texts))
    with closing(results_of(look, chunks, jobs)) as looked:
        for seen in looked:
            of_keys += seen.keys.tobytes()
            of_words += seen.has_words.tobytes()
            of_texts += seen.sketches.tobytes()
            sample.add(seen.sampled)
            progress("reading", len(of_words), None)
    sample.cut()
    keys, has_words = np.frombuffer(of_keys, dtype=np.uint64), np.frombuffer(of_words, dtype=np.bool_)
    shapes = np.frombuffer(of_texts, dtype=np.uint8).reshape(-1, N_HASHES)
    # In the order of their keys, so that the smallest key speaks for a family.
    different, first, which = np.unique(keys, return_index=True, return_inverse=True)
    speaker = families(shapes[first]) if len(shapes) else np.arange(len(different))
    is_sampled = (speaker == np.arange(len(different))) & (different > 0) & (different <= sample.largest)
    rows = first[is_sampled]
    rows = rows[np.argsort(~has_words[rows], kind="stable")]
    documents = [sample.documents[key] for key in keys[rows].tolist()]
    found = Survey(
        original=np.where(keys > 0, first[speaker[which]], -1),
        has_words=has_words,
        is_near=speaker[which] != which,
        sample=rows,
        written=[written for written, _ in documents],
        cleaned_with_words=[cleaned for _, cleaned in documents if cleaned],
    )
    if (n := int((found.is_original & has_words).sum())) < 2:
        raise InvalidValueError(f"At least 2 different documents with words are needed, got {n}.")
    if len(found.cleaned_with_words) < 2:
        raise InvalidValueError(
            f"The sample of {n_sample:,} documents has fewer than 2 with words; give a larger one (--sample)."
        )
    return found


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
