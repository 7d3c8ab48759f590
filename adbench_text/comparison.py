"""What a report says, before any format: the tables and the notes under them."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from statistics import mean, stdev
from typing import Any

from adbench_text import registry
from adbench_text.errors import AdbenchTextError

Record = dict[str, Any]

METRIC_TITLES = {"auroc": "AUROC", "aupr_in": "AUPR-in", "aupr_out": "AUPR-out"}
MEAN = "mean"
MISSING, FAILED = "missing", "failed"

CELL_COLUMNS = (
    "detector",
    "dataset",
    "inlier",
    "contamination",
    "seed",
    "auroc",
    "aupr_in",
    "aupr_out",
    "fit_seconds",
    "score_seconds",
    "n_train",
    "n_test",
    "status",
)


@dataclass(frozen=True)
class Entry:
    """One entry of a table; ``best`` if no other of its row is better."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Table:
    """A table: its header has as many entries as each row. A row that begins a group is set apart."""

    title: str
    header: list[str]
    rows: list[list[Entry]]
    group_starts: set[int] = field(default_factory=set)
    n_labels: int = 2


@dataclass(frozen=True)
class Report:
    """Tables for reading, the same figures as one table for programs, and notes."""

    tables: list[Table]
    wide: Table
    notes: list[str]


@dataclass(frozen=True)
class Column:
    """One configuration of a detector; an oracle column takes the best of several per split."""

    detector: str
    preset: str
    configuration: str
    is_oracle: bool = False

    @property
    def label(self) -> str:
        """What stands at the head of the column."""
        if self.is_oracle:
            return f"{self.detector} {self.preset} (oracle)"
        return f"{self.detector} {self.configuration if self.preset == 'default' else self.preset}".strip()


@dataclass(frozen=True)
class _Value:
    """A figure in percent, or why there is none."""

    figure: float | None
    spread: float | None = None
    of: tuple[int, int] = (1, 1)  # so many of so many that should be there
    instead: str = MISSING

    @property
    def text(self) -> str:
        if self.figure is None:
            return self.instead
        spread = "" if self.spread is None else f" ± {self.spread:.1f}"
        return f"{self.figure:.1f}{spread}" + ("" if self.is_whole else f" ({self.of[0]} of {self.of[1]})")

    @property
    def is_whole(self) -> bool:
        return self.figure is not None and self.of[0] == self.of[1]


