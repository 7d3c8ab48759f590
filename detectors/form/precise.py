"""The distance R: a weighted mean of facts that differ a little, such as letters per word.

`Form` divides a fact by sqrt(variance + 0.3^2). If documents are alike, the 0.3 hides their differences:
words that are half a letter longer are much in a report of 200 words, and little next to 0.3. R divides a
fact by its standard deviation s alone. So that chance does not count, each fact has a weight

    w = max(0, 1 - s0^2 / s^2) 0.3^2 / (s^2 + 0.3^2),

where s0 is the standard deviation by chance. For x characters or words of some kind, it follows from Poisson
counts with the same rate in all documents, by the delta method. For letters per word and for different words,
s0^2 = 0.3 / (1 + W), because the length of a word varies by half of its mean. Facts about length, and facts
about a single word, have no weight. Then

    R^2 = sum over the facts of w min(4, |x - mean| / s)^2.

R counts u times, and only if documents are alike and several facts have weight, unlike in lines of a log:

    u = min(1, W / 0.5) clip((h - 0.45) / 0.05) clip((n - 2.5) / 0.5),   W = sum of w,   n = W^2 / sum of w^2,

where h is the mean over all facts of 0.3^2 / (s^2 + 0.3^2), the part of the 0.3 in the scale, n is the
effective number of facts, and clip limits a number to 0 and 1.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from adbench_text.contract.scores import Scores
from adbench_text.detectors.form.facts import COLUMN, FACTS, Numbers, kinds

LEAST_SPREAD = 0.3  # of a fact, in `Form`
_OF_WORDS = 0.3  # variance of a fact about words in a document of one word, by chance
_MOST = 4.0  # standard deviations that a fact can count
_ALIKE = 0.45, 0.5  # share of the least spread in the scale, from which on R counts, and counts in full
_ENOUGH = 0.5  # sum of the weights from which on R counts in full
_SEVERAL = 2.5, 3.0  # effective number of facts from which on R counts, and counts in full
_LEAST_WEIGHT = 0.05  # of a fact that explains a document
_TINY = 1e-6  # variance


class Precise(NamedTuple):
    """The distance R, learned from training documents."""

    mean: NDArray[np.float64]  # (n_facts,), of the logarithms
    variance: NDArray[np.float64]  # (n_facts,)
    weights: NDArray[np.float64]  # (n_facts,)
    n: int  # training documents
    times: float  # that R counts, from 0 to 1

    @classmethod
    def fit(cls, counted: Numbers, logs: Numbers) -> Self:
        """Return the distance, given the numbers of the training documents and their logarithms."""
        variance = logs.var(axis=0)
        hidden = LEAST_SPREAD**2 / (variance + LEAST_SPREAD**2)
        beyond_chance = np.maximum(0, 1 - _by_chance(counted) / np.maximum(variance, _TINY))
        weights = beyond_chance * hidden * (variance > _TINY)
        whole = weights.sum()
        n_facts = whole**2 / max((weights**2).sum(), _TINY)
        times = min(1.0, whole / _ENOUGH) * _ramp(hidden.mean(), *_ALIKE) * _ramp(n_facts, *_SEVERAL)
        return cls(logs.mean(axis=0), variance, weights, len(logs), float(times))

    @classmethod
    def none(cls) -> Self:
        """Return a distance that does not count."""
        nothing = np.zeros(len(FACTS))
        return cls(nothing, nothing, nothing, 1, 0.0)

    def standard(self, logs: Numbers) -> Numbers:
        """Return the facts in standard deviations from the mean, of the shape of the logarithms."""
        return np.asarray((logs - self.mean) / np.sqrt(np.maximum(self.variance, _TINY)))

    def reasons(self, logs: Numbers) -> Numbers:
        """Return the same for facts that explain a document, and 0 for other facts."""
        return self.standard(logs) * (self.weights >= _LEAST_WEIGHT) * (self.times > 0)

    def distances(self, logs: Numbers) -> Scores:
        """Return R of documents."""
        return self._distances(self.standard(logs))

    def left_out(self, logs: Numbers) -> Scores:
        """Return R of the training documents, with mean and variance of the others."""
        n_others, difference = max(self.n - 1, 1), logs - self.mean
        of_others = (self.n * self.variance - difference**2 * self.n / n_others) / n_others
        standard = difference * self.n / n_others / np.sqrt(np.maximum(of_others, _TINY))
        return self._distances(standard)

    def _distances(self, standard: Numbers) -> Scores:
        capped = np.minimum(np.abs(standard), _MOST)
        return np.asarray(np.sqrt((self.weights * capped**2).sum(axis=1)))


def _ramp(number: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high` on, and a line between them."""
    return min(1.0, max(0.0, (number - low) / (high - low)))


def _by_chance(counted: Numbers) -> NDArray[np.float64]:
    """Return the variance of each fact that chance alone gives; infinite for facts without a weight."""
    variance = np.full(counted.shape[1], np.inf)
    characters, words = counted[:, COLUMN["characters"]], counted[:, COLUMN["words"]]
    for name in kinds():
        x = counted[:, COLUMN[name]]
        expected = characters * x.sum() / max(characters.sum(), 1)
        of_count = expected / (expected + 0.5) ** 2  # of log(x + 0.5)
        of_length = np.log((expected + 0.5) / (characters + 10)).var()
        variance[COLUMN[name]] = of_count.mean() + of_length
    for name in ("letters", "different"):
        variance[COLUMN[name]] = np.mean(_OF_WORDS / (1 + words))
    return variance
