"""Cells from other sources than a store: published results, and files that ``report --format csv`` wrote."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import pandas as pd

from adbench_text.errors import UnknownNameError
from adbench_text.escaping import count
from adbench_text.metrics import MAIN, ROUNDING
from adbench_text.store.cells_file import read_csv

#: The sweeps with published results of this project, by name.
MEASURED = {path.stem: path for path in sorted(Path(__file__).with_name("results").glob("*.csv"))}


def read_given(names: Iterable[str]) -> list[pd.DataFrame]:
    """Return the cells of each sweep or file that a user names, the sweeps first."""
    given = list(dict.fromkeys(names))
    sweeps = [name for name in given if name in MEASURED]
    paths = [Path(name) for name in given if name not in sweeps]
    for path in paths:
        if not path.suffix and not path.exists():
            raise UnknownNameError("measured sweep or file of cells", str(path), MEASURED)
    return [*(_labelled(MEASURED[name], name) for name in sweeps), *read_files(paths, sweeps)]


def read_files(paths: Iterable[Path], taken: Collection[str] = ()) -> list[pd.DataFrame]:
    """Return the cells of each file.

    The file is their ``source``, and an older source stays part of the name. No source gets a name in
    `taken`.
    """
    # the pipe of <(command) in a shell cannot be resolved
    resolved = dict.fromkeys(path if path.is_fifo() else path.resolve() for path in paths)
    labels = _labels(list(resolved), taken)
    return [_labelled(path, label) for path, label in labels.items()]


def _labelled(path: Path, label: str) -> pd.DataFrame:
    """Return the cells of a file, the newest last; their source is `label`, or "older source in `label`"."""
    table = read_csv(path).sort_values("started", kind="stable", na_position="first", ignore_index=True)
    older, digest = table["source"], table["dataset_digest"]
    source = (older + " in " + label).where(older != "", label)
    # without a digest the documents are unknown: the label keeps them apart from other files
    return table.assign(source=source, dataset_digest=digest.where(digest != "", label))


def _labels(paths: Sequence[Path], taken: Collection[str]) -> dict[Path, str]:
    """Return a unique name for each path, with as few of its folders as possible."""
    labels: dict[Path, str] = {}
    for n_parts in range(1, 1 + max((len(path.parts) for path in paths), default=0)):
        ends = {path: "/".join(path.parts[-n_parts:]) for path in paths}
        times = Counter(ends.values())
        is_free = {path: times[end] == 1 and end not in taken for path, end in ends.items()}
        labels |= {path: end for path, end in ends.items() if is_free[path] and path not in labels}
    return {path: labels.get(path, str(path)) for path in paths}


def _figures(table: pd.DataFrame) -> dict[str, float]:
    """Return the main figure of each run with an identifier."""
    named = table[table["run_id"] != ""]
    return dict(zip(named["run_id"], named[MAIN.name], strict=True))


def joined(own: Sequence[pd.DataFrame], others: Sequence[pd.DataFrame]) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of a store and of files, without repeated runs, and notes on the repeated ones."""
    known: dict[str, float] = {}  # the main figure of each run
    for table in own:
        known |= _figures(table)
    not_repeated, notes = [], []
    for table in others:
        is_known = table["run_id"].isin(known)
        not_repeated.append(table[~is_known])
        figures = _figures(table)
        differences = [abs(known[run] - figure) for run, figure in figures.items() if run in known]
        apart = [difference for difference in differences if difference > ROUNDING]
        known = figures | known  # the first source of a run counts
        if is_known.any():
            place = f"{count(is_known.sum())} of {table['source'].iloc[0]}"
            differ = f" {len(apart):,} differ, by up to {100 * max(apart):.3g} points." if apart else ""
            notes.append(f"Counted once: {place}, which the store or another file also has.{differ}")
    return pd.concat([*own, *not_repeated], ignore_index=True), notes
