"""The result of a cell."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from adbench_text.contract.scores import TokenScore
from adbench_text.run.cell import Cell


@dataclass(frozen=True)
class Example:
    """A document of a test set, with the scores of its words."""

    why: str  # "most abnormal", "most normal", "missed outlier" or "inlier taken for an outlier"
    document: int  # its place in the test part
    label: str  # its class
    outlier: bool
    score: float  # abnormality
    text: str  # as written, or cleaned if the original is not available
    tokens: Sequence[TokenScore]  # in the order of the text


class Point(NamedTuple):
    """A value at a step of a training; `time` in seconds since the epoch."""

    step: int
    value: float
    time: float


Curves = dict[str, list[Point]]
TRAINING = "training/"  # prefix of the names of curves
MEMORY = "peak_memory_mb"  # the highest resident memory of a cell, in 10^6 bytes


@dataclass(frozen=True)
class Result:
    """The result of a cell, which may have failed."""

    cell: Cell
    started: float  # seconds since the epoch
    # metrics in [0, 1], fit_seconds and score_seconds (with the cost of shared values), peak_memory_mb (10^6
    # bytes), n_train, n_test, their outliers; a failed cell may have only some of these
    metrics: dict[str, float]
    # abnormality, (n_test,); None if the cell failed
    scores: NDArray[np.float64] | None = field(default=None, repr=False)
    # scores of the marked words, see `words.word_scores`; None without marked words or scores of words
    word_scores: NDArray[np.float64] | None = field(default=None, repr=False)
    # losses of a training, by name; every name begins with `TRAINING`
    curves: Curves = field(default_factory=dict, repr=False)
    ran_on: dict[str, str] = field(default_factory=dict)  # device and precision
    examples: list[Example] = field(default_factory=list, repr=False)
    # of the test documents, (n_test,): their places in the test part of the corpus, and which are outliers
    places: NDArray[np.int64] | None = field(default=None, repr=False)
    outlier: NDArray[np.bool_] | None = field(default=None, repr=False)
    reason: str = ""  # why it failed, in one line
    traceback: str = field(default="", repr=False)
    stopped: str = ""  # "timed out", "out of memory" or "killed" if its process was ended

    def without_data(self) -> Self:
        """Return a copy without scores, curves and examples, which needs little memory."""
        data: dict[str, Any] = {"curves": {}, "examples": []}
        return replace(self, scores=None, word_scores=None, places=None, outlier=None, **data)

    @property
    def status(self) -> str:
        """``"ok"``, ``"failed"``, or the value of `stopped`."""
        return self.stopped or ("failed" if self.reason else "ok")
