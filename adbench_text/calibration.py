"""Conformal p-values: how unusual a score is among the scores of normal documents.

A conformal p-value (Vovk, Gammerman and Shafer, 2005; for outliers: Bates et al., Annals of Statistics 2023)
is the share of normal documents that score at least as high. Whatever the detector and its scale, a share
of at most alpha of new normal documents has a p-value of at most alpha, up to chance. Outliers among the
normal documents make p-values larger: fewer documents are called odd.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: New documents differ if a p-value of `Drift` is below this. There are four tests, so by chance at most
#: 1.5 % of files differ.
LEAST_P = 0.015 / 4

#: So many near-copies may come by chance, such as one mail that is sent four times.
BURST = 4

_NOTABLE_P = 0.05  # of a family
_VARIATION = 0.5  # standard deviation of the share of a family from file to file, relative to the mean
_N_NODES = 100  # of the integral over this variation
_TOLERANCE = 0.01  # distance of Kolmogorov-Smirnov that is no drift
_FEW_PAIRS = 10_000  # pairs of a new and a normal document: with more, the exact p takes seconds
_FORM_SHARE = 0.5  # weight of the p-value of form without marks; the p-value of words weighs 1
_FORM_ODDS = 0.1  # odds of form before the first mark; the odds of words are 1


def p_values(scores: NDArray[np.float64], calibration: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the p-value of each score: the chance that a normal document scores at least as high.

    Parameters
    ----------
    scores : float64 array of shape (n_texts,)
        Scores of documents outside the calibration.
    calibration : float64 array of shape (n_calibration,)
        Scores of normal documents, in any order.

    Returns
    -------
    float64 array of shape (n_texts,)
        In [1 / (n_calibration + 1), 1].

    Examples
    --------
    >>> p_values(np.array([0.5, 3.0, 9.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    array([1. , 0.6, 0.2])
    """
    ordered = np.sort(calibration)
    n_higher = len(ordered) - np.searchsorted(ordered, scores, side="left")
    return np.asarray((1 + n_higher) / (len(ordered) + 1), dtype=np.float64)


def p_without_words(n_wordless: int, n_documents: int) -> float:
    """Return the p by words of a new document without words: few normal documents have no words.

    >>> p_without_words(n_wordless=4, n_documents=999)
    0.005
    """
    return (1 + n_wordless) / (1 + n_documents)


