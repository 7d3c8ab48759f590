"""Every split at the lowest contamination level."""

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import Entry, Mark, Table
from adbench_text.reports.rows import by_split, published_columns, published_entries, values, with_best
from adbench_text.sweep.cell import percent

ORDER = 10
IS_BRIEF = True
NEEDS = "results"


def tables(comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return the main table."""
    return [main_table(comparison)]


def main_table(comparison: Comparison) -> Table:
    """Return one row per dataset and inlier class, and means, beside the published figures."""
    published = published_columns(comparison)

    def row(digest: str, inlier: str | None) -> list[Entry]:
        ours = with_best(comparison, values(comparison, digest, inlier, comparison.lowest))
        return ours + published_entries(comparison, digest, inlier)

    title = f"{comparison.metric.title} (%), {percent(comparison.lowest)} of outliers in the training data"
    marks = [Mark.PUBLISHED] if published else []
    header = [*comparison.labels, *published]
    return by_split(comparison, title, header, row, comparison.blocks(len(published)), marks=marks)
