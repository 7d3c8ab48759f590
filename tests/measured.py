"""The measured results in reports/results: a CSV of cells for each sweep, its tables and its figures.

``python tests/measured.py`` writes tables and figures anew.
"""

import csv
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

from adbench_text.cli.sweep import sweep_named
from adbench_text.metrics import METRICS, OF_WORDS
from adbench_text.reports import contents
from adbench_text.reports.build import Builder
from adbench_text.reports.cells import MEASURED, ORIGINS
from adbench_text.reports.drawings import contamination, cost
from adbench_text.reports.figures import export
from adbench_text.run.cell import PLANTED, SPLITS, TEST_OUTLIERS
from adbench_text.store.record import Record

RESULTS = Path(__file__).parents[1] / "reports" / "results"
SWEEPS = sorted(path.stem for path in RESULTS.glob("*.csv"))
OF_SCORES = "significance"  # the table that needs the scores of single documents
TABLES = {  # of a page that does not have all tables
    "published": ["leaderboard", "benchmarks"],
    "words": ["words"],
    "planted": ["words"],
    "scope": ["leaderboard", "benchmarks"],
}
WITHOUT_FIGURES = ("words", "planted", "scope")
DEFINITION = ("preset", "configuration", "dataset", "inlier", "contamination", "seed")
VERSIONS = ("dataset_digest", "code_version", "protocol", "libraries", "regime")
OPTIONAL = (SPLITS, TEST_OUTLIERS, PLANTED)  # older files may lack one


@cache
def records(sweep: str) -> list[Record]:
    """The cells of a sweep."""
    return read_cells(RESULTS / f"{sweep}.csv")


def read_cells(path: Path) -> list[Record]:
    """The cells of a CSV, as ``report --format csv`` writes them."""
    with path.open(newline="", encoding="utf-8") as file:
        return [record_of(row) for row in csv.DictReader(file)]


def record_of(row: dict[str, str]) -> Record:
    """The cell of a row."""
    detector = row["detector"].partition("(")[0]
    definition = {"detector": detector, **{name: row[name] for name in DEFINITION}}
    definition |= {name: row[name] for name in VERSIONS if row[name]}
    definition |= {name: row[name] for name in OPTIONAL if row.get(name)}
    definition |= {"oracle": "true"} if row["oracle"] == "yes" else {}
    return Record.of(
        definition,
        {name: float(row[name]) for name in (*METRICS, *MEASURED, *OF_WORDS) if row.get(name)},
        status=row["status"],
        edition=row["edition"],
        is_published=row["published"] == "yes",
        n_configurations=int(row["n_configurations"]),
        started=int(1000 * datetime.fromisoformat(row["started"]).timestamp()),
        made_by={name: row[name] for name in ORIGINS if row[name]},
    )


def write(sweep: str, folder: Path) -> list[Path]:
    """Write the page and the figures of a sweep into a folder, and return the files."""
    seeds = {record.seed for record in records(sweep)}
    expanded = sweep_named(sweep).expand()
    builder = Builder(records(sweep), cells=[cell for cell in expanded if cell.seed in seeds])
    comparison = builder.comparison
    drawings = [] if sweep in WITHOUT_FIGURES else [*contamination(comparison), *cost(comparison)]
    page = folder / f"{sweep}-tables.md"
    page.write_text(page_of(builder, drawings, sweep), encoding="utf-8")
    figures = [export.write(d.figure, folder / "figures" / f"{sweep}-{d.name}", ["svg"]) for d in drawings]
    return [page, *(file for files in figures for file in files)]


def page_of(builder: Builder, drawings: Sequence[export.Drawing], sweep: str) -> str:
    """The tables of a sweep and its figures below."""
    report = builder.report(TABLES.get(sweep, [name for name in contents.TABLES if name != OF_SCORES]))
    tables = contents.FORMATS["markdown"].render(replace(report, headline=""))
    figures = [f"![{d.title}](figures/{sweep}-{d.name}.svg)\n\n{d.caption}\n" for d in drawings]
    made = f"Made from [{sweep}.csv]({sweep}.csv), one row for each cell. The tables are explained in "
    made += "[Reports](../../docs/reports.md)."
    return "\n".join([f"# The sweep {sweep}\n\n{made}\n", tables, *figures])


if __name__ == "__main__":
    for name in SWEEPS:
        write(name, RESULTS)
