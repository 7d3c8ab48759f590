"""Seconds, documents per second, memory."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from adbench_text.corpora.split_key import percent
from adbench_text.metrics import COSTS
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import NONE, Entry, Table, figure, significant


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the cost of each detector on each corpus.

    A grid is a preset with several configurations. `Comparison.means_of` adds up their costs.
    """

    def rows_of(corpus: Corpus) -> list[list[list[Entry]]]:
        """Return the rows of the detectors on a corpus, as one group of rows."""
        rows = []
        for column, costs in corpus.measured((*COSTS, "n_test")):
            peak = corpus.finished(column)["peak_memory_mb"].max()
            rows.append([Entry(column.label), *_costs(*costs), _memory(peak)])
        return [rows]

    # costs are measured at the lowest level of contamination
    title = (
        f"Cost of a split, mean over the splits, {percent(comparison.lowest)} of outliers in the training "
        "data; peak memory is the maximum"
    )
    header = ["detector", "fit (s)", "score (s)", "documents/s scored", "peak memory (GB)"]
    yield comparison.table(title, header, rows_of)


def _costs(fit: Entry, score: Entry, n_test: Entry) -> Iterator[Entry]:
    """Yield the seconds to fit, the seconds to score, and the documents that are scored in a second.

    The last entry needs the seconds and the number of documents of the same cells.
    """
    rate = None
    if score.value is not None and n_test.value is not None and score.n_cells == n_test.n_cells:
        rate = n_test.value / max(score.value, 1e-9)
    # the rate is a copy of the score's entry, which says how many cells are behind it
    for entry, value in ((fit, fit.value), (score, score.value), (score, rate)):
        words = "" if value is None else significant(value).words
        yield replace(entry, words=words, value=value, spread=None) if words else NONE


def _memory(megabytes: float) -> Entry:
    """Return an amount of memory in gigabytes, `NONE` for NaN."""
    return NONE if pd.isna(megabytes) else figure(megabytes / 1000, 2)
