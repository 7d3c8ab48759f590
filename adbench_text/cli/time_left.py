"""Estimates the time that a sweep still takes."""

import time
from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adbench_text.run.expected import Expected
    from adbench_text.sweep.cell import Cell

_FACTOR = 5.0  # detectors that have not run yet may be faster or slower than expected by this factor at most


@dataclass
class _Running:
    """A cell that runs: when it began, and the first and the last step of its training."""

    began: float
    first: tuple[int, float] | None = None
    last: tuple[int, float] | None = None
    steps: int = 0

    def training(self, now: float) -> float | None:
        """Return the seconds that its training takes in total; None if that is not known yet."""
        if self.first is None or self.last is None or self.last[0] == self.first[0]:
            return None
        (first, began), (step, ended) = self.first, self.last
        left = (ended - began) / (step - first) * (self.steps - step)
        return ended - self.began + (max(left, now - ended) if step < self.steps else 0.0)


class TimeLeft:
    """Estimates the time that a sweep still takes.

    A cell is expected to take what the store remembers of similar cells, times how much longer cells of the
    same detector and dataset took in this sweep. For a training that reports its steps, those count.
    """

    def __init__(self) -> None:
        self._lock = RLock()  # a live display asks from another thread
        self._expected: Mapping[Cell, Expected] = {}
        self._waiting: dict[Cell, None] = {}
        self._running: dict[Cell, _Running] = {}
        self._seconds: dict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0])  # taken, expected
        self._remembered: dict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0])  # of known detectors
        self._scoring: dict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0])  # likewise
        self._n_at_once = 1
        self._n_done, self._n_left = 0, 0
        self._begin = time.monotonic()

    def begin(self, n_cells: int) -> None:
        """Receive the number of cells to run."""
        self._n_left, self._begin = n_cells, time.monotonic()

    def expect(self, seconds: "Mapping[Cell, Expected]") -> None:
        """Receive the time that each cell to run is expected to take."""
        with self._lock:
            self._expected, self._waiting = seconds, dict.fromkeys(seconds)

    def started(self, cell: "Cell") -> None:
        """Receive a cell that begins, perhaps again."""
        with self._lock:
            if not self._n_done and not self._running:
                self._begin = time.monotonic()  # without the start of worker processes
            self._waiting.pop(cell, None)
            self._running[cell] = _Running(time.monotonic())
            self._n_at_once = max(self._n_at_once, len(self._running))

    def step(self, cell: "Cell", step: int, steps: int) -> None:
        """Receive the state of the training of a cell."""
        with self._lock:
            running = self._running.setdefault(cell, _Running(time.monotonic()))
            running.last, running.steps = (step, time.monotonic()), steps
            running.first = running.first or running.last  # not step 0 if it resumes from a checkpoint

    def done(self, cell: "Cell") -> None:
        """Receive a cell that has ended."""
        with self._lock:
            now = time.monotonic()
            self._n_done, self._n_left = self._n_done + 1, self._n_left - 1
            self._waiting.pop(cell, None)
            running = self._running.pop(cell, None)
            if running is None or cell not in self._expected:
                return
            expected = self._expected[cell]
            _add(self._seconds[_key(cell)], now - running.began, expected.total)
            if expected.is_remembered:
                _add(self._remembered[_key(cell)], now - running.began, expected.total)
            if running.last is not None:
                _add(self._scoring[_key(cell)], now - running.last[1], expected.total)

    def seconds(self) -> float | None:
        """Return an estimate of the seconds until the last cell has ended; None without a basis for it."""
        with self._lock:
            now = time.monotonic()
            if not self._expected:  # then all cells take the same time
                return (now - self._begin) / self._n_done * self._n_left if self._n_done else None
            running = [self._left(cell, now) for cell in self._running]
            waiting = [self._expected_total(cell, now) or 0.0 for cell in self._waiting]
            # cells are divided among processes, but a cell is not
            return max((sum(running) + sum(waiting)) / self._n_at_once, *running, *waiting, 0.0)

    def is_minimum(self) -> bool:
        """Return whether nobody knows how long some cells take: their detectors have not run before."""
        with self._lock:
            now = time.monotonic()
            running = (cell for cell, state in self._running.items() if state.training(now) is None)
            return any(self._expected_total(cell, now) is None for cell in (*self._waiting, *running))

    def _expected_total(self, cell: "Cell", now: float) -> float | None:
        """Return the seconds that a cell takes in total, by what is known of similar cells."""
        if cell not in self._expected:
            return None
        expected, scale = self._expected[cell], self._scale(cell, now)
        if scale is None and not expected.is_remembered:
            return None
        return expected.total * (self._scale_of_all() if scale is None else scale)

    def _left(self, cell: "Cell", now: float) -> float:
        """Return the seconds that a running cell still takes."""
        running = self._running[cell]
        if (total := self._total(cell, running, now)) is None:
            total = self._expected_total(cell, now) or 0.0
        return max(total - (now - running.began), 0.0)

    def _total(self, cell: "Cell", running: _Running, now: float) -> float | None:
        """Return the seconds that a cell takes in total by its steps; None if it has not reported any."""
        training = running.training(now)
        if training is None or cell not in self._expected:
            return training
        expected = self._expected[cell]
        after, of_cells = self._scoring.get(_key(cell), (0.0, 0.0))
        if of_cells:  # what other cells needed after their last step
            return training + after / of_cells * expected.total
        return training * (expected.total / expected.fit if expected.fit else 1.0)

    def _scale(self, cell: "Cell", now: float) -> float | None:
        """Return how many times as long as expected the like of a cell took in this sweep, if any ran."""
        taken, expected = self._seconds.get(_key(cell), (0.0, 0.0))
        for other, running in self._running.items():
            if _key(other) == _key(cell) and other in self._expected:
                total = self._total(other, running, now)
                if total is not None:
                    taken, expected = taken + total, expected + self._expected[other].total
        return taken / expected if expected else None

    def _scale_of_all(self) -> float:
        """Return how many times as long as remembered all cells took so far."""
        taken, expected = (sum(part) for part in zip((0.0, 0.0), *self._remembered.values(), strict=True))
        return min(max(taken / expected, 1 / _FACTOR), _FACTOR) if expected else 1.0


def _key(cell: "Cell") -> Hashable:
    return cell.detector, cell.configuration, cell.dataset


def _add(sums: list[float], taken: float, expected: float) -> None:
    sums[0] += taken
    sums[1] += expected
