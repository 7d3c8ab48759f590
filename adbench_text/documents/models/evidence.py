"""What new documents show of drift: an entry for each different new text, and families of near-copies."""

from array import array
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import Family
from adbench_text.text.copies import N_HASHES, OF_MODEL, Sketches, families

_MOST_NAMED = 20_000  # different new texts whose beginning is kept
BEGINNING = 60  # characters
_LEAST_FAMILY = 3  # documents
_MOST_OF_KNOWN = 1  # documents like a new family in the file of the model


class Wave(NamedTuple):
    """What the families of new documents come to."""

    p: NDArray[np.float64]  # the deciding one of the first of each family without a document of the model
    largest: int  # number of new documents of the largest family
    named: list[Family]  # new ones, the largest first


class Evidence:
    """Different new texts in the order in which they came; about 300 bytes of each are kept."""

    def __init__(self) -> None:
        self.n_documents = 0  # also those that are no evidence
        self._indices: dict[int, int] = {}  # by key
        self._p, self._times, self._rows = array("d"), array("Q"), array("Q")
        self._sketches = bytearray()
        self._named: list[tuple[str, str]] = []

    def __len__(self) -> int:
        return len(self._p)

    def add(self, table: pd.DataFrame, p_name: str) -> None:
        """Add documents of a table of `Scorer.score`, which may have columns ``id`` and ``text``."""
        is_new = (table["key"].notna() & table[p_name].notna()).to_numpy()
        new, rows = table[is_new], np.flatnonzero(is_new) + self.n_documents
        self.n_documents += len(table)
        names = [new[name] if name in new else [""] * len(new) for name in ("id", "text")]
        found = zip(
            new["key"].tolist(), new[p_name].tolist(), new["sketch"], rows.tolist(), *names, strict=True
        )
        for key, p, sketch, row, name, text in found:
            index = self._indices.setdefault(key, len(self._p))
            if index < len(self._p):
                self._times[index] += 1
                continue
            self._p.append(p)
            self._times.append(1)
            self._rows.append(row)
            self._sketches += sketch
            if len(self._named) < _MOST_NAMED:
                self._named.append((name, text[:BEGINNING]))

    def wave(self, known: Sketches, sizes: NDArray[np.int64]) -> Wave:
        """Return what the families come to, given the sketches and sizes of those of the model."""
        own = np.frombuffer(self._sketches, dtype=np.uint8).reshape(-1, N_HASHES)
        speaker = families(np.concatenate([known, own]), OF_MODEL)
        of_new = speaker[len(known) :]
        n_new = np.bincount(of_new, self._times, minlength=len(speaker)).astype(np.int64)
        n_known = np.bincount(speaker[: len(known)], sizes, minlength=len(speaker))
        is_named = (n_new >= _LEAST_FAMILY) & (n_known <= _MOST_OF_KNOWN)
        members, indices = np.unique(of_new, return_index=True)
        named = [
            self._family(index, n_new[each])
            for each, index in zip(members.tolist(), indices.tolist(), strict=True)
            if is_named[each]
        ]
        is_first = of_new == np.arange(len(known), len(speaker))
        p = np.frombuffer(self._p, dtype=np.float64)[is_first]
        return Wave(p, int(n_new.max(initial=0)), sorted(named, key=lambda family: -family.n_documents))

    def _family(self, index: int, n_documents: int) -> Family:
        name, text = self._named[index] if index < len(self._named) else ("", "")
        return Family(int(n_documents), name, text, self._rows[index])
