"""Stored cells, for tests of reports."""

import csv
import io
from dataclasses import MISSING, fields, replace

from adbench_text.reports import contents
from adbench_text.reports.build import Builder
from adbench_text.reports.cells import Cells
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.report import Report, Table
from adbench_text.reports.tables import main
from adbench_text.store.record import Record

_DEFINITION = {
    "detector": "llr",
    "preset": "default",
    "configuration": "",
    "dataset": "made-up",  # not installed: its classes are those of the records
    "dataset_digest": "d1",
    "code_version": "1",
}
_FIELDS = {"made_by", *(field.name for field in fields(Record) if field.default is not MISSING)}


def record(detector="llr", inlier="a", figure=0.9, seed=0, level=0, metrics=None, **changes):
    """A cell; `changes` are fields of the record, or else a part of the definition."""
    facts = {name: value for name, value in changes.items() if name in _FIELDS}
    definition = {name: value for name, value in changes.items() if name not in _FIELDS}
    measured = {"n_train": 10.0}
    if figure is not None:
        measured |= {"auroc": figure, "aupr_in": figure / 2, "aupr_out": figure / 4, "fpr95": 1 - figure}
        measured |= {"fit_seconds": 1.5, "score_seconds": 0.25, "n_test": 20.0}
    split = {"inlier": inlier, "contamination": f"{level:g}", "seed": str(seed)}
    return Record.of(
        _DEFINITION | {"detector": detector} | split | definition,
        measured | (metrics or {}),
        **{
            "cell": "id",
            "status": "ok" if figure is not None else "failed",
            "reason": "" if figure is not None else "RuntimeError: no luck",
            "edition": "published",
            "documents": "40 training / 20 test documents",
            "is_published": True,
            **facts,
        },
    )


def failed(*args, **changes):
    return record(*args, figure=None, **changes)


def of_another_edition(record):
    definition = {**record.definition, "dataset_digest": "d2"}
    changes = {"definition": definition, "dataset_digest": "d2", "edition": "half of it"}
    return replace(record, **changes, is_published=False)


def compare(records, metric="auroc", cells=(), store=None, baseline=None) -> Comparison:
    return Comparison(Cells(records, cells), metric, Evidence(store) if store else None, baseline)


def build(records, tables=contents.BRIEF, metric="auroc", cells=()) -> Report:
    return Builder(records, metric, cells=cells).report(tables)


def cells_csv(records) -> str:
    return contents.FORMATS["csv"].render(build(records, []))


def csv_rows(records) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(cells_csv(records))))


def only_table(module, comparison) -> Table:
    (table,) = module.tables(comparison)
    return table


def main_table(comparison) -> Table:
    return only_table(main, comparison)


def texts(table) -> list[list[str]]:
    return [[("*" if entry.best else "") + entry.text for entry in row] for row in table.rows]
