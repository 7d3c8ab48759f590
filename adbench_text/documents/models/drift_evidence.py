"""Evidence of drift in new documents: p-values and words of different texts, and families of near-copies."""

from array import array
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import Family, GrownWords, p_of_families
from adbench_text.documents.models.grown_words import KnownWords, NewWords
from adbench_text.text.copies import N_HASHES, OF_MODEL, Sketches, families

_MOST_NAMED = 20_000  # number of different texts whose beginning is kept
BEGINNING = 60  # characters of a text that names a family
_LEAST_FAMILY = 3  # documents
# Least similarity within a family. At 0.7, copies of 20 words with two words changed form several families.
# On Reuters and AG News, 93 % of waves of 7 % were detected at 0.7, and all at 0.5.
_OF_FAMILY = 0.5


class KnownFamilies(NamedTuple):
    """The families of the documents that a model was fitted on."""

    sketches: Sketches
    sizes: NDArray[np.int64]
    n_documents: int  # number of documents with words; 0 for older models, which do not know it
    share: float  # share of the different documents whose words the model knows; 1 without a sample

    @property
    def has_all_words(self) -> bool:
        """Whether the model knows the words of all documents, not only of a sample."""
        return self.share >= 1


class Wave(NamedTuple):
    """Counts and p-values of the families of new documents."""

    p: NDArray[np.float64]  # deciding p of one document for each family that the model does not know
    families: list[Family]  # families that are new or a sign of drift: signs first, then by size
    grown: list[GrownWords]  # words that more families have than in the model


