"""ROC and precision-recall curves of each split."""

from collections.abc import Iterator

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.drawing import Drawing, stem
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.scores import roc_and_pr
from adbench_text.reports.ranking import Ranking
from adbench_text.sweep.cell import percent

ORDER = 70

_MOST_CURVES = 8  # in one figure; nobody can distinguish more


def drawings(comparison: Comparison, ranking: Ranking, evidence: Evidence) -> Iterator[Drawing]:
    """Yield a figure for each split."""
    level = percent(comparison.lowest)
    for digest, label in comparison.corpora.items():
        columns = [column for column in comparison.columns if not column.is_oracle]
        scores = {column.label: evidence.scores(column, digest) for column in columns}
        for inlier in comparison.inliers(digest):
            of_split = {name: by_split[inlier] for name, by_split in scores.items() if inlier in by_split}
            if not of_split:
                continue
            curves = dict(list(of_split.items())[:_MOST_CURVES])
            n_more = len(of_split) - len(curves)
            yield Drawing(
                f"roc-{stem(label)}-{stem(inlier)}",
                f"ROC and precision-recall curves, {label} / {inlier}",
                f"{level} of outliers in the training data, lowest seed. The areas under the curves are "
                "listed below them." + (f" {n_more} more detectors are not drawn." if n_more else ""),
                roc_and_pr(curves, comparison.labels),
            )
