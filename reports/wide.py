"""The tables for programs: all figures of one metric, and all cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from adbench_text.metrics import METRICS
from adbench_text.reports import notes as notes_on
from adbench_text.reports.comparison import Comparison, corpora_of, current, editions_of
from adbench_text.reports.report import NONE, Entry, Kind, Mark, Report, Table
from adbench_text.reports.rows import (
    compared,
    differences,
    published_columns,
    published_entries,
    values,
)
from adbench_text.store.record import Record
from adbench_text.sweep.cell import TEST_OUTLIERS

_BEFORE_METRICS = ("detector", "preset", "dataset", "inlier", "contamination", TEST_OUTLIERS, "seed")
_MEASURED = ("fit_seconds", "score_seconds", "n_train", "n_test")
_AFTER_METRICS = (*_MEASURED, "status", "oracle", "code_version")
_ORIGINS = ("version", "commit", "command", "machine")  # as in `Record.made_by`
_PROVENANCE = (
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
    published = published_columns(comparison)
    columns = compared(comparison)
    rows: list[list[Entry]] = []
    starts: set[int] = set()
    summaries: set[int] = set()
    for digest, label in comparison.corpora.items():
        for level in comparison.levels:
            starts.add(len(rows))
            for inlier in [*comparison.inliers(digest), None]:
                row = values(comparison, digest, inlier, level)
                if level == 0:
                    row += published_entries(comparison, digest, inlier)
                    row += differences(comparison, digest, inlier)
                else:
                    row += [NONE] * (len(published) + len(columns))
                if inlier is None:
                    summaries.add(len(rows))
                name = comparison.mean_label(digest) if inlier is None else inlier
                rows.append([Entry(label), Entry(f"{level:g}", value=level), Entry(name), *row])
    names = [f"{column.label}: difference from the paper" for column in columns]
    return Table(
        f"{comparison.metric.title} (%) of every split at every contamination level",
        ["dataset", "contamination", "inlier", *comparison.labels, *published, *names],
        rows,
        starts,
        n_labels=3,
        summaries=summaries,
        header_marks=comparison.marks.union([Mark.PUBLISHED] if published else []),
    )


def cells_report(records: Sequence[Record], notes: Sequence[str] = ()) -> Report:
    """Return one row per cell; metrics as fractions, to six digits.

    The table for programs also has the memory and the origin of each cell. `notes` are put before its own.
    """
    header = [*_BEFORE_METRICS, *METRICS, *_AFTER_METRICS]
    newest = current(records)
    editions = editions_of(newest)
    rows = [_cell(record, editions) for record in newest]
    table = Table("", header, rows, n_labels=len(_BEFORE_METRICS))
    origins = [[*row, *_origin(record)] for row, record in zip(rows, newest, strict=True)]
    header = [*header, "peak_memory_mb", *_PROVENANCE, *_ORIGINS, "started"]
    complete = replace(table, header=header, rows=origins)
    corpora = notes_on.corpora(newest, corpora_of(newest))
    notes = [*notes, *(f"{label}: {edition}." for label, edition in corpora.items())]
    notes += notes_on.failures(newest)
    notes += notes_on.unmeasured(newest, METRICS.values())
    notes += notes_on.contradictions(newest, METRICS.values())
    n_superseded = len(records) - len(newest)
    return Report([table], complete, notes + notes_on.versions(newest, n_superseded, are_apart=False))


def _cell(record: Record, editions: Mapping[str, str]) -> list[Entry]:
    detector = f"{record.detector} {record.configuration}".strip()
    return [
        Entry(detector),
        Entry(record.preset),
        Entry(editions[record.dataset_digest]),
        Entry(record.inlier),
        Entry(record.definition["contamination"], value=record.contamination),
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
    names = (*_PROVENANCE, *_ORIGINS, "started")
    return [_number(record.metrics.get("peak_memory_mb")), *(Entry(texts.get(name, "")) for name in names)]


def _number(value: float | None) -> Entry:
    if value is None:
        return Entry("", Kind.NONE)
    return Entry(str(int(value)) if float(value).is_integer() else f"{value:.6g}", Kind.FIGURE, value)
