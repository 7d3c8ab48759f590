"""The robust scale of scores: how far above the others one lies."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from adbench_text.contract.scores import Scores


class RobustScale(NamedTuple):
    """Median of scores, and 1.4826 times their median absolute deviation.

    The factor makes it the standard deviation of normally distributed scores. If more than half of the
    scores are equal, the scale is the standard deviation. It is 0 if all scores are equal.
    """

    median: float
    scale: float

    @classmethod
    def fit(cls, scores: Scores) -> Self:
        """Return the scale of scores."""
        median = float(np.median(scores))
        zero = max(1e-12 * float(np.abs(scores).max()), 1e-15)  # differences by rounding
        scale = 1.4826 * float(np.median(np.abs(scores - median)))
        if scale <= zero:
            scale = float(scores.std())
        return cls(median, scale if scale > zero else 0.0)

    def z(self, scores: Scores) -> NDArray[np.float64]:
        """Return (scores - median) / scale; zeros if the scale is 0."""
        return (scores - self.median) / self.scale if self.scale else np.zeros(len(scores))


def select(scores: Scores, cutoff: float, max_dropped: float) -> NDArray[np.bool_]:
    """Return which documents are kept: all but those more than `cutoff` robust standard deviations above the
    median, and never fewer than allowed.
    """
    z = RobustScale.fit(scores).z(scores)
    # "higher" is a score that occurs: not more than the share of the documents is above it
    capped = np.quantile(z, 1 - max_dropped, method="higher")
    kept: NDArray[np.bool_] = z <= max(cutoff, capped)
    return kept
