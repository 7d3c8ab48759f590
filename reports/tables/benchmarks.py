"""The best published figures of others, compared with ours."""

from collections.abc import Iterator

from adbench_text.reports import benchmarks
from adbench_text.reports.benchmarks import Row
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.published import PAPER
from adbench_text.reports.report import NONE, Entry, Table, figure

_SAME_METHOD = "same method"


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the best published figure for each kind of knowledge, and our best detector that knows no more.

    If we have a published method as a detector, a row compares both.
    """
    if any(map(_of_others, comparison.corpora)):
        yield comparison.table(
            f"{comparison.heading}: published figures of others, and our best detector that knows no more",
            ["knowledge", "published method", "published", "our detector", "ours", "difference", "source"],
            lambda corpus: [_rows(comparison, corpus)],
        )


def _rows(comparison: Comparison, corpus: Corpus) -> list[list[Entry]]:
    """Return a row for each kind of knowledge, and one for each published method that we have as a detector.

    The first rows have the best published figure, and our best detector that knows no more.
    """
    ranked, published = comparison.best_first(corpus), _of_others(corpus)
    rows = []
    best = benchmarks.best_of_each(published, comparison.metric.higher_is_better)
    for knowledge, row in best.items():
        of_ours = ((column, value) for column, value in ranked if _knows_no_more(column, knowledge))
        rows.append(_entries(knowledge, row, next(of_ours, None)))
    for row in published:
        detector = benchmarks.OURS.get(row.method)
        rows += [
            _entries(_SAME_METHOD, row, (column, value))
            for column, value in ranked
            if column.detector == detector
        ]
    return rows


def _knows_no_more(column: Column, knowledge: str) -> bool:
    """Return whether a detector of ours knows at most as much as a published method."""
    return benchmarks.knows_no_more(column.regime, knowledge)


def _of_others(corpus: Corpus) -> list[Row]:
    """Return the published figures without the DATE paper, which has the table ``published``."""
    return [row for row in corpus.published_rows if row.source != PAPER]


def _entries(knowledge: str, row: Row, ours: tuple[Column, float] | None) -> list[Entry]:
    """Return the row of a published figure and our detector with its figure; None if we have no detector."""
    of_ours = [NONE, NONE, NONE]
    if ours is not None:
        column, value = ours
        of_ours = [Entry(column.label), figure(value), figure(value - row.figure, signed=True)]
    return [Entry(knowledge), Entry(row.method), row.entry, *of_ours, Entry(row.source)]
