"""What a report says, before any format: the tables and the notes under them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mean, stdev
from typing import Any

from adbench_text.errors import AdbenchTextError
from adbench_text.metrics import METRICS
from adbench_text.plugins import registry
from adbench_text.plugins.regimes import REGIMES
from adbench_text.reports import notes as notes_on
from adbench_text.reports import published
from adbench_text.reports.report import Table
from adbench_text.sweep.cell import DEFAULT, Cell, identity_of, percent

Record = dict[str, Any]

MEAN = "mean"
OTHER, ORACLES, PUBLISHED = "not said", "chosen on the test labels", "published"
OLDER_CODE, OTHER_LIBRARIES = "older code", "other libraries"
MISSING, FAILED = "missing", "failed"


@dataclass(frozen=True)
class Column:
    """One configuration of a detector, or a whole preset (`configuration` is None then).

    A preset may have one configuration for each dataset; where it has several for one dataset, it
    is a grid, and its column an oracle: it takes the best of them per split. So is that of a
    configuration that is one by itself. What other code or other libraries made has a column of its
    own (`generation` 0 is the newest; `differs` names the difference from it).
    """

    detector: str
    preset: str
    configuration: str | None
    is_oracle: bool = False
    regime: str = OTHER
    generation: int = 0
    differs: str = OLDER_CODE

    @property
    def block(self) -> str:
        """The title over it: what it knows, or that it was chosen on the test labels."""
        return ORACLES if self.is_oracle else self.regime

    @property
    def label(self) -> str:
        """What stands at the head of the column."""
        what = self.preset if self.configuration is None else self.configuration
        number = f" {self.generation}" if self.generation > 1 else ""
        other = f" ({self.differs}{number})" if self.generation else ""
        marks = (" (oracle)" if self.is_oracle else "") + other
        return f"{self.detector} {what}".strip() + marks

    def holds(self, record: Record) -> bool:
        """Say whether a record belongs to the column, but for its generation."""
        is_of_preset = (record["detector"], record["preset"]) == (self.detector, self.preset)
        return is_of_preset and self.configuration in (None, record["configuration"])


@dataclass(frozen=True)
class Value:
    """A figure in percent, or why there is none."""

    figure: float | None
    spread: float | None = None
    of: tuple[int, int] = (1, 1)  # so many of so many that should be there
    instead: str = MISSING

    @property
    def text(self) -> str:
        """Figure and spread as shown, and of how many cells it is, where some are missing."""
        if self.figure is None:
            return self.instead
        spread = "" if self.spread is None else f" ± {self.spread:.1f}"
        of = "" if self.whole is not None else f" ({self.of[0]} of {self.of[1]})"
        return f"{self.figure:.1f}{spread}{of}"

    @property
    def whole(self) -> float | None:
        """The figure, if all cells that should be there are."""
        return self.figure if self.of[0] == self.of[1] else None


def corpora_of(records: Sequence[Record]) -> dict[str, str]:
    """Label each corpus digest: the dataset's name, numbered where there are several editions."""
    digests = dict.fromkeys((record["dataset"], record["dataset_digest"]) for record in records)
    n_editions = Counter(dataset for dataset, _ in digests)
    labels, seen = {}, Counter[str]()
    for dataset, digest in sorted(digests, key=lambda item: item[0]):
        seen[dataset] += 1
        labels[digest] = dataset if n_editions[dataset] == 1 else f"{dataset} ({seen[dataset]})"
    return labels


def _inliers(dataset: str, present: set[str]) -> list[str]:
    """Return the inlier classes of a dataset in its order; those without a result are among them."""
    try:
        known = list(registry.dataset(dataset).classes)
    except AdbenchTextError:  # a plug-in that is no longer installed
        known = []
    return known + sorted(present.difference(known))


def current(records: Sequence[Record]) -> list[Record]:
    """Return the newest record of each cell as a reader sees it, whatever code or resources made it."""
    newest = {}
    for record in records:  # oldest first
        newest[record["dataset_digest"], *identity_of(record)] = record
    return list(newest.values())


def version_of(record: Record) -> tuple[str, str, str]:
    """Return the versions of what made a record: the detector's code, the protocol, the libraries."""
    return record["code_version"], record.get("protocol", ""), record.get("libraries", "")


