"""Configurations of one detector."""

from collections.abc import Iterator

from adbench_text.reports import published
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.report import NONE, Entry, Mark, Table, figure
from adbench_text.sweep.cell import percent


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield a table for each detector that has three configurations or more."""
    for detector, columns in comparison.ablated.items():
        yield _table(comparison, detector, columns)


def _table(comparison: Comparison, detector: str, columns: list[Column]) -> Table:
    """Return configurations with their differences from the first, beside the ablations of the paper."""
    of_paper = published.ablations(comparison.metric.name) if comparison.lowest == 0 else {}
    theirs = {column: of_paper.get((column.detector, column.preset), {}) for column in columns}
    header = ["configuration"]
    rows = [[Entry(column.label)] for column in columns]
    marks: set[Mark] = set()
    for corpus in comparison.corpora:
        header += [corpus.label, f"{corpus.label}: difference from the first"]
        has_published = not corpus.splits and any(
            corpus.dataset in of_column for of_column in theirs.values()
        )
        if has_published:
            header.append(f"{corpus.label} {Mark.PUBLISHED.value}")
            marks.add(Mark.PUBLISHED)
        first = corpus.entry(columns[0]).complete_value
        for row, column in zip(rows, columns, strict=True):
            entry = corpus.entry(column)
            row += [entry, NONE if column is columns[0] else _difference(entry.complete_value, first)]
            if has_published:
                row.append(figure(theirs[column].get(corpus.dataset)))
    title = (
        f"{detector}: {comparison.metric.title} (%) of its configurations, mean over the splits, "
        f"{percent(comparison.lowest)} of outliers in the training data"
    )
    return Table(title, header, rows, n_labels=1, header_marks=frozenset(marks))


def _difference(value: float | None, first: float | None) -> Entry:
    return NONE if value is None or first is None else figure(value - first, signed=True)
