"""The configurations of one detector."""

from collections.abc import Iterator

from adbench_text.reports.ablation import ablated
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.drawing import Drawing, stem
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.curves import ablation_bars
from adbench_text.reports.ranking import Ranking

ORDER = 40


def drawings(comparison: Comparison, ranking: Ranking, evidence: Evidence) -> Iterator[Drawing]:
    """Yield a figure for each detector that has three configurations or more."""
    for detector, columns in ablated(comparison).items():
        groups = {}
        for digest, label in comparison.corpora.items():
            means = [(c.label, comparison.mean(c, digest, comparison.lowest)) for c in columns]
            points = [
                (name, entry.complete_value, entry.spread)
                for name, entry in means
                if entry.complete_value is not None
            ]
            if points:
                groups[label] = points
        if groups:
            yield Drawing(
                f"ablations-{stem(detector)}",
                f"Configurations of {detector}",
                "Mean over the splits; the axis does not begin at zero.",
                ablation_bars(groups, comparison.metric.title),
            )
