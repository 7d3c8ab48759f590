"""Builds a report from the cells of a store: its tables, pictures and heat maps."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from adbench_text.errors import NoResultsError, TrackingError
from adbench_text.metrics import MAIN, METRICS, Metric
from adbench_text.reports import contents
from adbench_text.reports import notes as notes_on
from adbench_text.reports.cells import Cells
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.heatmaps import heatmaps
from adbench_text.reports.own_metric import with_metric
from adbench_text.reports.report import Report, Table
from adbench_text.reports.summary import headline, provenance
from adbench_text.reports.tables.leaderboard import leaders
from adbench_text.run.cell import Cell
from adbench_text.store.cells import COLUMNS, latest, of_cells

if TYPE_CHECKING:
    from adbench_text.reports.figures.export import Drawing
    from adbench_text.store.store import Store

_BOARD, _TESTS = "leaderboard", "significance"


def stored_cells(store: "Store", datasets: Sequence[str] = ()) -> tuple[pd.DataFrame, list[str]]:
    """Return all results of datasets in a store (by default of all), and notes on runs that are left out.

    Raise NoResultsError if the store has none, or TrackingError if all of them were changed.
    """
    left_out: list[str] = []
    cells = store.every_cell(datasets or store.datasets(), left_out.append)
    if cells.empty:
        if left_out:
            raise TrackingError(left_out[0])
        raise NoResultsError(
            f"There are no results of {store.experiment!r} in {store.redacted}; begin with adbench-text run."
        )
    return cells, notes_on.left_out(left_out)


def of_sweep(
    stored: pd.DataFrame, name: str, cells: Sequence[Cell], limit: int | None, store_name: str
) -> pd.DataFrame:
    """Return the results of the cells of a sweep, which used `limit` documents; None if it used all.

    Raise TrackingError if there are no such results. `name` and `store_name` are for its message.
    """
    limits = stored["limit"]
    results = of_cells(stored[limits.isna() if limit is None else limits == limit], cells)
    if results.empty:
        raise TrackingError(
            f"There is no result of the sweep {name} in {store_name}; begin with adbench-text run --sweep "
            f"{name}. Cells run with options that its file does not have, such as --limit, do not count."
        )
    return results


class Builder:
    """Builds reports from stored cells. It arranges the cells once, and draws a figure once.

    `stored` and its `notes` come from `stored_cells`. Tables and figures show `metric`: a name in `METRICS`,
    or a `Metric` that is computed from the scores in the store. `store` keeps scores, curves and examples.
    Paired tests compare with `baseline`, the label of a column. `cells` are all cells of the sweep: a note
    names the missing ones. `not_joined` names columns of files that are not joined with the store, and `ours`
    names columns to mark, see `Cells`.
    """

    def __init__(
        self,
        stored: pd.DataFrame,
        metric: str | Metric = MAIN.name,
        store: "Store | None" = None,
        cells: Sequence[Cell] = (),
        notes: Sequence[str] = (),
        baseline: str | None = None,
        not_joined: Collection[str] = (),
        ours: Sequence[str] = (),
    ) -> None:
        self._store, self._notes = store, notes
        self._own = [] if isinstance(metric, str) else [metric.name]  # metrics that are not built in
        self.evidence = Evidence(store)
        if isinstance(metric, Metric):
            stored = with_metric(latest(stored), metric, self.evidence)
            self._notes = [*notes, *notes_on.without_scores(stored, metric)]
        self.cells = Cells(stored, cells, not_joined, ours)
        self.comparison = Comparison(self.cells, metric, self.evidence, baseline)

    def report(
        self, tables: Sequence[str] = contents.BRIEF, only: bool = False, pictures: bool = False
    ) -> Report:
        """Return a report with the named tables, without empty ones.

        `only` is True if the user named the tables: then a note explains why a table is left out. With
        `pictures`, the report also has pictures, heat maps and the main tables of the other metrics, and the
        leaders replace the leaderboard.
        """
        comparison = self.comparison
        by_name = {name: _tables(name, comparison) for name in contents.TABLES if name in tables}
        boards = leaders(comparison) if pictures else {}
        boards = {name: replace(board, ours=comparison.ours) for name, board in boards.items()}
        shown = [name for name in by_name if not (boards and name == _BOARD)]
        built = [table for name in shown for table in by_name[name]]
        if pictures and "main" in tables:
            others = [name for name in METRICS if name != comparison.metric.name]
            of_others = [t for name in others for t in _tables("main", Comparison(self.cells, name))]
            built += [replace(table, is_folded=True) for table in of_others]
        missing_tables = [
            f"No table {name!r}: it needs {contents.TABLES[name]}."
            for name, of_name in by_name.items()
            if (only or (name == _TESTS and comparison.baseline)) and not of_name
        ]
        place = f"{self._store.redacted}, {self._store.experiment}" if self._store is not None else ""
        drawn = self.drawings if pictures else []
        maps = heatmaps(comparison) if pictures else []  # before the notes of the evidence, which they add to
        # the notes on the comparison are under the first built table, or under the boards, or at the end
        comparison_notes = notes_on.of_comparison(comparison, self._notes)
        of_boards = [] if built else comparison_notes
        boards = {name: notes_on.under_tables([board], of_boards)[0] for name, board in boards.items()}
        without_tables = [] if built or boards else comparison_notes
        return Report(
            notes_on.under_tables(built, comparison_notes),
            [*without_tables, *missing_tables, *self.evidence.notes],
            pictures=drawn,
            heatmaps=maps,
            headline=headline(comparison),
            leaders=boards,
            provenance=provenance(comparison, place),
            cells=self.cells.every[[*COLUMNS, *self._own]],
        )

    @cached_property
    def drawings(self) -> "list[Drawing]":
        """All figures that have data to draw."""
        from adbench_text.reports.drawings import drawings

        return list(drawings(self.comparison))

    def write_figures(self, folder: Path) -> list[Path]:
        """Write all figures as SVG, PDF and PNG; return the files."""
        from adbench_text.reports.figures.export import write

        return [path for drawing in self.drawings for path in write(drawing.figure, folder / drawing.name)]


def _tables(name: str, comparison: Comparison) -> list[Table]:
    """Return the tables of a name, without empty tables, rows and columns."""
    module = import_module(f"adbench_text.reports.tables.{name}")
    shortened = [table.without_empty() for table in module.tables(comparison)]
    return [replace(table, ours=comparison.ours) for table in shortened if table.rows]
