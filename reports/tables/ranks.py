"""The tables beside the main comparison: ranks, significance, ablations, cost."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from adbench_text.metrics import METRICS
from adbench_text.reports import published
from adbench_text.reports import significance as statistics
from adbench_text.reports.comparison import MEAN, Column, Comparison, Record
from adbench_text.reports.report import Entry, Table
from adbench_text.reports.tables.splits import NONE
from adbench_text.sweep.cell import percent

_ALPHA = 0.05

_Split = tuple[str, str]  # label of the corpus, and inlier class


class Ranking:
    """Detectors ranked over splits that all of them have, at the lowest contamination level.

    Columns chosen on the test labels are left out, and so are those that have so few splits that
    fewer figures would be left for the others. Of several editions of a dataset one alone counts: the
    published one, else that with most figures.

    Attributes
    ----------
    metric : Metric
        What they are ranked by.
    columns : list of Column
        Those ranked.
    left_out : list of Column
        Those that have fewer splits.
    other_editions : list of str
        Labels of the corpora that are not counted.
    splits : list of (str, str)
        Label of the corpus, and inlier class.
    figures : float64 array of shape (n_splits, n_columns)
        In percent, mean over the seeds.
    merits : float64 array of shape (n_splits, n_columns)
        The figures, negative if lower ones are better.
    """

    def __init__(self, comparison: Comparison) -> None:
        self.metric = METRICS[comparison.metric]
        found = {c: _figures(comparison, c) for c in comparison.columns if not c.is_oracle}
        counted = _one_edition_each(comparison, found)
        self.other_editions = [label for label in comparison.corpora.values() if label not in counted]
        found = {
            column: {split: figure for split, figure in figures.items() if split[0] in counted}
            for column, figures in found.items()
        }
        by_splits = sorted(found, key=lambda column: -len(found[column]))  # stable
        shared = {
            n: set.intersection(*(set(found[c]) for c in by_splits[:n])) for n in range(1, len(found) + 1)
        }
        best = max(shared, key=lambda n: (n > 1, n * len(shared[n])), default=0)
        chosen = by_splits[:best] if best and shared[best] else []
        self.columns = [column for column in found if column in chosen]
        self.left_out = [column for column in found if column not in chosen]
        self.splits = sorted(shared[best]) if chosen else []
        self.figures: NDArray[np.float64] = np.array(
            [[found[column][split] for column in self.columns] for split in self.splits]
        ).reshape(len(self.splits), len(self.columns))
        self.merits = self.figures if self.metric.higher_is_better else -self.figures

    @property
    def is_possible(self) -> bool:
        """Whether there are detectors to compare, and splits to compare them over."""
        return len(self.columns) > 1 and len(self.splits) > 1

    @property
    def mean_ranks(self) -> NDArray[np.float64]:
        """Mean rank of each column; 1 is best."""
        return statistics.mean_ranks(self.merits)

    @property
    def pairs(self) -> list[statistics.Pair]:
        """All pairs of columns, tested; see `adbench_text.reports.significance.wilcoxon_holm`."""
        return statistics.wilcoxon_holm(self.merits)


def _figures(comparison: Comparison, column: Column) -> dict[_Split, float]:
    """Return the whole figures of a column."""
    level = comparison.levels[0]
    values = {
        (label, inlier): comparison.value(column, digest, inlier, level)
        for digest, label in comparison.corpora.items()
        for inlier in comparison.inliers(digest)
    }
    return {split: value.whole for split, value in values.items() if value.whole is not None}


def _one_edition_each(comparison: Comparison, found: Mapping[Column, Mapping[_Split, float]]) -> set[str]:
    """Return the label of one corpus of each dataset: its splits would count several times else."""
    counts = Counter(label for figures in found.values() for label, _ in figures)
    published = {r["dataset_digest"] for r in comparison.records if r["edition"] == "published"}
    labels: dict[str, list[tuple[bool, int, str]]] = {}
    for digest, label in comparison.corpora.items():
        rank = digest in published, counts[label], label
        labels.setdefault(comparison.dataset(digest), []).append(rank)
    return {max(of_dataset)[2] for of_dataset in labels.values()}


def ranks_table(ranking: Ranking) -> Table:
    """Mean rank and mean figure of each detector, the best first."""
    ranks = ranking.mean_ranks
    rows = []
    for place in np.argsort(ranks, kind="stable"):
        wins = int((ranking.merits[:, place] == ranking.merits.max(axis=1)).sum())
        figures = [f"{ranks[place]:.2f}", f"{ranking.figures[:, place].mean():.1f}", str(wins)]
        rows.append([Entry(ranking.columns[place].label), *map(Entry, figures)])
    title = f"Mean rank over {len(ranking.splits)} splits, by {ranking.metric.title}"
    p = statistics.friedman(ranking.figures)
    if not np.isnan(p):
        title += f" (Friedman test: p = {p:.2g})"
    header = ["detector", "mean rank", f"mean {ranking.metric.title} (%)", "best on so many splits"]
    return Table(title, header, rows, n_labels=1)


def significance_table(ranking: Ranking) -> Table:
    """Each pair of detectors, with the split-wise difference and its p-value."""
    rows = []
    for pair in ranking.pairs:
        better, worse = pair.first, pair.second
        if pair.difference < 0:
            better, worse = worse, better
        wins = int((ranking.merits[:, better] > ranking.merits[:, worse]).sum())
        difference = np.median(ranking.figures[:, better] - ranking.figures[:, worse])
        figures = [f"{difference:z.1f}", f"{wins} of {len(ranking.splits)}"]
        figures += [f"{pair.p:.2g}", f"{pair.p_holm:.2g}", "yes" if pair.p_holm < _ALPHA else "no"]
        names = [ranking.columns[place].label for place in (better, worse)]
        rows.append([Entry(text) for text in [*names, *figures]])
    title = (
        f"{ranking.metric.title}: paired differences over {len(ranking.splits)} splits "
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
            if column is not columns[0] and value.whole is not None and first.whole is not None:
                difference = f"{value.whole - first.whole:+z.1f}"
            row += [Entry(value.text), Entry(difference)]
            if has_published:
                figure = theirs[column].get(comparison.dataset(digest))
                row.append(Entry(NONE if figure is None else f"{figure:.1f}"))
    title = (
        f"{detector}: {METRICS[comparison.metric].title} (%) of its configurations, mean over the splits, "
        f"{percent(level)} of outliers in the training data"
    )
    return Table(title, header, rows, n_labels=1)


def ablated(comparison: Comparison, least: int = 3) -> dict[str, list[Column]]:
    """Return the detectors that stand there in `least` configurations or more, and these."""
    fair = [column for column in comparison.columns if not column.is_oracle]
    counts = Counter(column.detector for column in fair)
    return {
        # first the one that the others vary, whichever was run first
        name: sorted(
            (c for c in fair if c.detector == name), key=lambda c: (c.label.count("="), c.generation)
        )
        for name, n in counts.items()
        if n >= least
    }


def cost_table(comparison: Comparison) -> Table:
    """What each detector costs on each corpus: means over the splits, peak over all of them.

    What a grid costs is the sum over its configurations.
    """
    level = comparison.levels[0]
    rows: list[list[Entry]] = []
    starts: set[int] = set()
    for digest, label in comparison.corpora.items():
        starts.add(len(rows))
        for column in comparison.columns:
            records = [r for r in comparison.records_of(column, digest, level) if r["status"] == "ok"]
            if records:
                # not how many it has the metric of: an older cell may lack that
                n, (_, n_expected) = len(records), comparison.value(column, digest, MEAN, level).of
                of = "" if n == n_expected else f" ({n} of {n_expected})"
                rows.append([Entry(label), Entry(column.label + of), *map(Entry, _costs(records))])
    title = (
        f"Cost of a split, mean over the splits, {percent(level)} of outliers in the training data; "
        "peak memory is the most of any"
    )
    header = ["dataset", "detector", "fit (s)", "score (s)", "documents/s scored", "peak memory (GB)"]
    return Table(title, header, rows, starts)


def _costs(records: Sequence[Record]) -> list[str]:
    def of(name: str) -> float:
        n_splits = len({(record["inlier"], record["seed"]) for record in records})
        return float(sum(record[name] for record in records)) / n_splits

    memory = [record["peak_memory_mb"] for record in records if "peak_memory_mb" in record]
    fit, score = of("fit_seconds"), of("score_seconds")
    rate = of("n_test") / max(score, 1e-9)
    return [
        *(f"{float(f'{value:.3g}'):,g}" for value in (fit, score, rate)),
        f"{max(memory) / 1000:.2f}" if memory else NONE,
    ]
