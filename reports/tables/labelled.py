"""Figures with labelled outliers: on all classes, on those of the labelled ones, and on other classes."""

from collections.abc import Iterator

from adbench_text.metrics import MAIN, OF_LABELLED
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import Entry, Table

_MEASURED = MAIN.name, *OF_LABELLED
_TITLES = "all classes", "of labelled classes", "of other classes"


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the mean AUROC over the splits and seeds, a row for each detector and number of labelled ones."""

    def rows(corpus: Corpus) -> list[list[Entry]]:
        return [[Entry(column.label), *entries] for column, entries in corpus.measured(_MEASURED)]

    if any(corpus.n_labelled for corpus in comparison.corpora):
        title = "AUROC (%) with labelled outliers, mean over the splits"
        yield comparison.table(title, ["detector", *_TITLES], lambda corpus: [rows(corpus)])
