"""One table of every split, level and mean, or each table asked for, for programs; figures in percent."""

import csv
from io import StringIO

from adbench_text.table import Report, Table

HAS_NOTES = False  # a reader of CSV would choke on them: the command line says them on stderr


def render(report: Report, width: int | None = None) -> str:  # a terminal's width is nothing to it
    """Return the report's wide table as CSV, or its tables with a line between them if it has none."""
    return "\n".join(_table(table) for table in ([report.wide] if report.wide else report.tables))


def _table(table: Table) -> str:
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows([entry.text for entry in row] for row in table.rows)
    return stream.getvalue()
