"""One table of every split, level and mean, or each table asked for, for programs.

Figures are in percent. A spread has a column of its own.
"""

import csv
import re
from io import StringIO

from adbench_text.reports.report import Report, Table

_SPREAD = re.compile(r" ± ([\d.]+)")
HAS_NOTES = False  # a reader of CSV would choke on them: the command line says them on stderr


def render(report: Report, width: int | None = None) -> str:  # a terminal's width is nothing to it
    """Return the report's wide table as CSV, or its tables with a line between them if it has none."""
    return "\n".join(_table(table) for table in ([report.wide] if report.wide else report.tables))


def _table(table: Table) -> str:
    columns: list[list[str]] = []
    for head, *entries in zip(table.header, *table.rows, strict=True):
        texts = [entry.text for entry in entries]
        columns.append([head, *(_SPREAD.sub("", text) for text in texts)])
        if any(map(_SPREAD.search, texts)):
            spreads = [_SPREAD.search(text) for text in texts]
            columns.append([f"{head} std", *(found[1] if found else "" for found in spreads)])
    stream = StringIO()
    csv.writer(stream, lineterminator="\n").writerows(zip(*columns, strict=True))
    return stream.getvalue()
