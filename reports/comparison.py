"""The figures of one metric, arranged by column, corpus, split and contamination level."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from statistics import fmean, stdev

from adbench_text.errors import AdbenchTextError
from adbench_text.metrics import METRICS, ROUNDING
from adbench_text.plugins import registry
from adbench_text.reports import notes as notes_on
from adbench_text.reports import published
from adbench_text.reports.columns import Column, blocks_of, columns_of, n_configurations
from adbench_text.reports.report import NONE, Entry, Kind, Mark
from adbench_text.store.record import Record
from adbench_text.sweep.cell import Cell, of_test_set, percent

PUBLISHED = "published"
MISSING = {Kind.MISSING: "missing", Kind.FAILED: "failed"}


def editions_of(records: Sequence[Record]) -> dict[str, str]:
    """Label each `Record.dataset_digest`: the dataset's name, numbered where there are several editions."""
    digests = dict.fromkeys((record.dataset, record.dataset_digest) for record in records)
    n_editions = Counter(dataset for dataset, _ in digests)
    names, seen = {}, Counter[str]()
    for dataset, digest in sorted(digests, key=lambda item: item[0]):
        seen[dataset] += 1
        names[digest] = dataset if n_editions[dataset] == 1 else f"{dataset} ({seen[dataset]})"
    return names


def corpora_of(records: Sequence[Record]) -> dict[str, str]:
    """Label each `Record.corpus`: its edition, with the share of outliers in a thinned test set."""
    names = editions_of(records)
    order = list(names)
    first = sorted(records, key=lambda r: (order.index(r.dataset_digest), -(r.test_outliers or 1)))
    return {r.corpus: f"{names[r.dataset_digest]}{of_test_set(r.test_outliers)}" for r in first}


def _classes(records: Sequence[Record]) -> list[str]:
    """Return the classes of the corpus of these records in its order, also those without a result."""
    classes = next((list(record.classes) for record in records if record.classes), [])
    if not classes:  # older cells
        with suppress(AdbenchTextError):  # own documents, or a plug-in that is no longer installed
            classes = list(registry.dataset(records[0].dataset).classes)
    return classes + sorted({record.inlier for record in records}.difference(classes))


def current(records: Sequence[Record]) -> list[Record]:
    """Return the newest record of each cell, whatever code or resources made it."""
    newest = {}
    for record in records:  # oldest first
        newest[record.corpus, *record.identity] = record
    return list(newest.values())


