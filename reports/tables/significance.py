"""Paired tests between detectors."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import NONE, Entry, Kind, Table, figure, significant
from adbench_text.reports.significance import ALPHA, holm, wilcoxon

_LEAST_P = 1e-4  # smaller ones are not told apart


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield each pair of detectors, the largest difference first, tested over documents and over splits."""
    ranking = Ranking(comparison)
    if not ranking.is_possible:
        return
    n_splits = len(ranking.splits)
    pairs = []
    for pair in combinations(range(len(ranking.columns)), 2):
        merits = ranking.merits[:, pair[0]] - ranking.merits[:, pair[1]]
        # the mean decides, the median where it is zero
        better, worse = pair if (merits.mean(), np.median(merits)) >= (0, 0) else pair[::-1]
        difference = float((ranking.figures[:, better] - ranking.figures[:, worse]).mean())
        pairs.append((better, worse, difference, wilcoxon(merits), ranking.difference(better, worse)))
    pairs.sort(key=lambda pair: (-abs(pair[2]), pair[3]))
    over_splits = holm([p for *_, p, _ in pairs])
    over_documents = iter(holm([estimate.p for *_, estimate in pairs if estimate]))
    rows = []
    for (better, worse, difference, _, estimate), p_splits in zip(pairs, over_splits, strict=True):
        p = next(over_documents) if estimate else None
        n_wins = int((ranking.merits[:, better] > ranking.merits[:, worse]).sum())
        rows.append(
            [
                *(Entry(ranking.columns[column].label) for column in (better, worse)),
                figure(difference),
                Entry(f"{estimate.low:z.1f} to {estimate.high:z.1f}", Kind.FIGURE) if estimate else NONE,
                NONE if p is None else _p_value(p),
                Entry(f"{n_wins} of {n_splits}", Kind.FIGURE, n_wins),
                _p_value(p_splits),
                Entry(_significant(p, p_splits)),
            ]
        )
    title = f"{comparison.metric.title}: paired differences over {n_splits} splits, the largest first"
    header = [
        "better",
        "worse",
        "mean difference",
        "95% interval over documents",
        "p over documents",
        "better on",
        "p over splits",
        "significant over",
    ]
    yield Table(title, header, rows, notes=ranking.notes)


def _p_value(p: float) -> Entry:
    return Entry(f"< {_LEAST_P:.4f}", Kind.FIGURE, p) if p < _LEAST_P else significant(p, 2)


def _significant(over_documents: float | None, over_splits: float) -> str:
    is_significant = {"documents": over_documents is not None and over_documents < ALPHA}
    is_significant["splits"] = over_splits < ALPHA
    return " and ".join(name for name, holds in is_significant.items() if holds) or "neither"
