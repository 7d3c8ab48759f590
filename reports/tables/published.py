"""Differences from the published figures."""

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import Table

ORDER = 20
IS_BRIEF = True
NEEDS = "published figures of these detectors and datasets, and results at 0% of outliers"


def tables(comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return the difference of each split from the published figure of the same method."""
    if not comparison.compared:
        return []
    title = f"{comparison.metric.title}: difference from the published figure of the same method, in points"
    header = ["inlier", *(column.label for column in comparison.compared)]
    return [
        comparison.table(
            title,
            header,
            lambda corpus: [corpus.rows(corpus.differences)],
            has_means=True,
            header_marks=comparison.marks,
            metric=comparison.metric,
        )
    ]
