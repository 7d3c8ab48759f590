"""Seconds, documents per second, memory."""

from collections.abc import Sequence

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import NONE, Entry, Kind, Table, figure
from adbench_text.store.record import Record
from adbench_text.sweep.cell import percent

ORDER = 80
NEEDS = "results"

_OF_THE_PROCESS = "Peak memory is that of the process, with what its earlier cells left in caches."


def tables(comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return the cost of each detector on each corpus: means over the splits, the peak over all of them.

    The cost of a grid is the sum over its configurations.
    """
    rows: list[list[Entry]] = []
    starts: set[int] = set()
    for digest, label in comparison.corpora.items():
        starts.add(len(rows))
        for column in comparison.columns:
            records = comparison.finished(column, digest)
            if records:
                # the finished cells, also those that lack the metric because they are older
                n_expected = comparison.mean(column, digest, comparison.lowest).n_expected
                cells = "" if len(records) == n_expected else f" ({len(records)} of {n_expected})"
                rows.append([Entry(label), Entry(column.label + cells), *_costs(records)])
    title = (
        f"Cost of a split, mean over the splits, {percent(comparison.lowest)} of outliers in the training "
        "data; peak memory is the maximum"
    )
    header = ["dataset", "detector", "fit (s)", "score (s)", "documents/s scored", "peak memory (GB)"]
    return [Table(title, header, rows, starts, notes=[_OF_THE_PROCESS])]


def _costs(records: Sequence[Record]) -> list[Entry]:
    n_splits = len({(record.inlier, record.seed) for record in records})
    fit, score, n_test = (
        sum(record.metrics[name] for record in records) / n_splits
        for name in ("fit_seconds", "score_seconds", "n_test")
    )
    memory = [r.metrics["peak_memory_mb"] for r in records if "peak_memory_mb" in r.metrics]
    return [
        *map(_significant, (fit, score, n_test / max(score, 1e-9))),
        figure(max(memory) / 1000, ".2f") if memory else NONE,
    ]


def _significant(value: float) -> Entry:
    return Entry(f"{float(f'{value:.3g}'):,g}", Kind.FIGURE, value)
