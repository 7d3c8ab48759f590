"""Rows that several tables are made of."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import mean

from adbench_text.reports import published
from adbench_text.reports.columns import Column
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.report import NONE, Entry, Mark, Table, figure

CHANCE = "chance"

RowOf = Callable[[str, str | None], list[Entry]]  # of the digest of a corpus and an inlier; None: the mean


def by_split(
    comparison: Comparison,
    title: str,
    columns: Sequence[str],
    row_of: RowOf,
    blocks: Sequence[tuple[str, int]] = (),
    has_means: bool = True,
    marks: Iterable[Mark] = (),
) -> Table:
    """Return a table of one row for each split of each corpus, and one for the mean."""
    rows: list[list[Entry]] = []
    starts: set[int] = set()
    summaries: set[int] = set()
    for digest, label in comparison.corpora.items():
        starts.add(len(rows))
        for inlier in comparison.inliers(digest):
            rows.append([Entry(label), Entry(inlier), *row_of(digest, inlier)])
        if has_means:
            summaries.add(len(rows))
            rows.append([Entry(label), Entry(comparison.mean_label(digest)), *row_of(digest, None)])
    header = ["dataset", "inlier", *columns]
    return Table(title, header, rows, starts, 2, list(blocks), summaries, comparison.marks.union(marks))


def values(comparison: Comparison, digest: str, inlier: str | None, level: float) -> list[Entry]:
    """Return the figures of all columns for a split, or for the mean over the splits."""
    if inlier is None:
        return [comparison.mean(column, digest, level) for column in comparison.columns]
    return [comparison.value(column, digest, inlier, level) for column in comparison.columns]


def with_best(comparison: Comparison, entries: Sequence[Entry]) -> list[Entry]:
    """Mark the best complete figures of a row, as printed; none that was chosen on the test labels.

    Detectors that use the unlabelled test batch have a best one of their own.
    """
    printed: dict[bool, dict[int, float]] = {}
    for place, (column, entry) in enumerate(zip(comparison.columns, entries, strict=True)):
        if entry.is_complete and not column.is_oracle:
            printed.setdefault(column.uses_test_batch, {})[place] = float(entry.words)
    marked = list(entries)
    for candidates in printed.values():
        best = comparison.metric.best(candidates.values())
        for place, value in candidates.items():
            marked[place] = replace(entries[place], best=value == best and len(candidates) > 1)
    return marked


def chance(comparison: Comparison, digest: str, inlier: str | None) -> float | None:
    """Return the precision of scores by chance in percent: the share of the positives in the test set."""
    shares = {}
    for column in comparison.columns:
        for record in comparison.finished(column, digest):
            if "n_test_outliers" in record.metrics:
                share = record.metrics["n_test_outliers"] / record.metrics["n_test"]
                is_of_outliers = comparison.metric.positive == "outliers"
                shares[record.inlier] = 100 * (share if is_of_outliers else 1 - share)
    inliers = comparison.inliers(digest) if inlier is None else [inlier]
    if not inliers or any(name not in shares for name in inliers):
        return None
    return mean(shares[name] for name in inliers)


def published_columns(comparison: Comparison) -> list[str]:
    """Return the labels of the columns of published figures; none where there is nothing to compare."""
    return list(comparison.published) if comparison.has_published else []


def published_entries(comparison: Comparison, digest: str, inlier: str | None) -> list[Entry]:
    """Return the published figures of a split, or their means over all splits."""
    columns = published_columns(comparison)
    return [figure(published_value(comparison, column, digest, inlier)) for column in columns]


def published_value(comparison: Comparison, column: str, digest: str, inlier: str | None) -> float | None:
    """Return a published figure, or the mean of all of a dataset."""
    figures = comparison.figures_of_paper(column, digest)
    inliers = comparison.inliers(digest) if inlier is None else [inlier]
    if not inliers or any(figures.get(name) is None for name in inliers):
        return None
    return mean(figures[name] for name in inliers)


def compared(comparison: Comparison) -> list[Column]:
    """Return the columns whose method has a published figure on some corpus."""
    labels = published.COUNTERPARTS
    return [
        column
        for column in comparison.columns
        if comparison.has_published
        and not published.is_ablation(column.detector, column.preset)
        and any(
            comparison.figures_of_paper(labels.get(column.detector, ""), digest)
            for digest in comparison.corpora
        )
    ]


def differences(comparison: Comparison, digest: str, inlier: str | None) -> list[Entry]:
    """Return the differences of the `compared` columns from the published figures of their methods."""
    ours = dict(zip(comparison.columns, values(comparison, digest, inlier, comparison.lowest), strict=True))
    return [_difference(comparison, c, ours[c].complete_value, digest, inlier) for c in compared(comparison)]


def _difference(
    comparison: Comparison, column: Column, ours: float | None, digest: str, inlier: str | None
) -> Entry:
    counterpart = published.COUNTERPARTS[column.detector]
    theirs = published_value(comparison, counterpart, digest, inlier)
    if theirs is None or ours is None:
        return NONE
    is_unequal = counterpart in published.ORACLES and not column.is_oracle
    return replace(figure(ours - theirs, "+z.1f"), is_unequal=is_unequal)
