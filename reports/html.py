"""One self-contained page: tables, pictures, heat maps."""

import re
from functools import cache
from importlib.resources import files
from itertools import accumulate

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from adbench_text.reports._heatmap import DEEPEST, N_SHADES, prepare
from adbench_text.table import Report, Table

HAS_PICTURES = True

_ABSENT = {"", "–", "missing", "failed"}  # sorted after all figures
_ALL = "All figures in one table"
_LONG = 40  # rows, from which a table scrolls under its header

# what HTML forbids, and what UTF-8 cannot say
_UNFIT = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def render(report: Report, width: int | None = None) -> str:  # a terminal's width is nothing to it
    """Return the report as one HTML page that needs no other file and no network.

    The pictures are taken as they are; every other text is escaped, and characters that cannot
    stand in a page (control characters, lone surrogates) are replaced by U+FFFD.
    """
    tables = [(table.title or f"Table {number}", table) for number, table in enumerate(report.tables, 1)]
    wide = report.wide if report.wide not in report.tables else None
    page = _template().render(
        tables=tables,
        wide=[(wide.title or _ALL, wide)] if wide and wide.rows else [],
        pictures=report.pictures,
        heatmaps=[prepare(heatmap) for heatmap in report.heatmaps],
        notes=report.notes,
        absent=_ABSENT,
        long=_LONG,
        n_shades=N_SHADES,
        deepest=DEEPEST,
        block_starts=_block_starts,
        least_width=_least_width,
    )
    return _UNFIT.sub("\ufffd", page)


@cache
def _template() -> Template:
    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("_page.html")


def _source(name: str) -> str:
    return files("adbench_text.reports").joinpath(name).read_text(encoding="utf-8")


def _block_starts(table: Table) -> set[int]:
    """Return the columns with which a block begins, the first block left out."""
    return {table.n_labels + n for n in accumulate(n for _, n in table.blocks)}


def _least_width(svg: str) -> int:
    """Return the pixels below which the words of a picture are too small: it scrolls then."""
    found = re.search(r'viewBox="\S+ \S+ ([\d.]+) ', svg)
    return min(int(0.9 * float(found[1]) * 96 / 72), 640) if found else 0  # its units are points
