"""The tables and formats of a report. A new one is a file and an entry here.

A table is a module in `tables/` with the function ``tables(comparison)``; the first line of its file
describes it. A table or format is imported when it is first used.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adbench_text.reports.report import Report

_CLEAN = "and results at 0% of outliers"
_PAIRS = "two detectors that have two splits in common"

#: Names of tables, in the order of a report, and the data that they need.
TABLES = {
    "leaderboard": "results on two datasets",
    "main": "results",
    "published": f"published figures of these detectors and datasets, {_CLEAN}",
    "benchmarks": f"corpora with published figures of others, {_CLEAN}",
    "levels": "two contamination levels",
    "variants": "two variants of a dataset, such as languages",
    "known": "results with known outliers",
    "words": "corpora with marked words",
    "twins": "a network with and without training, otherwise set alike, as date and date(steps=0)",
    "ranks": _PAIRS,
    "significance": _PAIRS,
    "cost": "results",
}
BRIEF = ["leaderboard", "main", "published", "benchmarks", "levels", "variants", "known", "words"]


@dataclass(frozen=True)
class Format:
    """A format; its module in `formats/` has the function ``render(report, width)``."""

    module: str
    has_pictures: bool = False  #: whether it shows pictures and heat maps
    tables: Iterable[str] = tuple(BRIEF)  #: unless some are named; one without tables shows cells, no notes

    def render(self, report: "Report", width: int | None = None) -> str:
        """Return the text of a report; `width` is the width of the terminal, None without one."""
        return str(import_module(f"adbench_text.reports.formats.{self.module}").render(report, width))


FORMATS = {
    "csv": Format("csv", tables=()),
    "html": Format("html", has_pictures=True, tables=TABLES),
    "latex": Format("latex", tables=TABLES),
    "markdown": Format("markdown"),
    "terminal": Format("terminal"),
}
PAGE = FORMATS["html"]  # is logged with a sweep


def summaries(folder: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the names of tables or formats, and the first lines of their files."""
    for name in names:
        text = (Path(__file__).parent / folder / f"{name}.py").read_text(encoding="utf-8")
        yield name, text.partition("\n")[0].strip('"')
