"""Stored cells, for tests of reports."""

import csv
import io

from adbench_text.plugins.configure import choice_name
from adbench_text.reports import contents
from adbench_text.reports.build import Builder
from adbench_text.reports.cells import Cells
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.report import Report, Table
from adbench_text.reports.tables import main
from adbench_text.store.cells import SPLIT, table_of

_IDENTITY = (
    "detector",
    "preset",
    "configuration",
    *SPLIT,
    "dataset_digest",
    "code_version",
    "resources",
)
_ROW = {
    "detector": "llr",
    "preset": "default",
    "configuration": "",
    "dataset": "made-up",  # not installed: its classes are those of the cells
    "dataset_digest": "d1",
    "code_version": "1",
    "edition": "published",
    "documents": "40 training / 20 test documents",
    "published": True,
    "n_train": 10.0,
}


def stored(detector="llr", inlier="a", figure=0.9, seed=0, level=0, **columns) -> dict:
    """A row of a table of cells; `columns` are its others."""
    row = _ROW | {"detector": detector, "inlier": inlier, "contamination": level, "seed": seed}
    row |= {"status": "ok" if figure is not None else "failed"}
    if figure is None:
        row["reason"] = "RuntimeError: no luck"
    else:
        row |= {"auroc": figure, "aupr_in": figure / 2, "aupr_out": figure / 4, "fpr95": 1 - figure}
        row |= {"fit_seconds": 1.5, "score_seconds": 0.25, "n_test": 20.0}
    row |= columns
    row["name"] = choice_name(row["detector"], row["preset"], row["configuration"])
    identity = {name: value for name, value in row.items() if name in _IDENTITY}
    return {"cell": repr(sorted(identity.items())), **row}


def failed(*args, **columns):
    return stored(*args, figure=None, **columns)


def of_another_edition(row):
    return {
        **row,
        "dataset_digest": "d2",
        "edition": "half of it",
        "published": False,
        "cell": "d2" + row["cell"],
    }


def compare(rows, metric="auroc", cells=(), store=None, baseline=None) -> Comparison:
    return Comparison(Cells(table_of(rows), cells), metric, Evidence(store) if store else None, baseline)


def build(rows, tables=contents.BRIEF, metric="auroc", cells=()) -> Report:
    return Builder(table_of(rows), metric, cells=cells).report(tables)


def cells_csv(rows) -> str:
    return contents.FORMATS["csv"].render(build(rows, []))


def csv_rows(rows) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(cells_csv(rows))))


def only_table(module, comparison) -> Table:
    (table,) = module.tables(comparison)
    return table


def main_table(comparison) -> Table:
    return only_table(main, comparison)


def texts(table) -> list[list[str]]:
    return [[("*" if entry.best else "") + entry.text for entry in row] for row in table.rows]
