"""One row per cell, for programs; metrics are fractions."""

import math
from typing import Any

import pandas as pd

from adbench_text.escaping import no_formula, printable
from adbench_text.reports.report import Report


def render(report: Report, width: int | None = None) -> str:  # the width of a terminal does not matter
    """Return the cells of a report as CSV, which `adbench_text.store.cells_file.read_csv` reads back."""
    cells = report.cells if report.cells is not None else pd.DataFrame()
    return str(cells.rename(columns=_text).map(_text).to_csv(index=False, lineterminator="\n"))


def _text(value: Any) -> str:
    """Return a value as text that spreadsheets and terminals do not execute."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return str(no_formula(printable(value)))
    if isinstance(value, pd.Timestamp):
        return value.isoformat(timespec="seconds")
    if value is pd.NaT or math.isnan(value):
        return ""
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
