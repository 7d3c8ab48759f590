"""Tables for a terminal; the best of a row in bold (with a star where there is no bold)."""

from collections.abc import Iterable, Sequence
from io import StringIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from adbench_text.escaping import printable
from adbench_text.reports.report import OURS, Entry, Report, Table


def render(report: Report, width: int | None = None) -> str:
    """Return the report as text.

    `width` is the width of the terminal in columns: a wider table is cut into parts, one below the other.
    Without a terminal it is None: tables are as wide as needed, and nothing is bold.
    """
    stream = StringIO()
    bold = width is not None
    console = Console(file=stream, width=10_000, force_terminal=bold, highlight=False, emoji=False)
    notes = list(report.notes)
    if not bold and any(table.has_best for table in report.tables):
        notes.append("*: the best of ours in its row; in the leaderboard, in its column.")

    def write(lines: Iterable[str], style: str = "") -> None:
        for line in lines:
            console.print(Text(printable(line), style=style), width=width)

    write([report.headline, ""] if report.headline else [], "bold")
    for table in report.tables:
        write([table.title] if table.title else [], "bold")
        widths = [_width(table, column, bold) for column in range(len(table.header))]
        for columns in _parts(table, widths, width):
            console.print(_table(table, columns, widths, bold))
        write([*table.notes, ""])
    write(notes)
    write([""] if notes and report.provenance else [])
    write(f"{name}: {value}" for name, value in report.provenance)
    return stream.getvalue()


def _parts(table: Table, widths: Sequence[int], width: int | None) -> list[list[int]]:
    """Return the numbers of the columns in each part of a table; a part has at most `width` characters.

    `widths` are the widths of the columns. Without a `width` there is one part.
    """

    def is_too_wide(columns: list[int]) -> bool:
        # a column has a border and two spaces, and the last one has another border
        return width is not None and sum(widths[each] + 3 for each in columns) + 1 > width

    return table.parts(is_too_wide)


def _width(table: Table, column: int, bold: bool) -> int:
    """Return the least width of a column: figures are not broken, and a header only between words."""
    entries = [_entry(table, row[column], bold).plain for row in table.rows]
    return max(map(cell_len, [*_head(table, column).plain.split(), *entries]))


def _table(table: Table, columns: list[int], widths: list[int], bold: bool) -> RichTable:
    """Return some columns of a table; `widths` has all of its columns."""
    rendered = RichTable()
    for column in columns:
        rendered.add_column(
            _head(table, column),
            justify="left" if column < table.n_labels else "right",
            width=widths[column],
        )
    for position, row in enumerate(table.rows):
        if position and position in table.group_starts:
            rendered.add_section()
        rendered.add_row(*(_entry(table, row[column], bold) for column in columns))
    return rendered


def _head(table: Table, column: int) -> Text:
    """Return the head of a column, with a sign for a marked detector."""
    return _marked(table.header[column], table.is_ours(table.header[column]))


def _entry(table: Table, entry: Entry, bold: bool) -> Text:
    """Return an entry; the best is bold, or has a star where there is no bold."""
    if entry.best:
        return Text(printable(entry.text), style="bold") if bold else Text(f"{printable(entry.text)}*")
    return _marked(entry.text, table.is_ours(entry))


def _marked(text: str, is_ours: bool) -> Text:
    """Return a text; a marked detector has a sign, and on a terminal a colour."""
    return Text(f"{OURS}{printable(text)}", style="bold cyan") if is_ours else Text(printable(text))
