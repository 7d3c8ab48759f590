"""Losses of trainings, and the diagnostic test AUROC."""

from collections.abc import Iterator

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.drawing import Drawing, stem
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.curves import training_curves
from adbench_text.reports.figures.style import MOST_POINTS
from adbench_text.reports.ranking import Ranking

ORDER = 60

_QUANTITIES = (  # metric, file name, axis, factor
    ("loss_total", "loss", "loss", 1),
    ("diagnostic_test_auroc", "test", "test AUROC (%), a diagnostic", 100),
)


def drawings(comparison: Comparison, ranking: Ranking, evidence: Evidence) -> Iterator[Drawing]:
    """Yield a figure for each corpus, detector and quantity."""
    for digest, label in comparison.corpora.items():
        for column in comparison.columns:
            if column.is_oracle:
                continue
            for metric, name, quantity, factor in _QUANTITIES:
                logged = evidence.curves(column, digest, metric)
                curves = {i: [(step, factor * value) for step, value in curve] for i, curve in logged.items()}
                if curves:
                    is_thinned = max(map(len, curves.values())) > MOST_POINTS
                    yield Drawing(
                        f"{name}-{stem(label)}-{stem(column.label)}",
                        f"Training of {column.label} on {label}: {quantity}",
                        "One line for each split; nothing is chosen by it."
                        + (" Means of neighbouring steps." if is_thinned else ""),
                        training_curves(curves, quantity),
                    )
