"""A metric in a file of the user's own, ``./mine.py:first_100``, of the stored scores of each cell."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from numbers import Real

from adbench_text.failures import as_plugin_error
from adbench_text.metrics import Metric, is_possible
from adbench_text.plugins import registry
from adbench_text.reports.evidence import Evidence, scored
from adbench_text.store.record import Record


def own_metric(text: str) -> Metric:
    """Load a function ``(outlier, scores) -> value``, whose name becomes the title; see `Metric.function`.

    Lower values are better if it has ``lower_is_better = True``. Raise PluginError if it cannot be loaded.
    """
    name, function = registry.load_from_file("metrics", text)
    title = str(getattr(function, "__name__", name))
    is_lower_better = bool(getattr(function, "lower_is_better", False))
    return Metric(name, title, function, "outliers", higher_is_better=not is_lower_better)


def measured(records: Sequence[Record], metric: Metric, evidence: Evidence) -> Iterator[Record]:
    """Yield records with the value of a metric; those whose scores cannot be read as they are.

    Raise PluginError if the function fails, or returns anything but a number in [0, 1].
    """
    for record in records:
        table = evidence.table(record) if record.is_ok else None
        if table is None:
            yield record
            continue
        with as_plugin_error(f"{metric.title} fails on {record}", metric.function.__module__):
            outlier, scores = scored(table)
            value = metric.function(outlier, scores.copy())  # it may sort them in place
            if not isinstance(value, Real) or not is_possible(float(value)):
                raise ValueError(f"it must return a number in [0, 1], such as a share, got {value!r:.60}")
        evidence.forget(record)  # all tables of a large store do not fit into memory
        yield replace(record, metrics={**record.metrics, metric.name: float(value)})
