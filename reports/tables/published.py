"""Differences from the published figures."""

from collections.abc import Iterator
from dataclasses import replace

from adbench_text.reports import published
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import NONE, Entry, Table, figure


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield a table of the difference of each split from the published figure of the same method.

    Yield nothing if no detector has published figures, or if the sweep has no clean training data.
    """
    methods = {method for corpus in comparison.corpora for method in corpus.published}
    # all published figures are from clean training data; otherwise `comparison.published` is empty
    columns = [c for c in comparison.columns if c.detector in methods and comparison.published]

    def difference(corpus: Corpus, column: Column, inlier: str | None) -> Entry:
        theirs = _published(corpus, column, inlier, comparison.metric.name)
        ours = corpus.entry(column, inlier).complete_value
        if theirs is None or ours is None:
            return NONE
        is_unequal = column.detector in published.ORACLES and not column.is_oracle
        return replace(figure(ours - theirs, signed=True), is_unequal=is_unequal)

    if columns:
        yield comparison.table(
            f"{comparison.metric.title}: difference from the published figure of the same method, in points",
            ["inlier", *(column.label for column in columns)],
            lambda corpus: [corpus.rows(lambda inlier: [difference(corpus, c, inlier) for c in columns])],
            notes=comparison.notes_on_labels([published.PAPER]),
        )


def _published(corpus: Corpus, column: Column, inlier: str | None, metric: str) -> float | None:
    """Return the published figure to compare a column with; for an ablation of the paper, only of means."""
    if not (of_metrics := published.ablation(column.detector, column.preset)):
        return corpus.published_value(column.detector, inlier)
    of_mean, _ = of_metrics.get(metric, {}).get(corpus.dataset, (None, None))
    return of_mean if inlier is None and not corpus.splits else None
