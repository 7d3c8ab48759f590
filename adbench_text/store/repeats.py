"""Several results of one definition: after ``run --rerun``, or in several stores. The newest counts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from adbench_text.metrics import METRICS, ROUNDING, Metric
from adbench_text.store.record import Record


def newest_of(records: Iterable[Record]) -> list[Record]:
    """Return the newest of equal definitions, oldest first; each holds the others as `Record.older`."""
    of_cell: dict[str, list[Record]] = {}
    for record in records:
        of_cell.setdefault(record.cell, []).extend((record, *record.older))
    newest = []
    for equal in of_cell.values():
        first = max(equal, key=lambda record: record.started)
        older = tuple(replace(record, older=()) for record in equal if record is not first)
        newest.append(replace(first, older=older) if older else first)
    return sorted(newest, key=lambda record: record.started)


def contradictions(records: Sequence[Record], metrics: Iterable[Metric] = METRICS.values()) -> list[str]:
    """Return in one sentence how many records contradict their older results, and by how much at most.

    Results of equal definitions differ by less than `ROUNDING`, unless their machines compute differently,
    what produced them is not deterministic, or somebody changed them. The list is empty if there are none.
    """
    metrics = list(metrics)
    largest = []
    for record in records:
        differences = [
            (abs(record.metrics[metric.name] - older.metrics[metric.name]), metric, older, record)
            for older in record.older
            for metric in metrics
            if record.is_ok and older.is_ok and metric.name in record.metrics.keys() & older.metrics.keys()
        ]
        largest += [max(differences, key=lambda each: each[0])] if differences else []
    apart = [each for each in largest if each[0] > ROUNDING]
    if not apart:
        return []
    difference, metric, older, record = max(apart, key=lambda each: each[0])
    now, before = (100 * each.metrics[metric.name] for each in (record, older))
    cells = "1 cell has" if len(apart) == 1 else f"{len(apart):,} cells have"
    return [
        f"{cells} several results that differ, though their definitions are equal: by up to "
        f"{100 * difference:.3g} points of {metric.title} ({record}: newest {now:.1f}, older "
        f"{before:.1f})."
    ]
