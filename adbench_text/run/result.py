"""The result of a cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from adbench_text.plugins.scores import TokenScore
from adbench_text.sweep.cell import Cell

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Example:
    """A document of a test set, with the score of each of its words.

    Attributes
    ----------
    why : str
        Why it is shown: ``"most abnormal"``, ``"most normal"``, ``"missed outlier"`` or
        ``"inlier taken for an outlier"``.
    document : int
        Its place in the test set.
    label : str
        Its class.
    outlier : bool
    score : float
        Abnormality.
    text : str
        As it was written, or cleaned where the original is not available.
    tokens : sequence of TokenScore
        In the order of the text.
    """

    why: str
    document: int
    label: str
    outlier: bool
    score: float
    text: str
    tokens: Sequence[TokenScore]


class Point(NamedTuple):
    """A value at a step of a training; `time` in seconds since the epoch."""

    step: int
    value: float
    time: float


Curves = dict[str, list[Point]]


@dataclass(frozen=True)
class Result:
    """What became of a cell.

    Parameters
    ----------
    cell : Cell
    started : float
        Seconds since the epoch.
    metrics : dict of str to float
        Each of `adbench_text.metrics.METRICS` in [0, 1]; ``fit_seconds``, ``score_seconds``, each with
        what the detector would have had to do itself if other cells had not shared it;
        ``peak_memory_mb``, what this process held at most meanwhile, in 10^6 bytes;
        ``n_train``, ``n_train_outliers``, ``n_test``, ``n_test_outliers``; ``set_aside_share``, the share of
        the training documents that a robust detector set aside. What was not reached
        in a failed cell is not there.
    scores : float64 array of shape (n_test,), or None
        Abnormality of each test document, None in a failed cell.
    curves : dict of str to list of Point
        Losses of a training and the diagnostic test AUROC, by name.
    tables : dict of str to DataFrame
        What there is to see of the fitted detector, by name.
    early : (int64 array of shape (n,), float64 array of shape (n,)), or None
        Places of some test documents, and their scores before the first step of a training.
    examples : list of Example
        Documents with the score of each word, where the detector has them.
    ran_on : dict of str to str
        Device and precision, where the detector has a choice of them.
    documents : int64 array of shape (n_test,), or None
        Places of the test documents in the test part of the corpus; None if they are all of it.
    reason : str
        Why the cell failed, in one line; empty if it did not.
    traceback : str
        All of it, for the record.
    stopped : str
        ``"timed out"``, ``"out of memory"`` or ``"killed"`` if the process of the cell was ended; otherwise
        empty.
    """

    cell: Cell
    started: float
    metrics: dict[str, float]
    scores: NDArray[np.float64] | None = field(default=None, repr=False)
    curves: Curves = field(default_factory=dict, repr=False)
    ran_on: dict[str, str] = field(default_factory=dict)
    tables: "Mapping[str, pd.DataFrame]" = field(default_factory=dict, repr=False)
    examples: list[Example] = field(default_factory=list, repr=False)
    early: tuple[NDArray[np.int64], NDArray[np.float64]] | None = field(default=None, repr=False)
    documents: NDArray[np.int64] | None = field(default=None, repr=False)
    reason: str = ""
    traceback: str = field(default="", repr=False)
    stopped: str = ""

    def without_data(self) -> Self:
        """Return a copy that needs little memory: without scores, curves, tables and examples."""
        return replace(self, scores=None, curves={}, tables={}, examples=[], early=None, documents=None)

    @property
    def status(self) -> str:
        """``"ok"``, ``"failed"``, or what the value of `stopped` is."""
        return self.stopped or ("failed" if self.reason else "ok")
