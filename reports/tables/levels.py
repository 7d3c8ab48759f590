"""Means at each contamination level."""

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import Entry, Table
from adbench_text.reports.rows import values, with_best
from adbench_text.sweep.cell import percent

ORDER = 30
IS_BRIEF = True
NEEDS = "two contamination levels"


def tables(comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return means over the splits, one row per dataset and contamination level."""
    if len(comparison.levels) < 2:
        return []
    title = f"{comparison.metric.title} (%) by contamination of the training data, mean over the splits"
    rows: list[list[Entry]] = []
    starts: set[int] = set()
    for digest, label in comparison.corpora.items():
        starts.add(len(rows))
        for level in comparison.levels:
            means = with_best(comparison, values(comparison, digest, None, level))
            rows.append([Entry(label), Entry(percent(level), value=level), *means])
    header = ["dataset", "outliers", *comparison.labels]
    return [Table(title, header, rows, starts, blocks=comparison.blocks(), header_marks=comparison.marks)]
