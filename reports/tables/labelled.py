"""Figures with labelled outliers: on all classes, on those of the labelled ones, and on other classes."""

from collections.abc import Iterator

from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import Entry, Table

_KINDS = {"auroc": "all classes", "auroc_seen": "of labelled classes", "auroc_unseen": "of other classes"}


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the mean AUROC over the splits and seeds, a row for each detector and number of labelled ones."""

    def rows(corpus: Corpus) -> list[list[Entry]]:
        of_columns = ((column.label, corpus.means(column, [*_KINDS])) for column in comparison.columns)
        return [[Entry(label), *means] for label, means in of_columns if means]

    if any(corpus.n_labelled for corpus in comparison.corpora):
        title = "AUROC (%) with labelled outliers, mean over the splits"
        yield comparison.table(title, ["detector", *_KINDS.values()], lambda corpus: [rows(corpus)])
