"""Histograms of the scores of test documents, before and after a training."""

from collections.abc import Iterator

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.drawing import Drawing, stem
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.scores import histograms
from adbench_text.reports.ranking import Ranking
from adbench_text.sweep.cell import percent

ORDER = 50


def drawings(comparison: Comparison, ranking: Ranking, evidence: Evidence) -> Iterator[Drawing]:
    """Yield a figure for each corpus and detector, and one of the time before its training."""
    level = percent(comparison.lowest)
    for digest, label in comparison.corpora.items():
        for column in comparison.columns:
            if column.is_oracle:
                continue
            early = evidence.early_scores(column, digest) if evidence.is_trained(column, digest) else {}
            for panels, suffix in ((early, "before training"), (evidence.scores(column, digest), "")):
                if panels:
                    name = f"scores-{stem(label)}-{stem(column.label)}" + (
                        f"-{stem(suffix)}" if suffix else ""
                    )
                    yield Drawing(
                        name,
                        f"Scores of {column.label} on {label}" + (f", {suffix}" if suffix else ""),
                        f"Test documents of each split, {level} of outliers in the training data; "
                        "higher is more abnormal. The outermost 0.5% count into the edge bins.",
                        histograms(panels),
                    )
