"""The tables for programs: all figures of one metric, and all cells."""

from collections.abc import Sequence
from datetime import UTC, datetime

from adbench_text.metrics import COSTS, METRICS, OF_WORDS
from adbench_text.reports import notes as notes_on
from adbench_text.reports import published
from adbench_text.reports.cells import Cells
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import NONE, Entry, Kind, Report, Table
from adbench_text.reports.summary import editions
from adbench_text.store.record import Record
from adbench_text.sweep.cell import LABELLED, LABELLED_FROM, PLANTED, SPLITS, TEST_OUTLIERS

#: As in `Record.made_by`.
ORIGINS = ("version", "commit", "command", "machine")
_SPLITS = (TEST_OUTLIERS, LABELLED, LABELLED_FROM, PLANTED)
#: Columns that identify a cell in a table of cells.
IDENTITY = ("detector", "preset", "dataset", "inlier", "contamination", SPLITS, *_SPLITS, "seed")
_LAST_SHOWN = "code_version"  # what follows is for programs


def wide_table(comparison: Comparison) -> Table:
    """Return every split and mean at every level, with published figures and the differences from them."""
    names = [published.label(method) for method in comparison.published]
    differences = [f"{column.label}: difference from the paper" for column in comparison.compared]

    def rows(corpus: Corpus, level: float) -> list[list[Entry]]:
        def row(inlier: str | None) -> list[Entry]:
            of_paper = [*corpus.published_entries(inlier, comparison.published), *corpus.differences(inlier)]
            return [*corpus.entries(inlier, level), *(of_paper if level == 0 else [NONE] * len(of_paper))]

        return [[Entry(f"{level:g}", value=level), *entries] for entries in corpus.rows(row)]

    return comparison.table(
        f"{comparison.heading} of every split at every contamination level",
        ["contamination", "inlier", *comparison.labels, *names, *differences],
        lambda corpus: [rows(corpus, level) for level in comparison.levels],
        n_labels=3,
    )


def cells_report(cells: Cells, notes: Sequence[str] = ()) -> Report:
    """Return one row per cell, metrics as fractions; programs also get the memory and origin of each."""
    of_cells = facts(cells)
    header = list(of_cells[0])
    rows = [[_entry(value) for value in of_cell.values()] for of_cell in of_cells]
    complete = Table("", header, rows, n_labels=len(IDENTITY))
    corpora = editions(cells.records, cells.corpora)
    notes = [*notes, *(f"{label}: {edition}." for label, edition in corpora.items())]
    notes += [*notes_on.of_cells(cells, METRICS.values()), *notes_on.failures(cells.records)]
    return Report([complete.with_columns(range(header.index(_LAST_SHOWN) + 1))], complete, notes)


def facts(cells: Cells) -> list[dict[str, str | float | None]]:
    """Return all that is known of each cell, in the order of the columns."""
    metrics = *METRICS, *cells.own_metrics
    return [_facts(record, cells.editions[record.edition_key], metrics) for record in cells.records]


def _facts(record: Record, edition: str, metrics: Sequence[str]) -> dict[str, str | float | None]:
    definition, measured = record.definition, record.metrics
    numbers = {
        "contamination": record.contamination,
        TEST_OUTLIERS: record.test_outliers,
        LABELLED: record.labelled or None,
        "seed": record.seed,
    }
    names = {"detector": record.configured, "dataset": edition}
    started = datetime.fromtimestamp(record.started / 1000, UTC)
    return {
        **{name: definition.get(name, "") for name in IDENTITY},
        **names,
        **numbers,
        **{name: measured.get(name) for name in (*metrics, *COSTS, "n_train", "n_test")},
        "status": record.status,
        "oracle": "yes" if record.is_oracle else "no",
        _LAST_SHOWN: definition["code_version"],
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


def _entry(value: str | float | None) -> Entry:
    if isinstance(value, str):
        return Entry(value)
    if value is None:
        return Entry("", Kind.NONE)
    return Entry(str(int(value)) if float(value).is_integer() else f"{value:.6g}", Kind.FIGURE, value)
