"""Estimate the remaining time of a sweep, and suggest how to shorten it."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from statistics import fmean
from threading import Lock
from typing import TYPE_CHECKING

from adbench_text.plugins import declared, registry
from adbench_text.plugins.configure import GPU
from adbench_text.provenance import visible_gpus

if TYPE_CHECKING:
    from adbench_text.run.cell import Cell

_LEAST_STEPS = 100  # steps of a training before an estimate: the first steps are slow
_LONGEST = 10**9  # seconds

DatasetDetector = tuple[str, str]  # a dataset and a detector


def as_text(seconds: float) -> str:
    """Return a duration as text: ``"4:10:00"``."""
    return str(timedelta(seconds=round(min(seconds, _LONGEST))))


class Remaining:
    """Estimates the remaining time of the cells of a sweep.

    A cell is expected to take as long as ended cells of the same detector on the same dataset. If none has
    ended, the speed of the steps of a running cell is used. Several threads may report steps.
    """

    def __init__(self, todo: "Sequence[Cell]" = ()) -> None:
        self._todo = todo
        self._waiting = Counter(map(_group, todo))
        self._began: dict[Cell, float] = {}
        self._first: dict[Cell, tuple[float, int]] = {}  # time and number of the first reported step
        self._durations: dict[DatasetDetector, list[float]] = defaultdict(list)  # seconds of ended cells
        self._expected: dict[DatasetDetector, float] = {}  # seconds, from the steps of running cells
        self._lock = Lock()

    def started(self, cell: "Cell") -> None:
        """Note that a cell starts."""
        with self._lock:
            self._waiting[_group(cell)] -= 1
            self._began[cell] = time.monotonic()

    def step(self, cell: "Cell", step: int, steps: int) -> None:
        """Note the step that a training has reached."""
        now = time.monotonic()
        with self._lock:
            at, first = self._first.setdefault(cell, (now, step))
            if cell in self._began and step >= _LEAST_STEPS and step > first:
                rest = (now - at) / (step - first) * max(steps - step, 0)
                self._expected[_group(cell)] = now - self._began[cell] + rest

    def ended(self, cell: "Cell") -> None:
        """Note that a cell has ended."""
        with self._lock:
            now = time.monotonic()
            self._durations[_group(cell)].append(now - self._began.pop(cell, now))

    def _of_cell(self, group: DatasetDetector) -> float:
        """Return the expected seconds of a cell; 0 if unknown."""
        return fmean(self._durations[group]) if self._durations[group] else self._expected.get(group, 0.0)

    def by_group(self) -> dict[DatasetDetector, float]:
        """Return the remaining seconds for the cells of each detector on each dataset."""
        now = time.monotonic()
        with self._lock:
            left = {group: max(n, 0) * self._of_cell(group) for group, n in self._waiting.items()}
            for cell, began in self._began.items():
                left[_group(cell)] += max(self._of_cell(_group(cell)) - (now - began), 0)
            return {group: seconds / max(len(self._began), 1) for group, seconds in left.items()}

    def advice(self) -> str:
        """Return what takes longest, and options that shorten it; empty without such options."""
        left = self.by_group()
        slow = max(left, key=lambda group: left[group])
        cells = [cell for cell in self._todo if _group(cell) == slow]
        shorter = [f"{name} ({as_text(share * left[slow])})" for name, share in _shorter(cells)]
        if not shorter:
            return ""
        dataset, detector = slow
        return f"{detector} on {dataset} needs {as_text(left[slow])}. Shorter: {', '.join(shorter)}."


def _group(cell: "Cell") -> DatasetDetector:
    """Return the dataset and the detector of a cell."""
    return cell.split.dataset, cell.choice


def _shorter(cells: "Sequence[Cell]") -> Iterator[tuple[str, float]]:
    """Yield options that shorten cells of one detector on one dataset, with the share of time they need."""
    first = cells[0]
    detector = registry.detector(first.detector)
    if first.preset == declared.of_class(detector, "default_preset"):
        for name, share in declared.of_class(detector, "faster").items():
            if name != GPU:
                yield f"-d {first.detector}:{name}", share
            elif not visible_gpus():
                yield "a GPU", share
    if (n_levels := len({cell.split.contamination for cell in cells})) > 1:
        yield f"--contamination {min(cell.split.contamination for cell in cells):g}", 1 / n_levels
    if (n_inliers := len({cell.split.inlier for cell in cells})) > 1:
        yield f"--inlier {first.split.inlier}", 1 / n_inliers
