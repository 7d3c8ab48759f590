"""Evaluate one cell in the process of its detector: split, fit, score."""

import ctypes
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

import psutil

from adbench_text.contract.detector import TextDetector
from adbench_text.contract.labels import KnownLabels
from adbench_text.contract.scores import Scores
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split import Split, draw
from adbench_text.errors import AdbenchTextError
from adbench_text.failures import FAILURES, described
from adbench_text.isolation import preserved, seed_generators
from adbench_text.memo import Stopwatch
from adbench_text.run.cell import Cell
from adbench_text.run.definition import build_detector
from adbench_text.run.examples import examples_of
from adbench_text.run.measure import checked_scores, checked_step, measured
from adbench_text.run.progress import Progress
from adbench_text.run.result import MEMORY, TRAINING, Curves, Point, Result
from adbench_text.run.words import word_scores

_SECONDS = 0.02  # between two samples of the memory
_SILENT = Progress()


def evaluate(cell: Cell, corpus: Corpus, progress: Progress = _SILENT) -> Result:
    """Return the result of a cell: fit its detector on its split, score the test texts, measure."""
    return measured(scored(cell, corpus, progress), cell, draw(corpus, cell.split), corpus)


@preserved()
def scored(cell: Cell, corpus: Corpus, progress: Progress = _SILENT, is_oracle: bool | None = None) -> Result:
    """Return the result of a cell without the metrics: fit its detector and score the test texts.

    If the detector fails, the result has the reason. `isolation.preserved` restores the process after the
    cell. The seed of the cell seeds the global random generators.

    The detector never gets a label, unless it `is_oracle`; if that is None, the detector says so.
    """
    started = time.time()
    costs: dict[str, float] = {}
    detector, training = None, None
    try:
        detector = build_detector(cell)
        split = draw(corpus.raw if detector.reads_raw else corpus, cell.split)
        # texts are taken here, not at the cost of the detector
        known, train, n_test = KnownLabels(split.known), split.train, len(split.test)
        with suppress(*FAILURES):  # already reported when the corpus was prepared
            detector.prepare([])  # opens files such as word vectors before time is measured
        seed_generators(cell.split.seed)
        is_oracle = detector.is_oracle if is_oracle is None else is_oracle
        # in a ranking, the test texts are the training texts, so the fit has scored them
        is_fit_enough = split.is_ranking and not is_oracle
        detector.observer = training = _Training(partial(progress.step, cell))
        with _peak_memory() as peak:
            with Stopwatch() as watch:
                known.fit(detector, train)
            costs["fit_seconds"] = watch.seconds
            with Stopwatch() as watch:
                scores = detector.decision_scores_ if is_fit_enough else _scores(detector, split, is_oracle)
            costs["score_seconds"] = watch.seconds
        costs[MEMORY] = peak[0]
        scores = checked_scores(scores, n_test)
        if not detector.is_timed:
            costs = {}
        return Result(
            cell,
            started,
            metrics=costs,
            scores=scores,
            word_scores=word_scores(detector, corpus, split),
            curves=training.curves,
            ran_on=_ran_on(detector),
            examples=examples_of(detector, corpus, split, scores),
        )
    except FAILURES as error:  # a faulty detector fails its cell, not the sweep
        module = ""  # our errors need no file and line: their messages are for the user
        if detector is not None and not isinstance(error, AdbenchTextError):
            module = detector.implementation.__module__
        reason = described(error, module)
        return Result(
            cell,
            started,
            metrics=costs,
            curves=training.curves if training else {},
            ran_on=_ran_on(detector),
            reason=reason,
            traceback=traceback.format_exc(),
        )


def _ran_on(detector: TextDetector | None) -> dict[str, str]:
    """Return the device and the precision; empty if they cannot be read."""
    try:
        return {str(name): str(value) for name, value in (detector.ran_on_ if detector else {}).items()}
    except Exception:  # a detector of another package; then the tag is missing
        return {}


def _scores(detector: TextDetector, split: Split, is_oracle: bool) -> Scores:
    """Return the scores of the test texts; only an oracle gets the labels."""
    if is_oracle:
        return detector.oracle_scores(list(split.test), split.outlier.copy())
    return detector.decision_function(list(split.test))


class _Training:
    """Records the losses of a training; see `adbench_text.contract.detector.Observer`.

    It is the observer of the detector, so it knows no label.
    """

    def __init__(self, step: Callable[..., object]) -> None:
        self._step = step
        self.curves: Curves = {}

    def losses(self, step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Record the losses, and pass them on; raise InvalidValueError for a step that no store can hold."""
        step, steps, values = checked_step(step, steps, losses)
        for name, value in values.items():
            # with a prefix, because the detector chooses the name: it must not be the name of a metric
            curve = self.curves.setdefault(f"{TRAINING}{name}", [])
            curve.append(Point(step, value, time.time()))
        self._step(step, steps, values)


@contextmanager
def _peak_memory() -> Iterator[list[float]]:
    """Yield a list with the highest resident memory of this process in the block, in 10^6 bytes."""
    with suppress(OSError, AttributeError, TypeError):  # another C library, or Windows
        # glibc keeps freed memory; without this, the cell would be charged for it
        ctypes.CDLL(None).malloc_trim(0)
    process, ended = psutil.Process(), threading.Event()
    peak = [0.0]

    def sample() -> None:
        peak[0] = max(peak[0], process.memory_info().rss / 1e6)

    def sample_until_ended() -> None:
        while not ended.wait(_SECONDS):
            sample()

    sample()
    thread = threading.Thread(target=sample_until_ended, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()
        sample()
