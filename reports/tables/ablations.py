"""Configurations of one detector."""

from collections.abc import Iterator, Mapping

from adbench_text.reports import published
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import OF_THE_PAPER, Comparison
from adbench_text.reports.report import NONE, PUBLISHED, Entry, Table, figure
from adbench_text.store.record import Record
from adbench_text.sweep.cell import percent

_LEAST = 3  # minimum number of configurations of a detector, to compare them in a table


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield a table for each detector that has three configurations or more."""
    for detector, columns in varied(comparison).items():
        yield _table(comparison, detector, columns)


def _table(comparison: Comparison, detector: str, columns: list[Column]) -> Table:
    """Return a table of configurations: figures, differences from the first, and figures of the paper."""
    of_paper = published.ablations(comparison.metric.name) if comparison.lowest == 0 else {}
    theirs = {column: of_paper.get((column.detector, column.preset), {}) for column in columns}
    header = ["configuration"]
    rows = [[Entry(column.label)] for column in columns]
    for corpus in comparison.corpora:
        header += [corpus.label, f"{corpus.label}: difference from the first"]
        has_published = not corpus.splits and any(
            corpus.dataset in of_column for of_column in theirs.values()
        )
        if has_published:
            header.append(f"{corpus.label} {PUBLISHED}")
        first = corpus.entry(columns[0]).complete_value
        for row, column in zip(rows, columns, strict=True):
            entry = corpus.entry(column)
            row += [entry, NONE if column is columns[0] else _difference(entry.complete_value, first)]
            if has_published:
                row.append(figure(theirs[column].get(corpus.dataset)))
    title = (
        f"{detector}: {comparison.metric.title} (%) of its configurations, mean over the splits, "
        f"{percent(comparison.lowest)} of outliers in the training data"
    )
    has_paper = len(header) > 1 + 2 * len(comparison.corpora)  # more than two columns for some corpus
    notes = [OF_THE_PAPER] if has_paper else []
    return Table(title, header, rows, n_labels=1, notes=notes)


def _difference(value: float | None, first: float | None) -> Entry:
    return NONE if value is None or first is None else figure(value - first, signed=True)


def varied(comparison: Comparison) -> dict[str, list[Column]]:
    """Return the configurations of each detector that has three or more, oracles left out.

    The first is the base: the configuration that differs from the others in the fewest hyper-parameters, no
    matter which was run first. The others follow by the number of hyper-parameters that differ from the base.
    """
    of_detectors: dict[str, list[Column]] = {}
    for column in comparison.fair:
        of_detectors.setdefault(column.detector, []).append(column)
    return {
        detector: _from_base(comparison, columns)
        for detector, columns in of_detectors.items()
        if len(columns) >= _LEAST
    }


def _from_base(comparison: Comparison, columns: list[Column]) -> list[Column]:
    values = {column: _hyperparameters(comparison, column) for column in columns}

    def n_different(one: Column, other: Column) -> int:
        names = values[one].keys() | values[other].keys()
        return sum(values[one].get(name) != values[other].get(name) for name in names)

    newest = [column for column in columns if column.generation == 0]
    distances = {c: sum(n_different(c, other) for other in newest) for c in newest}
    base = min(newest, key=lambda c: (distances[c], bool(c.configuration)))  # defaults win a tie
    return sorted(columns, key=lambda c: (c != base, n_different(c, base), c.generation))


def _hyperparameters(comparison: Comparison, column: Column) -> Mapping[str, str]:
    cells = comparison.cells.table
    first: Record = cells["record"][cells["column"] == comparison.columns.index(column)].iloc[0]
    return first.hyperparameters
