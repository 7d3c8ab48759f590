"""One table of every split, level and mean, for programs; figures in percent."""

import csv
from io import StringIO

from adbench_text.table import Report

HAS_NOTES = False  # a reader of CSV would choke on them: the command line says them on stderr


def render(report: Report, width: int | None = None) -> str:  # a terminal's width is nothing to it
    """Return the report's wide table as CSV."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(report.wide.header)
    writer.writerows([entry.text for entry in row] for row in report.wide.rows)
    return stream.getvalue()
