"""The cells of a report, arranged once: a table with a row for each cell."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pandas as pd

from adbench_text.contract.scores import REGIMES, TEST_BATCH
from adbench_text.corpora.split import splits
from adbench_text.errors import AdbenchTextError
from adbench_text.metrics import COSTS, METRICS, OF_LABELLED, OF_WORDS
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT, written
from adbench_text.reports import benchmarks
from adbench_text.reports.report import ORACLE
from adbench_text.run.cell import LABELLED, LABELLED_FROM, PLANTED, SPLITS, TEST_OUTLIERS, Cell, of_splits
from adbench_text.store.record import Record

_UNDECLARED, _ORACLES = "not declared", "chosen on the test labels"
#: What is measured of a cell besides its metrics.
MEASURED = ("fit_seconds", "score_seconds", "n_train", "n_test", "n_test_outliers", "peak_memory_mb")
#: Columns that identify a cell in a table of cells.
IDENTITY = (
    *("detector", "preset", "dataset", "inlier", "contamination", SPLITS),
    *(TEST_OUTLIERS, LABELLED, LABELLED_FROM, PLANTED, "seed"),
)
#: As in `Record.made_by`.
ORIGINS = ("version", "commit", "command", "machine")


@dataclass(frozen=True)
class Column:
    """One configuration of a detector, or a complete preset, which may have one for each dataset.

    A preset that has several for one dataset is a grid and its column an oracle: it takes the best per split.
    """

    detector: str
    preset: str
    configuration: str | None  #: None for a complete preset
    is_oracle: bool = False
    regime: str | None = None
    generation: int = 0  #: results of other code or libraries have a column of their own; 0 is the newest

    @property
    def block(self) -> tuple[bool, str]:
        """What the columns of a block share: whether they are oracles, and the title over them."""
        return self.is_oracle, _ORACLES if self.is_oracle else self.regime_title

    @property
    def is_apart(self) -> bool:
        """Whether it uses the test batch: such columns compete among themselves and are never ranked."""
        return self.regime == TEST_BATCH

    @property
    def regime_title(self) -> str:
        """What the detector knows besides the training texts."""
        return self.regime or _UNDECLARED

    @property
    def label(self) -> str:
        """The head of the column."""
        number = f" {self.generation}" if self.generation > 1 else ""
        older = f" (older{number})" if self.generation else ""
        marks = (f" {ORACLE}" if self.is_oracle else "") + older
        return written(self.detector, self.preset, self.configuration or "") + marks


class Cells:
    """The newest record of each cell, arranged for all tables and figures of a report.

    `records` are not empty, and the oldest come first. Where `promised` has the cells of a sweep, only its
    inlier classes are rows. `columns` are in the order of a report; `editions` and `corpora` are labels by
    `Record.edition_key` and `Record.corpus`. `table` has a row for each cell, in the order of columns,
    corpora and levels: ``column`` (its number in `columns`), ``record``, ``corpus``, ``inlier``, ``level``,
    ``seed``, ``is_ok``, ``n_configurations`` (that a split should have), and the values of `METRICS`,
    `MEASURED`, `OF_LABELLED`, `OF_WORDS` and `own_metrics` as the records have them (NaN if the cell lacks
    one).
    """

    def __init__(
        self, records: Sequence[Record], promised: Sequence[Cell] = (), own_metrics: Sequence[str] = ()
    ) -> None:
        newest = {(record.corpus, *record.identity): record for record in records}
        self.records = list(newest.values())
        self.promised, self.own_metrics = promised, own_metrics
        self.n_superseded = len(records) - len(self.records)
        self.editions = _editions(self.records)
        self.corpora = _corpora(self.records, self.editions)
        self.levels = sorted({record.contamination for record in self.records})
        n_configurations = _n_configurations(self.records)
        of_columns = _columns(self.records, n_configurations)
        self.columns = list(of_columns)
        corpora = list(self.corpora)
        self.table = pd.DataFrame(
            _row(
                record, number, n_configurations, (*METRICS, *MEASURED, *OF_LABELLED, *OF_WORDS, *own_metrics)
            )
            for number, of_column in enumerate(of_columns.values())
            for record in sorted(of_column, key=lambda r: (corpora.index(r.corpus), r.contamination))
        )

    def facts(self) -> list[dict[str, str | float | None]]:
        """Return all that is known of each cell, for programs; metrics are fractions."""
        metrics = *METRICS, *self.own_metrics
        return [_facts(record, self.editions[record.edition_key], metrics) for record in self.records]


def _row(
    record: Record, column: int, n_configurations: dict[tuple[str, str, str], int], measured: Sequence[str]
) -> dict[str, object]:
    metrics = record.metrics if record.is_ok else {}
    key = record.detector, record.preset, record.corpus
    return {
        "column": column,
        "record": record,
        "n_configurations": 1 if record.preset == DEFAULT else n_configurations[key],
        "corpus": record.corpus,
        "inlier": record.inlier,
        "level": record.contamination,
        "seed": record.seed,
        "is_ok": record.is_ok,
        **{name: metrics.get(name, math.nan) for name in measured},
    }


def _facts(record: Record, edition: str, metrics: Sequence[str]) -> dict[str, str | float | None]:
    definition, measured = record.definition, record.metrics
    started = datetime.fromtimestamp(record.started / 1000, UTC)
    return {
        **{name: definition.get(name, "") for name in IDENTITY},
        "detector": record.configured,
        "dataset": edition,
        "contamination": record.contamination,
        TEST_OUTLIERS: record.test_outliers,
        LABELLED: record.labelled or None,
        "seed": record.seed,
        **{name: measured.get(name) for name in (*metrics, *COSTS, "n_train", "n_test")},
        "status": record.status,
        "oracle": "yes" if record.is_oracle else "no",
        "code_version": definition["code_version"],
        "peak_memory_mb": measured.get("peak_memory_mb"),
        "configuration": record.configuration,
        "regime": record.regime,
        "n_configurations": f"{record.n_configurations}",
        "edition": record.edition,
        "published": "yes" if record.is_published else "no",
        **{name: definition.get(name) for name in ("dataset_digest", "protocol", "libraries")},
        **{name: record.made_by.get(name) for name in ORIGINS},
        "started": started.isoformat(timespec="seconds"),
        **{name: measured.get(name) for name in OF_WORDS},
    }


def _editions(records: Sequence[Record]) -> dict[tuple[str, str], str]:
    digests = dict.fromkeys((record.dataset, record.dataset_digest) for record in records)
    n_editions = Counter(dataset for dataset, _ in digests)
    names, seen = {}, Counter[str]()
    for dataset, digest in sorted(digests, key=lambda item: item[0]):
        seen[dataset] += 1
        names[dataset, digest] = dataset if n_editions[dataset] == 1 else f"{dataset} ({seen[dataset]})"
    return names


def _corpora(records: Sequence[Record], editions: dict[tuple[str, str], str]) -> dict[str, str]:
    order = list(editions)
    first = sorted(records, key=lambda r: (order.index(r.edition_key), -(r.test_outliers or 1)))
    suffixes = ((r, benchmarks.relation(r)) for r in first)  # which implies how the splits are made
    return {
        r.corpus: editions[r.edition_key] + (f" ({relation})" if relation else of_splits(r))
        for r, relation in suffixes
    }


def known_splits(records: Sequence[Record]) -> list[str]:
    """Return the names of all splits of the corpus of these records in its order; empty if unknown."""
    names = next((list(record.classes) for record in records if record.classes), [])
    if not names:  # older cells, and cells of a CSV
        with suppress(AdbenchTextError):  # own documents, or a plug-in that is no longer installed
            names = list(splits(registry.dataset(records[0].dataset), records[0].protocol))
    return names


def _n_configurations(records: Sequence[Record]) -> dict[tuple[str, str, str], int]:
    """Return the number of configurations, run or not, of each detector and preset on each corpus."""
    run: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    known: dict[tuple[str, str, str], int] = defaultdict(int)
    for record in records:
        key = record.detector, record.preset, record.corpus
        run[key].add(record.configuration)
        known[key] = max(known[key], record.n_configurations, len(run[key]))
    return known


def _columns(
    records: Sequence[Record], n_configurations: dict[tuple[str, str, str], int]
) -> dict[Column, list[Record]]:
    """Return the columns in their order, each with its records."""
    oracles = {(record.detector, record.configuration) for record in records if record.is_oracle}
    regimes = {(record.detector, record.configuration): record.regime for record in records}
    grids = {(detector, preset) for (detector, preset, _), n in n_configurations.items() if n > 1}
    held: dict[tuple[str, str, str | None], list[Record]] = defaultdict(list)
    for record in records:
        configuration = record.configuration if record.preset == DEFAULT else None
        held[record.detector, record.preset, configuration].append(record)
    columns: dict[Column, list[Record]] = {}
    for (detector, preset, configuration), of_column in held.items():
        key = detector, of_column[0].configuration
        is_oracle = key in oracles or (configuration is None and (detector, preset) in grids)
        column = Column(detector, preset, configuration, is_oracle, regimes[key])
        columns |= _generations(column, of_column)
    own = sorted({column.regime for column in columns if column.regime} - set(REGIMES))
    regimes_in_order = [*REGIMES, *own, None]
    presets = list(dict.fromkeys((detector, preset) for detector, preset, _ in held))

    def order(column: Column) -> tuple[bool, int, int]:
        regime = regimes_in_order.index(column.regime)
        return column.is_oracle, regime, presets.index((column.detector, column.preset))

    return {column: columns[column] for column in sorted(columns, key=order)}


def _generations(column: Column, records: Sequence[Record]) -> dict[Column, list[Record]]:
    """Return the records of each code and libraries in a column of its own, the newest first."""
    latest_first = sorted(records, key=lambda record: record.started)[::-1]
    of_versions = {(record.code, record.libraries): list[Record]() for record in latest_first}
    for record in records:
        of_versions[record.code, record.libraries].append(record)
    return {replace(column, generation=n): each for n, each in enumerate(of_versions.values())}
