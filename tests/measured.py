"""The measured results in reports/results: a CSV of cells for each sweep, its tables and its figures.

``python tests/measured.py`` writes tables and figures anew.
"""

import csv
import shutil
from collections import defaultdict
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from adbench_text.cli.options import sweep_of
from adbench_text.metrics import METRICS
from adbench_text.reports.build import build
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.declared import report_format
from adbench_text.reports.drawing import Drawing
from adbench_text.reports.drawings import contamination, cost
from adbench_text.reports.figures.export import write
from adbench_text.reports.ranking import Ranking
from adbench_text.store.record import Record
from adbench_text.sweep.cell import Cell

RESULTS = Path(__file__).parents[1] / "reports" / "results"
FIGURES = RESULTS / "figures"
SWEEPS = sorted(path.stem for path in RESULTS.glob("*.csv"))
# these need no scores of single documents
_TABLES = ("main", "published", "levels", "ranks", "ablations", "cost")
_MEASURED = (*METRICS, "fit_seconds", "score_seconds", "n_train", "n_test", "peak_memory_mb")
_ORIGINS = ("version", "commit", "command", "machine")
_DEFINITION = ("preset", "dataset", "inlier", "contamination", "seed", "dataset_digest", "code_version")
_DEFINITION_IF_ANY = ("test_outliers", "protocol", "libraries", "regime")
_DRAWINGS = contamination, cost


@cache
def records(sweep: str) -> list[Record]:
    """Return the cells of a sweep, as ``report --cells --format csv`` writes them."""
    with (RESULTS / f"{sweep}.csv").open(newline="", encoding="utf-8") as file:
        return [_record(row) for row in csv.DictReader(file)]


def _record(row: dict[str, str]) -> Record:
    detector, _, configuration = row["detector"].partition(" ")
    definition = {"detector": detector, "configuration": configuration}
    definition |= {name: row[name] for name in _DEFINITION}
    definition |= {name: row[name] for name in _DEFINITION_IF_ANY if row[name]}
    definition |= {"oracle": "true"} if row["oracle"] == "yes" else {}
    return Record(
        definition=definition,
        cell="",
        metrics={name: float(row[name]) for name in _MEASURED if row[name]},
        status=row["status"],
        edition=row["edition"],
        is_published=row["published"] == "yes",
        n_configurations=int(row["n_configurations"]),
        started=int(1000 * datetime.fromisoformat(row["started"]).timestamp()),
        made_by={name: row[name] for name in _ORIGINS if row[name]},
    )


def _cells(sweep: str) -> list[Cell]:
    """Return the cells of a sweep with the seeds that were run."""
    seeds = {record.seed for record in records(sweep)}
    return [cell for cell in sweep_of(sweep, defaultdict(tuple)).expand() if cell.seed in seeds]


def page(sweep: str) -> str:
    """Return the page of a sweep, in Markdown: tables and figures."""
    report = build(records(sweep), "auroc", _TABLES, cells=_cells(sweep))
    tables = report_format("markdown").render(replace(report, headlines=[]), None)
    figures = [f"![{d.title}]({FIGURES.name}/{sweep}-{d.name}.svg)\n\n{d.caption}\n" for d in drawings(sweep)]
    made = f"Made from [{sweep}.csv]({sweep}.csv), one row for each cell."
    return "\n".join([f"# The sweep {sweep}\n\n{made}\n", tables, *figures])


@cache
def drawings(sweep: str) -> list[Drawing]:
    """Return the figures of a sweep."""
    comparison = Comparison(records(sweep), "auroc", _cells(sweep))
    ranking = Ranking(comparison)
    return [d for module in _DRAWINGS for d in module.drawings(comparison, ranking, evidence=None)]


def write_figures(sweep: str, folder: Path) -> list[str]:
    """Write the figures of a sweep as SVG, and return their names."""
    with TemporaryDirectory() as temporary:
        paths = [write(d.figure, Path(temporary) / f"{sweep}-{d.name}")[0] for d in drawings(sweep)]
        return [Path(shutil.copy(path, folder)).name for path in paths]


if __name__ == "__main__":
    shutil.rmtree(FIGURES, ignore_errors=True)
    FIGURES.mkdir()
    for name in SWEEPS:
        (RESULTS / f"{name}-tables.md").write_text(page(name), encoding="utf-8")
        write_figures(name, FIGURES)
