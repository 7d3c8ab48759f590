"""The robust scale of scores: how far a score lies above the others."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from adbench_text.contract.scores import Scores


class RobustScale(NamedTuple):
    """Median of scores, and 1.4826 times their median absolute deviation.

    With this factor, the scale is the standard deviation if scores are normally distributed. If more than
    half of the scores are equal, the scale is their standard deviation. It is 0 if all scores are equal.
    """

    median: float
    scale: float

    @classmethod
    def fit(cls, scores: Scores) -> Self:
        """Return the scale of scores."""
        median = float(np.median(scores))
        zero = max(1e-12 * float(np.abs(scores).max()), 1e-15)  # smaller differences are rounding
        scale = 1.4826 * float(np.median(np.abs(scores - median)))
        if scale <= zero:
            scale = float(scores.std())
        return cls(median, scale if scale > zero else 0.0)

    def z(self, scores: Scores) -> NDArray[np.float64]:
        """Return (scores - median) / scale; zeros if the scale is 0."""
        return (scores - self.median) / self.scale if self.scale else np.zeros(len(scores))


def select(scores: Scores, cutoff: float, max_dropped: float) -> NDArray[np.bool_]:
    """Return which documents are kept: all without an unusually high score.

    A document is dropped if it lies more than `cutoff` robust standard deviations above the median. At most
    the share `max_dropped` of the documents is dropped.
    """
    z = RobustScale.fit(scores).z(scores)
    # "higher" takes a score that occurs, so at most the share `max_dropped` is above it
    capped = np.quantile(z, 1 - max_dropped, method="higher")
    kept: NDArray[np.bool_] = z <= max(cutoff, capped)
    return kept
