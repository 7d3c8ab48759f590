"""Figures with labelled outliers: on all classes, on those of the labelled ones, and on other classes."""

from collections.abc import Iterator

import pandas as pd

from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import NONE, Entry, Table, figure

_KINDS = {"auroc": "all classes", "auroc_seen": "of labelled classes", "auroc_unseen": "of other classes"}


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the mean AUROC over the splits and seeds, a row for each detector and number of labelled ones."""

    def rows(corpus: Corpus) -> list[list[Entry]]:
        rows = []
        for column in comparison.columns:
            measured = pd.DataFrame([record.metrics for record in corpus.finished(column)["record"]])
            if len(measured):
                means = measured.reindex(columns=[*_KINDS]).mean()
                entries = [NONE if pd.isna(mean) else figure(100 * mean) for mean in means]
                rows.append([Entry(column.label), *entries])
        return rows

    if any(corpus.n_labelled for corpus in comparison.corpora):
        title = "AUROC (%) with labelled outliers, mean over the splits"
        yield comparison.table(title, ["detector", *_KINDS.values()], lambda corpus: [rows(corpus)])
