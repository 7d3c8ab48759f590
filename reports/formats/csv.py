"""One row per cell, for programs; metrics are fractions."""

import csv
from io import StringIO

from adbench_text.escaping import no_formula, printable
from adbench_text.reports.report import Report


def render(report: Report, width: int | None = None) -> str:  # the width of a terminal does not matter
    """Return the cells of a report as CSV."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_text, report.cells[0]))
    writer.writerows(map(_text, cell.values()) for cell in report.cells)
    return stream.getvalue()


def _text(value: str | float | None) -> str:
    """Return a value as text that neither a spreadsheet nor a terminal takes for a command."""
    if value is None or isinstance(value, str):
        return str(no_formula(printable(value or "")))
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
