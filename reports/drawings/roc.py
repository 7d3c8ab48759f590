"""ROC and precision-recall curves of all splits."""

from collections.abc import Iterator

from adbench_text.metrics import METRICS
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.export import Drawing, stem
from adbench_text.reports.figures.plots import curves_of_splits
from adbench_text.sweep.cell import percent

ORDER = 45

_MOST_CURVES = 8  # in one figure; nobody can distinguish more


def of_corpus(comparison: Comparison, corpus: Corpus, evidence: Evidence | None) -> Iterator[Drawing]:
    """Yield a figure for each metric that is an area, with a panel for each split."""
    if evidence is None:
        return
    scores = {column.label: evidence.scores(column, corpus) for column in comparison.fair}
    scores = {name: by_split for name, by_split in scores.items() if by_split}
    drawn = dict(list(scores.items())[:_MOST_CURVES])
    splits = {
        inlier: {name: by_split[inlier] for name, by_split in drawn.items() if inlier in by_split}
        for inlier in corpus.inliers
    }
    splits = {inlier: curves for inlier, curves in splits.items() if curves}
    n_more = len(scores) - len(drawn)
    for metric in METRICS.values() if splits else ():
        if not metric.curve:
            continue
        is_roc = metric.curve == "ROC"
        positives = "" if is_roc else f", {metric.positive} as positives"
        yield Drawing(
            f"{'roc' if is_roc else stem(f'pr {metric.positive}')}-{stem(corpus.label)}",
            f"{metric.curve[0].upper()}{metric.curve[1:]} curves{positives}, {corpus.label}",
            f"{percent(comparison.lowest)} of outliers in the training data, lowest seed. "
            "Grey: scores by chance." + (f" {n_more} more detectors are not drawn." if n_more else ""),
            curves_of_splits(splits, metric.name, comparison.labels),
        )
