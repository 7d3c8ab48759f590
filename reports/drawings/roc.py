"""ROC and precision-recall curves of all splits."""

from collections.abc import Iterator

from adbench_text.metrics import METRICS
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.drawing import Drawing, stem
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.scores import Scored, curves_of_splits
from adbench_text.reports.ranking import Ranking
from adbench_text.sweep.cell import percent

ORDER = 45

_MOST_CURVES = 8  # in one figure; nobody can distinguish more


def drawings(comparison: Comparison, ranking: Ranking, evidence: Evidence) -> Iterator[Drawing]:
    """Yield a figure for each corpus and metric that is an area, with a panel for each split."""
    level = percent(comparison.lowest)
    for digest, label in comparison.corpora.items():
        fair = [column for column in comparison.columns if not column.is_oracle]
        scores = {column.label: evidence.scores(column, digest) for column in fair}
        scores = {name: by_split for name, by_split in scores.items() if by_split}
        drawn = dict(list(scores.items())[:_MOST_CURVES])
        splits: dict[str, dict[str, Scored]] = {
            inlier: {name: by_split[inlier] for name, by_split in drawn.items() if inlier in by_split}
            for inlier in comparison.inliers(digest)
        }
        splits = {inlier: curves for inlier, curves in splits.items() if curves}
        if not splits:
            continue
        n_more = len(scores) - len(drawn)
        for metric in METRICS.values():
            if not metric.curve:
                continue
            is_roc = metric.curve == "ROC"
            positives = "" if is_roc else f", {metric.positive} as positives"
            yield Drawing(
                f"{'roc' if is_roc else stem(f'pr {metric.positive}')}-{stem(label)}",
                f"{metric.curve[0].upper()}{metric.curve[1:]} curves{positives}, {label}",
                f"{level} of outliers in the training data, lowest seed. Grey: scores by chance."
                + (f" {n_more} more detectors are not drawn." if n_more else ""),
                curves_of_splits(splits, metric.name, comparison.labels),
            )
