"""One self-contained page: tables, pictures, heat maps."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from adbench_text.pages.shades import page
from adbench_text.reports.formats._heatmap import Map, prepare
from adbench_text.reports.report import Entry, Heatmap, Kind, Report, Table

_MOST_HEATMAPS = 30  # a browser is slow with more
_MOST_BYTES = 400_000  # of heat maps after the first ones


def render(report: Report, width: int | None = None) -> str:  # the width of a terminal does not matter
    """Return the report as one HTML page that needs no other file and no network.

    Pictures are included unchanged; all other text is escaped. Characters that HTML does not allow
    (control characters, lone surrogates) are replaced by U+FFFD.
    """
    heatmaps = list(_shown(report.heatmaps[:_MOST_HEATMAPS]))
    tables = [(table.title or f"Table {number}", table) for number, table in enumerate(report.tables, 1)]
    return page(
        "adbench_text.reports.formats/_page.html",
        tables=tables,
        leaders=report.leaders,
        share=_share,
        first_pictures=[picture for picture in report.pictures if picture.is_first],
        pictures=[picture for picture in report.pictures if not picture.is_first],
        heatmaps=heatmaps,
        headline=report.headline,
        provenance=report.provenance,
        notes=_notes(report, len(heatmaps)),
        block_starts=_block_starts,
    )


def _share(table: Table, entry: Entry) -> float | None:
    """Return the length of the bar of an entry, from 0 to 1; None for no bar."""
    if table.bars_from is None or entry.kind is not Kind.FIGURE or entry.value is None:
        return None
    return min(max((entry.value - table.bars_from) / (100 - table.bars_from), 0), 1)


def _shown(heatmaps: Sequence[Heatmap]) -> Iterator[Map]:
    """Yield the first heat map of each detector and dataset, and others until the page is large."""
    n_bytes = 0
    for heatmap in heatmaps:
        shown = prepare(heatmap)
        n_bytes += shown.n_bytes
        if not heatmap.is_first and n_bytes > _MOST_BYTES:
            return
        yield shown


def _notes(report: Report, n_heatmaps: int) -> list[str]:
    """Return the notes that belong to no table, given the number of heat maps on the page."""
    n_left_out = len(report.heatmaps) - n_heatmaps
    note = (
        f"{n_left_out:,} of {len(report.heatmaps):,} heat maps are left out to keep the page small; "
        "choose fewer detectors with --detector."
    )
    return [*([note] if n_left_out > 0 else []), *report.notes]


def _block_starts(table: Table) -> set[int]:
    """Return the columns at which a block begins, without the first block."""
    return {table.n_labels + n for n in accumulate(n for _, n in table.blocks)}
