"""The results of a sweep as files: its cells as CSV, a page of its tables, and its figures."""

import csv
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from adbench_text.errors import DataError
from adbench_text.metrics import METRICS
from adbench_text.reports import declared
from adbench_text.reports.build import Builder
from adbench_text.reports.cells import MEASURED, Cells
from adbench_text.reports.drawings import contamination, cost
from adbench_text.reports.figures.export import Drawing, write
from adbench_text.reports.wide import ORIGINS, cells_report
from adbench_text.store.record import Record
from adbench_text.sweep.cell import SPLITS, TEST_OUTLIERS, Cell

_FIGURES = "figures"
_OF_SCORES = ("significance", "oddest")  # tables that need the scores of single documents
_DEFINITION = ("preset", "configuration", "dataset", "inlier", "contamination", "seed")
_VERSIONS = ("dataset_digest", "code_version", "protocol", "libraries", "regime")
_OPTIONAL = (SPLITS, TEST_OUTLIERS)  # older files may lack one


def save(records: Sequence[Record], path: Path, cells: Sequence[Cell] = ()) -> list[Path]:
    """Write the cells of a report as CSV, and beside it what `save_pages` writes; return the files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    of_cells = path.with_name(f"{path.name}.csv")
    text = declared.report_format("csv").render(cells_report(Cells(records)))
    of_cells.write_text(text, encoding="utf-8")
    return [of_cells, *save_pages(of_cells, path.parent, cells)]


def save_pages(path: Path, folder: Path, cells: Sequence[Cell] = ()) -> list[Path]:
    """Write the tables (``NAME-tables.md``) and figures (``figures/NAME-*.svg``) of ``NAME.csv``.

    They are made from the file alone, so that the same file always gives the same page.
    """
    records, name = read_cells(path), path.stem
    seeds = {record.seed for record in records}
    builder = Builder(records, cells=[cell for cell in cells if cell.seed in seeds])
    figures = [*contamination(builder.comparison), *cost(builder.comparison)]
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / f"{name}-tables.md"
    page.write_text(_page(builder, figures, name), encoding="utf-8")
    stems = [folder / _FIGURES / f"{name}-{drawing.name}" for drawing in figures]
    files = [write(d.figure, stem, ["svg"]) for d, stem in zip(figures, stems, strict=True)]
    return [page, *(file for of_drawing in files for file in of_drawing)]


def _page(builder: Builder, drawings: Sequence[Drawing], name: str) -> str:
    report = builder.report([each for each in declared.tables() if each not in _OF_SCORES])
    tables = declared.report_format("markdown").render(replace(report, headlines=[]), None)
    figures = [f"![{d.title}]({_FIGURES}/{name}-{d.name}.svg)\n\n{d.caption}\n" for d in drawings]
    made = f"Made from [{name}.csv]({name}.csv), one row for each cell."
    return "\n".join([f"# The sweep {name}\n\n{made}\n", tables, *figures])


def read_cells(path: Path) -> list[Record]:
    """Return the cells of a CSV, as ``report --cells --format csv`` and `save` write them."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [_record(row) for row in csv.DictReader(file)]
    except (KeyError, ValueError) as error:
        raise DataError(f"{path} holds no cells of a report: {error}.") from error


def _record(row: dict[str, str]) -> Record:
    detector = row["detector"].removesuffix(row["configuration"]).rstrip()
    definition = {"detector": detector, **{name: row[name] for name in _DEFINITION}}
    definition |= {name: row[name] for name in _VERSIONS if row[name]}
    definition |= {name: row[name] for name in _OPTIONAL if row.get(name)}
    definition |= {"oracle": "true"} if row["oracle"] == "yes" else {}
    return Record(
        definition=definition,
        cell="",
        metrics={name: float(row[name]) for name in (*METRICS, *MEASURED) if row.get(name)},
        status=row["status"],
        edition=row["edition"],
        is_published=row["published"] == "yes",
        n_configurations=int(row["n_configurations"]),
        started=int(1000 * datetime.fromisoformat(row["started"]).timestamp()),
        made_by={name: row[name] for name in ORIGINS if row[name]},
    )
