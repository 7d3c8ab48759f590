"""Differences from the published figures."""

from functools import partial

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import Table
from adbench_text.reports.rows import by_split, compared, differences

ORDER = 20
IS_BRIEF = True
NEEDS = "published figures of these detectors and datasets, and results at 0% of outliers"


def tables(comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return the difference of each split from the published figure of the same method.

    A dagger marks the difference of one configuration from a figure that was chosen on the test labels.
    """
    columns = compared(comparison)
    if not columns:
        return []
    title = f"{comparison.metric.title}: difference from the published figure of the same method, in points"
    labels = [column.label for column in columns]
    return [by_split(comparison, title, labels, partial(differences, comparison))]
