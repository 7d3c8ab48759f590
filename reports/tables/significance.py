"""Paired tests between detectors."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from adbench_text.escaping import count
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import NONE, Entry, Kind, Table, figure, significant
from adbench_text.reports.significance import ALPHA, holm, lowest_p, wilcoxon

_LEAST_P = 1e-4  # a smaller p is shown as "< 0.0001"


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield a table of pairs of detectors, the largest difference first, tested over documents and splits.

    With a baseline, only its pairs are tested. There is no table without two detectors and two splits.
    """
    ranking = Ranking(comparison)
    if not ranking.is_possible:
        return
    n_splits, baseline = len(ranking.splits), comparison.baseline
    pairs = []
    for pair in combinations(range(len(ranking.columns)), 2):
        if baseline is not None and ranking.columns.index(baseline) not in pair:
            continue
        merits = ranking.merits[:, pair[0]] - ranking.merits[:, pair[1]]
        # the sign of the mean decides, or of the median if the mean is zero
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
    to_one = f" from {baseline.label}" if baseline else ""
    title = f"{comparison.metric.title}: paired differences{to_one} over {n_splits} splits, the largest first"
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
    notes = [*_on_lowest_p(ranking, len(pairs)), *ranking.notes]
    if untested := ranking.without_scores:
        names = ", ".join(column.label for column in untested)
        notes.append(f"Not tested over documents, because this report lacks their scores: {names}.")
    yield Table(title, header, rows, notes=notes)


def _on_lowest_p(ranking: Ranking, n_tests: int) -> list[str]:
    """Return a note on the lowest p over splits, if no pair can be significant; it may suggest a baseline."""
    n_splits, n_others = len(ranking.splits), len(ranking.columns) - 1
    if (lowest := lowest_p(n_splits, n_tests)) < ALPHA:
        return []
    tests = count(n_tests, "test")
    is_helped = lowest_p(n_splits, n_others) < ALPHA
    advice = f" Against one --baseline there are only {n_others}." if is_helped else ""
    return [f"With {n_splits} splits and {tests}, no p over splits can be below {lowest:.3g}.{advice}"]


def _p_value(p: float) -> Entry:
    """Return the entry of a p-value; a small one has only a bound."""
    return Entry(f"< {_LEAST_P:.4f}", Kind.FIGURE, p) if p < _LEAST_P else significant(p, 2)


def _significant(over_documents: float | None, over_splits: float) -> str:
    """Return over what two p-values are significant, in words; None is a test that was not made."""
    is_significant = {"documents": over_documents is not None and over_documents < ALPHA}
    is_significant["splits"] = over_splits < ALPHA
    return " and ".join(name for name, holds in is_significant.items() if holds) or "neither"