class Comparison:
    """The figures of one metric, arranged.

    Parameters
    ----------
    records : sequence of Record
        From `adbench_text.store.store.Store.cells`, oldest first; not empty.
    metric : str
        A name of `adbench_text.metrics.METRICS`.
    cells : sequence of Cell
        The cells of the sweep that the records belong to: only its inlier classes are rows then. Empty
        for all classes of each dataset.

    Attributes
    ----------
    records : list of Record
        The newest of each cell.
    columns : list of Column
    corpora : dict of str to str
        Label of each corpus, by its digest, with `Mark.OTHER_EDITION` where it is in `other_editions`.
    levels : list of float
        Contamination levels, the lowest first.
    """

    def __init__(self, records: Sequence[Record], metric: str, cells: Sequence[Cell] = ()) -> None:
        self.metric = METRICS[metric]
        self._promised = {
            (cell.detector, cell.preset, configuration, cell.dataset, cell.contamination, cell.inlier)
            for cell in cells
            for configuration in (None, cell.configuration)
        }
        self.records = current(records)
        self.n_superseded = len(records) - len(self.records)
        self.corpora = corpora_of(self.records)
        self.levels = sorted({record.contamination for record in self.records})
        self.published = published.columns(metric)
        self._datasets = {record.corpus: record.dataset for record in self.records}
        self._thinned = {record.corpus for record in self.records if record.test_outliers is not None}
        by_column = columns_of(self.records)
        self.columns = list(by_column)
        self._of: dict[tuple[Column, str, float], list[Record]] = {}
        self._n_configurations: dict[tuple[Column, str], int] = {}
        for column, of_column in by_column.items():
            for record in of_column:
                key = column, record.corpus, record.contamination
                self._of.setdefault(key, []).append(record)
        self._rows = {}
        for digest, dataset in self._datasets.items():
            of_corpus = [record for record in self.records if record.corpus == digest]
            of_sweep = dict.fromkeys(cell.inlier for cell in cells if cell.dataset == dataset)
            self._rows[digest] = list(of_sweep) or _classes(of_corpus)
        self.corpora |= {d: f"{self.corpora[d]} {Mark.OTHER_EDITION.value}" for d in self.other_editions}

    @property
    def lowest(self) -> float:
        """The lowest contamination level."""
        return self.levels[0]

    @property
    def labels(self) -> list[str]:
        """The heads of the columns."""
        return [column.label for column in self.columns]

    def inliers(self, digest: str) -> list[str]:
        """Return the rows of a corpus: all classes of its dataset."""
        return self._rows[digest]

    def mean_label(self, digest: str) -> str:
        """Return the label of the row of means; no class of the corpus is called so."""
        return "mean" if "mean" not in self.inliers(digest) else "mean of all classes"

    def dataset(self, digest: str) -> str:
        """Return the name of the dataset of a corpus."""
        return self._datasets[digest]

    def is_thinned(self, digest: str) -> bool:
        """Whether the outliers of the test sets were thinned; no published figure is of such."""
        return digest in self._thinned

    def figures_of_paper(self, label: str, digest: str) -> dict[str, float]:
        """Return the published figures of a column for a corpus, by inlier class; empty if there are none."""
        if self.is_thinned(digest):
            return {}
        return self.published.get(label, {}).get(self.dataset(digest), {})

    @cached_property
    def other_editions(self) -> set[str]:
        """The corpora that are listed beside published figures of another edition of their dataset."""
        published = {record.corpus for record in self.records if record.is_published}
        compared = {d for d in self.corpora for label in self.published if self.figures_of_paper(label, d)}
        return compared - published if self.lowest == 0 else set()

    def records_of(self, column: Column, digest: str, level: float) -> list[Record]:
        """Return the records behind the figures of a column on a corpus at a level."""
        return self._of.get((column, digest, level), [])

    def levels_of(self, digest: str) -> list[float]:
        """Return the contamination levels that a corpus has results at, the lowest first."""
        return sorted({level for _, of_corpus, level in self._of if of_corpus == digest})

    def finished(self, column: Column, digest: str) -> list[Record]:
        """Return the finished cells of a column on a corpus at the lowest level, the lowest seed first."""
        records = self.records_of(column, digest, self.lowest)
        return sorted((record for record in records if record.is_ok), key=lambda record: record.seed)

    def value(self, column: Column, digest: str, inlier: str, level: float) -> Entry:
        """Return mean and spread over the seeds of one split, in percent."""
        return self._value(column, digest, [inlier], level)

    def mean(self, column: Column, digest: str, level: float) -> Entry:
        """Return the mean over all splits of a corpus; its spread is that of the seeds' means."""
        return self._value(column, digest, self.inliers(digest), level)

    def _value(self, column: Column, digest: str, inliers: Sequence[str], level: float) -> Entry:
        of_level = self.records_of(column, digest, level)
        n_expected = len(inliers) * self._n_per_split(column, digest, of_level)
        of_splits = [record for record in of_level if record.inlier in inliers]
        finished = [record for record in of_splits if record.is_ok and self.metric.name in record.metrics]
        if not finished:
            has_failed = any(not record.is_ok for record in of_splits)
            if not of_splits and not self._is_promised(column, digest, inliers, level):
                return NONE
            kind = Kind.FAILED if has_failed else Kind.MISSING
            return Entry(MISSING[kind], kind, n_cells=0, n_expected=n_expected)
        figures: dict[tuple[str, int], list[float]] = {}  # of all configurations, by split and seed
        for record in finished:
            key = record.inlier, record.seed
            figures.setdefault(key, []).append(100 * record.metrics[self.metric.name])
        best = {key: self.metric.best(of_key) for key, of_key in figures.items()}
        splits = [
            fmean(f for (i, _), f in best.items() if i == split) for split in sorted({i for i, _ in best})
        ]
        seeds = [fmean(f for (_, s), f in best.items() if s == seed) for seed in sorted({s for _, s in best})]
        # seeds that lack some splits have no comparable means
        has_spread = len(seeds) > 1 and (len(finished) == n_expected or len(inliers) == 1)
        spread = stdev(seeds) if has_spread else 0.0
        value = fmean(splits)
        return Entry(
            f"{value:.1f}",
            Kind.FIGURE,
            value,
            spread=spread if spread > 100 * ROUNDING else None,
            n_cells=len(finished),
            n_expected=n_expected,
        )

    def _is_promised(self, column: Column, digest: str, inliers: Sequence[str], level: float) -> bool:
        """Whether the sweep has such a cell; without a sweep, nothing was promised that is not there."""
        key = column.detector, column.preset, column.configuration, self.dataset(digest), level
        return any((*key, inlier) in self._promised for inlier in inliers)

    def _n_per_split(self, column: Column, digest: str, of_level: Sequence[Record]) -> int:
        """Return the number of cells that each split should have: each configuration with each seed."""
        n_seeds = len({record.seed for record in of_level})
        if column.configuration is not None:
            return max(1, n_seeds)
        key = column, digest
        if key not in self._n_configurations:
            number = n_configurations(self.records, column.detector, column.preset, digest)
            self._n_configurations[key] = number
        return max(1, self._n_configurations[key] * n_seeds)

    @property
    def has_published(self) -> bool:
        """Whether there are published figures; they are all of clean training data."""
        return self.lowest == 0 and any(
            self.figures_of_paper(label, digest) for label in self.published for digest in self.corpora
        )

    @property
    def marks(self) -> frozenset[Mark]:
        """The signs in the heads of the columns."""
        return frozenset(Mark.ORACLE for column in self.columns if column.is_oracle)

    def blocks(self, n_published: int = 0) -> list[tuple[str, int]]:
        """Return the titles over neighbouring columns; none where there would be only one."""
        blocks = blocks_of(self.columns)
        if n_published:
            blocks.append((PUBLISHED, n_published))
        return blocks if len(blocks) > 1 else []

    @property
    def notes(self) -> list[str]:
        """What a reader of the figures must know, whatever table they are in."""
        notes = notes_on.failures(self.records)
        for digest in sorted(self.other_editions):
            of_corpus = [record for record in self.records if record.corpus == digest]
            n_published = published.n_training_documents(self.dataset(digest))
            notes.append(notes_on.other_edition(self.corpora[digest], of_corpus, n_published))
        if self.blocks():
            notes.append(notes_on.regimes([(c.label, c.regime_title) for c in self.columns]))
        notes += notes_on.test_batch([c.label for c in self.columns if c.uses_test_batch and not c.is_oracle])
        notes += notes_on.other_levels(self.lowest, self._other_levels)
        notes += notes_on.seeds(self._seeds)
        notes += notes_on.contradictions(self.records, [self.metric])
        return notes + notes_on.versions(self.records, self.n_superseded, are_apart=True)

    @property
    def _other_levels(self) -> dict[str, list[float]]:
        """The levels of corpora, and of columns on the other corpora, that lack the lowest level."""
        levels: dict[str, list[float]] = {}
        for digest, label in self.corpora.items():
            of_corpus = self.levels_of(digest)
            if self.lowest not in of_corpus:
                levels[label] = of_corpus
                continue
            for column in self.columns:
                of_column = [level for level in of_corpus if self.records_of(column, digest, level)]
                if of_column and self.lowest not in of_column:
                    levels[f"{column.label} on {label}"] = of_column
        return levels

    @cached_property
    def _seeds(self) -> dict[str, dict[str, frozenset[int]]]:
        seeds: dict[str, dict[str, frozenset[int]]] = {}
        for (column, digest, level), records in self._of.items():
            of_column = seeds.setdefault(f"{self.corpora[digest]} at {percent(level)}", {})
            label = replace(column, generation=0).label
            of_column[label] = of_column.get(label, frozenset()) | {record.seed for record in records}
        return seeds