@cache
def published() -> dict[str, Any]:
    """Return the figures of the DATE paper."""
    text = files("adbench_text.reports").joinpath("published.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _published(metric: str) -> dict[str, dict[str, dict[str, float]]]:
    """Return label of the column -> dataset -> inlier -> percent."""
    columns: dict[str, dict[str, dict[str, float]]] = {}
    if metric == "auroc":
        names = {"date": "DATE", "cvdd_best": "CVDD†", "ocsvm_best": "OCSVM†", "iforest_best": "IForest†"}
        for dataset, of_inlier in published()["auroc_semi_supervised"].items():
            for inlier, figures in of_inlier.items():
                for key, label in names.items():
                    columns.setdefault(f"{label} (paper)", {}).setdefault(dataset, {})[inlier] = figures[key]
    else:
        of_inlier = published()["aupr_agnews_date"]
        columns["DATE (paper)"] = {
            "agnews": {inlier: figures[metric] for inlier, figures in of_inlier.items()}
        }
    return columns


def _corpora(records: Sequence[Record]) -> dict[str, str]:
    """Label each corpus digest: the dataset's name, numbered where there are several editions."""
    digests = dict.fromkeys((record["dataset"], record["dataset_digest"]) for record in records)
    n_editions = Counter(dataset for dataset, _ in digests)
    labels, seen = {}, Counter[str]()
    for dataset, digest in sorted(digests, key=lambda item: item[0]):
        seen[dataset] += 1
        labels[digest] = dataset if n_editions[dataset] == 1 else f"{dataset} ({seen[dataset]})"
    return labels


def _inliers(dataset: str, present: Iterable[str]) -> list[str]:
    """Return the inlier classes that are present, in the order of the dataset."""
    try:
        order = list(registry.dataset(dataset).classes)
    except AdbenchTextError:  # a plug-in that is no longer installed
        order = []
    return sorted(present, key=lambda name: (order.index(name) if name in order else len(order), name))


def current(records: Sequence[Record]) -> list[Record]:
    """Return the newest record of each cell as a reader sees it, whatever code or resources made it."""
    newest = {}
    for record in records:  # oldest first
        newest[_identity(record)] = record
    return list(newest.values())


_IDENTITY = (
    "detector",
    "preset",
    "configuration",
    "dataset",
    "dataset_digest",
    "inlier",
    "contamination",
    "seed",
)


def _identity(record: Record) -> tuple[str, ...]:
    return tuple(record[name] for name in _IDENTITY)


class Comparison:
    """The figures of one metric, arranged.

    Parameters
    ----------
    records : sequence of dict
        From `adbench_text.tracking.Store.cells`, oldest first; not empty.
    metric : str
        ``"auroc"``, ``"aupr_in"`` or ``"aupr_out"``.
    """

    def __init__(self, records: Sequence[Record], metric: str) -> None:
        self.metric = metric
        self.records = current(records)
        self.n_superseded = len(records) - len(self.records)
        self.corpora = _corpora(self.records)
        self.columns = self._columns()
        self.levels = sorted({float(record["contamination"]) for record in self.records})
        self.published = _published(metric)
        self._of: dict[tuple[str, ...], list[Record]] = {}
        for record in self.records:
            key = (record["detector"], record["preset"], record["dataset_digest"], record["inlier"])
            self._of.setdefault((*key, record["contamination"]), []).append(record)

    def _columns(self) -> list[Column]:
        configurations: dict[tuple[str, str], list[str]] = {}
        for record in self.records:
            found = configurations.setdefault((record["detector"], record["preset"]), [])
            if record["configuration"] not in found:
                found.append(record["configuration"])
        columns = []
        for (detector, preset), found in configurations.items():
            if preset == "default" or len(found) == 1:
                columns += [Column(detector, preset, configuration) for configuration in found]
            else:
                columns.append(Column(detector, preset, "", is_oracle=True))
        return columns

    def inliers(self, digest: str) -> list[str]:
        """Return the rows of a corpus."""
        of_corpus = [record for record in self.records if record["dataset_digest"] == digest]
        return _inliers(of_corpus[0]["dataset"], {record["inlier"] for record in of_corpus})

    def dataset(self, digest: str) -> str:
        """Return the name of the dataset of a corpus."""
        return next(str(record["dataset"]) for record in self.records if record["dataset_digest"] == digest)

    def _by_seed(self, column: Column, digest: str, inlier: str, level: float) -> dict[str, float | None]:
        """Return the figure of each seed in percent, None where the cell failed."""
        found = self._of.get((column.detector, column.preset, digest, inlier, f"{level:g}"), [])
        figures: dict[str, float | None] = {}
        for record in found:
            if column.is_oracle or record["configuration"] == column.configuration:
                figure = 100 * record[self.metric] if record["status"] == "ok" else None
                best = figures.get(record["seed"])
                figures[record["seed"]] = figure if best is None or figure is None else max(best, figure)
        return figures

    def value(self, column: Column, digest: str, inlier: str, level: float) -> _Value:
        """Return mean and spread over the seeds of one split."""
        by_seed = self._by_seed(column, digest, inlier, level)
        good = [figure for figure in by_seed.values() if figure is not None]
        if not good:
            return _Value(None, instead=FAILED if by_seed else MISSING)
        seeds = self._seeds(column, digest, level)
        return _Value(mean(good), stdev(good) if len(good) > 1 else None, (len(good), len(seeds)))

    def _seeds(self, column: Column, digest: str, level: float) -> set[str]:
        return {
            seed for inlier in self.inliers(digest) for seed in self._by_seed(column, digest, inlier, level)
        }

    def mean(self, column: Column, digest: str, level: float) -> _Value:
        """Return the mean over the splits of a corpus; its spread is that of the seeds' means."""
        inliers = self.inliers(digest)
        table = [self._by_seed(column, digest, inlier, level) for inlier in inliers]
        seeds = sorted({seed for by_seed in table for seed in by_seed})
        n_expected = len(inliers) * max(1, len(seeds))
        good = [figure for by_seed in table for figure in by_seed.values() if figure is not None]
        if not good:
            return _Value(None, instead=FAILED if seeds else MISSING)
        split_means = [mean(f) for by_seed in table if (f := [v for v in by_seed.values() if v is not None])]
        whole = len(good) == n_expected
        seed_means = [mean(by_seed[seed] or 0 for by_seed in table) for seed in seeds] if whole else []
        spread = stdev(seed_means) if len(seed_means) > 1 else None
        return _Value(mean(split_means), spread, (len(good), n_expected))

    def _row(self, values: Sequence[_Value]) -> list[Entry]:
        texts = [f"{value.figure:.1f}" if value.is_whole else "" for value in values]
        fair = [
            value.figure
            for column, value in zip(self.columns, values, strict=True)
            if value.is_whole and value.figure is not None and not column.is_oracle
        ]
        best = f"{max(fair):.1f}" if len(fair) > 1 else None
        return [
            Entry(value.text, best is not None and text == best and not column.is_oracle)
            for column, value, text in zip(self.columns, values, texts, strict=True)
        ]

    def _published_row(self, dataset: str, inliers: Sequence[str]) -> list[Entry]:
        """Return the published figures, their mean where there are several inliers."""
        entries = []
        for figures in self.published.values():
            found = [figures.get(dataset, {}).get(inlier) for inlier in inliers]
            known = [figure for figure in found if figure is not None]
            entries.append(Entry(f"{mean(known):.1f}" if known and len(known) == len(found) else "–"))
        return entries

    def _has_published(self) -> bool:
        known = {dataset for figures in self.published.values() for dataset in figures}
        return any(self.dataset(digest) in known for digest in self.corpora)

    def main_table(self) -> Table:
        """One row per dataset and inlier class, and means, at the lowest contamination level."""
        level = self.levels[0]
        extra = list(self.published) if self._has_published() else []
        rows: list[list[Entry]] = []
        starts: set[int] = set()
        for digest, label in self.corpora.items():
            starts.add(len(rows))
            inliers = self.inliers(digest)
            for inlier in [*inliers, MEAN]:
                names = inliers if inlier == MEAN else [inlier]
                rows.append(
                    [Entry(label), Entry(inlier)]
                    + self._row(
                        [self._value_or_mean(column, digest, inlier, level) for column in self.columns]
                    )
                    + (self._published_row(self.dataset(digest), names) if extra else [])
                )
        title = f"{METRIC_TITLES[self.metric]} (%), {level:.0%} of outliers in the training data"
        return Table(title, ["dataset", "inlier", *self._labels(), *extra], rows, starts)

    def _value_or_mean(self, column: Column, digest: str, inlier: str, level: float) -> _Value:
        return (
            self.mean(column, digest, level) if inlier == MEAN else self.value(column, digest, inlier, level)
        )

    def levels_table(self) -> Table:
        """Means over the splits, one row per dataset and contamination level."""
        rows: list[list[Entry]] = []
        starts: set[int] = set()
        for digest, label in self.corpora.items():
            starts.add(len(rows))
            for level in self.levels:
                row = self._row([self.mean(column, digest, level) for column in self.columns])
                rows.append([Entry(label), Entry(f"{level:.0%}"), *row])
        title = (
            f"{METRIC_TITLES[self.metric]} (%) by contamination of the training data, mean over the splits"
        )
        return Table(title, ["dataset", "outliers", *self._labels()], rows, starts)

    def wide_table(self) -> Table:
        """Every split and mean at every level."""
        extra = list(self.published) if self._has_published() else []
        rows = []
        for digest, label in self.corpora.items():
            inliers = self.inliers(digest)
            for level in self.levels:
                for inlier in [*inliers, MEAN]:
                    names = inliers if inlier == MEAN else [inlier]
                    ours = [self._value_or_mean(column, digest, inlier, level) for column in self.columns]
                    theirs = (
                        self._published_row(self.dataset(digest), names)
                        if level == 0
                        else [Entry("–")] * len(extra)
                    )
                    texts = [Entry(value.text) for value in ours] + (theirs if extra else [])
                    rows.append([Entry(label), Entry(f"{level:g}"), Entry(inlier), *texts])
        return Table("", ["dataset", "contamination", "inlier", *self._labels(), *extra], rows, n_labels=3)

    def _labels(self) -> list[str]:
        return [column.label for column in self.columns]

    def notes(self) -> list[str]:
        """Say what a reader must know: editions, failures, what is an oracle, what was left out."""
        notes = []
        for digest, label in self.corpora.items():
            record = next(record for record in self.records if record["dataset_digest"] == digest)
            notes.append(f"{label}: edition {record['edition']}; {record['documents']}.")
        for record in self.records:
            if record["status"] != "ok":
                notes.append(f"failed: {_cell_name(record)}: {record['reason']}")
        if any(column.is_oracle for column in self.columns):
            notes.append(
                "(oracle): the best configuration per split, chosen on the test labels; never in bold."
            )
        if self._has_published() and self.levels[0] == 0:
            notes.append(
                "(paper): published by Manolache et al., NAACL 2021, on the published editions; "
                "†: the best configuration per split, chosen on the test labels."
            )
        if self.n_superseded:
            notes.append(f"{self.n_superseded} older results, made by other code or resources, are left out.")
        return notes

    def report(self) -> Report:
        """Return the whole report."""
        tables = [self.main_table()]
        if len(self.levels) > 1:
            tables.append(self.levels_table())
        return Report(tables, self.wide_table(), self.notes())


def _cell_name(record: Record) -> str:
    what = f"{record['detector']} {record['configuration']}".strip()
    level = f"{float(record['contamination']):.0%}"
    return f"{what} on {record['dataset']}/{record['inlier']} at {level}, seed {record['seed']}"


def cells_report(records: Sequence[Record]) -> Report:
    """Return one row per cell; metrics as fractions, in full."""
    rows = []
    for record in current(records):
        detector = Column(record["detector"], "default", record["configuration"]).label
        values = [detector] + [_plain(record.get(name, "")) for name in CELL_COLUMNS[1:]]
        rows.append([Entry(value) for value in values])
    table = Table("", list(CELL_COLUMNS), rows, n_labels=5)
    return Report([table], table, [])


def _plain(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return str(int(value)) if value.is_integer() and value > 1 else f"{value:.6g}"
