"""The dataset contract: documents as written, their classes, and the version of the data.

A dataset may use these functions of `adbench_text.storage`: `data_dir` (the folder of corpora), `RemoteFile`
(a published file in it, which is downloaded if missing, and verified), `file_digest` (for `Edition`),
`is_offline`, `cache_dir` and `atomic_path`. ``adbench-text check NAME`` checks a dataset.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.contract.protocols import ONE_VS_REST, PROTOCOLS, REDRAWN, ProtocolName
from adbench_text.storage import RemoteFile, file_digest
from adbench_text.text.languages import check_language

Spans = Sequence[tuple[int, int]]  # start and end of each span, in the order of the text


class OddWords(NamedTuple):
    """The odd words of a document; each is ``text[start:end]``.

    >>> OddWords([(4, 10)]).check("the xq7zz9 ship")
    >>> OddWords([(4, 10), (8, 12)]).check("the xq7zz9 ship")
    Traceback (most recent call last):
    ValueError: the spans [4, 10] and [8, 12] overlap; join them
    """

    odd: Spans  # of the odd words
    published: Spans = ()  # of all words, if a publication says how to split the document; empty otherwise

    def check(self, text: str) -> None:
        """Raise ValueError if a span is outside the document, or two spans overlap."""
        for spans in self:
            last = (0, 0)
            for start, end in sorted(spans):
                if not 0 <= start < end <= len(text):
                    raise ValueError(
                        f"the span [{start}, {end}] is outside a text of {len(text):,} characters"
                    )
                if start < last[1]:
                    raise ValueError(f"the spans {[*last]} and {[start, end]} overlap; join them")
                last = start, end


@dataclass(frozen=True, init=False)
class Documents:
    """Texts of documents and their classes: ``labels[i]`` is an index into the class names of the corpus.

    Parameters
    ----------
    texts : iterable of str
    labels : sequence of int
        Indices of the classes; they become an array.
    words : sequence of OddWords or None, default ()
        The odd words of each document, or None if they are unknown; empty if no document has them. The
        benchmark then measures whether detectors find the odd words of the test part.

    Raises
    ------
    TypeError
        If a text is not a string.
    ValueError
        If a label is not a whole number, if the number of labels is wrong, or if a word is outside its text.

    Examples
    --------
    >>> documents = Documents(["The 2 ships!", "7", "A storm."], [0, 1, 1])
    >>> documents.take(np.array([0, 2]))
    Documents(texts=['The 2 ships!', 'A storm.'], labels=array([0, 1]))
    """

    texts: list[str]
    labels: NDArray[np.int64]
    words: Sequence[OddWords | None] = field(repr=False)

    def __init__(
        self,
        texts: Iterable[str],
        labels: Sequence[int] | NDArray[Any],
        words: Sequence[OddWords | None] = (),
    ) -> None:
        listed, numbers = list(texts), np.asarray(labels if len(labels) else np.zeros(0, np.int64))
        for position, text in enumerate(listed):
            if not isinstance(text, str):
                raise TypeError(f"a text is not a string: got {text!r:.40} at position {position}")
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise ValueError(
                f"labels must be whole numbers, the indices of the classes, got an array of {numbers.dtype} "
                f"of shape {numbers.shape}"
            )
        if len(listed) != len(numbers):
            raise ValueError(f"each document needs one label, got {len(listed)} texts, {len(numbers)} labels")
        if len(words) not in (0, len(listed)):
            raise ValueError(f"each document needs its words, got {len(listed)} texts, {len(words)} words")
        for position, (text, of_text) in enumerate(zip(listed, words, strict=False)):
            try:
                if of_text is not None:
                    of_text.check(text)
            except ValueError as error:
                raise ValueError(f"words at position {position}: {error}") from error
        object.__setattr__(self, "texts", listed)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "labels", numbers.astype(np.int64, copy=False))

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: NDArray[np.int64]) -> "Documents":
        """Return the documents with these row numbers, in this order."""
        words = [self.words[row] for row in rows] if self.words else ()
        return Documents([self.texts[row] for row in rows], self.labels[rows], words)


@dataclass(frozen=True)
class Edition:
    """The version of the data of a corpus.

    Parameters
    ----------
    name : str
        For people: ``"published"``, or the difference from the published version.
    digest : str
        Digest of the sources.
    is_published : bool, default False
        Whether the sources are the published ones.
    """

    name: str
    digest: str
    is_published: bool = False


@dataclass(frozen=True)
class Redraw:
    """How each seed draws documents anew, if a publication gives the sizes or the seeds of its draws.

    With `folds`, nothing is drawn: each seed takes another fold. The test part is cut into `folds` blocks.
    Documents at the same place of their class belong together, such as a text and its imitation, and are in
    the same block. So all classes need the same number of documents. Seed 0 tests the last block, with the
    documents of all classes, and learns the normal documents of the other blocks. Seed 1 tests the block
    before it. The mean over the seeds 0 to ``folds - 1`` counts every document once; there are no more seeds.

    Examples
    --------
    >>> labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> np.flatnonzero(Redraw(folds=2).is_tested(labels, seed=0))
    array([2, 3, 6, 7])
    """

    # share of the normal documents of the test part to move to the training part, in [0, 1); with 0 the
    # training part comes from `Dataset.read`
    train_share: float = 0.0
    n_outliers: int | None = None  # number of outliers in the test part; None for all
    # number of outliers from each class, if `train_share` is 0; the method
    # ``sample(n_of_class, random_state=seed)`` of pandas draws them from the documents of the class
    n_of_class: int | None = None
    folds: int = 0  # number of folds, at least 2, without the other values; 0 for a draw

    @property
    def draws_training(self) -> bool:
        """Whether the training documents come from the test part."""
        return self.train_share > 0 or self.folds > 0

    def is_tested(self, labels: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
        """Return which documents are in the fold that a seed tests, given the labels of all documents."""
        places = np.empty(len(labels), np.int64)
        for label in set(labels.tolist()):
            places[labels == label] = np.arange(np.count_nonzero(labels == label))
        n_places = int(places.max(initial=-1)) + 1
        of_place = np.arange(n_places) * self.folds // max(n_places, 1)
        tested: NDArray[np.bool_] = of_place[places] == self.folds - 1 - seed
        return tested

    def training(self, normal: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """Draw rows for training from the normal ones."""
        return random.permutation(normal)[: int(self.train_share * len(normal))]


class Dataset(ABC):
    """A corpus as a plug-in: facts as class attributes, and a method that reads the documents as written.

    Attributes
    ----------
    name : str
        Name on the command line.
    classes : tuple of str
        Names of the classes; each is an inlier class in turn, unless there are `inliers`.
    variants : tuple of str, default ()
        Names of the variants, such as languages. The dataset ``mine:de`` is ``Mine("de")``, and has this
        name; the dataset ``mine`` is ``Mine()``.
    source, licence, citation : str
        The origin, the terms of use, and the publications to cite, each as
        ``"A. Author, B. Author: Title. Venue 2026."`` (a journal with its volume: ``"Journal 7, 2026."``).
    language : str, default "en"
        Code of the language of the documents, such as ``"de"``. It decides how documents are cleaned, and
        detectors that know languages are configured for it.
    is_cleaned : bool, default True
        Whether detectors read cleaned documents (the words that cleaning keeps) or documents as written.
    as_papers : bool, default True
        Whether English documents are cleaned as in the papers, or by Unicode like other languages. See
        `Cleaner`.
    files : tuple of RemoteFile, default ()
        The published files that the dataset reads.
    inliers : tuple of str, default ()
        The classes that are normal together, if no other class can be normal. Then there is one split, and
        the other classes need no training documents.
    outliers : tuple of str, default ()
        The classes that are never normal, with or without `inliers`. They need no training documents.
    protocol : str, default "one-vs-rest"
        The default way to make splits: a name of `adbench_text.contract.protocols`. With ``"rank-all"`` a
        dataset needs no training documents.
    contamination : tuple of float, default ()
        The default shares of outliers in the training data; empty for 0, 5, 10 and 15 %.
    redraw : Redraw or None, default None
        How each seed draws documents anew, with the protocol ``"redrawn"``. If it draws training documents
        or has folds, `read` returns all documents in the test part, and an empty training part.

    Examples
    --------
    >>> class Weather(Dataset):
    ...     name = "weather"
    ...     classes = ("rain", "sun")
    ...     source, licence, citation = "this example", "none", "none"
    ...
    ...     def edition(self):
    ...         return Edition("published", digest="1")
    ...
    ...     def read(self):
    ...         train = Documents(["wet and grey", "warm and bright"], [0, 1])
    ...         return train, Documents(["grey clouds", "bright sky"], [0, 1])
    >>> train, test = Weather().read()
    >>> Weather.classes[test.labels[1]], test.texts[1]
    ('sun', 'bright sky')
    """

    name: ClassVar[str]
    classes: ClassVar[tuple[str, ...]]
    source: ClassVar[str]
    licence: ClassVar[str]
    citation: ClassVar[str]
    language: ClassVar[str] = "en"
    is_cleaned: ClassVar[bool] = True
    as_papers: ClassVar[bool] = True
    files: ClassVar[tuple[RemoteFile, ...]] = ()
    variants: ClassVar[tuple[str, ...]] = ()
    inliers: ClassVar[tuple[str, ...]] = ()
    outliers: ClassVar[tuple[str, ...]] = ()
    protocol: ClassVar[ProtocolName] = ONE_VS_REST
    contamination: ClassVar[tuple[float, ...]] = ()
    redraw: ClassVar[Redraw | None] = None

    def edition(self) -> Edition:
        """Download missing files, and return the version of the data.

        Its name is ``"published"`` if all files are the published ones. Otherwise it lists the other files:
        each is a version that `RemoteFile.others` accepts. A dataset without `files` overrides this method.
        """
        digests = [file_digest(file.fetch(), file.algorithm) for file in self.files]
        others = [
            f"{PurePath(file.path).name} {digest[:8]}"
            for file, digest in zip(self.files, digests, strict=True)
            if not file.is_published(digest)
        ]
        name = f"not the published files: {', '.join(others)}" if others else "published"
        return Edition(name, "".join(digest[:16] for digest in digests), is_published=not others)

    @abstractmethod
    def read(self) -> tuple[Documents, Documents]:
        """Return the documents of the training part and of the test part, as written."""


def check_facts(dataset: Dataset) -> None:
    """Raise ValueError if an optional attribute of a dataset breaks the rules of `Dataset`."""
    inliers, levels, protocol = dataset.inliers, dataset.contamination, dataset.protocol
    check_language(dataset.language)
    if protocol not in PROTOCOLS:
        raise ValueError(f"its protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r:.40}")
    if not isinstance(inliers, tuple) or not set(inliers) < {*dataset.classes}:
        raise ValueError(f"its inliers must be a tuple of some of its classes, got {inliers!r:.60}")
    outliers = dataset.outliers
    if not isinstance(outliers, tuple) or not set(outliers) < {*dataset.classes} or {*inliers} & {*outliers}:
        raise ValueError(f"its outliers must be a tuple of some other classes, got {outliers!r:.60}")
    if not (isinstance(levels, tuple) and all(isinstance(level, int | float) for level in levels)):
        raise ValueError(f"its contamination must be a tuple of numbers, got {levels!r:.60}")
    if isinstance(dataset.redraw, Redraw) != (protocol == REDRAWN):
        raise ValueError(
            f"redraw must be a Redraw with the protocol redrawn, and None otherwise, got {dataset.redraw}"
        )
    if isinstance(redraw := dataset.redraw, Redraw) and redraw.folds and redraw != Redraw(folds=redraw.folds):
        raise ValueError(f"with folds, a redraw has no other value, got {redraw}")
    if isinstance(redraw, Redraw) and (redraw.folds < 0 or redraw.folds == 1):
        raise ValueError(f"the folds of its redraw must be 0, or 2 and more, got {redraw.folds}")
