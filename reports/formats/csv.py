"""One table of every split, level and mean, or each table asked for, for programs.

Figures are in percent. A spread has a column of its own.
"""

import csv
from dataclasses import replace
from io import StringIO

from adbench_text.escaping import no_formula, printable
from adbench_text.reports.report import Report, Table


def render(report: Report, width: int | None = None) -> str:  # the width of a terminal does not matter
    """Return the report's wide table as CSV, or its tables with a line between them if it has none."""
    return "\n".join(_table(table) for table in ([report.wide] if report.wide else report.tables))


def _table(table: Table) -> str:
    columns: list[list[str]] = []
    for head, *entries in zip(table.header, *table.rows, strict=True):
        columns.append([_cell(head), *(_cell(replace(entry, spread=None).text) for entry in entries)])
        spreads = [entry.spread for entry in entries]
        if any(spread is not None for spread in spreads):
            texts = ("" if spread is None else f"{spread:.1f}" for spread in spreads)
            columns.append([_cell(f"{head} std"), *texts])
    stream = StringIO()
    csv.writer(stream, lineterminator="\n").writerows(zip(*columns, strict=True))
    return stream.getvalue()


def _cell(text: str) -> str:
    """Return a text that neither a spreadsheet nor a terminal takes for a command."""
    return str(no_formula(printable(text)))
