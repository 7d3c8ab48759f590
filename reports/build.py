"""Builds a report from the records of a store: its tables, pictures and heat maps."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adbench_text.errors import TrackingError, UnknownNameError
from adbench_text.metrics import MAIN, METRICS
from adbench_text.plugins import registry
from adbench_text.reports import declared
from adbench_text.reports import notes as notes_on
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.headline import headlines
from adbench_text.reports.placing import with_notes
from adbench_text.reports.provenance import provenance
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import Report, Table
from adbench_text.reports.resampling import Resampling
from adbench_text.reports.tables.main import main_table
from adbench_text.reports.wide import wide_table
from adbench_text.store.record import Record
from adbench_text.sweep.cell import Cell

if TYPE_CHECKING:
    from adbench_text.reports.illustrations import Illustrations
    from adbench_text.store.store import Results

#: What `build` adds to the result, the main table and the provenance.
SECTIONS = ("tables", "pictures", "heatmaps")


def held_records(store: "Results", datasets: Sequence[str] = ()) -> tuple[list[Record], list[str]]:
    """Return the records of a store for a report, oldest first, and notes on the runs that are left out.

    Raises
    ------
    TrackingError
        If there is no record.
    UnknownNameError
        If a named dataset has none.
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
    left_out: list[str] = []
    records = store.cells(datasets or held, left_out.append)
    if not records:
        raise TrackingError(left_out[0]) if left_out else nothing
    return records, notes_on.left_out(left_out)


def of_sweep(
    records: Sequence[Record], name: str, cells: Sequence[Cell], limit: int | None, store_name: str
) -> list[Record]:
    """Return the records of the cells of a sweep.

    Raises
    ------
    TrackingError
        If there is none; `store_name` is for the message.
    """
    identities = {cell.identity for cell in cells}
    of_cells = [r for r in records if r.identity in identities and r.limit == limit]
    if not of_cells:
        raise TrackingError(
            f"{store_name} holds no result of the sweep {name}; begin with adbench-text run --sweep {name}. "
            "Cells that were run with other options than those of its file, such as --limit, do not count."
        )
    return of_cells


def build(
    records: Sequence[Record],
    metric: str,
    tables: Sequence[str] = (),
    illustrations: "Illustrations | None" = None,
    only: bool = False,
    cells: Sequence[Cell] = (),
    store: "Results | None" = None,
    sections: Sequence[str] = SECTIONS,
    notes: Sequence[str] = (),
) -> Report:
    """Return the report of records.

    Parameters
    ----------
    records : sequence of Record
        From `adbench_text.store.store.Store.cells`, oldest first; not empty.
    metric : str
        The metric of the tables.
    tables : sequence of str
        Names of tables, those of the brief report if empty; a table without content is left out.
    illustrations : Illustrations, optional
        Pictures and heat maps of the same records; the main tables of the other metrics come with them.
    only : bool
        True if the user named the tables: a format for programs then contains only these, and a note
        explains each that is left out.
    cells : sequence of Cell
        The cells of the sweep that the records belong to, if any: a note names those that were not run.
    store : Results, optional
        Keeps the scores and examples that some tables need; not necessary beside `illustrations`.
    sections : sequence of str
        Parts of `SECTIONS` that come after the result, the main table and the provenance.
    notes : sequence of str
        Notes on the records; see `held_records`.
    """
    chosen = tables or declared.brief_tables()
    if "tables" not in sections:
        chosen = list(chosen)[:1]
    comparison = Comparison(records, metric, cells)
    evidence = illustrations.evidence if illustrations is not None else None
    if evidence is None and store is not None:
        evidence = Evidence(comparison, store)
    ranking = Ranking(comparison, _resampling(comparison, evidence), evidence)
    of_names = {
        name: _tables(name, comparison, ranking) for name in declared.names("tables") if name in chosen
    }
    built = [table for of_name in of_names.values() for table in of_name]
    pictures: dict[str, Any] = {}
    if illustrations is not None:
        if "main" in chosen and "tables" in sections:
            others = [Comparison(records, name, cells) for name in METRICS if name != metric]
            built += [main_table(other).without_empty() for other in others]
        pictures = {
            name: getattr(illustrations, name) for name in ("pictures", "heatmaps") if name in sections
        }
        store = illustrations.evidence.store
    general = [*notes, *comparison.notes, *notes_on.unfinished(records, cells)]
    absent = [name for name, of_name in of_names.items() if only and not of_name]
    needs = {name: declared.constant("tables", name, "NEEDS", "other results") for name in absent}
    of_no_table = [] if built else general
    of_no_table += [f"No table {name!r}: it needs {need}." for name, need in needs.items()]
    of_no_table += evidence.notes if evidence is not None else []
    place = f"{store.shown}, {store.experiment}" if store is not None else ""
    return Report(
        with_notes(built, general, ranking.notes, comparison.records),
        None if only or "tables" not in sections else wide_table(comparison),
        of_no_table,
        headlines=headlines(comparison),
        provenance=provenance(comparison.records, comparison.corpora, place),
        **pictures,
    )


def _tables(name: str, comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return the tables of a name that have a figure, without rows and columns that have none."""
    built = declared.module("tables", name).tables(comparison, ranking)
    is_ranked = bool(declared.constant("tables", name, "HAS_RANKING", False))
    shortened = [replace(table.without_empty(), is_ranked=is_ranked) for table in built]
    return [table for table in shortened if table.rows]


def _resampling(comparison: Comparison, evidence: Evidence | None) -> Resampling | None:
    """Return the resamples of the test documents, which read the scores when a table needs them."""
    resampling = None if evidence is None else Resampling(comparison.metric, evidence)
    return resampling if resampling is not None and resampling.is_possible else None


def write_all(records: Sequence[Record], store: "Results", folder: Path, cells: Sequence[Cell] = ()) -> None:
    """Write a report in all formats with a suffix to a folder, and its figures; `cells` as in `build`."""
    from adbench_text.reports.illustrations import Illustrations

    formats = [declared.report_format(name) for name in registry.names("reports")]
    every = declared.names("tables")
    illustrations = Illustrations(records, MAIN.name, store, cells)
    page = build(records, MAIN.name, every, illustrations, cells=cells)
    for form in formats:
        if form.suffix and form.has_all_tables:
            texts = {"report": form.render(page, None)}
        elif form.suffix:
            texts = {}
            for metric in METRICS:
                tables = every if metric == MAIN.name else ()
                texts[metric] = form.render(build(records, metric, tables, cells=cells, store=store), None)
        else:
            continue
        for name, text in texts.items():
            (folder / f"{name}.{form.suffix}").write_text(text, encoding="utf-8")
    illustrations.write(folder / "figures")
