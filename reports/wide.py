"""The tables for programs: all figures of one metric, and all cells."""

from collections.abc import Sequence
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

#: As in `Record.made_by`.
ORIGINS = ("version", "commit", "command", "machine")
_IDENTITY = ("detector", "preset", "dataset", "inlier", "contamination", SPLITS, TEST_OUTLIERS, "seed")
_MEASURED = ("fit_seconds", "score_seconds", "n_train", "n_test")
_OUTCOME = ("status", "oracle", "code_version")
_PROVENANCE = (
    "peak_memory_mb",
    "configuration",
    "regime",
    "n_configurations",
    "edition",
    "published",
    "dataset_digest",
    "protocol",
    "libraries",
    *ORIGINS,
    "started",
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
    shown = [*_IDENTITY, *METRICS, *_MEASURED, *_OUTCOME]
    header = [*shown, *_PROVENANCE]
    facts = [_facts(record, cells.editions[record.edition_key]) for record in cells.records]
    complete = Table("", header, [[each[name] for name in header] for each in facts], n_labels=len(_IDENTITY))
    corpora = editions(cells.records, cells.corpora)
    notes = [*notes, *(f"{label}: {edition}." for label, edition in corpora.items())]
    notes += notes_on.of_cells(cells, METRICS.values())
    return Report(
        [complete.with_columns(range(len(shown)))], complete, [*notes, *notes_on.failures(cells.records)]
    )


def _facts(record: Record, edition: str) -> dict[str, Entry]:
    started = datetime.fromtimestamp(record.started / 1000, UTC)
    texts = {
        **record.definition,
        **record.made_by,
        "detector": f"{record.detector} {record.configuration}".strip(),
        "dataset": edition,
        "status": record.status,
        "oracle": "yes" if record.is_oracle else "no",
        "n_configurations": f"{record.n_configurations}",
        "edition": record.edition,
        "published": "yes" if record.is_published else "no",
        "started": started.isoformat(timespec="seconds"),
    }
    values = {"contamination": record.contamination, TEST_OUTLIERS: record.test_outliers, "seed": record.seed}
    entries = {
        name: Entry(texts.get(name, ""), value=values.get(name))
        for name in (*_IDENTITY, *_OUTCOME, *_PROVENANCE)
    }
    numbers = (*METRICS, *_MEASURED, "peak_memory_mb")
    return entries | {name: _number(record.metrics.get(name)) for name in numbers}


def _number(value: float | None) -> Entry:
    if value is None:
        return Entry("", Kind.NONE)
    return Entry(str(int(value)) if float(value).is_integer() else f"{value:.6g}", Kind.FIGURE, value)
