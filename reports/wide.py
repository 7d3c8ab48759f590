"""The tables for programs: all figures of one metric, and all cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from adbench_text.metrics import METRICS
from adbench_text.reports import notes as notes_on
from adbench_text.reports import published
from adbench_text.reports.cells import Cells
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import NONE, Entry, Kind, Mark, Report, Table
from adbench_text.reports.summary import editions
from adbench_text.store.record import Record
from adbench_text.sweep.cell import SPLITS, TEST_OUTLIERS

_BEFORE_METRICS = ("detector", "preset", "dataset", "inlier", "contamination", SPLITS, TEST_OUTLIERS, "seed")
_MEASURED = ("fit_seconds", "score_seconds", "n_train", "n_test")
_AFTER_METRICS = (*_MEASURED, "status", "oracle", "code_version")
#: As in `Record.made_by`.
ORIGINS = ("version", "commit", "command", "machine")
_PROVENANCE = (
    "configuration",
    "regime",
    "n_configurations",
    "edition",
    "published",
    "dataset_digest",
    "protocol",
    "libraries",
)


def wide_table(comparison: Comparison) -> Table:
    """Return every split and mean at every level, with published figures and the differences from them."""
    names = [published.label(detector) for detector in comparison.published]
    differences = [f"{column.label}: difference from the paper" for column in comparison.compared]

    def rows(corpus: Corpus, level: float) -> list[list[Entry]]:
        def row(inlier: str | None) -> list[Entry]:
            of_paper = [*corpus.published_entries(inlier), *corpus.differences(inlier)]
            return [*corpus.entries(inlier, level), *(of_paper if level == 0 else [NONE] * len(of_paper))]

        return [[Entry(f"{level:g}", value=level), *entries] for entries in corpus.rows(row)]

    return comparison.table(
        f"{comparison.heading} of every split at every contamination level",
        ["contamination", "inlier", *comparison.labels, *names, *differences],
        lambda corpus: [rows(corpus, level) for level in comparison.levels],
        has_means=True,
        n_labels=3,
        header_marks=comparison.marks.union([Mark.PUBLISHED] if names else []),
    )


def cells_report(cells: Cells, notes: Sequence[str] = ()) -> Report:
    """Return one row per cell, metrics as fractions; programs also get the memory and origin of each."""
    header = [*_BEFORE_METRICS, *METRICS, *_AFTER_METRICS]
    rows = [_cell(record, cells.editions) for record in cells.records]
    table = Table("", header, rows, n_labels=len(_BEFORE_METRICS))
    origins = [[*row, *_origin(record)] for row, record in zip(rows, cells.records, strict=True)]
    header = [*header, "peak_memory_mb", *_PROVENANCE, *ORIGINS, "started"]
    complete = replace(table, header=header, rows=origins)
    corpora = editions(cells.records, cells.corpora)
    notes = [*notes, *(f"{label}: {edition}." for label, edition in corpora.items())]
    notes += notes_on.of_cells(cells, METRICS.values())
    return Report([table], complete, [*notes, *notes_on.failures(cells.records)])


def _cell(record: Record, editions: Mapping[tuple[str, str], str]) -> list[Entry]:
    detector = f"{record.detector} {record.configuration}".strip()
    return [
        Entry(detector),
        Entry(record.preset),
        Entry(editions[record.edition_key]),
        Entry(record.inlier),
        Entry(record.definition["contamination"], value=record.contamination),
        Entry(record.definition.get(SPLITS, "")),
        Entry(record.definition.get(TEST_OUTLIERS, ""), value=record.test_outliers),
        Entry(record.definition["seed"], value=record.seed),
        *(_number(record.metrics.get(name)) for name in (*METRICS, *_MEASURED)),
        Entry(record.status),
        Entry("yes" if record.is_oracle else "no"),
        Entry(record.definition["code_version"]),
    ]


def _origin(record: Record) -> list[Entry]:
    started = datetime.fromtimestamp(record.started / 1000, UTC)
    texts = {
        **record.definition,
        **record.made_by,
        "n_configurations": f"{record.n_configurations}",
        "edition": record.edition,
        "published": "yes" if record.is_published else "no",
        "started": started.isoformat(timespec="seconds"),
    }
    names = (*_PROVENANCE, *ORIGINS, "started")
    return [_number(record.metrics.get("peak_memory_mb")), *(Entry(texts.get(name, "")) for name in names)]


def _number(value: float | None) -> Entry:
    if value is None:
        return Entry("", Kind.NONE)
    return Entry(str(int(value)) if float(value).is_integer() else f"{value:.6g}", Kind.FIGURE, value)
