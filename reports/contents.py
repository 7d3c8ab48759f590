"""What a report can show: its tables and its formats. A new one is a file and an entry here.

No table or format is imported before it is asked for.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adbench_text.reports.report import Report


@dataclass(frozen=True)
class TableKind:
    """A kind of table; the module of its name in `tables/` has the function ``tables(comparison)``."""

    summary: str
    needs: str  #: what must be there


@dataclass(frozen=True)
class Format:
    """A format; its module in `formats/` has the function ``render(report, width)``."""

    module: str
    summary: str
    has_pictures: bool = False  #: whether it shows pictures and heat maps
    has_notes: bool = True  #: otherwise the command line prints the notes on stderr
    has_all_tables: bool = False  #: whether it shows all tables unless some are named

    def render(self, report: "Report", width: int | None = None) -> str:
        """Return the text of a report; `width` is the width of the terminal, None without one."""
        return str(import_module(f"adbench_text.reports.formats.{self.module}").render(report, width))


_CLEAN = "and results at 0% of outliers"
_PAIRS = "two detectors that have two splits in common"

#: In the order of a report.
TABLES = {
    "leaderboard": TableKind("Detectors by datasets, and published figures.", "results on two datasets"),
    "main": TableKind("Every split at the lowest contamination level.", "results"),
    "published": TableKind(
        "Differences from the published figures.",
        f"published figures of these detectors and datasets, {_CLEAN}",
    ),
    "benchmarks": TableKind(
        "The best published figures of others beside ours.",
        f"corpora with published figures of others, {_CLEAN}",
    ),
    "levels": TableKind("Means at each contamination level.", "two contamination levels"),
    "labelled": TableKind(
        "With labelled outliers: all classes, those of the labelled ones, and others.",
        "results with labelled outliers",
    ),
    "words": TableKind(
        "How well the scores of words find the odd words.", "corpora with marked or planted words"
    ),
    "ranks": TableKind("Mean ranks of the detectors over the splits.", _PAIRS),
    "significance": TableKind("Paired tests between detectors.", _PAIRS),
    "cost": TableKind("Seconds, documents per second, memory.", "results"),
}
BRIEF = ["leaderboard", "main", "published", "benchmarks", "levels", "labelled", "words"]
FORMATS = {
    "csv": Format("csv", "One table of every split, level and mean, for programs.", has_notes=False),
    "html": Format("html", "One page with everything.", has_pictures=True, has_all_tables=True),
    "latex": Format("latex", "Tables to be put into a document.", has_all_tables=True),
    "markdown": Format("markdown", "Tables in markdown."),
    "terminal": Format("terminal", "Tables for a terminal."),
}
