"""Puts each note under the table that it explains."""

from collections.abc import Sequence
from dataclasses import replace

from adbench_text.metrics import METRICS, Metric
from adbench_text.reports import notes as notes_on
from adbench_text.reports.report import Mark, Table
from adbench_text.store.record import Record


def with_notes(
    tables: Sequence[Table], general: Sequence[str], of_ranking: Sequence[str], records: Sequence[Record]
) -> list[Table]:
    """Return the tables, each sign explained under the first that has it.

    Parameters
    ----------
    tables : sequence of Table
    general : sequence of str
        Notes on all figures; they are under the first table, failures last.
    of_ranking : sequence of str
        Notes on the ranking; they are under the first table that is ranked.
    records : sequence of Record
        Those that the figures come from.
    """
    placed: list[Table] = []
    explained: set[Mark] = set()
    metrics: set[str] = set()
    for table in tables:
        notes = notes_on.marks(table.marks - explained)
        explained |= table.marks
        metric = _metric(table)
        if metric is not None and metric.name not in metrics:
            metrics.add(metric.name)
            notes += notes_on.direction([metric]) + notes_on.unmeasured(records, [metric])
        if table.is_ranked:
            notes += of_ranking
            of_ranking = ()
        if not placed:
            notes += sorted(general, key=lambda note: note.startswith("failed:"))
        placed.append(replace(table, notes=[*table.notes, *notes]))
    return placed


def _metric(table: Table) -> Metric | None:
    """Return the metric that a title begins with."""
    return next((metric for metric in METRICS.values() if table.title.startswith(metric.title)), None)
