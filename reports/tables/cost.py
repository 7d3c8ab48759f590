"""Seconds, documents per second, memory."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from adbench_text.corpora.split_key import percent
from adbench_text.metrics import COSTS
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import NONE, Entry, Table, figure, significant


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the cost of each detector on each corpus; a grid costs the sum over its configurations."""

    def rows(corpus: Corpus) -> list[list[Entry]]:
        return [
            [Entry(column.label), *_costs(*entries), _memory(corpus.finished(column)["peak_memory_mb"].max())]
            for column, entries in corpus.measured((*COSTS, "n_test"))
        ]

    title = (
        f"Cost of a split, mean over the splits, {percent(comparison.lowest)} of outliers in the training "
        "data; peak memory is the maximum"
    )
    header = ["detector", "fit (s)", "score (s)", "documents/s scored", "peak memory (GB)"]
    yield comparison.table(title, header, lambda corpus: [rows(corpus)])


def _costs(fit: Entry, score: Entry, n_test: Entry) -> Iterator[Entry]:
    """Yield both times and the documents per second, which need the times of the same cells."""
    rate = None
    if score.value is not None and n_test.value is not None and score.n_cells == n_test.n_cells:
        rate = n_test.value / max(score.value, 1e-9)
    for entry, value in ((fit, fit.value), (score, score.value), (score, rate)):
        words = "" if value is None else significant(value).words
        yield replace(entry, words=words, value=value, spread=None) if words else NONE


def _memory(megabytes: float) -> Entry:
    """Return an amount of memory in gigabytes, `NONE` for NaN."""
    return NONE if pd.isna(megabytes) else figure(megabytes / 1000, 2)
