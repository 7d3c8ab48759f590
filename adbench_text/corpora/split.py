"""One-vs-rest splits, and outliers mixed into the training data."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import InvalidValueError, UnknownNameError

LEVELS = (0.0, 0.05, 0.10, 0.15)  # the contamination levels of DATE, section 4.3


@dataclass(frozen=True)
class Split:
    """One one-vs-rest split.

    >>> from adbench_text.plugins.dataset import Documents
    >>> train = Documents(["grey clouds", "wet streets", "bright sky"], np.array([0, 0, 1]))
    >>> test = Documents(["cold rain", "warm sand"], np.array([0, 1]))
    >>> corpus = Corpus("weather", ("rain", "sun"), train, test, edition="published")
    >>> split = one_vs_rest(corpus, inlier="rain")
    >>> split.train, split.pool
    (['grey clouds', 'wet streets'], ['bright sky'])
    >>> split.outlier
    array([False,  True])
    >>> int(contaminate(split, 0.34, seed=0).train_outlier.sum())
    1
    """

    train: list[str]  # in the order in which a detector sees them
    train_outlier: NDArray[np.bool_]  # (n_train,), the outliers mixed in; no detector sees it
    test: Sequence[str]
    outlier: NDArray[np.bool_]  # (n_test,), the outliers of the test documents
    # training documents of the other classes, from which `contaminate` draws
    pool: Sequence[str] = field(repr=False)


def one_vs_rest(corpus: Corpus, inlier: str) -> Split:
    """Split a corpus: one class is normal, every other class of the test part an outlier.

    Source: CVDD section 5.1, DATE section 4.1. The training documents of the inlier class are
    the training set; the complete test part is the test set.
    """
    if inlier not in corpus.classes:
        raise UnknownNameError(f"inlier class of {corpus.name}", inlier, corpus.classes)
    label = corpus.classes.index(inlier)
    is_inlier = corpus.train.labels == label
    train, pool = (corpus.train.take(np.flatnonzero(kind)) for kind in (is_inlier, ~is_inlier))
    outlier = corpus.test.labels != label
    return Split(list(train.texts), np.zeros(len(train), np.bool_), corpus.test.texts, outlier, pool.texts)


def n_outliers(n_inliers: int, contamination: float) -> int:
    """Return the number of outliers that make up the share `contamination` beside `n_inliers` inliers.

    Source: DATE's released code, ``int(100 * n / (100 - c)) - n`` with c in percent. This function
    computes in hundredths of a percent, so that 0.15 is 15 and not 14.999...
    """
    check_contamination(contamination)
    hundredths = round(contamination * 10_000)
    return 10_000 * n_inliers // (10_000 - hundredths) - n_inliers


def check_contamination(contamination: float) -> None:
    """Raise InvalidValueError unless the share of outliers is in [0, 0.5)."""
    if not 0 <= contamination < 0.5:
        raise InvalidValueError(f"contamination must be in [0, 0.5), got {contamination}.")


def check_test_outliers(share: float) -> None:
    """Raise InvalidValueError unless the share of outliers in the test set is in (0, 1)."""
    if not 0 < share < 1:
        raise InvalidValueError(f"test_outliers must be in (0, 1), got {share:g}.")


def thinned(outlier: NDArray[np.bool_], share: float, seed: int) -> NDArray[np.int64]:
    """Return the places of a test set that remain if its outliers are to make up a share of it, in order.

    All inliers remain. The draw is seeded and without replacement; for one seed a higher share contains the
    outliers of a lower one.
    """
    check_test_outliers(share)
    places = np.flatnonzero(outlier)
    n_inliers = len(outlier) - len(places)
    n = round(n_inliers * share / (1 - share))
    if n > len(places):
        raise InvalidValueError(
            f"test_outliers {share:g} asks for {n:,} outliers beside {n_inliers:,} inliers, but the test set "
            f"has only {len(places):,}, which is {len(places) / len(outlier):.1%} of it. Choose a lower one."
        )
    if n == 0:
        raise InvalidValueError(
            f"test_outliers {share:g} leaves no outlier beside {n_inliers:,} inliers. Choose a higher one."
        )
    kept = ~outlier
    kept[np.random.default_rng(seed).permutation(places)[:n]] = True
    return np.flatnonzero(kept)


def contaminate(split: Split, contamination: float, seed: int) -> Split:
    """Mix outliers into the training documents and shuffle them; the test documents stay as they are.

    Source: DATE section 4.3: the outliers come from the training part of the other classes, pooled, and make
    up the share `contamination` of the result. The draw is seeded, and for one seed a higher level contains
    the outliers of a lower one, so that levels differ only by the outliers that are added.
    """
    n = n_outliers(len(split.train), contamination)
    if contamination > 0 and n == 0:
        raise InvalidValueError(
            f"contamination {contamination:g} leaves no outlier beside {len(split.train):,} inliers: their "
            "number is rounded down. Choose a higher one, or use more documents."
        )
    if n > len(split.pool):
        raise InvalidValueError(
            f"contamination {contamination:g} asks for {n:,} outliers beside {len(split.train):,} inliers, "
            f"but the other classes have only {len(split.pool):,} training documents. Choose a lower one."
        )
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(len(split.pool))[:n]
    texts = split.train + [split.pool[row] for row in drawn]
    outlier = np.arange(len(texts)) >= len(split.train)
    order = rng.permutation(len(texts))
    return replace(split, train=[texts[row] for row in order], train_outlier=outlier[order])
