"""The metric against the contamination of the training data."""

from collections.abc import Iterator

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.drawing import Drawing, stem
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.curves import contamination
from adbench_text.reports.ranking import Ranking

ORDER = 20


def drawings(comparison: Comparison, ranking: Ranking, evidence: Evidence) -> Iterator[Drawing]:
    """Yield a figure for each corpus, where there are two levels or more."""
    if len(comparison.levels) < 2:
        return
    for digest, label in comparison.corpora.items():
        curves = {}
        for column in comparison.columns:
            means = [(level, comparison.mean(column, digest, level)) for level in comparison.levels]
            points = [
                (level, entry.complete_value, entry.spread)
                for level, entry in means
                if entry.complete_value is not None
            ]
            if points:
                curves[column.label] = points
        if curves:
            yield Drawing(
                f"contamination-{stem(label)}",
                f"{comparison.metric.title} against contamination, {label}",
                "Mean over the splits, by the share of outliers in the training data; "
                "the spread is the standard deviation over the seeds.",
                contamination(curves, comparison.metric.title, comparison.labels),
            )
