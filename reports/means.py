"""Means of cells: over the seeds of each split, then over the splits. No other module averages cells."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import pandas as pd

from adbench_text.metrics import ROUNDING
from adbench_text.reports.report import Entry, Kind, figure

#: Column, corpus, level, and inlier class (None for the mean over the splits).
Place = tuple[int, str, float, str | None]
_GROUP = ["column", "corpus", "contamination"]


def means(
    cells: pd.DataFrame, values: pd.Series, n_splits: Mapping[str, int], of_grid: Literal["max", "min", "sum"]
) -> dict[Place, Entry]:
    """Return the mean of each split over its seeds, and of each corpus over its splits, by their places.

    The spread of an entry is the standard deviation over the seeds. An incomplete mean over several splits
    has no spread. An entry has the number of its cells, and the expected number. It expects a cell for each
    configuration, split and seed of the detector. If cells are missing, the entry is incomplete, and its text
    says so.

    Parameters
    ----------
    cells : DataFrame
        Rows of `Cells.table`.
    values : Series
        A value for each cell, NaN if it lacks one.
    n_splits : mapping of str to int
        Number of splits of each corpus.
    of_grid : {"max", "min", "sum"}
        How to reduce the configurations of a grid in a split and seed to one value.
    """
    # row: the inlier class, or None in the mean over the splits
    rows = cells.assign(value=values, row=cells["inlier"], n_splits=1)
    of_columns = rows.groupby(_GROUP)
    rows["n_expected"] = of_columns["n_configurations"].transform("first")
    rows["n_expected"] *= of_columns["seed"].transform("nunique")
    # a mean over the splits is an additional row of each corpus
    of_corpus = rows["corpus"].map(n_splits)
    of_all = rows.assign(row=None, n_splits=of_corpus, n_expected=rows["n_expected"] * of_corpus)
    rows = pd.concat([rows, of_all])
    key = [*_GROUP, "row"]

    def by(table: pd.DataFrame | pd.Series, *names: str) -> Any:
        """Group a table by the key and more columns."""
        return table.groupby([*key, *names], dropna=False)

    # one value for each split and seed, then means over the seeds, and over the splits of a seed
    present = by(rows.dropna(subset="value"), "inlier", "seed")["value"].agg(of_grid)
    splits, seeds = by(present, "inlier").mean(), by(present, "seed").mean()
    summary = by(rows).agg(
        n_cells=("value", "count"),
        is_ok=("is_ok", "all"),
        n_splits=("n_splits", "first"),
        n_expected=("n_expected", "first"),
    )
    summary = summary.assign(value=by(splits).mean(), spread=by(seeds).std()).reset_index()
    return {_place(row): _entry(row) for row in summary.itertuples(index=False)}


def _place(row: Any) -> Place:
    """Return the place of a row of the summary; pandas turns the None of a mean into NaN."""
    return row.column, row.corpus, row.contamination, row.row if isinstance(row.row, str) else None


def _entry(row: Any) -> Entry:
    """Return the figure of a row of the summary, or why it has none."""
    if not row.n_cells:
        kind = Kind.MISSING if row.is_ok else Kind.FAILED  # missing: the cell is older than the metric
        return Entry(kind.name.lower(), kind, n_cells=0, n_expected=int(row.n_expected))
    # means of seeds are comparable only over the same splits
    has_spread = row.spread > 100 * ROUNDING and (row.n_cells == row.n_expected or row.n_splits == 1)
    value, spread = float(row.value), float(row.spread) if has_spread else None
    return replace(figure(value), spread=spread, n_cells=int(row.n_cells), n_expected=int(row.n_expected))
