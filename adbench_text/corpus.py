"""Corpora, their one-vs-rest splits, and outliers mixed into the training data."""

import hashlib
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from adbench_text import storage
from adbench_text.code_version import code_version
from adbench_text.errors import AdbenchTextError, DataError, InvalidValueError, UnknownNameError
from adbench_text.text import CLEANING_VERSION, clean, digest

LEVELS = (0.0, 0.05, 0.10, 0.15)  # the contamination levels of DATE, section 4.3


@dataclass(frozen=True)
class Documents:
    """Texts and the class of each: ``labels[i]`` is an index into the corpus's class names."""

    texts: list[str]
    labels: NDArray[np.int64]

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.labels):
            raise DataError(f"Each text needs one label, got {len(self.texts)} and {len(self.labels)}.")

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: NDArray[np.int64]) -> "Documents":
        """Return the documents of these row numbers, in this order."""
        return Documents([self.texts[row] for row in rows], self.labels[rows])

    def cleaned(self) -> "Documents":
        """Return the documents cleaned; those that clean to nothing are dropped."""
        texts = [clean(text) for text in self.texts]
        kept = np.array([row for row, text in enumerate(texts) if text], dtype=np.int64)
        return Documents(texts, self.labels).take(kept)


@dataclass(frozen=True)
class Edition:
    """Which edition of a corpus this is: a name for people, and a digest of its sources.

    The name is ``"published"`` when, and only when, the sources are those of the published
    corpus; any other edition says what it is.
    """

    name: str
    digest: str


class Dataset(ABC):
    """A corpus as a plug-in: facts as class attributes, and how to read the raw documents.

    Attributes
    ----------
    name : str
        Its name on the command line.
    classes : tuple of str
        Names of the classes; each is an inlier class in turn.
    source, licence, citation : str
        Where it comes from, what may be done with it, what to cite.
    """

    name: ClassVar[str]
    classes: ClassVar[tuple[str, ...]]
    source: ClassVar[str]
    licence: ClassVar[str]
    citation: ClassVar[str]

    @abstractmethod
    def edition(self) -> Edition:
        """See that the sources are there (download them if need be) and say which they are."""

    @abstractmethod
    def read(self) -> tuple[Documents, Documents]:
        """Return the raw documents of the training and of the test part."""


_LIMITED = ", at most {} documents per class"


def limit_of(edition: str) -> int | None:
    """Return how many documents a class an edition was limited to, None where it was not."""
    found = re.search(_LIMITED.format(r"(\d+)") + "$", edition)
    return int(found[1]) if found else None


@dataclass(frozen=True)
class Corpus:
    """A cleaned corpus.

    Parameters
    ----------
    name : str
        Name of the dataset.
    classes : tuple of str
        Class names.
    train, test : Documents
        The published parts.
    edition : str
        Which edition of the dataset this is (see `Edition`).
    """

    name: str
    classes: tuple[str, ...]
    train: Documents
    test: Documents
    edition: str

    def __post_init__(self) -> None:
        for part, documents in (("training", self.train), ("test", self.test)):
            present = set(documents.labels.tolist())
            if unknown := present - set(range(len(self.classes))):
                raise DataError(f"{self.name} has {part} documents of no class: label {min(unknown)}.")
            for index, name in enumerate(self.classes):
                if index not in present:
                    raise DataError(
                        f"Class {name!r} of {self.name} has no {part} documents after cleaning. "
                        f"Check the data files in {storage.data_dir()}."
                    )

    @cached_property
    def digest(self) -> str:
        """Digest of the full content: classes, texts and labels; 32 hexadecimal digits."""
        parts = [self.classes, self.train.texts, self.test.texts]
        state = hashlib.sha256("".join(digest(part) for part in parts).encode())
        for documents in (self.train, self.test):
            state.update(documents.labels.astype("<i8").tobytes())
        return state.hexdigest()[:32]

    def limited(self, limit: int) -> "Corpus":
        """Return a corpus of at most `limit` documents a class in each part, for a quick look."""
        if limit < 1:
            raise InvalidValueError(f"limit must be at least 1 document per class, got {limit}.")

        def some(documents: Documents) -> Documents:
            order = np.random.default_rng(0).permutation(len(documents))
            labels = documents.labels[order]
            chosen = [order[labels == label][:limit] for label in range(len(self.classes))]
            return documents.take(np.sort(np.concatenate(chosen)))

        edition = f"{self.edition}{_LIMITED.format(limit)}"
        return replace(self, train=some(self.train), test=some(self.test), edition=edition)

    def counts(self) -> str:
        """Return the numbers of documents in one line for the reader of a report."""
        train, test = (Counter(part.labels.tolist()) for part in (self.train, self.test))
        per_class = ", ".join(f"{name} {train[i]:,}/{test[i]:,}" for i, name in enumerate(self.classes))
        return f"{len(self.train):,} training / {len(self.test):,} test documents ({per_class})"


