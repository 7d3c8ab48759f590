"""The figures of one metric: means over seeds and splits, with the published figures."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from statistics import mean
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.contract.protocols import RANK_ALL
from adbench_text.errors import UnknownNameError
from adbench_text.metrics import COSTS, METRICS, OF_WORDS, Metric, is_lower_better
from adbench_text.reports import benchmarks, published
from adbench_text.reports.cells import Cells, Column, known_splits, levels_of
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.means import Place, means
from adbench_text.reports.report import NONE, OTHER_EDITION, Entry, Kind, Table, figure
from adbench_text.store.cells import key_of

PUBLISHED = "published"
_SOURCES = {
    published.PAPER: "(paper): published by Manolache et al., NAACL 2021, on the published editions; "
    "†: the best configuration per split, chosen on the test labels.",
    published.WU: "(Wu et al.): published at ACL 2023, five seeds; MDF+IMLM†: chosen on the test labels.",
}
_OF_ORACLES = "(oracle): the best per split, chosen on the test labels; never in bold."


class Corpus:
    """A corpus of a comparison, and its figures; its rows are the inlier classes `inliers`.

    `splits` names the variant of the splits, empty for one-vs-rest with complete test sets. `n_splits` is the
    number of splits for a mean: the splits of the sweep, otherwise all splits, even if their names are too
    long.

    `label` has `OTHER_EDITION` if the published figures are of another version of the data. `published` are
    published figures of splits: method -> inlier class -> figure. It is empty for another protocol or a
    smaller test set. `published_rows` are their means, and the figures of corpora.
    """

    def __init__(self, comparison: "Comparison", digest: str) -> None:
        self._comparison, self.digest = comparison, digest
        counted = comparison.cells.counted
        self.cells = counted[counted["corpus"] == digest]
        self.first = self.cells.iloc[0]
        key = key_of(self.first)
        self.dataset, self.splits, self.n_known = key.dataset, key.variant, key.known
        self.is_unranked = bool(key.known)  # detectors are not ranked if outliers are known
        self.is_ranking = key.protocol == RANK_ALL
        self.has_words = bool(self.cells[[*OF_WORDS]].notna().any(axis=None))
        self.levels: list[float] = sorted(set(self.cells["contamination"]))
        # a file without outliers has no AUROC, so this may be above the lowest level of the others
        self.lowest = levels_of(self.cells)[0] if self.is_ranking else comparison.lowest
        self._set_splits()
        self._set_published()
        mark = f" {OTHER_EDITION}" if self.is_other_edition else ""
        self.label: str = f"{comparison.cells.corpora[digest]}{mark}"

    def _set_splits(self) -> None:
        """Set `inliers`, `n_splits` and `has_one_split`."""
        known = known_splits(self.cells)
        n_splits_known = max([len(known), *self.cells["n_splits"].dropna().astype(int)])
        self.has_one_split = n_splits_known == 1
        in_sweep = (cell.split for cell in self._comparison.cells.promised)
        here = (key for key in in_sweep if (key.dataset, key.variant) == (self.dataset, self.splits))
        of_sweep = dict.fromkeys(key.inlier for key in here)
        self.inliers = list(of_sweep) or known + sorted(set(self.cells["inlier"]).difference(known))
        self.n_splits = len(self.inliers) if of_sweep else max(n_splits_known, len(self.inliers))

    def _set_published(self) -> None:
        """Set `is_published`, `published`, `is_other_edition` and `published_rows`; this needs the splits."""
        metric = self._comparison.metric.name
        is_clean = self.lowest == 0  # all published figures are from clean training data
        self.is_published = bool(self.cells["published"].any())
        self.published = {} if self.splits else published.figures(self.dataset, metric)
        self.is_other_edition = bool(self.published) and is_clean and not self.is_published
        has_their_corpus = bool(self.first["relation"])  # see `benchmarks.relation`
        self.published_rows = (
            list(benchmarks.rows(self.dataset, metric)) if has_their_corpus and is_clean else []
        )
        for method in self.published if is_clean else ():
            if (value := self.published_value(method)) is not None:
                self.published_rows.append(benchmarks.of_method(method, value))

    @property
    def mean_label(self) -> str:
        """The label of the row of means, which is not the name of a class."""
        return "mean" if "mean" not in self.inliers else "mean of all classes"

    def entry(
        self, column: Column, inlier: str | None = None, level: float | None = None, name: str | None = None
    ) -> Entry:
        """Return the mean of a split (`inlier`) over the seeds, or of all splits without one; see `means`.

        The default level is the lowest. `name` is a metric or cost, by default the metric of the comparison.
        """
        place = self._comparison.columns.index(column), self.digest, self.lowest if level is None else level
        return self._comparison.means_of(name or self._comparison.metric.name).get((*place, inlier), NONE)

    def entries(self, inlier: str | None = None, level: float | None = None) -> list[Entry]:
        """Return the figures of all columns, for a split or the mean."""
        return [self.entry(column, inlier, level) for column in self._comparison.columns]

    def with_best(self, inlier: str | None = None, level: float | None = None) -> list[Entry]:
        """Return the `entries`, with the best ones marked, see `Comparison.marked`."""
        return self._comparison.marked(self.entries(inlier, level))

    @cached_property
    def finished_cells(self) -> pd.DataFrame:
        """The finished cells at the lowest level, by column, the lowest seed first: rows of `Cells.table`."""
        cells = self._comparison.cells.table
        is_here = (cells["corpus"] == self.digest) & (cells["contamination"] == self.lowest) & cells["is_ok"]
        return cells[is_here].sort_values(["column", "seed"])

    def finished(self, column: Column) -> pd.DataFrame:
        """Return the `finished_cells` of a column."""
        cells = self.finished_cells
        return cells[cells["column"] == self._comparison.columns.index(column)]

    def measured(self, names: Sequence[str]) -> list[tuple[Column, list[Entry]]]:
        """Return the means over the splits of other metrics and costs, at the lowest level.

        There is an entry for each name, `NONE` if no cell has it. Only columns with finished cells are
        returned.
        """
        columns = [self._comparison.columns[number] for number in self.finished_cells["column"].unique()]
        of_columns = [[self.entry(column, name=name) for name in names] for column in columns]
        entries = [[e if e.kind is Kind.FIGURE else NONE for e in of_column] for of_column in of_columns]
        return list(zip(columns, entries, strict=True))

    def of_splits(self, column: Column) -> pd.DataFrame:
        """Return the finished cell of the lowest seed of each split at the lowest level.

        The index has the names in the order of `inliers`.
        """
        cells = self.finished(column).drop_duplicates("inlier").set_index("inlier", drop=False)
        return cells.loc[[name for name in self.inliers if name in cells.index]]

    def rows(self, row_of: Callable[[str | None], list[Entry]]) -> list[list[Entry]]:
        """Return a row for each split, and one for the mean (None) if the corpus has several splits."""
        rows = [[Entry(inlier), *row_of(inlier)] for inlier in self.inliers]
        mean_label = Entry(self.mean_label, is_summary=True)
        return rows if self.has_one_split else [*rows, [mean_label, *row_of(None)]]

    def published_entries(self, inlier: str | None, methods: Sequence[str]) -> list[Entry]:
        """Return the published figures of a split, or their means over all splits."""
        if inlier is None:
            return [figure(self.published_value(method)) for method in methods]
        return [self.published.get(method, {}).get(inlier, NONE) for method in methods]

    def published_value(self, method: str, inlier: str | None = None) -> float | None:
        """Return a published figure, or the mean over all splits."""
        figures = self.published.get(method, {})
        return self.mean_of({name: entry.value for name, entry in figures.items()}, inlier)

    def mean_of(self, figures: Mapping[str, float | None], inlier: str | None = None) -> float | None:
        """Return the figure of a split, or the mean over all splits; None if one is missing."""
        names = self.inliers if inlier is None else [inlier]
        present = [value for name in names if (value := figures.get(name)) is not None]
        is_complete = len(present) == (self.n_splits if inlier is None else 1)
        return mean(present) if present and is_complete else None


class Comparison:
    """The figures of one metric.

    `fair` are the columns that were not chosen by the test labels. `ranked` are the fair columns that are not
    transductive. Without `evidence` there are no scores, intervals and examples. Paired tests compare all
    detectors with the `baseline`, which is the label of a ranked column, or all pairs.
    """

    def __init__(
        self,
        cells: Cells,
        metric: str | Metric,
        evidence: Evidence | None = None,
        baseline: str | None = None,
    ) -> None:
        self.metric = METRICS[metric] if isinstance(metric, str) else metric
        self.cells, self.evidence = cells, evidence or Evidence()
        self.columns, self.levels = cells.columns, cells.levels
        self._means: dict[str, dict[Place, Entry]] = {}  # by metric or cost
        self.lowest = self.levels[0]
        self.fair = [column for column in self.columns if not column.is_oracle]
        self.ranked = [column for column in self.fair if not column.uses_test_batch]
        baselines = (column for column in self.ranked if baseline in (column.label, column.own_label))
        self.baseline = next(baselines, None)
        if baseline is not None and self.baseline is None:
            raise UnknownNameError("ranked detector", baseline, [column.label for column in self.ranked])
        self.corpora = [Corpus(self, digest) for digest in cells.corpora]

    @property
    def heading(self) -> str:
        """The metric as a title of a table in percent."""
        return f"{self.metric.title} (%{'' if self.metric.higher_is_better else ', lower is better'})"

    @property
    def labels(self) -> list[str]:
        """The heads of the columns."""
        return [column.label for column in self.columns]

    @property
    def ours(self) -> list[str]:
        """The heads of the columns marked by the user."""
        return [column.label for column in self.columns if column.name]

    def means_of(self, name: str) -> dict[Place, Entry]:
        """Return the `means` of a metric (in percent) or of a cost (unchanged).

        For a grid, a metric is the best of its configurations, and a cost is the sum.
        """
        if name not in self._means:
            is_cost = name in (*COSTS, "n_test")
            best = self.metric.higher_is_better if name == self.metric.name else not is_lower_better(name)
            of_grid: Literal["max", "min", "sum"] = "sum" if is_cost else "max" if best else "min"
            values = self.cells.table[name] * (1 if is_cost else 100)
            n_splits = {corpus.digest: corpus.n_splits for corpus in self.corpora}
            self._means[name] = means(self.cells.table, values, n_splits, of_grid)
        return self._means[name]

    def figures(
        self,
        columns: Sequence[Column],
        rows: Sequence[tuple[Corpus, str | None]],
        level: float | None = None,
    ) -> NDArray[np.float64]:
        """Return a row of complete figures for each split or mean (None); other figures are NaN."""
        values = [[corpus.entry(c, inlier, level).complete_value for c in columns] for corpus, inlier in rows]
        return np.array(values, dtype=np.float64).reshape(len(rows), len(columns))

    def marked(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return figures of all columns, with the best complete ones marked after rounding.

        Figures that were chosen by the test labels are not marked. Transductive detectors have a separate
        best figure.
        """
        marked = list(entries)
        printed: dict[bool, dict[int, float]] = {}  # rounded figures by place, transductive ones separately
        for place, (column, entry) in enumerate(zip(self.columns, entries, strict=True)):
            if entry.complete_value is not None and not column.is_oracle:
                printed.setdefault(column.uses_test_batch, {})[place] = round(entry.complete_value, 1)
        for candidates in printed.values():
            best = self.metric.best(candidates.values())
            for place, value in candidates.items():
                marked[place] = replace(marked[place], best=value == best and len(candidates) > 1)
        return marked

    def best_first(
        self, *corpora: Corpus, inliers: Sequence[str | None] = (None,), level: float | None = None
    ) -> list[tuple[Column, float]]:
        """Return the fair columns with all figures, and their means, the best first.

        The figures are of the splits `inliers`, or the mean over all splits. The default level is the
        lowest.
        """
        figures = self.figures(self.fair, [(corpus, name) for corpus in corpora for name in inliers], level)
        present = [
            (column, mean(values))
            for column, values in zip(self.fair, figures.T.tolist(), strict=True)
            if values and np.isfinite(values).all()
        ]
        sign = -1 if self.metric.higher_is_better else 1
        return sorted(present, key=lambda item: sign * item[1])

    @property
    def published(self) -> list[str]:
        """The methods with a published figure on some corpus, all from clean training data."""
        methods = [method for corpus in self.corpora for method in corpus.published if self.lowest == 0]
        return list(dict.fromkeys(methods))

    def notes_on_labels(self, sources: Collection[str] = ()) -> list[str]:
        """Return notes that explain the signs in labels; `sources` are sources of published figures."""
        has_oracle = any(column.is_oracle for column in self.columns)
        of_oracles = [_OF_ORACLES] if has_oracle else []
        return of_oracles + [note for name, note in _SOURCES.items() if name in sources]

    def blocks(self, n_published: int = 0) -> list[tuple[str, int]]:
        """Return the titles over neighbouring columns, or no title if there would be only one."""
        blocks = [
            (title, len(list(group)))
            for (_, title), group in groupby(self.columns, key=lambda column: column.block)
        ]
        blocks += [(PUBLISHED, n_published)] if n_published else []
        return blocks if len(blocks) > 1 else []

    def table(
        self,
        title: str,
        header: Sequence[str],
        groups_of: Callable[[Corpus], Iterable[list[list[Entry]]]],
        **more: Any,
    ) -> Table:
        """Return a table of all corpora, with the groups of rows that `groups_of` returns for a corpus.

        The label of the corpus comes first in a row. `more` are attributes of `Table`.
        """
        rows: list[list[Entry]] = []
        starts: set[int] = set()
        for corpus in self.corpora:
            for group in groups_of(corpus):
                starts.add(len(rows))
                rows += [[Entry(corpus.label), *row] for row in group]
        return Table(title, ["dataset", *header], rows, starts, **more)
