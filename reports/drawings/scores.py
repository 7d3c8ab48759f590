"""Histograms of the scores of test documents, before and after a training."""

from collections.abc import Iterator

from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.export import Drawing, stem
from adbench_text.reports.figures.plots import histograms
from adbench_text.sweep.cell import percent

ORDER = 50


def of_corpus(comparison: Comparison, corpus: Corpus, evidence: Evidence | None) -> Iterator[Drawing]:
    """Yield a figure for each detector, and one of the time before its training."""
    if evidence is None:
        return
    for column in comparison.fair:
        for panels, when in (
            (evidence.early_scores(column, corpus), "before training"),
            (evidence.scores(column, corpus), ""),
        ):
            if panels:
                yield Drawing(
                    "-".join(
                        ["scores", *(stem(part) for part in (corpus.label, column.label, when) if part)]
                    ),
                    f"Scores of {column.label} on {corpus.label}" + (f", {when}" if when else ""),
                    f"Test documents of each split, {percent(comparison.lowest)} of outliers in the training "
                    "data; higher is more abnormal. The outermost 0.5% count into the edge bins.",
                    histograms(panels),
                )
