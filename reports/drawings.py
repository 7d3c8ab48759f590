"""The figures of a report, and their data. A function yields the figures that have something to draw."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from adbench_text.corpora.split_key import percent
from adbench_text.metrics import COSTS, METRICS
from adbench_text.reports import published
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.figures import plots
from adbench_text.reports.figures.export import Drawing, stem
from adbench_text.reports.figures.style import Names
from adbench_text.reports.tables import twins
from adbench_text.reports.tables.variants import families, ordered

_MOST_CURVES = 8  # in one figure; more could not be told apart
_POSITIONS, _MASKED = 128, 19  # 15 % are masked, which fits the figures of the paper


def _names(comparison: Comparison) -> Names:
    """Return the names of all detectors of a comparison."""
    return Names(comparison.labels, comparison.ours)


def drawings(comparison: Comparison) -> Iterator[Drawing]:
    """Yield all figures, in the order of a report."""
    for draw in (contamination, variants, networks, cost, curves, overlap_bound):
        yield from draw(comparison)


def contamination(comparison: Comparison) -> Iterator[Drawing]:
    """Yield the means over the splits against the contamination, for corpora with two levels or more."""
    levels = comparison.levels
    for corpus in comparison.corpora:
        drawn: dict[str, list[tuple[float, float, float | None]]] = {}
        for column in comparison.columns:
            entries = [(level, corpus.entry(column, level=level)) for level in levels]
            points = [(level, y, e.spread) for level, e in entries if (y := e.complete_value) is not None]
            drawn |= {column.label: points} if points else {}
        if len({level for points in drawn.values() for level, *_ in points}) > 1:
            yield Drawing(
                f"contamination-{stem(corpus.label)}",
                f"{comparison.metric.title} against contamination, {corpus.label}",
                "Mean over the splits, by the share of outliers in the training data; "
                "the spread is the standard deviation over the seeds.",
                plots.contamination(drawn, comparison.metric.title, _names(comparison)),
                is_first=corpus is comparison.corpora[0],
            )


def variants(comparison: Comparison) -> Iterator[Drawing]:
    """Yield the means of the variants of a dataset, such as languages, in the order of the first detector."""
    for dataset, corpora in families(comparison).items():
        names = ordered(comparison, corpora)
        of_columns = {
            column.label: [corpus.entry(column).complete_value for _, corpus in names]
            for column in comparison.columns
        }
        drawn = {label: values for label, values in of_columns.items() if any(v is not None for v in values)}
        if drawn:
            yield Drawing(
                f"variants-{stem(dataset)}",
                f"{comparison.metric.title} of the variants of {dataset}",
                f"Mean over the splits, {percent(comparison.lowest)} of outliers in the training data.",
                plots.variants(
                    [name for name, _ in names], drawn, comparison.metric.title, _names(comparison)
                ),
            )


def networks(comparison: Comparison) -> Iterator[Drawing]:
    """Yield networks, their untrained copies, and the plain methods that they are built on."""
    networks = twins.measured(comparison, comparison.lowest)
    if means := {network.network.label: network.figures.mean().tolist() for network in networks}:
        yield Drawing(
            "twins",
            f"{comparison.metric.title} of networks with and without training",
            f"Mean over the splits of all datasets, {percent(comparison.lowest)} of outliers in the training "
            "data. Plain: the method that the network is built on.",
            plots.variants(
                list(means),
                dict(zip(twins.KINDS, zip(*means.values(), strict=True), strict=True)),
                comparison.metric.title,
            ),
        )


def cost(comparison: Comparison) -> Iterator[Drawing]:
    """Yield the metric against the seconds of a split, with a point for each detector."""
    for corpus in comparison.corpora:
        costs = {}
        for column in comparison.fair:
            seconds = [corpus.entry(column, name=name).complete_value for name in COSTS]
            value = corpus.entry(column).complete_value
            measured = [cost for cost in seconds if cost is not None]
            # the axis is logarithmic
            if value is not None and len(measured) == len(COSTS) and sum(measured) > 0:
                costs[column.label] = sum(measured), value
        if costs:
            yield Drawing(
                f"cost-{stem(corpus.label)}",
                f"{comparison.metric.title} against cost, {corpus.label}",
                "Seconds of fitting and scoring a split, and the metric, each the mean over the splits.",
                plots.cost(costs, comparison.metric.title, _names(comparison)),
                is_first=corpus is comparison.corpora[0],
            )


def curves(comparison: Comparison) -> Iterator[Drawing]:
    """Yield a figure for each corpus and each metric that is an area: the curves of all splits."""
    evidence = comparison.evidence
    for corpus in comparison.corpora:
        found = ((column.label, evidence.scores(corpus.of_splits(column))) for column in comparison.fair)
        scores = {label: by_split for label, by_split in found if by_split}
        drawn = dict(islice(scores.items(), _MOST_CURVES))
        splits = _by_split(drawn, corpus.inliers)
        if not splits:
            continue
        n_more = len(scores) - len(drawn)
        in_training = "" if corpus.is_ranking else " in the training data"
        for metric in filter(lambda metric: metric.curve, METRICS.values()):
            is_roc = metric.curve == "ROC"
            curve = "ROC" if is_roc else "Precision-recall"
            positives = "" if is_roc else f", {metric.positive} as positives"
            yield Drawing(
                f"{'roc' if is_roc else stem(f'pr {metric.positive}')}-{stem(corpus.label)}",
                f"{curve} curves{positives}, {corpus.label}",
                f"{percent(corpus.lowest)} of outliers{in_training}, lowest seed. "
                "Grey: scores by chance." + (f" {n_more} more detectors are not drawn." if n_more else ""),
                plots.curves_of_splits(splits, metric.name, _names(comparison)),
            )


def _by_split(
    of_detectors: Mapping[str, Mapping[str, Any]], splits: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """Return for each split what each detector has, given for each detector what it has for a split."""
    of_splits = {
        split: {name: by_split[split] for name, by_split in of_detectors.items() if split in by_split}
        for split in splits
    }
    return {split: by_name for split, by_name in of_splits.items() if by_name}


def overlap_bound(comparison: Comparison) -> Iterator[Drawing]:
    """Yield the bound on similar mask patterns from DATE's paper, if DATE was run."""
    if not any(column.detector == "date" for column in comparison.columns):
        return
    S, M = _POSITIONS, _MASKED
    bounds = {n: [(p, published.overlap_bound(n, S, M, p)) for p in range(4, M + 1)] for n in (10, 50, 100)}
    yield Drawing(
        "overlap-bound",
        "How unlikely it is that mask patterns look alike",
        f"Upper bound of the chance that two of N random patterns, each masking {M} of {S} positions, share "
        "at least p of them (Manolache et al., NAACL 2021, Appendix A).",
        plots.overlap_bound(bounds),
    )
