"""Differences from the published figures."""

from collections.abc import Iterator

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.published import PAPER
from adbench_text.reports.report import Table


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the difference of each split from the published figure of the same method."""
    if comparison.compared:
        yield comparison.table(
            f"{comparison.metric.title}: difference from the published figure of the same method, in points",
            ["inlier", *(column.label for column in comparison.compared)],
            lambda corpus: [corpus.rows(corpus.differences)],
            notes=comparison.notes_on_labels([PAPER]),
        )
