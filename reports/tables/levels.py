"""Means at each contamination level."""

from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import Entry, Table
from adbench_text.sweep.cell import percent

ORDER = 30
IS_BRIEF = True
NEEDS = "two contamination levels"


def tables(comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return means over the splits, one row per dataset and contamination level."""
    if len(comparison.levels) < 2:
        return []

    def rows(corpus: Corpus) -> list[list[Entry]]:
        return [
            [Entry(percent(level), value=level), *corpus.with_best(level=level)]
            for level in comparison.levels
        ]

    return [
        comparison.table(
            f"{comparison.metric.title} (%) by contamination of the training data, mean over the splits",
            ["outliers", *comparison.labels],
            lambda corpus: [rows(corpus)],
            blocks=comparison.blocks(),
            header_marks=comparison.marks,
            metric=comparison.metric,
        )
    ]
