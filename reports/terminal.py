"""Tables for a terminal; the best of a row in bold (with a star where there is no bold)."""

from io import StringIO

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from adbench_text.comparison import Entry, Report, Table


def render(report: Report, width: int | None = None) -> str:
    """Return the report as text.

    Parameters
    ----------
    report : Report
    width : int or None
        Columns of the terminal; None where there is none: as wide as need be, nothing in bold.
    """
    stream = StringIO()
    console = Console(file=stream, width=width or 1000, force_terminal=width is not None, highlight=False)
    for table in report.tables:
        console.print(_table(table, bold=width is not None))
        console.print()
    for note in report.notes:
        console.print(Text(note), soft_wrap=True)
    return stream.getvalue()


def _table(table: Table, bold: bool) -> RichTable:
    rendered = RichTable(title=table.title or None, title_justify="left", title_style="bold")
    for position, name in enumerate(table.header):
        rendered.add_column(
            name, justify="left" if position < table.n_labels else "right", no_wrap=position == 0
        )
    for position, row in enumerate(table.rows):
        if position and position in table.group_starts:
            rendered.add_section()
        rendered.add_row(*(_entry(entry, bold) for entry in row))
    return rendered


def _entry(entry: Entry, bold: bool) -> Text:
    if entry.best and not bold:
        return Text(f"{entry.text}*")
    return Text(entry.text, style="bold" if entry.best else "")
