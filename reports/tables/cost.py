"""Seconds, documents per second, memory."""

from collections.abc import Iterator

import pandas as pd

from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import NONE, Entry, Table, figure, significant
from adbench_text.sweep.cell import percent


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the cost of each detector on each corpus; a grid costs the sum over its configurations."""

    def rows(corpus: Corpus) -> list[list[Entry]]:
        rows = []
        for column in comparison.columns:
            of_cells = corpus.finished(column)
            # the finished cells, also those that lack the metric because they are older
            n, n_expected = len(of_cells), corpus.entry(column).n_expected
            label = column.label + ("" if n == n_expected else f" ({n} of {n_expected})")
            rows += [[Entry(label), *_costs(of_cells)]] if n else []
        return rows

    title = (
        f"Cost of a split, mean over the splits, {percent(comparison.lowest)} of outliers in the training "
        "data; peak memory is the maximum"
    )
    header = ["detector", "fit (s)", "score (s)", "documents/s scored", "peak memory (GB)"]
    yield comparison.table(title, header, lambda corpus: [rows(corpus)])


def _costs(of_cells: pd.DataFrame) -> list[Entry]:
    n_splits = len(of_cells[["inlier", "seed"]].drop_duplicates())
    fit, score, n_test = of_cells[["fit_seconds", "score_seconds", "n_test"]].sum(skipna=False) / n_splits
    memory = of_cells["peak_memory_mb"].max()
    costs = fit, score, n_test / max(score, 1e-9)
    return [
        *(NONE if pd.isna(cost) else significant(cost) for cost in costs),
        NONE if pd.isna(memory) else figure(memory / 1000, 2),
    ]
