"""Bootstrap intervals over the test documents."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import mean

from adbench_text.reports.columns import Column
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.headline import ranges
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import NONE, Entry, Kind, Table
from adbench_text.reports.resampling import Resampling, estimate
from adbench_text.reports.rows import by_split
from adbench_text.sweep.cell import percent

ORDER = 40
NEEDS = "the scores of the test documents"


def tables(comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return the 95 % bootstrap interval of each split at the lowest level, of one seed.

    It is the seed that most cells have, the lowest of several; a note names the detectors that lack it. All
    splits of a dataset share their resamples, and so do all detectors.
    """
    resampling = ranking.resampling
    if resampling is None or not comparison.metric.of_counts:
        return []
    level = comparison.lowest
    seeds = Counter(record.seed for record in comparison.records if record.contamination == level)
    seed = min(seeds, key=lambda seed: (-seeds[seed], seed))
    title = (
        f"{comparison.metric.title} (%) of seed {seed} with 95% bootstrap intervals over the test "
        f"documents, {percent(level)} of outliers in the training data"
    )

    def row(digest: str, inlier: str | None) -> list[Entry]:
        inliers = comparison.inliers(digest) if inlier is None else [inlier]
        return [
            _interval(comparison, resampling, column, digest, inliers, seed) for column in comparison.columns
        ]

    table = by_split(comparison, title, comparison.labels, row, comparison.blocks())
    return [replace(table, notes=_without(comparison, seed))]


def _without(comparison: Comparison, seed: int) -> list[str]:
    """Name the columns that have finished cells of a corpus, but none of this seed."""
    absent = []
    for digest, label in comparison.corpora.items():
        for column in comparison.columns:
            seeds = {record.seed for record in comparison.finished(column, digest)}
            if seeds and seed not in seeds and not column.is_oracle:
                absent.append(f"{column.label} on {label} (seed {ranges(list(seeds))})")
    return [f"Not run with seed {seed}, so without intervals: {', '.join(absent)}."] if absent else []


def _interval(
    comparison: Comparison,
    resampling: Resampling,
    column: Column,
    digest: str,
    inliers: Sequence[str],
    seed: int,
) -> Entry:
    """Return the mean over some splits with its interval, if there is a cell of each."""
    records = {
        record.inlier: record
        for record in comparison.records_of(column, digest, comparison.lowest)
        if record.is_ok and record.seed == seed and comparison.metric.name in record.metrics
    }
    if column.is_oracle or any(name not in records for name in inliers):
        return NONE
    cells = [records[name] for name in inliers]
    resampled = resampling.mean(cells)
    if resampled is None:
        return NONE
    value, low, high, _ = estimate(
        mean(100 * record.metrics[comparison.metric.name] for record in cells), resampled
    )
    return Entry(f"{value:.1f} ({low:.1f} to {high:.1f})", Kind.FIGURE, value)
