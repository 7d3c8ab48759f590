"""Split a corpus into inliers and outliers, and mix outliers into the training data."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import Number, Whole
from adbench_text.contract.dataset import Documents, Redraw
from adbench_text.contract.protocols import LEAVE_ONE_OUT, ONE_VS_REST, PROTOCOLS, RANK_ALL, REDRAWN
from adbench_text.corpora.corpus import Corpus, cleaner_of
from adbench_text.corpora.split_key import ALL_OUTLIERS, SplitKey
from adbench_text.errors import InvalidValueError, UnknownNameError

LEVELS = (0.0, 0.05, 0.10, 0.15)  # the contamination levels of DATE, section 4.3
_CONTAMINATION, _TEST_OUTLIERS, _N_KNOWN = Number("[0, 0.5)"), Number("(0, 1]"), Whole(0)
_TEST_ORDER, _KNOWN = 1, 2  # streams of random numbers: the order of the test documents, known outliers


@dataclass(frozen=True)
class Split:
    """Training and test documents of a split, as rows; the texts are taken at the first access.

    >>> from adbench_text.contract.dataset import Documents
    >>> train = Documents(["grey clouds", "wet streets", "bright sky"], np.array([0, 0, 1]))
    >>> test = Documents(["cold rain", "warm sand"], np.array([0, 1]))
    >>> corpus = Corpus("weather", ("rain", "sun"), train, test, edition="published")
    >>> split = divided(corpus, ["rain"])
    >>> split.train, split.pool
    (['grey clouds', 'wet streets'], ['bright sky'])
    >>> split.outlier
    array([False,  True])
    >>> int(contaminate(split, 0.34, seed=0).train_outlier.sum())
    1
    """

    # the part with the training documents: the test part if the split is redrawn from it or ranks it
    training: Documents = field(repr=False)
    testing: Documents = field(repr=False)  # the test part
    train_rows: NDArray[np.int64]  # (n_train,), in the order in which a detector sees them
    train_outlier: NDArray[np.bool_]  # (n_train,), which of them are outliers; no detector sees it
    places: NDArray[np.int64]  # (n_test,), rows of the test documents in the test part of the corpus
    outlier: NDArray[np.bool_]  # (n_test,), which test documents are outliers
    # documents of the other classes outside the test set, from which `contaminate` draws
    pool_rows: NDArray[np.int64] = field(repr=False)
    known_rows: NDArray[np.int64] = field(repr=False, default_factory=lambda: np.empty(0, np.int64))
    is_ranking: bool = False  # whether the test documents are the training documents

    @cached_property
    def train(self) -> list[str]:
        """The training documents."""
        return _texts(self.training, self.train_rows)

    @cached_property
    def test(self) -> list[str]:
        """The test documents."""
        return _texts(self.testing, self.places)

    @property
    def pool(self) -> list[str]:
        """The documents that `contaminate` draws from."""
        return _texts(self.training, self.pool_rows)

    @cached_property
    def known(self) -> list[str]:
        """Known outliers that a detector may learn from."""
        return _texts(self.training, self.known_rows)

    @property
    def known_classes(self) -> frozenset[int]:
        """The labels of the classes of the known outliers."""
        return frozenset(self.training.labels[self.known_rows].tolist())


def _texts(documents: Documents, rows: NDArray[np.int64]) -> list[str]:
    """Return the texts of some documents, in the order of the rows."""
    return [documents.texts[row] for row in rows.tolist()]


def protocol_of(source: Any, protocol: str | None) -> str:
    """Return `protocol`, or the default of a dataset or corpus; raise an error if it has no such protocol."""
    own: str = source.protocol
    if protocol is not None and protocol not in PROTOCOLS:
        raise UnknownNameError("protocol", protocol, PROTOCOLS)
    if protocol in (None, own, RANK_ALL):
        return protocol or own
    if protocol == REDRAWN or own in (REDRAWN, RANK_ALL):
        raise InvalidValueError(
            f"{source.name} has no protocol {protocol}: its own is {own}. Leave out --protocol."
        )
    return protocol


def splits(source: Any, protocol: str = ONE_VS_REST) -> dict[str, tuple[str, ...]]:
    """Return the inlier classes of each split of a dataset or corpus, by name of the split.

    >>> from types import SimpleNamespace
    >>> weather = SimpleNamespace(name="weather", classes=("rain", "sun", "snow"), inliers=(), outliers=())
    >>> splits(weather, "leave-one-out")["not-rain"]
    ('sun', 'snow')
    >>> weather.outliers = ("snow",)
    >>> list(splits(weather)), splits(weather, "leave-one-out")["not-rain"]
    (['rain', 'sun'], ('sun',))
    """
    classes, inliers = tuple(source.classes), tuple(source.inliers)
    normal = tuple(name for name in classes if name not in source.outliers)
    if unknown := set(inliers).difference(classes):
        raise UnknownNameError(f"inlier class of {source.name}", min(unknown), classes)
    if protocol == LEAVE_ONE_OUT:
        if inliers:
            raise InvalidValueError(
                f"{source.name} has no protocol {protocol}: only {', '.join(inliers)} can be normal."
            )
        named = {f"not-{odd}": tuple(name for name in normal if name != odd) for odd in classes}
        return {name: of_split for name, of_split in named.items() if of_split}
    return {"+".join(inliers): inliers} if inliers else {name: (name,) for name in normal}


def unknown_split(name: str, sources: Sequence[Any], names: Iterable[str]) -> UnknownNameError:
    """Return the error for the name of a split that does not exist; `names` are the existing names."""
    reasons = [
        f"{name!r} is always an outlier: a normal class needs training documents."
        if name in source.outliers
        else f"{name!r} is always an outlier: only {' and '.join(source.inliers)} can be normal."
        for source in sources
        if name in source.outliers or (source.inliers and name in source.classes)
    ]
    of_sources = ", ".join(source.name for source in sources)
    return UnknownNameError(f"inlier class of {of_sources}", name, names, " ".join(dict.fromkeys(reasons)))


def levels_of(dataset: Any, protocol: str) -> tuple[float, ...]:
    """Return the default contamination levels of a dataset."""
    return tuple(dataset.contamination) or (LEVELS[1:] if protocol == RANK_ALL else LEVELS)


def draw(corpus: Corpus, key: SplitKey) -> Split:
    """Return a split of a corpus, with outliers in the training data.

    Known outliers are drawn from the training part of the other classes, or of the class `known_from`. They
    are neither in the training data nor in the test part.

    With the protocol ``"rank-all"``, the test documents are also the training documents. If `contamination`
    is 0, all are ranked; otherwise outliers are dropped until the share `contamination` is left.

    The seed shuffles all documents: many corpora are sorted by class, so that positions would reveal labels.
    """
    protocol, seed = protocol_of(corpus, key.protocol), key.seed
    check_key(key)
    named = splits(corpus, protocol)
    if key.inlier not in named:
        raise unknown_split(key.inlier, [corpus], named)
    inliers = named[key.inlier]
    if protocol == RANK_ALL:
        split = divided(corpus, inliers)
        if key.contamination:
            split = restricted(split, thinned(split.outlier, key.contamination, seed, "contamination"))
        split = _shuffled(split, seed)
        return replace(
            split,
            training=split.testing,
            train_rows=split.places,
            train_outlier=split.outlier,
            pool_rows=np.empty(0, np.int64),
            is_ranking=True,
        )
    clean = _redrawn(corpus, inliers, seed) if protocol == REDRAWN else divided(corpus, inliers)
    split = contaminate(clean, key.contamination, seed)
    if key.known:
        split = _with_known(split, corpus, key)
    if key.test_outliers != ALL_OUTLIERS:
        split = restricted(split, thinned(split.outlier, key.test_outliers, seed))
    return _shuffled(split, seed)


def _shuffled(split: Split, seed: int) -> Split:
    """Return a split with its test documents in another order."""
    # another stream of random numbers: the seed alone has ordered the training documents
    return restricted(split, np.random.default_rng([seed, _TEST_ORDER]).permutation(len(split.places)))


def _with_known(split: Split, corpus: Corpus, key: SplitKey) -> Split:
    """Return a split with known outliers; a larger draw contains the outliers of a smaller one.

    They stay in the pool. After cleaning, no known outlier equals a test document.
    """
    rows, n, name = split.pool_rows, key.known, key.known_from
    texts, clean = split.training.texts, cleaner_of(corpus) if corpus.is_raw else str
    if name:
        if name not in corpus.classes:
            raise UnknownNameError(f"class of {corpus.name}", name, corpus.classes)
        rows = rows[split.training.labels[rows] == corpus.classes.index(name)]
    tested = set(map(clean, split.test))
    order = np.random.default_rng([key.seed, _KNOWN]).permutation(rows)
    drawn = [*islice((row for row in order if clean(texts[row]) not in tested), n)]
    if n > len(drawn):
        of_class = f" of the class {name}" if name else ""
        raise InvalidValueError(
            f"{n:,} known outliers{of_class} are asked for, but only {len(drawn):,} are left in the training "
            "part, without texts of the test part. Choose fewer (--known-outliers), or another class "
            "(--known-from)."
        )
    return replace(split, known_rows=np.array(drawn))


def _is_outlier(corpus: Corpus, documents: Documents, inliers: Sequence[str]) -> NDArray[np.bool_]:
    """Return which documents are not in an inlier class."""
    labels = [corpus.classes.index(name) for name in inliers]
    return ~np.isin(documents.labels, labels)


def divided(corpus: Corpus, inliers: Sequence[str]) -> Split:
    """Return a split: the training documents of the inlier classes, and the complete test part.

    Source: CVDD section 5.1, DATE section 4.1.
    """
    is_outlier = _is_outlier(corpus, corpus.train, inliers)
    train, pool = map(np.flatnonzero, (~is_outlier, is_outlier))
    outlier, places = _is_outlier(corpus, corpus.test, inliers), np.arange(len(corpus.test))
    return Split(
        training=corpus.train,
        testing=corpus.test,
        train_rows=train,
        train_outlier=np.zeros(len(train), np.bool_),
        places=places,
        outlier=outlier,
        pool_rows=pool,
    )


def _redrawn(corpus: Corpus, inliers: Sequence[str], seed: int) -> Split:
    """Draw a share of the normal documents for training; use the others and some outliers for testing.

    With folds, the seed chooses the fold that is tested. The normal documents of the other folds are learned,
    and their outliers are the pool, so that no partner of a tested document is in the training data.
    """
    redraw: Redraw = corpus.redraw  # type: ignore[assignment]  # a corpus with this protocol has one
    outlier = _is_outlier(corpus, corpus.test, inliers)
    if redraw.folds:
        if seed >= redraw.folds:
            raise InvalidValueError(
                f"{corpus.name} has {redraw.folds} folds, and each seed tests one: give --seed "
                f"{','.join(map(str, range(redraw.folds)))}, got {seed}."
            )
        tested = redraw.is_tested(corpus.test.labels, seed)
        places, train, pool = map(np.flatnonzero, (tested, ~tested & ~outlier, ~tested & outlier))
        return _from_test_part(corpus, outlier, train=train, places=places, pool=pool)
    if redraw.n_of_class is not None:
        is_tested = ~outlier
        for label in set(corpus.test.labels[outlier].tolist()):
            rows = np.flatnonzero(corpus.test.labels == label)
            is_tested[np.random.RandomState(seed).permutation(rows)[: redraw.n_of_class]] = True
        return restricted(divided(corpus, inliers), np.flatnonzero(is_tested))
    rng = np.random.default_rng(seed)
    normal = np.flatnonzero(~outlier)
    drawn, odd = redraw.training(normal, rng), rng.permutation(np.flatnonzero(outlier))
    n_odd = min(len(odd), redraw.n_outliers or len(odd))  # a limit may leave fewer
    places = np.sort(np.concatenate([np.setdiff1d(normal, drawn), odd[:n_odd]]))
    return _from_test_part(corpus, outlier, train=np.sort(drawn), places=places, pool=np.sort(odd[n_odd:]))


def _from_test_part(
    corpus: Corpus,
    outlier: NDArray[np.bool_],
    *,
    train: NDArray[np.int64],
    places: NDArray[np.int64],
    pool: NDArray[np.int64],
) -> Split:
    """Return a split with documents of the test part only; `outlier` says which of this part are outliers."""
    return Split(
        training=corpus.test,
        testing=corpus.test,
        train_rows=train,
        train_outlier=np.zeros(len(train), np.bool_),
        places=places,
        outlier=outlier[places],
        pool_rows=pool,
    )


def restricted(split: Split, rows: NDArray[np.int64]) -> Split:
    """Return a split with the test documents in these rows, in this order."""
    return replace(split, places=split.places[rows], outlier=split.outlier[rows])


def n_outliers(n_inliers: int, contamination: float) -> int:
    """Return how many outliers to add to `n_inliers` inliers for the share `contamination`.

    Source: DATE's released code, ``int(100 * n / (100 - c)) - n`` with c in percent. This function
    computes in hundredths of a percent, so that 0.15 becomes 15 and not 14.999...
    """
    hundredths = round(contamination * 10_000)
    return 10_000 * n_inliers // (10_000 - hundredths) - n_inliers


def check_key(key: SplitKey) -> None:
    """Raise InvalidValueError if a number is out of range, or if two shares thin the same documents."""
    _CONTAMINATION.check("contamination", key.contamination)
    _TEST_OUTLIERS.check("test_outliers", key.test_outliers)
    _N_KNOWN.check("known", key.known)
    if key.protocol == RANK_ALL and key.known:
        raise InvalidValueError(
            f"The protocol {RANK_ALL} has no training part for known outliers, got {key.known}."
        )
    if key.protocol == RANK_ALL and key.test_outliers != ALL_OUTLIERS:
        raise InvalidValueError(
            f"With the protocol {RANK_ALL}, --contamination is the share of outliers in the documents; "
            "leave out --test-outliers."
        )


def thinned(
    outlier: NDArray[np.bool_], share: float, seed: int, name: str = "test_outliers"
) -> NDArray[np.int64]:
    """Drop outliers of a test set until a share of outliers is left; return the remaining places in order.

    All inliers remain. The draw is seeded and without replacement; for one seed a higher share contains the
    outliers of a lower one. Messages call the share `name`.
    """
    places = np.flatnonzero(outlier)
    n_inliers = len(outlier) - len(places)
    n = round(n_inliers * share / (1 - share))
    if n > len(places):
        raise InvalidValueError(
            f"{name} {share:g} needs {n:,} outliers for {n_inliers:,} inliers, but the test set has only "
            f"{len(places):,} outliers ({len(places) / len(outlier):.1%} of it). Choose a lower share."
        )
    if n == 0:
        raise InvalidValueError(
            f"{name} {share:g} keeps no outlier, because there are only {n_inliers:,} inliers. Choose a "
            "higher share."
        )
    is_left = ~outlier
    is_left[np.random.default_rng(seed).permutation(places)[:n]] = True
    return np.flatnonzero(is_left)


def contaminate(split: Split, contamination: float, seed: int) -> Split:
    """Mix outliers into the training documents and shuffle them; the test documents do not change.

    Source: DATE section 4.3. The outliers come from the pooled training part of the other classes. Their
    share of the result is `contamination`. The draw is seeded. With the same seed, a higher level contains
    the outliers of a lower one, so that levels differ only by the added outliers.
    """
    n_inliers, n_pool = len(split.train_rows), len(split.pool_rows)
    n = n_outliers(n_inliers, contamination)
    if contamination > 0 and n == 0:
        raise InvalidValueError(
            f"contamination {contamination:g} adds no outlier to {n_inliers:,} inliers, because the number "
            "is rounded down. Choose a higher one, or use more documents."
        )
    if n > n_pool:
        raise InvalidValueError(
            f"contamination {contamination:g} needs {n:,} outliers for {n_inliers:,} inliers, "
            f"but the other classes have only {n_pool:,} training documents. Choose a lower one."
        )
    rng = np.random.default_rng(seed)
    drawn, rest = np.split(split.pool_rows[rng.permutation(n_pool)], [n])
    rows = np.concatenate([split.train_rows, drawn])
    order = rng.permutation(len(rows))
    return replace(
        split,
        train_rows=rows[order],
        train_outlier=(np.arange(len(rows)) >= n_inliers)[order],
        pool_rows=rest,
    )