def p_values_within(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each score the share of all scores that are at least as high; NaN values do not count.

    These are ranks. They are uniform with or without outliers, so they do not show the number of outliers.

    >>> p_values_within(np.array([1.0, 4.0, 2.0, 2.0]))
    array([1.  , 0.25, 0.75, 0.75])
    """
    order = np.argsort(scores)[: np.count_nonzero(~np.isnan(scores))]  # NaN comes last
    ordered = scores[order]
    # the first of equal scores; `np.searchsorted`, as in `p_values`, takes three times as long
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    n_lower = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
    shares = np.full(len(scores), np.nan)
    shares[order] = (len(order) - n_lower) / max(len(order), 1)
    return shares


def joined(
    p_words: NDArray[np.float64], p_form: NDArray[np.float64], weight: float = 1.0
) -> NDArray[np.float64]:
    """Join two p-values into one score, log(1 / p_words + 0.5 weight / p_form): the smaller one decides.

    A p_words of NaN counts as 1: a document without words has no odd word. Marked documents change the
    `weight` of form; see `form_weight`.

    The score is the inverse of the weighted harmonic mean of p-values (Wilson, PNAS 2019), so that a higher
    score is more abnormal. Only its order counts: its p-value is computed among the scores of others.

    >>> joined(np.array([0.5, 0.01]), np.array([0.5, 0.5])).round(2)
    array([1.1 , 4.62])
    """
    return np.log(1 / np.nan_to_num(p_words, nan=1.0) + _FORM_SHARE * weight / p_form)


def form_weight(
    p_words: NDArray[np.float64], p_form: NDArray[np.float64], is_odd: NDArray[np.bool_]
) -> float:
    """Return the weight of form from the p-values that marked documents had before any mark.

    Form counts only if marks speak for it, and never more than without marks, so that it does not
    drown words. The weight is the odds of form divided by the odds of words, but at most 1. With r the
    share of form in 1 / p_words + 0.5 / p_form, the odds are

        words  (sum of 1 - r over documents marked odd + 1) / (sum of 1 - r over documents marked fine + 1)
        form   (sum of r^2 over documents marked odd + 0.1) / (sum of r^2 over documents marked fine + 1)

    r is squared because documents with odd words may have a small p_form by chance.

    >>> form_weight(np.array([0.5, 0.01]), np.array([0.001, 0.5]), np.array([True, False]))
    1.0
    >>> form_weight(np.array([0.001, 0.01]), np.array([0.5, 0.5]), np.array([True, False]))
    0.0995...
    """
    by_form = _FORM_SHARE / p_form
    of_form = by_form / (1 / np.nan_to_num(p_words, nan=1.0) + by_form)
    words, form = (
        (share[is_odd].sum() + before) / (share[~is_odd].sum() + 1)
        for share, before in ((1 - of_form, 1), (of_form**2, _FORM_ODDS))
    )
    return min(float(form / words), 1.0)


def largest_p(p: NDArray[np.float64], fdr: float) -> float:
    """Return the largest p-value to call odd, so that on average a share `fdr` of them are false alarms.

    This is the procedure of Benjamini and Hochberg. Conformal p-values of one calibration depend on each
    other, in a way that the procedure allows (Bates et al.). `p` has the p-values of all documents that are
    judged together, of shape (n_texts,); NaN values do not count. If nothing is called odd, return 0.

    >>> largest_p(np.array([0.02, 0.5, 0.04, 0.9]), fdr=0.1)
    0.04
    """
    from scipy.stats import false_discovery_control

    p = p[~np.isnan(p)]
    return float(p[false_discovery_control(p) <= fdr].max(initial=0.0)) if len(p) else 0.0


class Family(NamedTuple):
    """New documents that are near-copies of each other."""

    n_documents: int
    n_known: int  # documents of the model that are near-copies of them
    p: float  # see `p_of_families`
    id: str  # of the first document; empty if unknown
    text: str  # the beginning of the first document
    row: int  # of the first document, counted from 0

    @property
    def is_new(self) -> bool:
        """Whether the model has at most one document of this family."""
        return self.n_known <= 1

    @property
    def is_notable(self) -> bool:
        """Whether ``score -q`` prints the family, because it is unusual."""
        return self.p < _NOTABLE_P

    @property
    def is_sign(self) -> bool:
        """Whether a file with this family differs from the file of the model."""
        return self.p < LEAST_P


class GrownWords(NamedTuple):
    """A word that more new documents have than expected, and words of the same documents."""

    words: Sequence[str]  # the word with the smallest p first
    n_documents: int  # different new documents with the first word
    n_expected: float  # documents with this word if it had the same share as in the model
    p: float  # adjusted for all words
    id: str = ""  # of a typical document; empty if unknown
    text: str = ""  # the beginning of this document
    row: int = 0  # of this document, counted from 0


class Drift(NamedTuple):
    """Whether new documents, taken together, look like normal ones."""

    n_new: int  # unique documents that the model was not fitted on
    n_odd: int  # new documents that are called odd
    n_expected: float  # documents that would be called odd on average if all were normal
    p_odd: float  # chance that at least `n_odd` normal documents are called odd
    # Kolmogorov-Smirnov: the largest difference between the distribution functions of the p-values of new and
    # of normal documents, and the chance of such a distance among normal documents
    distance: float | None
    p: float | None
    families: Sequence[Family] = ()  # families that are new or a sign, the largest first
    grown: Sequence[GrownWords] = ()  # words that have grown, the smallest p first

    @property
    def p_grown(self) -> float:
        """The smallest p of a word that has grown."""
        return min((words.p for words in self.grown), default=1.0)

    @property
    def p_family(self) -> float:
        """The smallest p of a family."""
        return min((family.p for family in self.families), default=1.0)

    @property
    def is_found(self) -> bool:
        """Whether the new documents differ from normal ones."""
        return min(self.p_odd, self.p_family, self.p_grown, 1.0 if self.p is None else self.p) < LEAST_P


def drift(p: Sequence[float], calibration: NDArray[np.float64], alpha: float, with_distance: bool) -> Drift:
    """Compare the p-values of new documents with the scores of the calibration, of shape (n_calibration,).

    All p-values depend on the same calibration, so they are not quite uniform even without drift. Two
    two-sample tests take this into account. The first counts the new documents that score higher than the
    k-th highest normal one (hypergeometric). The second is Kolmogorov-Smirnov. It runs only `with_distance`,
    if all scores can be compared with the calibration, not only the highest. A distance of 0.01 does not
    count, because scores that leave out a normal document are only nearly like the scores of new documents.
    Documents with a p of at most alpha are called odd.

    >>> normal = np.arange(100.0)
    >>> found = drift(p_values(np.arange(50.5, 100.5), normal), normal, alpha=0.05, with_distance=True)
    >>> found.n_odd, round(found.n_expected, 2), round(found.distance, 2), found.is_found
    (5, 2.48, 0.51, True)
    """
    from scipy.stats import hypergeom, ks_2samp, kstwo

    new, n = np.asarray(p, dtype=np.float64), len(calibration)
    n_odd = int((new <= alpha).sum())
    k = int((np.arange(1, n + 1) / (n + 1) <= alpha).sum())
    # fewer than k of the highest n_odd + k - 1 scores of both samples belong to normal documents
    p_odd = float(hypergeom.cdf(k - 1, n + len(new), n, n_odd + k - 1)) if n_odd else 1.0
    found = Drift(len(new), n_odd, len(new) * k / (n + 1), p_odd, None, None)
    if not (len(new) and with_distance):
        return found
    # "asymp" has no p for one pair, and p = 0 for few new documents that are all odd
    is_exact = len(new) * n < _FEW_PAIRS
    test = ks_2samp(new, p_values(calibration, calibration), method="exact" if is_exact else "asymp")
    beyond = kstwo.sf(test.statistic - _TOLERANCE, round(len(new) * n / (len(new) + n)))
    p_uniform = test.pvalue if is_exact else beyond
    return found._replace(distance=float(test.statistic), p=float(p_uniform))


def p_of_families(
    new: NDArray[np.int64], known: NDArray[np.int64], totals: NDArray[np.int64], n_new: int, n_known: int
) -> NDArray[np.float64]:
    """Return for each family of near-copies how likely so many new documents are if nothing has changed.

    The share of a family among the new documents is compared with its share among the normal ones, which is
    0 for a new family. Both shares vary around the same mean, as the share of a form letter does: they
    follow a gamma distribution with a standard deviation of half the mean. Given how many documents a family
    has in both files, p is the chance that so many or more are new (beta-binomial, if both files have the
    same size). The first four new near-copies of a family do not count, because a document may be sent again.

    A family has its smallest possible p if all its documents are new. The p of a family is multiplied by the
    number of families that can have such a small p at all (Tarone, Biometrics 1990). So at most a share x of
    unchanged files has a family with a p below x.

    Parameters
    ----------
    new, known : int64 arrays of shape (n_families,)
        Numbers of new and of normal documents in each family.
    totals : int64 array of shape (n_all_families,)
        Numbers of documents in each family of both files, also in families without new documents.
    n_new, n_known : int
        Numbers of all new and of all normal documents.

    Examples
    --------
    >>> new, known = np.array([150, 150, 4]), np.array([0, 100, 0])
    >>> p_of_families(new, known, new + known, n_new=2000, n_known=2000).round(1)
    array([0. , 0.6, 1. ])
    """
    if not n_known:
        return np.ones(len(new))  # nothing to compare with
    chances = _chances(new, known, n_new, n_known)
    smallest_possible = np.sort(_chances(totals, np.zeros_like(totals), n_new, n_known))
    # equal values may differ by rounding
    n_possible = np.searchsorted(smallest_possible, chances * (1 + 1e-9), side="right")
    return np.minimum(chances * np.maximum(n_possible, 1), 1.0)


def _chances(
    new: NDArray[np.int64], known: NDArray[np.int64], n_new: int, n_known: int
) -> NDArray[np.float64]:
    """Return for each family the chance that at least so many of its documents are new."""
    from scipy.stats import binom

    odds, weights = _odds()
    share = odds * n_new / (odds * n_new + n_known)
    different, which = np.unique([np.maximum(new - BURST, 0), known], axis=1, return_inverse=True)
    n_counted, n_known_family = different[..., np.newaxis]
    tails = binom.sf(n_counted - 1, n_counted + n_known_family, share)
    return np.asarray((tails @ weights)[which.ravel()], dtype=np.float64)


@cache
def _odds() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return possible ratios of the two shares of a family, and the weight of each ratio."""
    from scipy.special import roots_jacobi

    shape = 1 / _VARIATION**2
    # a gamma variable divided by the sum of two has a beta distribution
    nodes, weights = roots_jacobi(_N_NODES, shape - 1, shape - 1)
    return (1 + nodes) / (1 - nodes), weights / weights.sum()
