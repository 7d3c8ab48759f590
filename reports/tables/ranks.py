"""Mean ranks of the detectors over the splits."""

from collections.abc import Iterator

import numpy as np

from adbench_text.reports import significance
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import Entry, Table, figure


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield a table of the mean rank and mean figure of each detector, the best first.

    A table needs two detectors and two splits.
    """
    ranking = Ranking(comparison)
    if not ranking.is_possible:
        return
    ranks = significance.mean_ranks(ranking.merits)
    rows = []
    for place in np.argsort(ranks, kind="stable"):
        n_wins = int((ranking.merits[:, place] == ranking.merits.max(axis=1)).sum())
        mean = float(ranking.figures[:, place].mean())
        figures = [figure(float(ranks[place]), 2), figure(mean), figure(n_wins, 0)]
        rows.append([Entry(ranking.columns[place].label), *figures])
    metric = comparison.metric.title
    title = f"Mean rank over {len(ranking.splits)} splits, by {metric}"
    p = significance.friedman(ranking.figures)
    if not np.isnan(p):
        title += f" (Friedman test: p = {p:.2g})"
    header = ["detector", "mean rank", f"mean {metric} (%)", "wins"]
    yield Table(title, header, rows, n_labels=1, notes=ranking.notes)
