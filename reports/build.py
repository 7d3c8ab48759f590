"""Puts a report together from the records of a store: which tables, pictures and heat maps."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adbench_text.corpora.corpus import limit_of
from adbench_text.errors import TrackingError, UnknownNameError
from adbench_text.metrics import METRICS
from adbench_text.plugins import registry
from adbench_text.reports import notes as notes_on
from adbench_text.reports.comparison import Comparison, Record
from adbench_text.reports.report import Report, Table
from adbench_text.reports.tables.names import BRIEF, TABLES
from adbench_text.reports.tables.ranks import (
    Ranking,
    ablated,
    ablations_table,
    cost_table,
    ranks_table,
    significance_table,
)
from adbench_text.reports.tables.splits import (
    intervals_table,
    levels_table,
    main_table,
    published_table,
    wide_table,
)
from adbench_text.sweep.cell import Cell, identity_of
from adbench_text.sweep.sweep import Sweep

if TYPE_CHECKING:
    from adbench_text.reports.illustrations import Illustrations
    from adbench_text.store.store import Store

_NEEDS = {
    "published": "published figures of these detectors and datasets, and results at 0% of outliers",
    "levels": "two contamination levels",
    "intervals": "a metric that has them",
    "ranks": "two detectors that have two splits in common",
    "significance": "two detectors that have two splits in common",
    "ablations": "three configurations of one detector",
}


def held_records(store: "Store", datasets: Sequence[str] = (), detectors: Sequence[str] = ()) -> list[Record]:
    """Return the records of a store that a report is to be of, oldest first; at least one.

    Raises
    ------
    TrackingError
        If there is none.
    UnknownNameError
        If there is none of a dataset or a detector that is named.
    """
    nothing = TrackingError(
        f"There are no results of {store.experiment!r} in {store.shown}; begin with adbench-text run."
    )
    held = store.datasets()
    if not held:
        raise nothing
    for name in datasets:
        if name not in held:
            raise UnknownNameError(f"dataset with results in {store.shown}", name, held)
    records = store.cells(datasets or held)
    if not records:
        raise nothing
    known = {record["detector"] for record in records}
    for name in detectors:
        if name not in known:
            raise UnknownNameError(f"detector with results in {store.shown}", name, known)
    return [record for record in records if not detectors or record["detector"] in detectors]


def of_sweep(records: Sequence[Record], name: str, sweep: Sweep, shown: str) -> list[Record]:
    """Return the records of the cells of a sweep; at least one, else a `TrackingError`."""
    wanted = {cell.identity for cell in sweep.expand()}
    found = [
        record
        for record in records
        if identity_of(record) in wanted and limit_of(record["edition"]) == sweep.limit
    ]
    if not found:
        raise TrackingError(
            f"{shown} holds no result of the sweep {name}; begin with adbench-text run --sweep {name}."
        )
    return found


def build(
    records: Sequence[Record],
    metric: str,
    tables: Sequence[str] = BRIEF,
    illustrations: "Illustrations | None" = None,
    only: bool = False,
    cells: Sequence[Cell] = (),
) -> Report:
    """Return the report of records.

    Parameters
    ----------
    records : sequence of dict
        From `adbench_text.store.store.Store.cells`, oldest first; not empty.
    metric : str
        What the tables show first of all.
    tables : sequence of str
        Keys of `adbench_text.reports.tables.names.TABLES`; a table for which there is nothing is left out.
    illustrations : Illustrations, optional
        Pictures and heat maps of the same records; with them come the main tables of the other
        metrics too.
    only : bool
        Whether these tables were asked for: then a format for programs shows them alone, not that of
        all figures, and it is said why one is left out.
    cells : sequence of Cell
        Those of the sweep that the records are of, where it is of one: what was not run is said.
    """
    comparison = Comparison(records, metric, cells)
    ranking = Ranking(comparison)
    built: list[Table] = []
    absent: list[str] = []
    for name in TABLES:
        if name in tables:
            found = _tables(name, comparison, ranking)
            built += found
            absent += [] if found or not only else [name]
    shown: dict[str, Any] = {}
    measures = [METRICS[metric]]
    if illustrations is not None:
        if "main" in tables:
            others = [other for name, other in METRICS.items() if name != metric]
            built += [main_table(Comparison(records, other.name, cells)) for other in others]
            measures += others
        shown = {"pictures": illustrations.pictures, "heatmaps": illustrations.heatmaps}
    notes = comparison.notes(built) + notes_on.unfinished(records, cells)
    notes += notes_on.direction(measures) + notes_on.unmeasured(comparison.records, measures)
    if {"ranks", "significance"} & set(tables):
        notes += _notes_on_ranks(ranking)
    notes += [f"No table {name!r}: it needs {_NEEDS[name]}." for name in absent]
    notes += illustrations.notes if illustrations is not None else []
    return Report(built, None if only else wide_table(comparison), notes, **shown)


def _notes_on_ranks(ranking: Ranking) -> list[str]:
    notes = []
    if ranking.left_out:
        names = ", ".join(column.label for column in ranking.left_out)
        notes.append(f"Not ranked, for want of splits that the others have: {names}.")
    if ranking.other_editions:
        names = ", ".join(ranking.other_editions)
        notes.append(f"Not ranked, since another edition of the dataset is: {names}.")
    return notes


def _tables(name: str, comparison: Comparison, ranking: Ranking) -> list[Table]:
    if name == "main":
        return [main_table(comparison)]
    if name == "published":
        table = published_table(comparison)
        return [table] if table else []
    if name == "levels":
        return [levels_table(comparison)] if len(comparison.levels) > 1 else []
    if name == "intervals":
        return [intervals_table(comparison)] if METRICS[comparison.metric].of_counts else []
    if name == "ranks":
        return [ranks_table(ranking)] if ranking.is_possible else []
    if name == "significance":
        return [significance_table(ranking)] if ranking.is_possible else []
    if name == "ablations":
        return [ablations_table(comparison, detector) for detector in ablated(comparison)]
    return [cost_table(comparison)]


def write_all(records: Sequence[Record], store: "Store", folder: Path, cells: Sequence[Cell] = ()) -> None:
    """Write a report in all its forms to a folder: page, tables, figures; `cells` as in `build`."""
    from adbench_text.reports.illustrations import Illustrations

    for metric in METRICS:
        for form, ending in (("markdown", "md"), ("csv", "csv")):
            names = list(TABLES) if metric == "auroc" and form == "markdown" else BRIEF
            text = registry.report(form).render(build(records, metric, names, cells=cells))
            (folder / f"{metric}.{ending}").write_text(text, encoding="utf-8")
    illustrations = Illustrations(records, "auroc", store, cells)
    page = build(records, "auroc", list(TABLES), illustrations, cells=cells)
    for form, ending in (("html", "html"), ("latex", "tex")):
        text = registry.report(form).render(page)
        (folder / f"report.{ending}").write_text(text, encoding="utf-8")
    illustrations.write(folder / "figures")
