"""Losses of trainings, and the diagnostic test AUROC."""

from collections.abc import Iterator

from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.export import Drawing, stem
from adbench_text.reports.figures.plots import training_curves
from adbench_text.reports.figures.style import MOST_POINTS

ORDER = 60

_QUANTITIES = (  # metric, file name, axis, factor
    ("loss_total", "loss", "loss", 1),
    ("diagnostic_test_auroc", "test", "test AUROC (%), a diagnostic", 100),
)


def of_corpus(comparison: Comparison, corpus: Corpus, evidence: Evidence | None) -> Iterator[Drawing]:
    """Yield a figure for each detector and quantity."""
    if evidence is None:
        return
    for column in comparison.fair:
        for metric, name, quantity, factor in _QUANTITIES:
            logged = evidence.curves(column, corpus, metric)
            curves = {i: [(step, factor * value) for step, value in curve] for i, curve in logged.items()}
            if curves:
                is_thinned = max(map(len, curves.values())) > MOST_POINTS
                yield Drawing(
                    f"{name}-{stem(corpus.label)}-{stem(column.label)}",
                    f"Training of {column.label} on {corpus.label}: {quantity}",
                    "One line for each split; nothing is chosen by it."
                    + (" Means of neighbouring steps." if is_thinned else ""),
                    training_curves(curves, quantity),
                )
