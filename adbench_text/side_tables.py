"""The tables beside the main comparison: ranks, significance, ablations, cost."""

from collections import Counter
from collections.abc import Sequence
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from adbench_text import published, statistics
from adbench_text.comparison import MEAN, METRIC_TITLES, Column, Comparison
from adbench_text.main_tables import NONE
from adbench_text.sweep import percent
from adbench_text.table import Entry, Table

_ALPHA = 0.05


class Ranking:
    """Detectors ranked over splits that all of them have, at the lowest contamination level.

    Columns chosen on the test labels are left out.

    Attributes
    ----------
    columns : list of Column
        Those that have most splits.
    left_out : list of Column
        Those that have fewer.
    splits : list of (str, str)
        Label of the corpus, and inlier class.
    figures : float64 array of shape (n_splits, n_columns)
        In percent, mean over the seeds.
    """

    def __init__(self, comparison: Comparison) -> None:
        level = comparison.levels[0]
        found: dict[Column, dict[tuple[str, str], float]] = {}
        for column in comparison.columns:
            if not column.is_oracle:
                values = {
                    (label, inlier): comparison.value(column, digest, inlier, level)
                    for digest, label in comparison.corpora.items()
                    for inlier in comparison.inliers(digest)
                }
                found[column] = {
                    key: v.figure for key, v in values.items() if v.is_whole and v.figure is not None
                }
        most = max(map(len, found.values()), default=0)
        self.columns = [column for column, figures in found.items() if 0 < len(figures) == most]
        self.left_out = [column for column in found if column not in self.columns]
        shared = set.intersection(*(set(found[column]) for column in self.columns)) if self.columns else set()
        self.splits = sorted(shared)
        self.figures: NDArray[np.float64] = np.array(
            [[found[column][split] for column in self.columns] for split in self.splits]
        ).reshape(len(self.splits), len(self.columns))

    @property
    def is_possible(self) -> bool:
        """Whether there are detectors to compare, and splits to compare them over."""
        return len(self.columns) > 1 and len(self.splits) > 1

    @property
    def mean_ranks(self) -> NDArray[np.float64]:
        """Mean rank of each column; 1 is best."""
        return statistics.mean_ranks(self.figures)

    @property
    def pairs(self) -> list[statistics.Pair]:
        """All pairs of columns, tested; see `adbench_text.statistics.wilcoxon_holm`."""
        return statistics.wilcoxon_holm(self.figures)


def ranks_table(ranking: Ranking, metric: str) -> Table:
    """Mean rank and mean figure of each detector, the best first."""
    ranks = ranking.mean_ranks
    rows = []
    for place in np.argsort(ranks, kind="stable"):
        wins = int((ranking.figures[:, place] == ranking.figures.max(axis=1)).sum())
        figures = [f"{ranks[place]:.2f}", f"{ranking.figures[:, place].mean():.1f}", str(wins)]
        rows.append([Entry(ranking.columns[place].label), *map(Entry, figures)])
    title = f"Mean rank over {len(ranking.splits)} splits, by {METRIC_TITLES[metric]}"
    p = statistics.friedman(ranking.figures)
    if not np.isnan(p):
        title += f" (Friedman test: p = {p:.2g})"
    header = ["detector", "mean rank", f"mean {METRIC_TITLES[metric]} (%)", "best on so many splits"]
    return Table(title, header, rows, n_labels=1)


def significance_table(ranking: Ranking, metric: str) -> Table:
    """Each pair of detectors, with the split-wise difference and its p-value."""
    rows = []
    for pair in ranking.pairs:
        better, worse, sign = pair.first, pair.second, 1
        if pair.difference < 0:
            better, worse, sign = worse, better, -1
        wins = int((ranking.figures[:, better] > ranking.figures[:, worse]).sum())
        figures = [f"{sign * pair.difference:.1f}", f"{wins} of {len(ranking.splits)}"]
        figures += [f"{pair.p:.2g}", f"{pair.p_holm:.2g}", "yes" if pair.p_holm < _ALPHA else "no"]
        names = [ranking.columns[place].label for place in (better, worse)]
        rows.append([Entry(text) for text in [*names, *figures]])
    title = (
        f"{METRIC_TITLES[metric]}: paired differences over {len(ranking.splits)} splits "
        f"(Wilcoxon signed-rank test, Holm's correction, level {_ALPHA:g})"
    )
    header = ["better", "worse", "median difference", "better on", "p", "p (Holm)", "significant"]
    return Table(title, header, rows)


def ablations_table(comparison: Comparison, detector: str) -> Table:
    """Configurations of one detector, each with its difference from the first; oracles left out.

    Beside them stand the figures of the paper's own ablations.
    """
    level = comparison.levels[0]
    columns = ablated(comparison)[detector]
    known = published.ablations(comparison.metric) if level == 0 else {}
    theirs = {column: known.get((column.detector, column.preset), {}) for column in columns}
    header = ["configuration"]
    rows = [[Entry(column.label)] for column in columns]
    for digest, label in comparison.corpora.items():
        header += [label, f"{label}: difference from the first"]
        has_published = any(comparison.dataset(digest) in figures for figures in theirs.values())
        header += [f"{label} {published.MARK}"] if has_published else []
        first = comparison.value(columns[0], digest, MEAN, level)
        for row, column in zip(rows, columns, strict=True):
            value = comparison.value(column, digest, MEAN, level)
            difference = NONE
            if column is not columns[0] and value.is_whole and first.is_whole:
                difference = f"{(value.figure or 0) - (first.figure or 0):+z.1f}"
            row += [Entry(value.text), Entry(difference)]
            if has_published:
                figure = theirs[column].get(comparison.dataset(digest))
                row.append(Entry(NONE if figure is None else f"{figure:.1f}"))
    title = (
        f"{detector}: {METRIC_TITLES[comparison.metric]} (%) of its configurations, mean over the splits, "
        f"{percent(level)} of outliers in the training data"
    )
    return Table(title, header, rows, n_labels=1)


def ablated(comparison: Comparison, least: int = 3) -> dict[str, list[Column]]:
    """Return the detectors that stand there in `least` configurations or more, and these."""
    fair = [column for column in comparison.columns if not column.is_oracle]
    counts = Counter(column.detector for column in fair)
    return {name: [c for c in fair if c.detector == name] for name, n in counts.items() if n >= least}


def cost_table(comparison: Comparison) -> Table:
    """What each detector costs on each corpus: means over the splits, peak over all of them."""
    level = comparison.levels[0]
    rows: list[list[Entry]] = []
    starts: set[int] = set()
    for digest, label in comparison.corpora.items():
        starts.add(len(rows))
        for column in comparison.columns:
            records = [r for r in comparison.records_of(column, digest, level) if r["status"] == "ok"]
            if records:
                rows.append([Entry(label), Entry(column.label), *map(Entry, _costs(records))])
    header = ["dataset", "detector", "fit (s)", "score (s)", "documents/s scored", "peak memory (GB)"]
    return Table(
        "Cost of a split, mean over the splits; peak memory is the most of any", header, rows, starts
    )


def _costs(records: Sequence[dict[str, object]]) -> list[str]:
    def of(name: str) -> list[float]:
        return [float(str(record[name])) for record in records if name in record]

    fit, score, memory = of("fit_seconds"), of("score_seconds"), of("peak_memory_mb")
    rate = sum(of("n_test")) / max(sum(score), 1e-9)
    return [
        *(f"{float(f'{value:.3g}'):,g}" for value in (mean(fit), mean(score), rate)),
        f"{max(memory) / 1000:.2f}" if memory else NONE,
    ]
