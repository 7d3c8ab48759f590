"""Corpora: loaded, cleaned, cached, and identified by a digest of their content."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text import storage
from adbench_text.code_version import PROTOCOL, code_version
from adbench_text.errors import AdbenchTextError, DataError, InvalidValueError
from adbench_text.escaping import file_name, one_line, utf8
from adbench_text.places import FAILURES, described, message_of, place_of_error, place_of_method
from adbench_text.plugins import dataset as contract
from adbench_text.plugins.dataset import Dataset, Documents, Edition, Redraw, fact
from adbench_text.text.cleaning import clean
from adbench_text.text.packed import PackedTexts
from adbench_text.text.words import digest

if TYPE_CHECKING:
    from adbench_text.plugins.detector import TextDetector

_PARTS = ("training", "test")


@dataclass(frozen=True)
class Corpus:
    """A cleaned corpus."""

    name: str
    classes: tuple[str, ...]  # their names
    train: Documents
    test: Documents
    edition: str  # of the dataset, for people; a limit is part of it
    is_published: bool = False  # whether this is the complete published corpus
    limit: int | None = None  # maximum number of documents per class in each part
    n_empty: int = 0  # documents left out because cleaning removes all their words
    originals: Sequence[str] = ()  # test documents as they were written; empty if not available
    train_originals: Sequence[str] = ()
    # facts of the dataset, see `Dataset`
    inliers: tuple[str, ...] = ()
    protocol: str = Dataset.protocol
    redraw: Redraw | None = None

    def __post_init__(self) -> None:
        is_trained = self.protocol not in ("unlabelled", "redrawn")
        trained = set(self.inliers or self.classes) if is_trained else set()
        for part, documents in zip(_PARTS, (self.train, self.test), strict=True):
            needed = trained if part == _PARTS[0] else set(self.classes)
            present = set(documents.labels.tolist())
            if unknown := present - set(range(len(self.classes))):
                raise DataError(f"{self.name} has {part} documents of no class: label {min(unknown)}.")
            for index, name in enumerate(self.classes):
                if name in needed and index not in present:
                    raise DataError(
                        f"Class {name!r} of {self.name} has no {part} documents after cleaning. "
                        "Check its files, and what splits them into training and test documents."
                    )

    @cached_property
    def digest(self) -> str:
        """Digest of the full content: classes, texts and labels; 32 hexadecimal digits."""
        parts = [self.classes, self.train.texts, self.test.texts]
        state = hashlib.sha256("".join(digest(part) for part in parts).encode())
        for documents in (self.train, self.test):
            state.update(documents.labels.astype("<i8").tobytes())
        return state.hexdigest()[:32]

    @cached_property
    def raw(self) -> "Corpus":
        """The same documents as they were written, in the same rows; its digest is that of their texts."""
        if (len(self.train_originals), len(self.originals)) != (len(self.train), len(self.test)):
            raise DataError(f"The documents of {self.name} are not available as they were written.")
        train = Documents(self.train_originals, self.train.labels)
        return replace(self, train=train, test=Documents(self.originals, self.test.labels))

    @cached_property
    def n_seen(self) -> int:
        """Number of test documents whose cleaned text is also that of a training document."""
        trained = set(self.train.texts)
        return sum(text in trained for text in self.test.texts)

    def read_by(self, detector: "TextDetector") -> "Corpus":
        """Return the corpus that a detector reads: the raw one, or this one."""
        return self.raw if detector.reads_raw else self

    def limited(self, limit: int) -> "Corpus":
        """Return a corpus of at most `limit` documents a class in each part, for a quick look."""
        if limit < 1:
            raise InvalidValueError(f"limit must be at least 1 document per class, got {limit}.")

        def some(documents: Documents) -> NDArray[np.int64]:
            order = np.random.default_rng(0).permutation(len(documents))
            labels = documents.labels[order]
            chosen = [order[labels == label][:limit] for label in range(len(self.classes))]
            return np.sort(np.concatenate(chosen))

        def originals(texts: Sequence[str], rows: NDArray[np.int64]) -> Sequence[str]:
            return [texts[row] for row in rows] if len(texts) else ()

        of_train, of_test = some(self.train), some(self.test)
        return replace(
            self,
            train=self.train.take(of_train),
            test=self.test.take(of_test),
            originals=originals(self.originals, of_test),
            train_originals=originals(self.train_originals, of_train),
            edition=f"{self.edition}, at most {limit} documents per class",
            is_published=False,
            limit=limit,
        )

    def counts(self) -> str:
        """Return the numbers of documents in one line for the reader of a report."""
        train, test = (Counter(part.labels.tolist()) for part in (self.train, self.test))
        per_class = ", ".join(f"{name} {train[i]:,}/{test[i]:,}" for i, name in enumerate(self.classes))
        empty = f"; {self.n_empty:,} more are empty after cleaning" if self.n_empty else ""
        seen = (
            f"; {self.n_seen:,} test documents equal a training document when cleaned" if self.n_seen else ""
        )
        return f"{len(self.train):,} training / {len(self.test):,} test documents ({per_class}){empty}{seen}"


def load(dataset: Dataset, limit: int | None = None) -> Corpus:
    """Load a cleaned corpus, which is cached under its edition, its code, and the protocol."""
    edition = edition_of(dataset)
    key = digest([edition.digest, *dataset.classes, code_version(type(dataset))])[:16]
    folder = f"{file_name(dataset.name)}-{key}-v{PROTOCOL}"
    path = storage.cache_dir() / "corpora" / folder
    cleaned = _read_cache(path)
    if cleaned is None:
        cleaned = cleaned_parts(*read(dataset))
        _write_cache(path, cleaned)
        cleaned = _read_cache(path) or cleaned  # mapped, so that processes share it
    corpus = of_dataset(dataset, edition, cleaned)
    return corpus if limit is None else corpus.limited(limit)


def of_dataset(dataset: Dataset, edition: Edition, cleaned: "Cleaned") -> Corpus:
    """Return the corpus of a dataset, given its cleaned documents."""
    facts: dict[str, Any] = {name: fact(dataset, name) for name in ("inliers", "protocol", "redraw")}
    facts |= {"edition": edition.name, "is_published": edition.is_published, **cleaned._asdict()}
    return Corpus(dataset.name, tuple(dataset.classes), **facts)


def edition_of(dataset: Dataset) -> Edition:
    """Return the edition of a dataset; raise DataError if it raises an error or returns anything else."""
    try:
        edition = dataset.edition()
    except AdbenchTextError:
        raise
    except FAILURES as error:
        reason = described(error, type(dataset).__module__)
        raise DataError(f"{dataset.name} cannot find its edition: {reason}") from error
    if not isinstance(edition, Edition) or {type(edition.name), type(edition.digest)} != {str}:
        raise DataError(
            f"{dataset.name}: edition() must return an Edition(name, digest) of two strings, "
            f"got {edition!r:.80}{place_of_method(type(dataset), 'edition')}"
        )
    return replace(edition, name=one_line(edition.name))


def read(dataset: Dataset) -> tuple[Documents, Documents]:
    """Return the raw documents of both parts of a dataset; a DataError names file and line."""
    module = type(dataset).__module__
    try:
        parts = dataset.read()
    except AdbenchTextError as error:
        if not place_of_error(error, contract.__name__):  # raised on purpose, by the dataset or a download
            raise
        reason = message_of(error).rstrip(".") + place_of_error(error, module)
        raise DataError(f"{dataset.name} cannot be read: {reason}") from error
    except FAILURES as error:
        raise DataError(f"{dataset.name} cannot be read: {described(error, module)}") from error
    if problem := _problem(parts, len(dataset.classes)):
        raise DataError(f"{dataset.name}: {problem}{place_of_method(type(dataset), 'read')}")
    train, test = parts
    return train, test


def _problem(parts: Any, n_classes: int) -> str:
    """Return what is wrong with the result of ``read``; an empty string if it is right."""
    if not isinstance(parts, tuple | list) or len(parts) != 2:
        got = f"a {type(parts).__name__} of {len(parts)}" if isinstance(parts, tuple | list) else _type(parts)
        return f"read() must return two Documents, the training and the test part, got {got}"
    for name, documents in zip(_PARTS, parts, strict=True):
        if not isinstance(documents, Documents):
            return f"read() must return Documents(texts, labels) as the {name} part, got {_type(documents)}"
        if problem := _problem_of_texts(documents.texts) or _problem_of_labels(documents.labels, n_classes):
            return f"the {name} part has {problem}"
    return ""


def _problem_of_texts(texts: Any) -> str:
    if not isinstance(texts, list | tuple):
        return f"no list of texts, but {_type(texts)}: use list(texts)"
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            return f"a text that is no string: {_type(text)} at position {place}, {text!r:.40}"
    return ""


def _problem_of_labels(labels: Any, n_classes: int) -> str:
    if not isinstance(labels, np.ndarray):
        return f"no NumPy array of labels, but {_type(labels)}: use np.array(labels)"
    if labels.ndim != 1 or (len(labels) and labels.dtype.kind not in "iu"):
        return (
            f"labels of type {labels.dtype} and shape {labels.shape}: they must be whole numbers of shape "
            f"({len(labels)},), the indices of the classes"
        )
    if outside := sorted(set(labels.tolist()) - set(range(n_classes))):
        return f"the label {outside[0]}, but its {n_classes} classes have the indices 0 to {n_classes - 1}"
    return ""


def _type(value: Any) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


class Cleaned(NamedTuple):
    """What a corpus holds of the documents of its dataset; see `Corpus`."""

    train: Documents
    test: Documents
    n_empty: int
    originals: Sequence[str]
    train_originals: Sequence[str]


def cleaned_parts(train: Documents, test: Documents) -> Cleaned:
    """Clean the raw documents of both parts; those that clean to nothing are dropped and counted."""
    cleaned, originals = [], []
    for documents in (train, test):
        texts = [clean(text) for text in documents.texts]
        kept = np.array([row for row, text in enumerate(texts) if text], dtype=np.int64)
        cleaned.append(Documents(texts, documents.labels).take(kept))
        originals.append(documents.take(kept).texts)
    n_empty = len(train) + len(test) - sum(map(len, cleaned))
    return Cleaned(cleaned[0], cleaned[1], n_empty, originals[1], originals[0])


def _write_cache(path: Path, cleaned: Cleaned) -> None:
    arrays = {"n_empty": np.array(cleaned.n_empty)}
    parts = ("train", cleaned.train, cleaned.train_originals), ("test", cleaned.test, cleaned.originals)
    for name, part, raw in parts:  # cleaned texts hold no line ends
        arrays[f"{name}_texts"] = np.frombuffer(utf8("\n".join(part.texts)), dtype=np.uint8)
        arrays[f"{name}_labels"] = part.labels.astype(np.int64)
        originals = [utf8(text) for text in raw]
        arrays[f"{name}_originals"] = np.frombuffer(b"".join(originals), dtype=np.uint8)
        arrays[f"{name}_original_ends"] = np.cumsum([len(text) for text in originals], dtype=np.int64)
    storage.write_arrays(path, arrays)


def _read_cache(path: Path) -> Cleaned | None:
    arrays = storage.read_arrays(path)
    if arrays is None:
        return None
    parts, originals = [], []
    for name in ("train", "test"):
        texts = PackedTexts.of_lines(arrays[f"{name}_texts"])
        parts.append(Documents(texts, np.array(arrays[f"{name}_labels"])))  # a copy: the file may be edited
        ends = arrays[f"{name}_original_ends"]
        begins = np.append(0, ends)[:-1]
        originals.append(PackedTexts(arrays[f"{name}_originals"], begins, ends))
    n_empty = int(arrays["n_empty"])
    return Cleaned(parts[0], parts[1], n_empty, originals[1], originals[0])