@dataclass(frozen=True)
class Split:
    """One one-vs-rest split.

    Parameters
    ----------
    train : list of str
        Training texts, in the order in which a detector sees them.
    train_outlier : bool array of shape (n_train,)
        Which of them are outliers mixed in; for diagnostics, never shown to a detector.
    test : list of str
        Test texts.
    outlier : bool array of shape (n_test,)
        Which of them are outliers.
    pool : list of str
        Training texts of the other classes, from which `contaminate` draws.
    """

    train: list[str]
    train_outlier: NDArray[np.bool_]
    test: list[str]
    outlier: NDArray[np.bool_]
    pool: list[str] = field(repr=False)


def one_vs_rest(corpus: Corpus, inlier: str) -> Split:
    """Split a corpus: one class is normal, every other class of the test part an outlier.

    Source: CVDD section 5.1, DATE section 4.1. The training documents of the inlier class are
    the training set; the whole test part is the test set.
    """
    if inlier not in corpus.classes:
        raise UnknownNameError(f"inlier class of {corpus.name}", inlier, corpus.classes)
    label = corpus.classes.index(inlier)
    train: list[str] = []
    pool: list[str] = []
    for text, its_label in zip(corpus.train.texts, corpus.train.labels, strict=True):
        (train if its_label == label else pool).append(text)
    return Split(train, np.zeros(len(train), np.bool_), corpus.test.texts, corpus.test.labels != label, pool)


def n_outliers(n_inliers: int, contamination: float) -> int:
    """Return how many outliers make up the share `contamination` beside `n_inliers` inliers.

    Source: DATE's released code, ``int(100 * n / (100 - c)) - n`` with c in percent; in whole
    hundredths of a percent here, so that 0.15 is 15 and not 14.999...
    """
    check_contamination(contamination)
    hundredths = round(contamination * 10_000)
    return 10_000 * n_inliers // (10_000 - hundredths) - n_inliers


def check_contamination(contamination: float) -> None:
    """Raise InvalidValueError unless the share of outliers is in [0, 0.5)."""
    if not 0 <= contamination < 0.5:
        raise InvalidValueError(f"contamination must be in [0, 0.5), got {contamination}.")


def contaminate(split: Split, contamination: float, seed: int) -> Split:
    """Mix outliers into the training texts and shuffle them; the test texts stay as they are.

    Source: DATE section 4.3: the outliers come from the training part of the other classes,
    pooled. The draw is seeded, and for one seed a higher level contains the outliers of a
    lower one, so that levels differ by what is added and by nothing else.

    Parameters
    ----------
    split : Split
        A clean split from `one_vs_rest`.
    contamination : float
        Share of outliers in the resulting training set, in [0, 0.5).
    seed : int
        Seed of the draw and of the order.

    Raises
    ------
    InvalidValueError
        If the share is out of range or the other classes have too few documents.
    """
    n = n_outliers(len(split.train), contamination)
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


def load(dataset: Dataset, limit: int | None = None) -> Corpus:
    """Load a corpus, cleaned; the result is cached under its edition, the cleaning
    version and the code that reads it.

    Parameters
    ----------
    dataset : Dataset
        From `adbench_text.registry.dataset`.
    limit : int, optional
        At most so many documents per class in each part.

    Raises
    ------
    DataError
        If a file is missing or damaged, or a class is empty after cleaning.
    """
    edition = dataset.edition()
    key = digest([edition.digest, *dataset.classes, code_version(type(dataset))])[:16]
    path = storage.cache_dir() / "corpora" / f"{dataset.name}-{key}-v{CLEANING_VERSION}.npz"
    parts = _read_cache(path)
    train, test = parts or (part.cleaned() for part in _read(dataset))
    corpus = Corpus(dataset.name, dataset.classes, train, test, edition.name)
    if parts is None:
        _write_cache(path, (train, test))
    return corpus if limit is None else corpus.limited(limit)


def _read(dataset: Dataset) -> tuple[Documents, Documents]:
    try:
        return dataset.read()
    except AdbenchTextError:
        raise
    except Exception as error:  # somebody else's plug-in
        raise DataError(f"{dataset.name} cannot be read: {type(error).__name__}: {error}") from error


def _texts_of(data: NDArray[np.uint8]) -> list[str]:
    return data.tobytes().decode("utf-8", "surrogatepass").split("\n")


def _write_cache(path: Path, parts: Iterable[Documents]) -> None:
    arrays = {}
    for name, part in zip(("train", "test"), parts, strict=True):  # cleaned texts hold no line ends
        arrays[f"{name}_texts"] = np.frombuffer(
            "\n".join(part.texts).encode("utf-8", "surrogatepass"), dtype=np.uint8
        )
        arrays[f"{name}_labels"] = part.labels.astype(np.int64)
    with storage.atomic_path(path) as temporary:
        np.savez(temporary, allow_pickle=False, **arrays)


def _read_cache(path: Path) -> tuple[Documents, Documents] | None:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            train, test = (
                Documents(_texts_of(arrays[f"{name}_texts"]), arrays[f"{name}_labels"])
                for name in ("train", "test")
            )
    except Exception:  # not there, or damaged in whatever way: made again
        return None
    return train, test
