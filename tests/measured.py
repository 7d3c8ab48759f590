"""The measured results in reports/results: a CSV of cells for each sweep, and the tables made from it.

``python tests/measured.py`` writes the tables anew.
"""

import csv
import re
from collections import defaultdict
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

from adbench_text.cli.options import sweep_of
from adbench_text.metrics import METRICS
from adbench_text.reports.build import build
from adbench_text.reports.declared import report_format
from adbench_text.store.record import Record

RESULTS = Path(__file__).parents[1] / "reports" / "results"
SWEEPS = sorted(path.stem for path in RESULTS.glob("*.csv"))
_TABLES = (
    "main",
    "published",
    "levels",
    "ranks",
    "ablations",
    "cost",
)  # they need no scores of single documents
_MEASURED = (*METRICS, "fit_seconds", "score_seconds", "n_train", "n_test", "peak_memory_mb")
_ORIGINS = ("version", "commit", "command", "machine")
_DEFINITION = ("preset", "dataset", "inlier", "contamination", "seed", "dataset_digest", "code_version")
_DEFINITION_IF_ANY = ("protocol", "libraries", "regime")

_LONG = re.compile(r"mean members=llr\(.*?minilm, n\\_neighbors=20\)\)")


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


def tables(sweep: str) -> str:
    """Return the page of a sweep, in Markdown."""
    seeds = {record.seed for record in records(sweep)}
    cells = [cell for cell in sweep_of(sweep, defaultdict(tuple)).expand() if cell.seed in seeds]
    report = build(records(sweep), "auroc", _TABLES, cells=cells)
    text = report_format("markdown").render(replace(report, headlines=[]), None)
    text = _LONG.sub("mean of llr robust and MiniLM", text)
    return f"# The sweep {sweep}\n\nMade from [{sweep}.csv]({sweep}.csv), one row for each cell.\n\n{text}"


if __name__ == "__main__":
    for name in SWEEPS:
        (RESULTS / f"{name}-tables.md").write_text(tables(name), encoding="utf-8")
