"""One self-contained page: tables, pictures, heat maps."""

from itertools import accumulate

from adbench_text.pages.shades import page
from adbench_text.reports.formats._heatmap import prepare
from adbench_text.reports.report import Entry, Kind, Report, Table

_MOST_HEATMAPS = 30  # a browser is slow with more


def render(report: Report, width: int | None = None) -> str:  # the width of a terminal does not matter
    """Return the report as one HTML page that needs no other file and no network.

    Pictures are included unchanged; all other text is escaped. Characters that HTML does not allow
    (control characters, lone surrogates) are replaced by U+FFFD.
    """
    tables = [(table.title or f"Table {number}", table) for number, table in enumerate(report.tables, 1)]
    return page(
        "adbench_text.reports.formats/_page.html",
        tables=tables,
        leaders=report.leaders,
        share=_share,
        first_pictures=[picture for picture in report.pictures if picture.is_first],
        pictures=[picture for picture in report.pictures if not picture.is_first],
        heatmaps=list(map(prepare, report.heatmaps[:_MOST_HEATMAPS])),
        headline=report.headline,
        provenance=report.provenance,
        notes=_notes(report),
        block_starts=_block_starts,
    )


def _share(table: Table, entry: Entry) -> float | None:
    """Return the length of the bar of an entry, from 0 to 1; None for no bar."""
    if table.bars_from is None or entry.kind is not Kind.FIGURE or entry.value is None:
        return None
    return min(max((entry.value - table.bars_from) / (100 - table.bars_from), 0), 1)


def _notes(report: Report) -> list[str]:
    """Return the notes that belong to no table."""
    n_left_out = len(report.heatmaps) - _MOST_HEATMAPS
    note = (
        f"{n_left_out:,} of {len(report.heatmaps):,} heat maps are left out to keep the page small; "
        "choose fewer detectors with --detector."
    )
    return [*([note] if n_left_out > 0 else []), *report.notes]


def _block_starts(table: Table) -> set[int]:
    """Return the columns at which a block begins, without the first block."""
    return {table.n_labels + n for n in accumulate(n for _, n in table.blocks)}
