"""Detectors ranked over their common splits."""

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement, compress, starmap

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.significance import Estimate, contributions, estimate

_DECIMALS = 9  # of figures in percent


class Ranking:
    """Detectors ranked over their common splits, at the lowest contamination level.

    Columns that were chosen by the test labels, and transductive columns, are left out. A column that lacks
    splits is left out if it would leave fewer figures for the others. With a baseline, only its splits count.
    Only one version of the data of a dataset counts: the published one, otherwise the one with most figures.
    A smaller test set counts only if there is no complete one.

    `figures` and `merits` have the shape (n_splits, n_columns). Figures are means over the seeds, in percent.
    Merits are the negated figures if lower is better. `splits` are pairs of the label of a corpus and an
    inlier class. `left_out` are columns that lack some of them.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        columns = comparison.ranked
        counted = _one_edition_each(comparison, columns)
        self.other_editions = [c.label for c in comparison.corpora if c not in counted]
        self._corpora = {corpus.label: corpus for corpus in counted}
        splits = sorted((corpus.label, inlier) for corpus in counted for inlier in corpus.inliers)
        figures = comparison.figures(columns, [(self._corpora[label], inlier) for label, inlier in splits])
        if comparison.baseline is not None:
            has_baseline = np.isfinite(figures[:, columns.index(comparison.baseline)])
            figures, splits = figures[has_baseline], list(compress(splits, has_baseline))
        shared = shared_by_most(figures)
        is_ranked = np.asarray(np.isfinite(figures[shared]).all(axis=0))
        self.columns = list(compress(columns, is_ranked))
        self.left_out = list(compress(columns, ~is_ranked))
        self.splits = list(compress(splits, shared))
        # means of equal figures may differ in the last digits
        self.figures = np.round(figures[shared][:, is_ranked], _DECIMALS)
        self.merits = self.figures if comparison.metric.higher_is_better else -self.figures

    @property
    def is_possible(self) -> bool:
        """Whether there are at least two detectors and two splits."""
        return len(self.columns) > 1 and len(self.splits) > 1

    @property
    def notes(self) -> list[str]:
        """Notes on columns and corpora that are not ranked, with the reasons."""
        columns = self._comparison.columns
        reasons = {
            "they lack splits that the others have": [column.label for column in self.left_out],
            "they were chosen on the test labels": [c.label for c in columns if c.is_oracle],
            "they use the test batch": [c.label for c in columns if c.uses_test_batch and not c.is_oracle],
            "another edition of the dataset is": self.other_editions,
        }
        return [
            f"Not ranked, because {reason}: {', '.join(names)}." for reason, names in reasons.items() if names
        ]

    def difference(self, first: int, second: int) -> Estimate | None:
        """Return the mean difference of two columns with its interval; None unless the metric is AUROC."""
        of_first, of_second = self._contributions[first], self._contributions[second]
        if of_first is None or of_second is None:
            return None
        value = float((self.figures[:, first] - self.figures[:, second]).mean())
        return estimate(value, of_first.sub(of_second, fill_value=0))

    @property
    def without_scores(self) -> list[Column]:
        """The columns that cannot be tested over documents, if others can."""
        of_columns = zip(self.columns, self._contributions, strict=True)
        without = [column for column, of_documents in of_columns if of_documents is None]
        return without if len(without) < len(self.columns) else []

    @cached_property
    def _contributions(self) -> "list[pd.Series[float] | None]":
        """The contribution of each test document to the mean of a column; None if scores are missing."""
        metric, evidence = self._comparison.metric, self._comparison.evidence
        if metric.curve != "ROC":
            return [None] * len(self.columns)
        splits = [(self._corpora[label].digest, inlier) for label, inlier in self.splits]
        of_columns = (
            pd.concat([corpus.of_splits(column) for corpus in self._corpora.values()])
            for column in self.columns
        )
        return [
            contributions(cells.set_index(["corpus", "inlier"], drop=False).loc[splits], evidence)
            for cells in of_columns
        ]


def shared_by_most(figures: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the rows that keep the largest number of figures.

    This number is the number of rows, times the number of columns that have all these rows. The candidates
    are the common rows of two columns, and the common rows of the n fullest columns. If no two columns share
    two rows, no row is chosen.
    """
    has = np.isfinite(figures).T
    most_first = has[np.argsort(-has.sum(axis=1), kind="stable")]
    pairs = starmap(np.logical_and, combinations_with_replacement(most_first, 2))

    def n_figures(rows: NDArray[np.bool_]) -> int:
        """Return the number of figures of the columns that have all these rows."""
        n_columns, n_rows = int((has | ~rows).all(axis=1).sum()), int(rows.sum())
        return n_columns * n_rows if min(n_columns, n_rows) > 1 else 0

    nothing = np.zeros(len(figures), dtype=np.bool_)
    return max([nothing, *np.logical_and.accumulate(most_first), *pairs], key=n_figures)


def _one_edition_each(comparison: Comparison, columns: Sequence[Column]) -> list[Corpus]:
    """Return one corpus for each dataset: otherwise its splits would count several times."""

    def rank(corpus: Corpus) -> tuple[bool, bool, int, str]:
        """Return what sorts the corpora of a dataset; the last one counts."""
        figures = comparison.figures(columns, [(corpus, inlier) for inlier in corpus.inliers])
        return not corpus.splits, corpus.is_published, int(np.isfinite(figures).sum()), corpus.label

    best = {corpus.dataset: corpus for corpus in sorted(comparison.corpora, key=rank)}
    return list(best.values())