def name_of(record: Record) -> str:
    """Return what the column of a record is called, but for its marks."""
    how = record["configuration"] if record["preset"] == DEFAULT else record["preset"]
    return f"{record['detector']} {how}".strip()


class Comparison:
    """The figures of one metric, arranged.

    Parameters
    ----------
    records : sequence of dict
        From `adbench_text.store.store.Store.cells`, oldest first; not empty.
    metric : str
        A name of `adbench_text.metrics.METRICS`.
    cells : sequence of Cell
        Those of the sweep that the records are of: its inlier classes alone are the rows then. Empty
        for all classes of each dataset.
    """

    def __init__(self, records: Sequence[Record], metric: str, cells: Sequence[Cell] = ()) -> None:
        self.metric = metric
        self.records = current(records)
        self.n_superseded = len(records) - len(self.records)
        self.corpora = corpora_of(self.records)
        self._sizes: dict[tuple[str, str, str], int] = {}
        self.columns = self._columns()
        self.levels = sorted({float(record["contamination"]) for record in self.records})
        self.published = published.columns(metric)
        self._of: dict[tuple[Column, str, float], list[Record]] = {}
        for column in self.columns:
            versions = self._versions_of(column)
            for record in filter(column.holds, self.records):
                digest = record["dataset_digest"]
                if versions.index(version_of(record)) == column.generation:
                    key = column, digest, float(record["contamination"])
                    self._of.setdefault(key, []).append(record)
        self._rows = {}
        for digest in self.corpora:
            present = {r["inlier"] for r in self.records if r["dataset_digest"] == digest}
            of_sweep = dict.fromkeys(c.inlier for c in cells if c.dataset == self.dataset(digest))
            self._rows[digest] = list(of_sweep) or _inliers(self.dataset(digest), present)

    def _columns(self) -> list[Column]:
        configurations: dict[tuple[str, str], list[tuple[str, str]]] = {}
        oracles = {(r["detector"], r["configuration"]) for r in self.records if "oracle" in r}
        regimes = {(r["detector"], r["configuration"]): r.get("regime", OTHER) for r in self.records}
        for record in self.records:
            found = configurations.setdefault((record["detector"], record["preset"]), [])
            found.append((record["configuration"], record["dataset_digest"]))
        columns = []
        for (detector, preset), found in configurations.items():
            if preset == DEFAULT:
                for name in dict.fromkeys(c for c, _ in found):
                    key = detector, name
                    columns.append(Column(detector, preset, name, key in oracles, regimes[key]))
            else:
                is_grid = any(self._n_configurations(detector, preset, digest) > 1 for _, digest in found)
                key = detector, found[0][0]
                is_oracle = is_grid or key in oracles
                columns.append(Column(detector, preset, None, is_oracle, regimes[key]))
        columns = [
            replace(column, generation=generation, differs=OTHER_LIBRARIES if is_same_code else OLDER_CODE)
            for column in columns
            for versions in [self._versions_of(column)]
            for generation, version in enumerate(versions)
            for is_same_code in [generation > 0 and version[:2] == versions[0][:2]]
        ]
        order = [*REGIMES, OTHER, ORACLES]
        return sorted(columns, key=lambda column: order.index(column.block))

    def _versions_of(self, column: Column) -> list[tuple[str, str, str]]:
        """Return the versions that made a column's results, newest first."""
        oldest_first = sorted(filter(column.holds, self.records), key=lambda record: int(record["started"]))
        return list(dict.fromkeys(version_of(record) for record in reversed(oldest_first)))

    def _n_configurations(self, detector: str, preset: str, digest: str) -> int:
        """Return how many configurations a preset has on a corpus, run or not."""
        key = detector, preset, digest
        if key not in self._sizes:
            found = [
                record
                for record in self.records
                if (record["detector"], record["preset"], record["dataset_digest"]) == key
            ]
            sizes = [int(record.get("configurations", 1)) for record in found]
            self._sizes[key] = max([len({record["configuration"] for record in found}), *sizes])
        return self._sizes[key]

    def inliers(self, digest: str) -> list[str]:
        """Return the rows of a corpus: all classes of its dataset."""
        return self._rows[digest]

    def dataset(self, digest: str) -> str:
        """Return the name of the dataset of a corpus."""
        return next(str(record["dataset"]) for record in self.records if record["dataset_digest"] == digest)

    def value(self, column: Column, digest: str, inlier: str, level: float) -> Value:
        """Return mean and spread over the seeds of one split.

        For the inlier `MEAN` it is the mean over the splits of a corpus; its spread is that of the
        seeds' means.
        """
        inliers = self.inliers(digest) if inlier == MEAN else [inlier]
        of_level = self.records_of(column, digest, level)
        # what there should be: each configuration with each seed, in each split
        n_configurations, n_seeds = (len({r[name] for r in of_level}) for name in ("configuration", "seed"))
        if column.configuration is None:
            n_configurations = self._n_configurations(column.detector, column.preset, digest)
        n_expected = len(inliers) * max(1, n_configurations * n_seeds)
        found = [record for record in of_level if record["inlier"] in inliers]
        good = [record for record in found if record["status"] == "ok" and self.metric in record]
        if not good:
            has_failed = any(record["status"] != "ok" for record in found)
            return Value(None, of=(0, n_expected), instead=FAILED if has_failed else MISSING)
        figures: dict[tuple[str, str], list[float]] = {}  # of all configurations, by split and seed
        for record in good:
            figures.setdefault((record["inlier"], record["seed"]), []).append(100 * record[self.metric])
        best = {key: METRICS[self.metric].best(of_key) for key, of_key in figures.items()}
        splits, seeds = (
            [mean(figure for key, figure in best.items() if key[place] == name) for name in sorted(names)]
            for place, names in enumerate(map(set, zip(*best, strict=True)))
        )
        whole = len(good) == n_expected
        spread = stdev(seeds) if len(seeds) > 1 and (whole or len(inliers) == 1) else None
        return Value(mean(splits), spread, (len(good), n_expected))

    @property
    def has_published(self) -> bool:
        """Say whether there are published figures; they are all of clean training data."""
        known = {dataset for figures in self.published.values() for dataset in figures}
        return self.levels[0] == 0 and any(self.dataset(digest) in known for digest in self.corpora)

    def blocks(self, n_published: int = 0) -> list[tuple[str, int]]:
        """Return the titles over neighbouring columns; none where there would be one only."""
        blocks = list(Counter(column.block for column in self.columns).items())
        if n_published:
            blocks.append((PUBLISHED, n_published))
        return blocks if len(blocks) > 1 else []

    def records_of(self, column: Column, digest: str, level: float) -> list[Record]:
        """Return the records behind the figures of a column on a corpus at a level."""
        return self._of.get((column, digest, level), [])

    @property
    def labels(self) -> list[str]:
        """Return what stands at the heads of the columns."""
        return [column.label for column in self.columns]

    def notes(self, tables: Sequence[Table]) -> list[str]:
        """Say what a reader of these tables must know."""
        texts = [entry.text for table in tables for row in table.rows for entry in row]
        notes = notes_on.corpora(self.records, self.corpora) + notes_on.failures(self.records)
        if any(re.search(r"\(\d+ of \d+\)", text) for text in texts):
            notes.append(notes_on.INCOMPLETE)
        if any("±" in text for text in texts):
            notes.append(notes_on.SPREAD)
        if any(column.is_oracle for column in self.columns):
            notes.append(notes_on.ORACLE)
        if any(published.MARK in name for table in tables for name in table.header) or any(
            text.endswith(published.ORACLE_MARK) for text in texts
        ):
            notes.append(notes_on.PUBLISHED)
        if self.blocks():
            notes.append(notes_on.regimes([(column.label, column.regime) for column in self.columns]))
        notes += notes_on.seeds(self._seeds())
        return notes + notes_on.versions(self.records, self.n_superseded, name_of, stand_apart=True)

    def _seeds(self) -> dict[str, dict[str, frozenset[str]]]:
        seeds: dict[str, dict[str, frozenset[str]]] = {}
        for (column, digest, level), records in self._of.items():
            of_column = seeds.setdefault(f"{self.corpora[digest]} at {percent(level)}", {})
            name = replace(column, generation=0).label
            of_column[name] = of_column.get(name, frozenset()) | {record["seed"] for record in records}
        return seeds
