"""Which configurations of a detector are compared with each other."""

from collections import Counter
from collections.abc import Mapping

from adbench_text.reports.columns import Column
from adbench_text.reports.comparison import Comparison

_LEAST = 3  # configurations


def ablated(comparison: Comparison) -> dict[str, list[Column]]:
    """Return the configurations of each detector that has three or more, oracles left out.

    The first is the one that the others vary, whichever was run first: it differs from the others in
    the fewest hyper-parameters. The others follow by the number of hyper-parameters that differ from it.
    """
    fair = [column for column in comparison.columns if not column.is_oracle]
    counts = Counter(column.detector for column in fair)
    return {
        detector: _in_order(comparison, [column for column in fair if column.detector == detector])
        for detector, n in counts.items()
        if n >= _LEAST
    }


def _in_order(comparison: Comparison, columns: list[Column]) -> list[Column]:
    values = {column: _hyperparameters(comparison, column) for column in columns}
    newest = [column for column in columns if column.generation == 0]
    distances = {c: sum(_n_different(values[c], values[other]) for other in newest) for c in newest}
    base = min(newest, key=lambda c: (distances[c], bool(c.configuration)))  # defaults win a tie
    return sorted(columns, key=lambda c: (c != base, _n_different(values[c], values[base]), c.generation))


def _hyperparameters(comparison: Comparison, column: Column) -> Mapping[str, str]:
    return next(
        record.hyperparameters
        for digest in comparison.corpora
        for level in comparison.levels
        for record in comparison.records_of(column, digest, level)
    )


def _n_different(values: Mapping[str, str], others: Mapping[str, str]) -> int:
    return sum(values.get(name) != others.get(name) for name in values.keys() | others.keys())