class DriftEvidence:
    """Different new texts, in the order of the input.

    It keeps about 300 bytes of each text, and 4 bytes of each word of a text.
    """

    def __init__(self) -> None:
        self.n_documents = 0  # all documents, with or without evidence
        self._n_judged = 0  # documents with a deciding p
        self._indices: dict[int | bytes, int] = {}  # by key; by sketch if the model knows the text
        self._p, self._times, self._rows = array("d"), array("Q"), array("Q")  # p is NaN of a known text
        self._sketches = bytearray()
        self._named: list[tuple[str, str]] = []
        self._words, self._places = NewWords(), array("q")  # for each text: its place in the words
        self._short: dict[
            tuple[str, ...], int
        ] = {}  # the same for known texts that are too short for a sketch

    @property
    def n_empty(self) -> int:
        """Number of documents without a p that decides."""
        return self.n_documents - self._n_judged

    def __len__(self) -> int:
        """Return the number of different texts that the model does not know."""
        return int(np.isfinite(np.asarray(self._p)).sum())

    def add(self, table: pd.DataFrame, p_name: str) -> None:
        """Add documents of a table of `Scorer.score`, which may have the columns ``id`` and ``text``.

        `p_name` is the column of the p that decides. Copies have one entry, which counts them.
        """
        has_p = table[p_name].notna()
        # a text that the model knows has no key; without a sketch, nothing tells it from other known texts
        is_entry = (has_p & (table["key"].notna() | table["sketch"].map(any))).to_numpy()
        for terms in table["terms"][~is_entry & table["terms"].map(bool)]:
            if tuple(terms) not in self._short:
                self._short[tuple(terms)] = self._words.add(terms)
        entries, rows = table[is_entry], np.flatnonzero(is_entry) + self.n_documents
        self.n_documents += len(table)
        self._n_judged += int(has_p.sum())
        names = [entries[name] if name in entries else [""] * len(entries) for name in ("id", "text")]
        is_new = entries["key"].notna()
        keys = entries["key"].astype(object).where(is_new, entries["sketch"])
        p = entries[p_name].where(is_new)  # NaN if the model knows the text
        facts = keys, p.tolist(), entries["sketch"], rows.tolist(), entries["terms"]
        for key, p_of_text, sketch, row, terms, name, text in zip(*facts, *names, strict=True):
            index = self._indices.setdefault(key, len(self._p))
            if index < len(self._p):  # a copy came before
                self._times[index] += 1
                continue
            self._p.append(p_of_text)
            self._times.append(1)
            self._rows.append(row)
            self._sketches += sketch
            self._places.append(self._words.add(terms))
            if len(self._named) < _MOST_NAMED:
                self._named.append((name, text[:BEGINNING]))

    def wave(self, known: KnownFamilies, words: KnownWords | None = None) -> Wave:
        """Return the evidence that new documents differ from the model: p-values, families and words.

        Near-copies count once for the p-values and the words. `_families` joins texts that differ more.
        """
        of_new = np.frombuffer(self._sketches, dtype=np.uint8).reshape(-1, N_HASHES)
        sketches = np.concatenate([known.sketches, of_new])
        representative = families(sketches, OF_MODEL)
        is_representative = (representative == np.arange(len(representative)))[len(known.sketches) :]
        p = np.array(self._p)[is_representative]
        grown = [] if words is None else self._grown(representative, known, words)
        return Wave(p[np.isfinite(p)], self._families(sketches, known), grown)

    def _grown(
        self, representative: NDArray[np.int64], known: KnownFamilies, words: KnownWords
    ) -> list[GrownWords]:
        """Return the words that have grown, given the representatives of the model's and of the new texts."""
        of_model, of_new = np.split(representative, [len(known.sketches)])
        n_words, places = self._words.n_words, np.array(self._places)
        # as in the model, the shortest text of a family counts
        order = np.lexsort((n_words[places], of_new))
        first = order[np.unique(of_new[order], return_index=True)[1]]
        family = of_new[first]

        def in_families(counts: NDArray[Any], of_texts: NDArray[np.int64]) -> NDArray[Any]:
            return np.bincount(of_texts, counts, minlength=len(representative))[family]

        n = in_families(np.array(self._times), of_new)
        n_of_model = in_families(known.sizes, of_model)
        # a known text that is no family of the model is a document outside its sample
        is_known = in_families(np.isnan(np.array(self._p)), of_new) > 0
        new, counted = np.zeros((2, len(n_words)))
        new[places[first]] = n / (n + np.maximum(n_of_model, is_known))
        counted[places[first]] = np.where(n_of_model > 0, known.share, 0.0)
        short = [*self._short.values()]  # how often the model has each of them is not known
        new[short], counted[short] = self._n_judged / (self._n_judged + known.n_documents), known.share
        index_of = dict(zip(places.tolist(), range(len(places)), strict=True))
        found = self._words.grown(words, new, counted)
        return [
            GrownWords(*each[:4], *self._name(index_of[place])) if place in index_of else each
            for place, each in found
        ]

    def _families(self, sketches: Sketches, known: KnownFamilies) -> list[Family]:
        """Return the families that are new or a sign, given the sketches of the model, then of new texts."""
        representative = families(sketches, _OF_FAMILY)
        of_model, of_new = np.split(representative, [len(known.sketches)])
        family, first, number = np.unique(of_new, return_index=True, return_inverse=True)

        def summed(counts: NDArray[Any]) -> NDArray[np.int64]:
            return np.bincount(number, counts, minlength=len(family)).astype(np.int64)

        times, is_new = np.array(self._times, dtype=np.int64), np.isfinite(np.array(self._p))
        n, n_new = summed(times), summed(times * is_new)
        # the size of each family in the model, by its representative
        size = np.bincount(of_model, known.sizes, minlength=len(representative)).astype(np.int64)
        # a known text may differ from the representative of its family in the model
        n_known = np.where(size[family] > 0, size[family], summed(~is_new))
        if not known.has_all_words:  # a short text has no sketch, so it may be a copy of any short text
            is_short = np.asarray(~sketches.any(axis=1), dtype=np.bool_)
            n_known[is_short[family]] = known.sizes[is_short[: len(of_model)]].sum()
        totals = np.concatenate([n + n_known, np.delete(size, family)])
        large = np.flatnonzero(n >= _LEAST_FAMILY)
        p = p_of_families(
            n[large], n_known[large], totals[totals >= _LEAST_FAMILY], self._n_judged, known.n_documents
        )
        found = [
            Family(int(n[place]), int(n_known[place]), of_family, *self._name(first[place]))
            for place, of_family in zip(large, p.tolist(), strict=True)
        ]
        has_new = (n_new[large] >= _LEAST_FAMILY).tolist()  # whether enough texts are unknown to the model
        pairs = zip(found, has_new, strict=True)
        shown = [family for family, is_large in pairs if family.is_sign or (family.is_new and is_large)]
        return sorted(shown, key=lambda family: (not family.is_sign, -family.n_documents))

    def _name(self, index: int) -> tuple[str, str, int]:
        """Return the identifier and the beginning of a text (empty if not kept), and its row."""
        return *(self._named[index] if index < len(self._named) else ("", "")), self._rows[index]
