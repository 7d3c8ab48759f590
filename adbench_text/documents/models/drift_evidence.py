"""What new documents show of drift: an entry for each different text, and families of near-copies."""

from array import array
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import Family, p_of_families
from adbench_text.text.copies import N_HASHES, OF_MODEL, Sketches, families

_MOST_NAMED = 20_000  # different texts whose beginning is kept
BEGINNING = 60  # characters
_LEAST_FAMILY = 3  # documents
# Least similarity of a family. At 0.7, copies of 20 words with two other ones are several families: of waves
# of 7 % on Reuters and AG News, 93 % were heard; at 0.5 all.
_OF_FAMILY = 0.5


class KnownFamilies(NamedTuple):
    """The families of the documents that a model was fitted on."""

    sketches: Sketches
    sizes: NDArray[np.int64]
    n_documents: int  # with words; 0 if that is not known, as of older models
    has_all_words: bool  # whether the model knows the words of all, and not of a sample


class Wave(NamedTuple):
    """What the families of new documents come to."""

    p: NDArray[np.float64]  # the deciding one of the first of each family without a document of the model
    families: list[Family]  # those that are new or a sign, the largest first


class DriftEvidence:
    """Different texts in the order in which they came; about 300 bytes of each are kept."""

    def __init__(self) -> None:
        self.n_documents = 0  # also those that are no evidence
        self._n_judged = 0  # documents that are not empty
        self._indices: dict[int | bytes, int] = {}  # by key; by sketch if the model knows the text
        self._p, self._times, self._rows = array("d"), array("Q"), array("Q")  # p is NaN of a known text
        self._sketches = bytearray()
        self._named: list[tuple[str, str]] = []

    def __len__(self) -> int:
        """Return the number of different texts that the model does not know."""
        return int(np.isfinite(np.asarray(self._p)).sum())

    def add(self, table: pd.DataFrame, p_name: str) -> None:
        """Add documents of a table of `Scorer.score`, which may have columns ``id`` and ``text``."""
        has_p = table[p_name].notna()
        # a known text without a sketch cannot be told from others
        is_entry = (has_p & (table["key"].notna() | table["sketch"].map(any))).to_numpy()
        entries, rows = table[is_entry], np.flatnonzero(is_entry) + self.n_documents
        self.n_documents += len(table)
        self._n_judged += int(has_p.sum())
        names = [entries[name] if name in entries else [""] * len(entries) for name in ("id", "text")]
        is_new = entries["key"].notna()
        keys = entries["key"].astype(object).where(is_new, entries["sketch"])
        p = entries[p_name].where(is_new)
        found = zip(keys, p.tolist(), entries["sketch"], rows.tolist(), *names, strict=True)
        for key, of_text, sketch, row, name, text in found:
            index = self._indices.setdefault(key, len(self._p))
            if index < len(self._p):
                self._times[index] += 1
                continue
            self._p.append(of_text)
            self._times.append(1)
            self._rows.append(row)
            self._sketches += sketch
            if len(self._named) < _MOST_NAMED:
                self._named.append((name, text[:BEGINNING]))

    def wave(self, known: KnownFamilies) -> Wave:
        """Compare the families of new documents with the families of the model."""
        own, n_of_model = np.frombuffer(self._sketches, dtype=np.uint8), len(known.sketches)
        sketches = np.concatenate([known.sketches, own.reshape(-1, N_HASHES)])
        speaker = families(sketches, OF_MODEL)
        is_first = (speaker == np.arange(len(speaker)))[n_of_model:]
        p = np.array(self._p)[is_first]
        return Wave(p[np.isfinite(p)], self._families(sketches, known))

    def _families(self, sketches: Sketches, known: KnownFamilies) -> list[Family]:
        """Return the families that are new or a sign, given the sketches of the model and then of these."""
        speaker, n_sketches = families(sketches, _OF_FAMILY), len(known.sketches)
        members, first, which = np.unique(speaker[n_sketches:], return_index=True, return_inverse=True)

        def summed(counts: NDArray[Any]) -> NDArray[np.int64]:
            return np.bincount(which, counts, minlength=len(members)).astype(np.int64)

        times, is_new = np.array(self._times, dtype=np.int64), np.isfinite(np.array(self._p))
        n, n_new = summed(times), summed(times * is_new)
        of_model = np.bincount(speaker[:n_sketches], known.sizes, minlength=len(speaker)).astype(np.int64)
        # a known text may be unlike the one that speaks for its family in the model
        n_known = np.where(of_model[members] > 0, of_model[members], summed(~is_new))
        if not known.has_all_words:  # a text of few words, which has no sketch, may be a copy of any other
            is_short = np.asarray(~sketches.any(axis=1), dtype=np.bool_)
            n_known[is_short[members]] = known.sizes[is_short[:n_sketches]].sum()
        totals = np.concatenate([n + n_known, np.delete(of_model, members)])
        large = np.flatnonzero(n >= _LEAST_FAMILY)
        p = p_of_families(
            n[large], n_known[large], totals[totals >= _LEAST_FAMILY], self._n_judged, known.n_documents
        )
        found = [
            Family(int(n[place]), int(n_known[place]), of_family, *self._name(first[place]))
            for place, of_family in zip(large, p.tolist(), strict=True)
        ]
        has_new = (n_new[large] >= _LEAST_FAMILY).tolist()  # and not only what the model knows
        pairs = zip(found, has_new, strict=True)
        shown = [family for family, is_large in pairs if family.is_sign or (family.is_new and is_large)]
        return sorted(shown, key=lambda family: (not family.is_sign, -family.n_documents))

    def _name(self, index: int) -> tuple[str, str, int]:
        """Return the identifier and the beginning of a text, empty if they were not kept, and its row."""
        return *(self._named[index] if index < len(self._named) else ("", "")), self._rows[index]
