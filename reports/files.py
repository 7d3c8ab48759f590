"""Cells of others, in files that ``report --format csv`` wrote, beside those of a store."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from adbench_text.escaping import count
from adbench_text.store.cells_file import read_csv


def read_files(paths: Iterable[Path]) -> list[pd.DataFrame]:
    """Return the cells of each file, which is their ``source``; a source that a cell has already stays."""
    tables = []
    for path, label in _labels(list(dict.fromkeys(path.resolve() for path in paths))).items():
        table = read_csv(path)
        before, digest = table["source"], table["dataset_digest"]
        source = before.where(before == "", before + " in ") + label
        # of unknown documents, which are compared with those of no other file
        tables.append(table.assign(source=source, dataset_digest=digest.where(digest != "", label)))
    return tables


def _labels(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the name of each path, with as many of its folders as tell it from the others."""
    labels: dict[Path, str] = {}
    n = 0
    while len(labels) < len(paths):
        n += 1
        ends = {path: "/".join(path.parts[-n:]) for path in paths}
        times = Counter(ends.values())
        labels |= {path: end for path, end in ends.items() if times[end] == 1 and path not in labels}
    return {path: labels[path] for path in paths}


def joined(own: Sequence[pd.DataFrame], others: Sequence[pd.DataFrame]) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of a store and of files, once if several have them, and notes on these."""
    known = {run_id for table in own for run_id in table["run_id"]}
    kept, notes = [], []
    for table in others:
        is_known = table["run_id"].isin(known)
        kept.append(table[~is_known])
        known |= {*table["run_id"]} - {""}
        if is_known.any():
            place = f"{count(is_known.sum())} of {table['source'].iloc[0]}"
            notes.append(f"The store or another file has {place} too; each counts once, as it is there.")
    return pd.concat([*own, *kept], ignore_index=True), notes
