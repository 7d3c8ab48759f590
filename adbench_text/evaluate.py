"""Run one cell: split, fit, score, measure."""

import time
import traceback
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from adbench_text.corpus import Corpus, contaminate, one_vs_rest
from adbench_text.detector import check_scores
from adbench_text.errors import DetectorError
from adbench_text.metrics import all_metrics
from adbench_text.shared import Stopwatch
from adbench_text.sweep import Cell, build_detector


@dataclass(frozen=True)
class Result:
    """What became of a cell.

    Parameters
    ----------
    cell : Cell
    started : float
        Seconds since the epoch.
    metrics : dict of str to float
        ``auroc``, ``aupr_in``, ``aupr_out`` in [0, 1]; ``fit_seconds``, ``score_seconds``, each with
        what the detector would have had to do itself if other cells had not shared it;
        ``n_train``, ``n_train_outliers``, ``n_test``, ``n_test_outliers``. What was not reached
        in a failed cell is not there.
    scores : float64 array of shape (n_test,), or None
        Abnormality of each test document, None in a failed cell.
    reason : str
        Why the cell failed, in one line; empty if it did not.
    traceback : str
        The whole of it, for the record.
    """

    cell: Cell
    started: float
    metrics: dict[str, float]
    scores: NDArray[np.float64] | None = field(default=None, repr=False)
    reason: str = ""
    traceback: str = field(default="", repr=False)

    @property
    def status(self) -> str:
        """``"ok"`` or ``"failed"``."""
        return "failed" if self.reason else "ok"


def evaluate(cell: Cell, corpus: Corpus) -> Result:
    """Fit the cell's detector on its split and measure it; a detector's failure is a result too."""
    started = time.time()
    measured: dict[str, float] = {}
    try:
        split = contaminate(one_vs_rest(corpus, cell.inlier), cell.contamination, cell.seed)
        measured["n_train"] = len(split.train)
        measured["n_train_outliers"] = int(split.train_outlier.sum())
        measured["n_test"] = len(split.test)
        measured["n_test_outliers"] = int(split.outlier.sum())
        detector = build_detector(cell)
        with Stopwatch() as watch:
            detector.fit(split.train)
        measured["fit_seconds"] = watch.seconds
        with Stopwatch() as watch:
            scores = detector.decision_function(split.test)
        measured["score_seconds"] = watch.seconds
        scores = check_scores(scores, len(split.test))
        if scores.min() == scores.max():
            raise DetectorError(f"all {len(scores):,} scores are {scores[0]:g}.")
        return Result(cell, started, {**all_metrics(split.outlier, scores), **measured}, scores)
    except (Exception, SystemExit) as error:  # whatever a detector does wrong costs this cell, not the sweep
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return Result(cell, started, measured, None, reason, traceback.format_exc())
