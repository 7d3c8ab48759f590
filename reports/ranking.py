"""Detectors ranked over the splits that they share."""

from collections import Counter
from collections.abc import Hashable, Mapping
from functools import cached_property
from itertools import accumulate, combinations_with_replacement, starmap
from operator import and_
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from adbench_text.reports import significance
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.significance import Estimate, Resampling, estimate

_Split = tuple[str, str]  # label of the corpus, and inlier class
_Key = TypeVar("_Key", bound=Hashable)


class Ranking:
    """Detectors ranked over splits that all of them have, at the lowest contamination level.

    Columns chosen on the test labels or scored by the test batch are left out, and so are columns that lack
    splits, where they would leave fewer figures for the others. Only one edition of a dataset counts: the
    published one, otherwise the one with most figures; thinned test sets only if there are no others.

    `figures` and `merits` have the shape (n_splits, n_columns): in percent, the mean over the seeds; merits
    are negative if lower figures are better. `splits` are pairs of the label of a corpus and an inlier class.
    `left_out` lack some of them.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        figures = {c: _figures(comparison, c) for c in comparison.fair if not c.is_apart}
        counted = _one_edition_each(comparison, figures)
        self.other_editions = [c.label for c in comparison.corpora if c.label not in counted]
        figures = {
            column: {split: value for split, value in of_column.items() if split[0] in counted}
            for column, of_column in figures.items()
        }
        shared = shared_by_most(figures)
        self.columns = [column for column in figures if shared <= figures[column].keys()]
        self.left_out = [column for column in figures if column not in self.columns]
        self.splits = sorted(shared)
        self.figures: NDArray[np.float64] = np.array(
            [[figures[column][split] for column in self.columns] for split in self.splits]
        ).reshape(len(self.splits), len(self.columns))
        self.merits = self.figures if comparison.metric.higher_is_better else -self.figures

    @property
    def is_possible(self) -> bool:
        """Whether there are detectors to compare, and splits to compare them over."""
        return len(self.columns) > 1 and len(self.splits) > 1

    @property
    def mean_ranks(self) -> NDArray[np.float64]:
        """Mean rank of each column; 1 is best."""
        return significance.mean_ranks(self.merits)

    @property
    def notes(self) -> list[str]:
        """What is left out of the ranking, and why."""
        reasons = {
            "they lack splits that the others have": [column.label for column in self.left_out],
            "another edition of the dataset is": self.other_editions,
        }
        return [
            f"Not ranked, because {reason}: {', '.join(names)}." for reason, names in reasons.items() if names
        ]

    def difference(self, first: int, second: int) -> Estimate | None:
        """Return the mean difference of two columns with its interval, if there are scores."""
        means = self._resampled[first], self._resampled[second]
        if means[0] is None or means[1] is None:
            return None
        value = float((self.figures[:, first] - self.figures[:, second]).mean())
        return estimate(value, means[0] - means[1])

    @cached_property
    def _resampled(self) -> list[NDArray[np.float64] | None]:
        """The mean of each column over the splits, for each resample of the test documents."""
        metric, evidence = self._comparison.metric, self._comparison.evidence
        if evidence is None or metric.of_counts is None:
            return [None] * len(self.columns)
        resampling = Resampling(metric, evidence)
        corpora = {corpus.label: corpus for corpus in self._comparison.corpora}
        return [
            resampling.mean([corpora[label].of_splits(column)[inlier] for label, inlier in self.splits])
            for column in self.columns
        ]


def _figures(comparison: Comparison, column: Column) -> dict[_Split, float]:
    """Return the complete figures of a column."""
    return {
        (corpus.label, inlier): value
        for corpus in comparison.corpora
        for inlier in corpus.inliers
        if (value := corpus.entry(column, inlier).complete_value) is not None
    }


def shared_by_most(figures: Mapping[Column, Mapping[_Key, float]]) -> frozenset[_Key]:
    """Return the splits that rank the columns that have all of them; empty if there are none.

    The more columns, the fewer splits they share. So these keep most figures, among the splits that two
    columns share and those that the columns with most splits share.
    """
    of_columns = sorted(map(frozenset, figures.values()), key=len, reverse=True)  # stable
    distinct = list(dict.fromkeys(of_columns))
    candidates = [*accumulate(distinct, and_), *starmap(and_, combinations_with_replacement(distinct, 2))]

    def n_figures(splits: frozenset[_Key]) -> int:
        n_columns = sum(splits <= of_column for of_column in of_columns)
        return n_columns * len(splits) if min(n_columns, len(splits)) > 1 else 0

    best = max(candidates, key=n_figures, default=frozenset[_Key]())
    return best if n_figures(best) else frozenset()


def _one_edition_each(comparison: Comparison, figures: Mapping[Column, Mapping[_Split, float]]) -> set[str]:
    """Return the label of one corpus of each dataset: otherwise its splits would count several times."""
    counts = Counter(label for of_column in figures.values() for label, _ in of_column)
    labels: dict[str, list[tuple[bool, bool, int, str]]] = {}
    for corpus in comparison.corpora:
        rank = not corpus.splits, corpus.is_published, counts[corpus.label], corpus.label
        labels.setdefault(corpus.dataset, []).append(rank)
    return {max(of_dataset)[-1] for of_dataset in labels.values()}
