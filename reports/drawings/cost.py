"""The metric against the seconds of a split."""

from collections.abc import Iterator
from statistics import mean

from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.export import Drawing, stem
from adbench_text.reports.figures.plots import cost

ORDER = 30


def of_corpus(comparison: Comparison, corpus: Corpus, evidence: Evidence | None) -> Iterator[Drawing]:
    """Yield a figure with a point for each detector."""
    costs = {}
    for column in comparison.fair:
        value = corpus.entry(column).complete_value
        if value is not None:
            records = corpus.finished(column)
            seconds = mean(r.metrics["fit_seconds"] + r.metrics["score_seconds"] for r in records)
            costs[column.label] = seconds, value
    if costs:
        yield Drawing(
            f"cost-{stem(corpus.label)}",
            f"{comparison.metric.title} against cost, {corpus.label}",
            "Seconds of fitting and scoring a split, and the metric, each the mean over the splits.",
            cost(costs, comparison.metric.title, comparison.labels),
        )
