"""A first look at all documents: which of them are different, and a sample to learn from.

Documents are read once, a chunk at a time, and are not kept. The key of a document is a seeded digest of its
words; the sample holds the documents with the smallest keys. So it depends neither on the order of the
documents nor on copies. Of each family of near-copies, the document with the smallest key is the
representative, or the shortest one: only it can be in the sample.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.checks import Whole
from adbench_text.contract.cleaner import Cleaner
from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.text.copies import N_HASHES, SHARED, families, sketches
from adbench_text.text.words import text_key

_WITHOUT_WORDS, _AS_WRITTEN = b"without words", b"as written"


class ChunkFacts(NamedTuple):
    """What is kept of a chunk of documents after a first look."""

    keys: NDArray[np.uint64]  # 0 for an empty document
    raw_keys: NDArray[np.uint64]  # of the documents as they were written; likewise
    has_words: NDArray[np.bool_]
    sketches: NDArray[np.uint8]
    lengths: NDArray[np.uint32]  # characters of the cleaned documents
    sampled: dict[int, tuple[str, str]]  # candidates for the sample: key -> raw text, cleaned text
    sampled_forms: dict[int, str]  # and for that of form: raw key -> raw text


@dataclass(frozen=True)
class Surveyor:
    """Takes a first look at a chunk of documents; it may run in a worker process."""

    cleaner: Cleaner
    seed: int
    with_sketches: bool  # whether near-copies are known; if not, each document has a form of its own

    def __call__(self, chunk: tuple[int, int, Sequence[str]]) -> ChunkFacts:
        """Return what is kept of a chunk: the largest keys of the two samples, and the texts."""
        largest, largest_form, texts = chunk
        cleaned = [text if text and not text.isspace() else "" for text in map(self.cleaner, texts)]
        pairs = list(zip(texts, cleaned, strict=True))
        keys = [self._key(own) if own else self._key(text.strip(), _WITHOUT_WORDS) for text, own in pairs]
        raw_keys = list(map(self._raw_key, texts, cleaned, keys))
        forms = {} if self.with_sketches else dict(zip(raw_keys[::-1], texts[::-1], strict=True))
        return ChunkFacts(
            np.array(keys, dtype=np.uint64),
            np.array(raw_keys, dtype=np.uint64),
            np.array([bool(own) for own in cleaned]),
            sketches(cleaned) if self.with_sketches else np.empty((0, N_HASHES), dtype=np.uint8),
            np.array(list(map(len, cleaned)), dtype=np.uint32),
            # reversed, so that of several copies the first one is kept
            {key: pair for key, pair in zip(keys[::-1], pairs[::-1], strict=True) if 0 < key <= largest},
            {key: text for key, text in forms.items() if 0 < key <= largest_form},
        )

    def _raw_key(self, text: str, cleaned: str, key: int) -> int:
        """Return the key of a document as it was written, given that of its words."""
        is_written_so = self.cleaner.language is None or not cleaned or cleaned == text
        return key if is_written_so else self._key(text.strip(), _AS_WRITTEN)

    def _key(self, text: str, kind: bytes = b"") -> int:
        return text_key(text, kind, self.seed) if text else 0


@dataclass(frozen=True)
class Survey:
    """What is known of all documents after a first look; a document is identified by its row, from 0 on.

    An original is a document that is scored. No two originals are equal: those with words differ after
    cleaning; those without words, such as a line of digits, differ as they were written.
    """

    original: NDArray[np.int64]  # of each row: the row of the document that is scored for it; -1 if empty
    # likewise, whose form is scored: of the first one that was written so, or `original`
    of_form: NDArray[np.int64]
    is_duplicate: NDArray[np.bool_]  # whether a document was written as an earlier one was
    has_words: NDArray[np.bool_]
    is_near: NDArray[np.bool_]  # whether a document is a near-copy of the one that is scored
    # documents to learn from, `raw` and `cleaned`, by row: with words, then the others; in the order
    # of their keys, so that the order of the file changes nothing that is learned
    sample: pd.DataFrame
    form_sample: "pd.Series[str]"  # likewise, whose form is learned, as they were written
    # of the families that are in the sample or have several documents: of what represents them, the number
    sketches: NDArray[np.uint8]  # none if near-copies are not known
    sizes: NDArray[np.int64]

    @property
    def is_original(self) -> NDArray[np.bool_]:
        """Whether each document is scored."""
        is_original: NDArray[np.bool_] = self.original == np.arange(len(self.original))
        return is_original

    @property
    def cleaned(self) -> pd.Series:
        """The documents of the sample that have words, cleaned."""
        return self.sample["cleaned"][self.has_words[self.sample.index]]

    @property
    def raw(self) -> pd.Series:
        """The same documents, as they were written."""
        return self.sample["raw"][self.has_words[self.sample.index]]

    @property
    def n_same_words(self) -> int:
        """Number of documents with the words of an earlier one that was written otherwise."""
        is_copy = (self.original >= 0) & ~self.is_original & ~self.is_near
        return int((is_copy & ~self.is_duplicate).sum())

    @property
    def has_own_forms(self) -> bool:
        """Whether documents with the same words are scored by their form each."""
        return bool((self.of_form != self.original).any())

    def rest_of_form(self) -> NDArray[np.int64]:
        """Return the documents outside the sample of form, in order, whose form is scored."""
        is_rest: NDArray[np.bool_] = self.of_form == np.arange(len(self.of_form))
        is_rest[self.form_sample.index] = False
        return np.flatnonzero(is_rest)

    def rest(self, *, with_words: bool) -> NDArray[np.int64]:
        """Return the originals outside the sample, in order: all, or those with words."""
        is_rest = self.is_original & self.has_words if with_words else self.is_original
        is_rest[self.sample.index] = False
        return np.flatnonzero(is_rest)


class _Candidates:
    """What is kept of the documents with the smallest keys."""

    def __init__(self, n_sample: int) -> None:
        self._n = n_sample
        self.kept: dict[int, Any] = {}
        self.largest = 2**64 - 1  # key that may be in the sample

    def add(self, sampled: Mapping[int, Any]) -> None:
        """Add documents; the first one with a key is kept."""
        for key, document in sampled.items():
            self.kept.setdefault(key, document)
        if len(self.kept) >= 2 * self._n:
            self.cut()

    def cut(self) -> None:
        """Keep the documents with the smallest keys."""
        if len(self.kept) > self._n:
            self.kept = dict(sorted(self.kept.items())[: self._n])
            self.largest = max(self.kept)


def survey(
    texts: Iterable[str],
    surveyor: Surveyor,
    n_sample: int,
    jobs: int | str,
    progress: OnProgress,
    *,
    shared: float = SHARED,
    shortest: bool = False,
) -> Survey:
    """Look at documents once.

    `shared` is the least similarity of near-copies. With `shortest`, the shortest document represents a
    family, without what was added to its near-copies.
    """
    Whole(2).check("sample", n_sample)
    candidates, forms = _Candidates(n_sample), _Candidates(n_sample)
    key_bytes, raw_bytes, word_bytes = bytearray(), bytearray(), bytearray()
    sketch_bytes, length_bytes = bytearray(), bytearray()
    chunks = ((candidates.largest, forms.largest, chunk) for chunk in in_chunks(texts))
    with closing(results_of(surveyor, chunks, jobs)) as surveyed:
        for facts in surveyed:
            key_bytes += facts.keys.tobytes()
            raw_bytes += facts.raw_keys.tobytes()
            word_bytes += facts.has_words.tobytes()  # one byte per document
            sketch_bytes += facts.sketches.tobytes()
            length_bytes += facts.lengths.tobytes()
            candidates.add(facts.sampled)
            forms.add(facts.sampled_forms)
            progress("reading", len(word_bytes), None)
    candidates.cut()
    forms.cut()
    keys, has_words = np.frombuffer(key_bytes, dtype=np.uint64), np.frombuffer(word_bytes, dtype=np.bool_)
    all_sketches = np.frombuffer(sketch_bytes, dtype=np.uint8).reshape(-1, N_HASHES)
    different, first, which = np.unique(keys, return_index=True, return_inverse=True)
    leader = np.arange(len(different))
    if len(all_sketches):  # the first in order represents a family
        lengths = np.frombuffer(length_bytes, dtype=np.uint32)[first] if shortest else leader
        order = np.argsort(lengths, kind="stable")
        leader[order] = order[families(all_sketches[first[order]], shared)]
    is_sampled = (leader == np.arange(len(different))) & (different > 0) & (different <= candidates.largest)
    sizes = np.bincount(leader[which], minlength=len(different)) * (different > 0)
    is_kept = (sizes > 1) | is_sampled if len(all_sketches) else np.zeros_like(is_sampled)
    rows = first[is_sampled]
    rows = rows[np.argsort(~has_words[rows], kind="stable")]
    documents = [candidates.kept[key] for key in keys[rows].tolist()]
    sample = pd.DataFrame(documents, rows, ["raw", "cleaned"], dtype=object)
    original, is_near = np.where(keys > 0, first[leader[which]], -1), leader[which] != which
    raw_keys = np.frombuffer(raw_bytes, dtype=np.uint64)
    written, rows_written, which_written = np.unique(raw_keys, return_index=True, return_inverse=True)
    first_written = rows_written[which_written]
    of_form, form_sample = np.where(keys > 0, first_written, -1), sample["raw"]
    if surveyor.with_sketches or (of_form == original).all():
        of_form = original
    else:
        rows = rows_written[(written > 0) & (written <= forms.largest)]
        form_sample = pd.Series([forms.kept[key] for key in raw_keys[rows].tolist()], rows, dtype=object)
    return Survey(
        original=original,
        of_form=of_form,
        is_duplicate=(first_written != np.arange(len(keys))) & ~is_near & (keys > 0),
        has_words=has_words,
        is_near=is_near,
        sample=sample,
        form_sample=form_sample,
        sketches=all_sketches[first[is_kept]] if len(all_sketches) else all_sketches,
        sizes=sizes[is_kept],
    )
