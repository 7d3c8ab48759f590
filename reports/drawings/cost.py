"""The metric against the seconds of a split."""

from collections.abc import Iterator
from statistics import mean

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.drawing import Drawing, stem
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.curves import cost
from adbench_text.reports.ranking import Ranking

ORDER = 30


def drawings(comparison: Comparison, ranking: Ranking, evidence: Evidence) -> Iterator[Drawing]:
    """Yield a figure for each corpus."""
    for digest, label in comparison.corpora.items():
        costs = {}
        for column in comparison.columns:
            value = comparison.mean(column, digest, comparison.lowest).complete_value
            if value is not None and not column.is_oracle:
                records = comparison.finished(column, digest)
                seconds = mean(r.metrics["fit_seconds"] + r.metrics["score_seconds"] for r in records)
                costs[column.label] = seconds, value
        if costs:
            yield Drawing(
                f"cost-{stem(label)}",
                f"{comparison.metric.title} against cost, {label}",
                "Seconds of fitting and scoring a split, and the metric, each the mean over the splits.",
                cost(costs, comparison.metric.title, comparison.labels),
            )
