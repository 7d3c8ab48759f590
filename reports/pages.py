"""The pages in reports/results: the tables and figures of each CSV of cells.

``python -m adbench_text.reports.pages`` writes them again, in a checkout, and the tables in pages of docs/.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from adbench_text.errors import AdbenchTextError
from adbench_text.reports import choosing, contents, standings
from adbench_text.reports.board import Board, Group
from adbench_text.reports.build import Builder
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.drawings import contamination, cost, networks, variants
from adbench_text.reports.figures import export
from adbench_text.reports.files import MEASURED
from adbench_text.reports.report import Report, Table
from adbench_text.reports.submitted import origins, read_entries
from adbench_text.reports.tables import twins
from adbench_text.run.sweep_options import sweep_named
from adbench_text.store.cells_file import read_csv

RESULTS = Path(__file__).parent / "results"
_OF_SCORES = "significance"  # the table that needs the scores of single documents
_TABLES = {  # of pages without some tables
    "published": ["leaderboard", "benchmarks"],
    "words": ["words"],
    "planted": ["words"],
    "scope": ["leaderboard", "benchmarks"],
    "real": ["leaderboard", "benchmarks"],
    "languages": ["variants"],
    "twins": ["twins"],
}
_FIGURES = {  # of pages with other figures than most
    "words": (),
    "planted": (),
    "scope": (),
    "real": (),
    "languages": (variants,),
    "twins": (networks,),
}
#: Sweeps of complete corpora, by their part of the leaderboard.
PARTS = {
    "one-vs-rest": ("main", "contamination", "beyond"),
    "benchmarks": ("published",),
    "scope": ("scope",),
    "real": ("real",),
}
#: Groups of the table of all corpora: title, part and level of contamination.
_GROUPS = [
    ("one-vs-rest", "one-vs-rest", 0.0),
    ("with 10%", "one-vs-rest", 0.1),
    ("benchmarks", "benchmarks", 0.0),
    ("scope", "scope", 0.0),
    ("real", "real", 0.0),
]
#: Pages of docs/ with tables of all sweeps, each between `<!-- table: NAME -->` and `<!-- end -->`.
DOCS = "leaderboard.md", "detectors.md"
_MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n)(?:(?!<!-- ).)*+(?=<!-- end -->)", re.DOTALL)
#: Results that others have sent, a folder for each detector.
SUBMITTED = RESULTS / "submitted"


def write(sweep: str, folder: Path) -> list[Path]:
    """Write the page and the figures of a sweep into a folder, and return the files."""
    cells = read_csv(MEASURED[sweep])
    seeds, datasets = set(cells["seed"]), set(cells["dataset"])
    expanded = [
        cell
        for cell in sweep_named(sweep).expand()  # also languages without results
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
    """Return the page of a sweep: its tables, and below them its figures."""
    report = builder.report(_TABLES.get(sweep, [name for name in contents.TABLES if name != _OF_SCORES]))
    tables = contents.FORMATS["markdown"].render(replace(report, headline=""))
    figures = [f"![{d.title}](figures/{sweep}-{d.name}.svg)\n\n{d.caption}\n" for d in drawings]
    origin = f"Made from [{sweep}.csv]({sweep}.csv), one row for each cell. The tables are explained in "
    origin += "[Reports](../../docs/reports.md)."
    return "\n".join([f"# The sweep {sweep}\n\n{origin}\n", tables, *figures])


def with_tables(text: str, submitted: Path = SUBMITTED) -> str:
    """Return the text of a page with new tables between its marks.

    `submitted` is a folder of entries, see `adbench_text.reports.submitted`. Raise DataError or
    InvalidValueError if an entry cannot compete.
    """
    tables, _ = _tables(submitted)
    markdown = contents.FORMATS["markdown"]

    def with_table(marked: re.Match[str]) -> str:
        mark, name = marked.groups()
        table = replace(tables[name], title="")
        shown = markdown.render(Report([table], [])) if table.rows else "None yet.\n"
        return f"{mark}\n{shown}\n"

    return _MARKED.sub(with_table, text)


@cache
def _tables(submitted: Path) -> tuple[dict[str, Table], list[str]]:
    """Return the tables of all sweeps by their names in the marks, and a line for each figure of an entry."""
    of_parts = {part: [_comparison(name) for name in names] for part, names in PARTS.items()}
    ours = [each for comparisons in of_parts.values() for each in comparisons]
    theirs = [Builder(cells).comparison for cells in read_entries(submitted)]
    for sent in theirs:
        standings.check(sent, ours)
    every = standings.places([*ours, *theirs])
    parts = {}
    for part, comparisons in of_parts.items():
        digests = {corpus.digest for each in comparisons for corpus in each.corpora}
        places = standings.places([*comparisons, *theirs])
        parts[part] = [place for place in places if place.corpus.digest in digests]
    board = Board([Group(title, parts[part], level) for title, part, level in _GROUPS], origins(submitted))
    tables = {
        "all": board.table(),
        "variants": board.variants(),
        **{part: standings.table(places) for part, places in parts.items()},
        "entries": standings.table_of_entries(every),
        "choosing": choosing.table(parts["one-vs-rest"]),
        **{f"twins-{name}": next(twins.tables(_comparison(name))) for name in ("twins", "contamination")},
    }
    fates = [line for sent in theirs for line in (*standings.fates(every, sent), *board.fates(sent))]
    return tables, fates


@cache
def _comparison(sweep: str) -> Comparison:
    """Return the comparison of the published results of a sweep."""
    return Builder(read_csv(MEASURED[sweep])).comparison


def main() -> None:
    """Write all pages, the pages of docs/ first, because entries may be refused there."""
    for page in (RESULTS.parents[1] / "docs" / name for name in DOCS):
        try:
            page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
        except AdbenchTextError as error:
            sys.exit(f"Error: {error}")
    _, fates = _tables(SUBMITTED)
    print("\n".join(fates or ["No entry has been sent."]))
    for name in MEASURED:
        write(name, RESULTS)


if __name__ == "__main__":
    main()
