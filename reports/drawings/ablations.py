"""The configurations of one detector."""

from collections.abc import Iterator

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.figures.export import Drawing, stem
from adbench_text.reports.figures.plots import ablation_bars
from adbench_text.reports.ranking import Ranking

ORDER = 40


def drawings(comparison: Comparison, ranking: Ranking) -> Iterator[Drawing]:
    """Yield a figure for each detector that has three configurations or more."""
    for detector, columns in comparison.ablated.items():
        groups = {
            corpus.label: [
                (column.label, value, entry.spread)
                for column in columns
                if (value := (entry := corpus.entry(column)).complete_value) is not None
            ]
            for corpus in comparison.corpora
        }
        if groups := {label: points for label, points in groups.items() if points}:
            yield Drawing(
                f"ablations-{stem(detector)}",
                f"Configurations of {detector}",
                "Mean over the splits; the axis does not begin at zero.",
                ablation_bars(groups, comparison.metric.title),
            )
