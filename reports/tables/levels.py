"""Means at each contamination level."""

from collections.abc import Iterator

from adbench_text.corpora.split_key import percent
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import Entry, Table


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield one table of means over the splits, a row for each dataset and contamination level."""

    def rows(corpus: Corpus) -> list[list[Entry]]:
        return [
            [Entry(percent(level), value=level), *corpus.with_best(level=level)]
            for level in comparison.levels
        ]

    if len(comparison.levels) > 1:
        yield comparison.table(
            f"{comparison.heading} by contamination of the training data, mean over the splits",
            ["outliers", *comparison.labels],
            lambda corpus: [rows(corpus)],
            blocks=comparison.blocks(),
            notes=comparison.notes_on_labels(),
        )
