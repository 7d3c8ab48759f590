"""A user's own labelled documents as a dataset: ``files:labelled.csv``."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adbench_text.documents.reading import Document
from adbench_text.documents.reading import Documents as Source
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.escaping import one_line
from adbench_text.plugins import registry
from adbench_text.plugins.dataset import Dataset, Documents, Edition
from adbench_text.text.cleaning import clean
from adbench_text.text.words import digest

_LEAST = 20  # documents of a class
_TRAIN_SHARE = 0.7
_SEED = 0
_PARTS = {"train": 0, "training": 0, "test": 1}
_LABELS = ("label", "class", "category")


def _printable(name: str) -> str:
    return name if name.isprintable() else one_line(name)


@dataclass(frozen=True)
class _Read:
    """Documents of a file in the classes that are large enough."""

    classes: tuple[str, ...]
    train: Documents
    test: Documents
    notes: tuple[str, ...]


@dataclass
class LabelledFiles(Dataset):
    """Labelled documents of a file or folder.

    A class of fewer than 20 documents (with words) is left out. Without a column that splits them, 70 % of
    the documents of each class are for training, drawn with seed 0.

    Parameters
    ----------
    path : str
        See `adbench_text.documents.rows.rows`.
    text : str, optional
        Column of the text; by default guessed.
    label : str, optional
        Column of the classes; by default one of the name ``label``, ``class`` or ``category``.
    split : str, optional
        Column that says ``train`` or ``test`` of each document.

    Raises
    ------
    DataError
        If the file is missing or damaged, or fewer than two classes are large enough.
    InvalidValueError
        If there is no column of classes, or a value of `split` is neither ``train`` nor ``test``.
    """

    path: str
    text: str | None = None
    label: str | None = None
    split: str | None = None
    name: str = field(init=False)  # type: ignore[misc]  # a constant of the class in other datasets
    source = "a file of the user"
    licence = "unknown"
    citation = "none"

    def __post_init__(self) -> None:
        self.name = f"{registry.OWN}{_printable(Path(self.path).name)}"

    @property
    def classes(self) -> tuple[str, ...]:  # type: ignore[override]  # likewise
        """Names of the classes that are large enough, in the order of the alphabet."""
        return self._content.classes

    def edition(self) -> Edition:
        """Return the digest of the documents, how they are split, and which classes are left out."""
        content = self._content
        parts = [digest(part.texts) + part.labels.astype("<i8").tobytes().hex() for part in self.read()]
        return Edition("; ".join(content.notes), digest([*content.classes, *parts]))

    def read(self) -> tuple[Documents, Documents]:
        """Return the documents of both parts."""
        return self._content.train, self._content.test

    @cached_property
    def _content(self) -> _Read:
        source = Source(self.path, self.text)
        label = self._label_column(source.columns)
        if self.split is not None and self.split not in source.columns:
            raise UnknownNameError("column", self.split, source.columns)
        if source.text_column == label:
            raise InvalidValueError(f"The column {label!r} holds the text; give another --label.")
        documents = list(source)
        labelled = [
            (document, _printable(str(document.fields[label])))
            for document in documents
            if document.fields.get(label) not in (None, "") and clean(document.text)
        ]
        sizes = Counter(name for _, name in labelled)
        classes = tuple(sorted(name for name, size in sizes.items() if size >= _LEAST))
        left_out = tuple(sorted(name for name, size in sizes.items() if size < _LEAST))
        if len(classes) < 2:
            listed = ", ".join(f"{name} {size:,}" for name, size in sizes.most_common(5)) or "none"
            raise DataError(
                f"{self.path} needs at least two classes of {_LEAST} documents with words in the column "
                f"{label!r}, got {len(classes)}. The largest: {listed}."
            )
        number_of = {name: number for number, name in enumerate(classes)}
        kept = [(document, number_of[name]) for document, name in labelled if name in number_of]
        labels = np.array([number for _, number in kept], dtype=np.int64)
        is_test = self._is_test([document for document, _ in kept], labels)
        texts = [document.text for document, _ in kept]
        train, test = (
            Documents([texts[row] for row in rows], labels[rows])
            for rows in (np.flatnonzero(~is_test), np.flatnonzero(is_test))
        )
        return _Read(classes, train, test, self._notes(label, left_out, len(documents) - len(labelled)))

    def _label_column(self, columns: list[str]) -> str:
        if self.label is not None:
            if self.label not in columns:
                raise UnknownNameError("column", self.label, columns)
            return self.label
        for name in _LABELS:
            if name in columns:
                return name
        raise InvalidValueError(
            f"Which column of {self.path} holds the classes? Give --label with one of: {', '.join(columns)}. "
            f"Without classes, rank the documents: adbench-text odd {self.path}"
        )

    def _is_test(self, documents: list[Document], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        if self.split is not None:
            parts = []
            for document in documents:
                value = str(document.fields.get(self.split)).strip().lower()
                if value not in _PARTS:
                    raise InvalidValueError(
                        f"{document.place}: {self.split!r} must be train or test, got {value!r:.40}."
                    )
                parts.append(_PARTS[value])
            return np.array(parts, dtype=np.bool_)
        random = np.random.default_rng(_SEED)
        is_test = np.ones(len(labels), dtype=np.bool_)
        for number in range(labels.max() + 1):
            rows = random.permutation(np.flatnonzero(labels == number))
            is_test[rows[: round(_TRAIN_SHARE * len(rows))]] = False
        return is_test

    def _notes(self, label: str, left_out: tuple[str, ...], n_unusable: int) -> tuple[str, ...]:
        split = (
            f"split by the column {self.split!r}"
            if self.split is not None
            else f"{100 * _TRAIN_SHARE:g} % of each class for training, drawn with seed {_SEED}"
        )
        notes = [f"own documents, classes of the column {label!r}, {split}"]
        if left_out:
            listed = ", ".join(left_out[:10]) + (", ..." if len(left_out) > 10 else "")
            notes.append(f"{len(left_out):,} classes of fewer than {_LEAST} documents are left out: {listed}")
        if n_unusable:
            notes.append(f"{n_unusable:,} documents without a class or without words are left out")
        return tuple(notes)
