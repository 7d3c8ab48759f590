"""The pages of the measured results in reports/results: of each CSV of cells its tables and figures.

``python -m adbench_text.reports.pages`` writes them anew, in a checkout.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from adbench_text.reports import contents
from adbench_text.reports.build import Builder
from adbench_text.reports.drawings import contamination, cost, networks, variants
from adbench_text.reports.figures import export
from adbench_text.run.sweep_options import sweep_named
from adbench_text.store.cells_file import read_csv

RESULTS = Path(__file__).parent / "results"
SWEEPS = sorted(path.stem for path in RESULTS.glob("*.csv"))
_OF_SCORES = "significance"  # the table that needs the scores of single documents
_TABLES = {  # of a page that does not have all tables
    "published": ["leaderboard", "benchmarks"],
    "words": ["words"],
    "planted": ["words"],
    "scope": ["leaderboard", "benchmarks"],
    "languages": ["variants"],
    "twins": ["twins"],
}
_FIGURES = {  # likewise
    "words": (),
    "planted": (),
    "scope": (),
    "languages": (variants,),
    "twins": (networks,),
}


def write(sweep: str, folder: Path) -> list[Path]:
    """Write the page and the figures of a sweep into a folder, and return the files."""
    cells = read_csv(RESULTS / f"{sweep}.csv")
    seeds, datasets = set(cells["seed"]), set(cells["dataset"])
    expanded = [
        cell
        for cell in sweep_named(sweep).expand()  # also of languages that nobody has measured
        if cell.split.seed in seeds and cell.split.dataset in datasets
    ]
    builder = Builder(cells, cells=expanded)
    comparison = builder.comparison
    drawings = [each for draw in _FIGURES.get(sweep, (contamination, cost)) for each in draw(comparison)]
    page = folder / f"{sweep}-tables.md"
    page.write_text(_page(builder, drawings, sweep), encoding="utf-8")
    figures = [export.write(d.figure, folder / "figures" / f"{sweep}-{d.name}", ["svg"]) for d in drawings]
    return [page, *(file for files in figures for file in files)]


def _page(builder: Builder, drawings: Sequence[export.Drawing], sweep: str) -> str:
    """Return the tables of a sweep, and its figures below."""
    report = builder.report(_TABLES.get(sweep, [name for name in contents.TABLES if name != _OF_SCORES]))
    tables = contents.FORMATS["markdown"].render(replace(report, headline=""))
    figures = [f"![{d.title}](figures/{sweep}-{d.name}.svg)\n\n{d.caption}\n" for d in drawings]
    made = f"Made from [{sweep}.csv]({sweep}.csv), one row for each cell. The tables are explained in "
    made += "[Reports](../../docs/reports.md)."
    return "\n".join([f"# The sweep {sweep}\n\n{made}\n", tables, *figures])


if __name__ == "__main__":
    for name in SWEEPS:
        write(name, RESULTS)
