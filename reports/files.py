"""Cells of others, in files that ``report --format csv`` wrote, beside those of a store."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from adbench_text.escaping import count
from adbench_text.store.cells_file import read_csv


def read_files(paths: Iterable[Path]) -> list[pd.DataFrame]:
    """Return the cells of each file, which is their ``source``; a source that a cell has already stays."""
    different = list(dict.fromkeys(path.resolve() for path in paths))
    names = [path.name for path in different]
    tables = []
    for path in different:
        label = path.name if names.count(path.name) == 1 else f"{path.parent.name}/{path.name}"
        table = read_csv(path)
        before = table["source"]
        tables.append(table.assign(source=before.where(before == "", before + " in ") + label))
    return tables


def joined(own: Sequence[pd.DataFrame], others: Sequence[pd.DataFrame]) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of a store and of files, once if both have them, and a note on these."""
    known = {run_id for table in own for run_id in table["run_id"]}
    kept, notes = [], []
    for table in others:
        is_known = table["run_id"].isin(known)
        kept.append(table[~is_known])
        if is_known.any():
            source = table["source"].iloc[0]
            notes.append(f"The store has {count(is_known.sum())} of {source} too; each counts once.")
    return pd.concat([*own, *kept], ignore_index=True), notes
