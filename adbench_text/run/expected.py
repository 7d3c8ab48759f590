"""How long cells will take: as long as those that a store remembers, for the number of their documents."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import median
from typing import NamedTuple, Protocol

import numpy as np

from adbench_text.corpora.corpus import Corpus
from adbench_text.sweep.cell import Cell

_SECONDS_PER_DOCUMENT = 1e-3  # of a detector that has never been run


class Remembered(Protocol):
    """A cell that was run before; `adbench_text.store.record.Record` is one."""

    @property
    def detector(self) -> str:
        """Name of the detector."""

    @property
    def configuration(self) -> str:
        """Settings that differ from the detector's defaults, in one line."""

    @property
    def dataset(self) -> str:
        """Name of the dataset."""

    @property
    def metrics(self) -> Mapping[str, float]:
        """See `Result`."""


class Expected(NamedTuple):
    """The seconds that a cell is expected to take for its training and its scoring."""

    fit: float
    score: float
    is_remembered: bool = True  # False for a detector that has never been run

    def times(self, factor: float) -> "Expected":
        """Return the seconds of a cell that is `factor` times as large."""
        return Expected(self.fit * factor, self.score * factor, self.is_remembered)

    @property
    def total(self) -> float:
        """The seconds for both."""
        return self.fit + self.score


def expected_seconds(
    cells: Iterable[Cell], corpora: Mapping[str, Corpus], remembered: Iterable[Remembered]
) -> dict[Cell, Expected]:
    """Return the seconds that cells are expected to take.

    They are the number of documents of a cell times the median time for a document of the nearest cells that
    are remembered: those with the same detector, settings and dataset; otherwise with the same detector and
    settings; otherwise with the same detector.
    """
    times: dict[tuple[str, ...], list[Expected]] = defaultdict(list)
    for record in remembered:
        seconds = Expected(record.metrics.get("fit_seconds", 0.0), record.metrics.get("score_seconds", 0.0))
        n_documents = record.metrics.get("n_train", 0.0) + record.metrics.get("n_test", 0.0)
        if seconds.total and n_documents:
            for key in _keys(record.detector, record.configuration, record.dataset):
                times[key].append(seconds.times(1 / n_documents))
    medians = {key: _median(values) for key, values in times.items()}
    sizes = {name: _sizes(corpus) for name, corpus in corpora.items()}

    def expected(cell: Cell) -> Expected:
        keys = _keys(cell.detector, cell.configuration, cell.dataset)
        rates = (medians[key] for key in keys if key in medians)
        rate = next(rates, Expected(_SECONDS_PER_DOCUMENT, 0.0, is_remembered=False))
        return rate.times(sizes[cell.dataset][cell.inlier])

    return {cell: expected(cell) for cell in cells}


def _median(times: list[Expected]) -> Expected:
    """Return the median of the total, in the shares that training and scoring have on average."""
    total, scoring = sum(time.total for time in times), sum(time.score for time in times)
    middle = median(time.total for time in times)
    return Expected(middle * (1 - scoring / total), middle * scoring / total)


def _keys(detector: str, configuration: str, dataset: str) -> list[tuple[str, ...]]:
    """Return what cells have in common, the nearest first."""
    return [(detector, configuration, dataset), (detector, configuration), (detector,)]


def _sizes(corpus: Corpus) -> dict[str, int]:
    """Return the number of training and test documents of each split, without contamination."""
    counts = np.bincount(corpus.train.labels, minlength=len(corpus.classes))
    return {name: int(count) + len(corpus.test) for name, count in zip(corpus.classes, counts, strict=True)}
