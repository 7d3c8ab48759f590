"""Every split at the lowest contamination level."""

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import Entry, Mark, Table, figure
from adbench_text.reports.rows import (
    CHANCE,
    by_split,
    chance,
    published_columns,
    published_entries,
    values,
    with_best,
)
from adbench_text.sweep.cell import percent

ORDER = 10
IS_BRIEF = True
NEEDS = "results"


def tables(comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return the main table."""
    return [main_table(comparison)]


def main_table(comparison: Comparison) -> Table:
    """Return one row per dataset and inlier class, and means, beside the published figures.

    A table of areas under precision-recall curves has the level of chance too: it depends on the split.
    """
    published = published_columns(comparison)
    has_chance = comparison.metric.curve == "precision-recall"

    def row(digest: str, inlier: str | None) -> list[Entry]:
        ours = with_best(comparison, values(comparison, digest, inlier, comparison.lowest))
        entries = ours + published_entries(comparison, digest, inlier)
        return [*entries, figure(chance(comparison, digest, inlier))] if has_chance else entries

    title = f"{comparison.metric.title} (%), {percent(comparison.lowest)} of outliers in the training data"
    marks = [Mark.PUBLISHED] if published else []
    header = [*comparison.labels, *published, *([CHANCE] if has_chance else [])]
    return by_split(comparison, title, header, row, comparison.blocks(len(published)), marks=marks)
