"""The metric against the contamination of the training data."""

from collections.abc import Iterator

from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.export import Drawing, stem
from adbench_text.reports.figures.plots import contamination

ORDER = 20


def of_corpus(comparison: Comparison, corpus: Corpus, evidence: Evidence | None) -> Iterator[Drawing]:
    """Yield a figure of the means over the splits, where there are two levels or more."""
    if len(comparison.levels) < 2:
        return
    curves = {
        column.label: [
            (level, value, entry.spread)
            for level in comparison.levels
            if (value := (entry := corpus.entry(column, level=level)).complete_value) is not None
        ]
        for column in comparison.columns
    }
    if curves := {label: points for label, points in curves.items() if points}:
        yield Drawing(
            f"contamination-{stem(corpus.label)}",
            f"{comparison.metric.title} against contamination, {corpus.label}",
            "Mean over the splits, by the share of outliers in the training data; "
            "the spread is the standard deviation over the seeds.",
            contamination(curves, comparison.metric.title, comparison.labels),
        )
