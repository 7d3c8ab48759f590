"""A metric in a file of the user, ``./mine.py:first_100``, computed from the stored scores of each cell."""

import math
from numbers import Real

import pandas as pd

from adbench_text.errors import DataError
from adbench_text.failures import as_plugin_error
from adbench_text.metrics import Metric, is_possible
from adbench_text.plugins import registry
from adbench_text.reports.cells import text_of
from adbench_text.reports.evidence import Evidence, scored


def own_metric(text: str) -> Metric:
    """Load a function ``(outlier, scores) -> value``; its name becomes the title. See `Metric.function`.

    If it has ``lower_is_better = True``, lower values are better. Raise PluginError if it cannot be loaded.
    """
    name, function = registry.load_from_file("metrics", text)
    title = str(getattr(function, "__name__", name))
    is_lower_better = bool(getattr(function, "lower_is_better", False))
    return Metric(name, title, function, "outliers", higher_is_better=not is_lower_better)


def with_metric(cells: pd.DataFrame, metric: Metric, evidence: Evidence) -> pd.DataFrame:
    """Return cells with the value of a metric, NaN if the scores cannot be read.

    Cells of a file have no scores here, but the file may have a column with the metric. Raise PluginError if
    the function fails, or does not return a number in [0, 1].
    """
    given = cells.assign(**{metric.name: cells.get(metric.name, math.nan)})
    return given.assign(**{metric.name: [_value(row, metric, evidence) for _, row in given.iterrows()]})


def _value(row: pd.Series, metric: Metric, evidence: Evidence) -> float:
    """Return a metric of a cell from its scores, which `evidence` forgets then; otherwise the given value."""
    table = evidence.table(row) if row["status"] == "ok" else None
    if table is None:
        given = float(row[metric.name])
        if not math.isnan(given) and not is_possible(given):
            cell = f"{row['source']}: {metric.title} of {text_of(row)}"
            raise DataError(f"{cell} is {given:g}, not in [0, 1].")
        return given
    with as_plugin_error(f"{metric.title} fails on {text_of(row)}", metric.function.__module__):
        outlier, scores = scored(table)
        value = metric.function(outlier, scores.copy())  # the function may sort in place
        if not isinstance(value, Real) or not is_possible(float(value)):
            raise ValueError(f"it must return a number in [0, 1], such as a share, got {value!r:.60}")
    evidence.forget(row)  # all tables of a large store do not fit into memory
    return float(value)
