"""The pages in reports/results: the tables and figures of each CSV of cells.

In a checkout, ``python -m adbench_text.reports.pages`` writes these pages again, and the tables of the
leaderboard in pages of docs/. The leaderboard has our results and submitted ones, see
`adbench_text.reports.submitted`.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from adbench_text.errors import AdbenchTextError
from adbench_text.reports import choosing, contents, standings
from adbench_text.reports.board import Board, Group
from adbench_text.reports.build import Builder
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.drawings import contamination, cost, networks, variants
from adbench_text.reports.figures import export
from adbench_text.reports.files import MEASURED
from adbench_text.reports.report import Report, Table
from adbench_text.reports.standings import Place
from adbench_text.reports.submitted import origins, read_entries
from adbench_text.reports.tables import twins
from adbench_text.run.sweep_options import sweep_named
from adbench_text.store.cells_file import read_csv

RESULTS = Path(__file__).parent / "results"
_OF_SCORES = "significance"  # the table that needs the scores of single documents
_TABLES = {  # of pages that lack some tables; the others have all but `_OF_SCORES`
    "published": ["leaderboard", "benchmarks"],
    "words": ["words"],
    "planted": ["words"],
    "scope": ["leaderboard", "benchmarks"],
    "real": ["leaderboard", "benchmarks"],
    "languages": ["variants"],
    "twins": ["twins"],
}
_FIGURES = {  # of pages with other figures than contamination and cost
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
#: Groups of corpora in the table of all corpora: title, part and level of contamination.
_GROUPS = [
    ("one-vs-rest", "one-vs-rest", 0.0),
    ("with 10%", "one-vs-rest", 0.1),
    ("benchmarks", "benchmarks", 0.0),
    ("scope", "scope", 0.0),
    ("real", "real", 0.0),
]
#: Pages of docs/ with tables of all sweeps, each between the marks `<!-- table: NAME -->` and `<!-- end -->`.
DOCS = "leaderboard.md", "detectors.md"
_MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n)(?:(?!<!-- ).)*+(?=<!-- end -->)", re.DOTALL)
#: Submitted results, which others have sent: a folder for each detector.
SUBMITTED = RESULTS / "submitted"


def write(sweep: str, folder: Path) -> list[Path]:
    """Write the page and the figures of a sweep into a folder, and return the files."""
    cells = read_csv(MEASURED[sweep])
    seeds, datasets = set(cells["seed"]), set(cells["dataset"])
    of_sweep = [  # the sweep may name more seeds and datasets than were run
        cell
        for cell in sweep_named(sweep).expand()  # also languages without results
        if cell.split.seed in seeds and cell.split.dataset in datasets
    ]
    builder = Builder(cells, cells=of_sweep)
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

    `submitted` is the folder of submitted results. Raise DataError or InvalidValueError if one of them cannot
    compete.
    """
    tables = _leaderboard(submitted).tables
    markdown = contents.FORMATS["markdown"]

    def with_table(marked: re.Match[str]) -> str:
        mark, name = marked.groups()
        table = replace(tables[name], title="")
        shown = markdown.render(Report([table], [])) if table.rows else "None yet.\n"
        return f"{mark}\n{shown}\n"

    return _MARKED.sub(with_table, text)


class _Leaderboard(NamedTuple):
    """The tables of all sweeps, by the names in the marks of the pages, and notes on submitted results.

    A note says of one figure of a submitted detector whether a table shows it, and why not.
    """

    tables: dict[str, Table]
    notes: list[str]


@cache
def _leaderboard(submitted: Path) -> _Leaderboard:
    """Return the leaderboard of our results and submitted ones; raise an error if one cannot compete."""
    ours = {part: [_comparison(sweep) for sweep in sweeps] for part, sweeps in PARTS.items()}
    all_ours = [comparison for comparisons in ours.values() for comparison in comparisons]
    theirs = [Builder(cells).comparison for cells in read_entries(submitted)]
    for sent in theirs:
        standings.check(sent, all_ours)
    all_corpora = standings.places([*all_ours, *theirs])
    corpora = {part: _places_of_part(comparisons, theirs) for part, comparisons in ours.items()}
    board = Board([Group(title, corpora[part], level) for title, part, level in _GROUPS], origins(submitted))
    tables = {
        "all": board.table(),
        "variants": board.variants(),
        **{part: standings.table(places) for part, places in corpora.items()},
        "entries": standings.table_of_entries(all_corpora),
        "choosing": choosing.table(corpora["one-vs-rest"]),
        **{f"twins-{name}": next(twins.tables(_comparison(name))) for name in ("twins", "contamination")},
    }
    notes = [
        note
        for sent in theirs
        for note in (*standings.notes_on_submitted(all_corpora, sent), *board.notes_on_submitted(sent))
    ]
    return _Leaderboard(tables, notes)


def _places_of_part(ours: Sequence[Comparison], theirs: Sequence[Comparison]) -> list[Place]:
    """Return the corpora of our sweeps of a part, with our results and the submitted ones."""
    digests = {corpus.digest for comparison in ours for corpus in comparison.corpora}
    return [place for place in standings.places([*ours, *theirs]) if place.corpus.digest in digests]


@cache
def _comparison(sweep: str) -> Comparison:
    """Return the comparison of the published results of a sweep."""
    return Builder(read_csv(MEASURED[sweep])).comparison


def main() -> None:
    """Write all pages, the pages of docs/ first, because submitted results may be refused there."""
    for page in (RESULTS.parents[1] / "docs" / name for name in DOCS):
        try:
            page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
        except AdbenchTextError as error:
            sys.exit(f"Error: {error}")
    print("\n".join(_leaderboard(SUBMITTED).notes or ["No entry has been sent."]))
    for name in MEASURED:
        write(name, RESULTS)


if __name__ == "__main__":
    main()
