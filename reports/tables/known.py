"""Figures with known outliers: on all classes, on the classes of the known outliers, and on the others."""

from collections.abc import Iterator

from adbench_text.metrics import MAIN, OF_KNOWN
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import Entry, Table

_MEASURED = MAIN.name, *OF_KNOWN
_TITLES = "all classes", "of known classes", "of other classes"


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the mean AUROC over splits and seeds, a row for each detector and number of known outliers."""

    def rows(corpus: Corpus) -> list[list[Entry]]:
        return [[Entry(column.label), *entries] for column, entries in corpus.measured(_MEASURED)]

    if any(corpus.n_known for corpus in comparison.corpora):
        title = "AUROC (%) with known outliers, mean over the splits"
        yield comparison.table(title, ["detector", *_TITLES], lambda corpus: [rows(corpus)])
