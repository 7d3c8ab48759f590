"""Paired tests between detectors."""

import numpy as np

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import Entry, Kind, Table, figure

ORDER = 60
NEEDS = "two detectors that have two splits in common"
HAS_RANKING = True

_ALPHA = 0.05


def tables(comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return each pair of detectors, with the split-wise difference and its p-value."""
    if not ranking.is_possible:
        return []
    rows = []
    n_splits = len(ranking.splits)
    for pair in ranking.pairs:
        better, worse = pair.first, pair.second
        if pair.difference < 0:
            better, worse = worse, better
        n_wins = int((ranking.merits[:, better] > ranking.merits[:, worse]).sum())
        difference = float(np.median(ranking.figures[:, better] - ranking.figures[:, worse]))
        rows.append(
            [
                *(Entry(ranking.columns[place].label) for place in (better, worse)),
                figure(difference, "z.1f"),
                Entry(f"{n_wins} of {n_splits}", Kind.FIGURE, n_wins),
                figure(pair.p, ".2g"),
                figure(pair.p_holm, ".2g"),
                Entry("yes" if pair.p_holm < _ALPHA else "no"),
            ]
        )
    title = (
        f"{ranking.metric.title}: paired differences over {n_splits} splits "
        f"(Wilcoxon signed-rank test, Holm's correction, level {_ALPHA:g})"
    )
    header = ["better", "worse", "median difference", "better on", "p", "p (Holm)", "significant"]
    return [Table(title, header, rows)]
