"""The measured results in reports/results: a CSV of cells for each sweep, its tables and its figures.

``python tests/measured.py`` writes tables and figures anew.
"""

from collections import defaultdict
from functools import cache
from pathlib import Path

from adbench_text.cli.options import sweep_of
from adbench_text.reports.saved import read_cells, save_pages
from adbench_text.store.record import Record

RESULTS = Path(__file__).parents[1] / "reports" / "results"
SWEEPS = sorted(path.stem for path in RESULTS.glob("*.csv"))


@cache
def records(sweep: str) -> list[Record]:
    """The cells of a sweep."""
    return read_cells(RESULTS / f"{sweep}.csv")


def write(sweep: str, folder: Path) -> list[Path]:
    """Write the page and the figures of a sweep into a folder, and return the files."""
    return save_pages(RESULTS / f"{sweep}.csv", folder, sweep_of(defaultdict(tuple, sweep=sweep)).expand())


if __name__ == "__main__":
    for name in SWEEPS:
        write(name, RESULTS)
