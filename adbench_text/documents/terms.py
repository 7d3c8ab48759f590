"""Read which terms each document has: its words, without digits and the names of months and days."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from adbench_text.contract.cleaner import Cleaner
from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import Chunk, Rows, cleaned_by, in_chunks, results_of
from adbench_text.documents.found_languages import FoundLanguages
from adbench_text.text.calendar_names import calendar_names
from adbench_text.text.copies import N_HASHES, sketches
from adbench_text.text.language_finder import AUTO
from adbench_text.text.languages import standard
from adbench_text.text.terms import terms_of
from adbench_text.text.words import text_key

_IN_PAIRS = "ja", "yue", "zh"  # a frequent character between two others must not make them neighbours


class _TermsOfChunk(NamedTuple):
    """The terms of some documents, and what finds their copies."""

    keys: NDArray[np.uint64]  # of their words; 0 without words
    sketches: NDArray[np.uint8]
    has_term: "csr_array[Any]"  # of shape (n_documents, n_terms): ones
    terms: list[str]


class Terms(NamedTuple):
    """The terms of all documents, and what finds their copies."""

    keys: NDArray[np.uint64]  # of their words; 0 without words
    sketches: NDArray[np.uint8]  # MinHash: of shape (n_documents, N_HASHES)
    has_term: "csr_array[Any]"  # of shape (n_documents, n_terms): ones
    terms: list[str]
    cleaners: list[Cleaner]
    cleaner_of: Rows | None  # the number of the cleaner of each document; None for the first one
    languages: Mapping[str, float]  # shares of the detected languages; empty if the language was given


@dataclass(frozen=True)
class _Reader:
    """Reads documents. It may run in a worker process."""

    cleaners: Sequence[Cleaner]

    def __call__(self, chunk: Chunk) -> _TermsOfChunk:
        """Return the terms of a chunk of documents; its numbers are the numbers of their cleaners."""
        cleaned = cleaned_by(self.cleaners, chunk.texts, chunk.numbers)
        number_of: dict[str, int] = {}
        of_texts = [
            sorted({number_of.setdefault(term, len(number_of)) for term in terms_of(text)})
            for text in cleaned
        ]
        ends = np.cumsum([0, *map(len, of_texts)])
        columns = np.fromiter(chain.from_iterable(of_texts), np.int32, ends[-1])
        ones = np.ones(len(columns), np.float32)
        has_term = csr_array((ones, columns, ends), shape=(len(cleaned), len(number_of)))
        keys = np.array([text_key(text) if text.strip() else 0 for text in cleaned], dtype=np.uint64)
        return _TermsOfChunk(keys, sketches(cleaned), has_term, [*number_of])


def read_terms(
    texts: Callable[[], Iterable[str]], language: str, jobs: int | str, progress: OnProgress
) -> Terms:
    """Read all documents; `texts` returns them. Names of months and days are no terms."""
    if language == AUTO:
        detected = FoundLanguages.of(in_chunks(texts()), jobs, progress)
        languages, numbers = detected.apart, detected.numbers(detected.apart)
        shares = detected.shares(detected.language)
    else:
        languages, numbers, shares = [standard(language)], None, dict[str, float]()
    cleaners = [Cleaner(language, all_words=language in _IN_PAIRS) for language in languages]
    reader = _Reader(cleaners)
    left_out = frozenset(chain.from_iterable(map(calendar_names, languages)))
    number_of: dict[str, int] = {}
    keys, of_copies, matrices, n_done = bytearray(), bytearray(), list[Any](), 0
    with closing(results_of(reader, in_chunks(texts(), numbers), jobs)) as chunks:
        for chunk in chunks:
            is_term = np.array([term not in left_out for term in chunk.terms], dtype=np.bool_)
            terms = [term for term in chunk.terms if term not in left_out]
            places = np.array([number_of.setdefault(term, len(number_of)) for term in terms], dtype=np.int32)
            matrix = chunk.has_term[:, is_term]
            entries = matrix.data, places[matrix.indices], matrix.indptr
            matrices.append(csr_array(entries, shape=(len(chunk.keys), len(number_of))))
            keys += chunk.keys.tobytes()
            of_copies += chunk.sketches.tobytes()
            n_done += len(chunk.keys)
            progress("reading", n_done, None)
    for matrix in matrices:
        matrix.resize(matrix.shape[0], len(number_of))
    return Terms(
        keys=np.frombuffer(keys, dtype=np.uint64),
        sketches=np.frombuffer(of_copies, dtype=np.uint8).reshape(-1, N_HASHES),
        has_term=stacked(matrices, len(number_of)),
        terms=[*number_of],
        cleaners=cleaners,
        cleaner_of=numbers,
        languages=shares,
    )


def evidence_of(words: Sequence[str], scores: Mapping[str, float]) -> list[float]:
    """Return the largest evidence among the terms that each word of a document is in."""
    evidence = [max(scores.get(term, 0.0) for term in [word, *terms_of(word)]) for word in words]
    for place, pair in enumerate(map("".join, pairwise(words))):
        if len(pair) == 2:  # Chinese characters
            evidence[place : place + 2] = [
                max(score, scores.get(pair, 0.0)) for score in evidence[place : place + 2]
            ]
    return evidence


def stacked(matrices: Sequence[Any], n_columns: int) -> "csr_array[Any]":
    """Return matrices below each other; without any, a matrix without rows."""
    empty = csr_array((0, n_columns), dtype=np.float32)
    below: csr_array[Any] = csr_array(vstack([empty, *matrices], format="csr"))
    return below
