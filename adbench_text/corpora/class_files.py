"""Files with classes as a dataset: ``files:tickets.csv`` of the user, or ``hf:NAME`` of Hugging Face."""

import json
import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.dataset import Dataset, Documents, Edition, OddWords
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.escaping import one_line
from adbench_text.plugins import registry
from adbench_text.reading.documents import DocumentFile, DocumentTable, named
from adbench_text.reading.hub import FOLDERS, HUB
from adbench_text.reading.values import of_categories
from adbench_text.text.copies import numbered_families
from adbench_text.text.languages import standard
from adbench_text.text.words import digest

_LEAST = 20  # different texts of a class
_FEW = 50  # outliers, of which one is worth two points of AUROC
_TRAIN_SHARE = 0.7
_SEED = 0
_PARTS = {"train": False, "training": False, "test": True}
_SPLITS = {"train", "test"}  # of a data set of Hugging Face
_LABELS = ("label_text", "label", "class", "category")  # SetFit's data sets have names beside the numbers


class _Content(NamedTuple):
    classes: tuple[str, ...]
    inliers: tuple[str, ...]  # the only class that can be normal; empty if each can
    train: Documents
    test: Documents
    notes: str


def name_of(text: str) -> str:
    """Return the name in results of a dataset as ``--dataset`` takes it: of a path, its last part.

    >>> name_of("files:data/tickets.csv"), name_of("hf:./saved"), name_of("hf:SetFit/20_newsgroups")
    ('files:tickets.csv', 'hf:saved', 'hf:SetFit/20_newsgroups')
    """
    prefix, _, path = text.partition(":")
    is_path = text.startswith((registry.OWN, *FOLDERS))
    return _printable(f"{prefix}:{Path(path).name}" if is_path else text)


@dataclass
class ClassFiles(Dataset):
    """Documents with classes of a file or folder, or of a data set of Hugging Face.

    Texts that are equal after cleaning are copies. A class of fewer than 20 different texts is left out. If
    only one class has as many, the others are its outliers, whatever their number, and all of them are for
    testing. Without splits train and test, or a column of them, 70 % of the different texts of each class are
    for training, drawn with seed 0; copies and near-copies, see `adbench_text.text.copies`, go with the first
    and count once.
    """

    path: str  # see `DocumentFile`
    text: str | Sequence[str] | None = None  # column of the text, or several; by default guessed
    label: str | None = None  # column of the classes; by default one of `_LABELS`
    split: str | None = None  # column with train or test
    odd_words: str | None = None  # column with the [start, end] pairs of the odd words of a document
    language: str = "en"  # type: ignore[misc]  # a constant of the class in other datasets
    reading: Mapping[str, Any] = field(default_factory=dict)  # see `ReadOptions`
    name: str = field(init=False)  # type: ignore[misc]  # likewise
    as_papers = False  # no published figure depends on its words
    source = "a file of the user"
    licence = "unknown"
    citation = "none"

    def __post_init__(self) -> None:
        self.language = standard(self.language)
        self.name = name_of(self.path if self.path.startswith(HUB) else f"{registry.OWN}{self.path}")

    @property
    def classes(self) -> tuple[str, ...]:  # type: ignore[override]  # likewise
        """Names of the classes that are large enough, in the order of the alphabet."""
        return self._content.classes

    @property
    def inliers(self) -> tuple[str, ...]:  # type: ignore[override]  # likewise
        """Name of the only class that is large enough; empty if there are several."""
        return self._content.inliers

    @property
    def contamination(self) -> tuple[float, ...]:  # type: ignore[override]  # likewise
        """0 alone if no outlier is for training."""
        normal = [self.classes.index(name) for name in self.inliers]
        is_pure = bool(normal) and set(self._content.train.labels.tolist()) <= {*normal}
        return (0.0,) if is_pure else ()

    def edition(self) -> Edition:
        """Return the digest of the documents, how they are split, and which classes are left out."""
        parts = [digest(part.texts) + part.labels.astype("<i8").tobytes().hex() for part in self.read()]
        parts += [json.dumps(part.words) for part in self.read() if part.words]
        return Edition(self._content.notes, digest([*self.classes, *parts, *{self.language} - {"en"}]))

    def read(self) -> tuple[Documents, Documents]:
        """Return the documents of both parts."""
        return self._content.train, self._content.test

    @cached_property
    def _content(self) -> _Content:
        as_written = bool(self.odd_words)  # whose places are of the text as it was written
        file = DocumentFile(self.path, self.text, "", as_written=as_written, **self.reading)
        label, clean = self._label_column(file), Cleaner(self.language)
        table = file.table([*filter(None, [label, self.split, self.odd_words])])
        written, parts = [*table.texts()], self._parts(table)
        labels_of_rows, on_labels = table.values(label), list[str]()
        if label not in file.class_columns:  # whose names somebody has declared
            labels_of_rows, on_labels = of_categories(labels_of_rows, label)
        labelled = [
            (row, _printable(name), text)
            for row, name in enumerate(labels_of_rows)
            if name and (text := clean(written[row]))
        ]
        is_split = self.split is None and {parts[row] for row, *_ in labelled} >= _SPLITS
        is_drawn = self.split is None and not is_split
        families = numbered_families([text for *_, text in labelled]).tolist()
        different = families if is_drawn else [text for *_, text in labelled]
        names = [name for _, name, _ in labelled]
        sizes = Counter(name for name, _ in set(zip(names, different, strict=True)))
        large = sorted(name for name, size in sizes.items() if size >= _LEAST)
        is_test_row = np.zeros(len(table), dtype=np.bool_)
        if not is_drawn:
            is_test_row[[row for row, *_ in labelled]] = [
                self._is_test(table, parts, row) for row, *_ in labelled
            ]
        tested = {name for row, name, _ in labelled if is_drawn or is_test_row[row]}
        small = sorted(tested - {*large}) if len(large) == 1 else []
        classes = tuple(sorted([*large, *small]))
        if len(classes) < 2:
            listed = ", ".join(f"{name} {size:,}" for name, size in sizes.most_common(5)) or "none"
            once = " (near-copies count once)" if is_drawn else ""
            raise DataError(
                f"{self.name} needs a class of {_LEAST} different texts{once} in the column {label!r}, and "
                f"another class. The largest: {listed}."
            )
        number_of = {name: number for number, name in enumerate(classes)}
        kept = [
            (*each, family)
            for each, family in zip(labelled, families, strict=True)
            if each[1] in number_of and (not is_split or parts[each[0]] in _SPLITS)
        ]
        rows, of_kept = [row for row, *_ in kept], [family for *_, family in kept]
        labels = np.array([number_of[name] for _, name, *_ in kept], dtype=np.int64)
        is_outlier = np.isin(labels, [number_of[name] for name in small])
        is_test = _drawn(labels, of_kept) | is_outlier if is_drawn else is_test_row[rows]
        words = self._odd_words(table, written, rows) if self.odd_words else ()
        every = Documents([written[row] for row in rows], labels, words)
        train, test = (every.take(np.flatnonzero(chosen)) for chosen in (~is_test, is_test))
        left_out = sorted(sizes.keys() - set(classes))
        notes = self._notes(label, test, left_out, len(table) - len(labelled), is_split)
        few = _few_outliers(large[0], int((is_outlier & is_test).sum())) if small else []
        near = _near_copies([text for _, _, text, _ in kept], of_kept, None if is_drawn else is_test)
        lost = [note.rstrip(".") for note in (*file.notes, *file.late_notes, *on_labels)]
        every_note = "; ".join([f"read as {file.description}", notes, *few, *near, *lost])
        return _Content(classes, tuple(large) if small else (), train, test, every_note)

    def _label_column(self, file: DocumentFile) -> str:
        for column in (self.label, self.split, self.odd_words):
            if column is not None and column not in file.columns:
                raise UnknownNameError("column", column, file.columns)
            file.check_single(column)
        known = file.class_columns if len(file.class_columns) == 1 else _LABELS
        label = self.label or named(file.columns, known)
        if label is None:
            listed = ", ".join(file.class_columns or file.columns)
            raise InvalidValueError(
                f"Which column of {self.path} holds the classes? Give --label with one of: {listed}. "
                f"Without classes, rank the documents: adbench-text odd {self.path}"
            )
        if label in file.text_columns:
            raise InvalidValueError(f"The column {label!r} holds the text; give another --label.")
        file.check_single(label)
        return label

    def _parts(self, table: DocumentTable) -> list[str]:
        """Return for each document what says whether it is for testing."""
        values = table.values(self.split) if self.split else table.splits
        return [str(value).strip().lower() for value in values]

    def _is_test(self, table: DocumentTable, parts: list[str], row: int) -> bool:
        """Return whether a document is for testing."""
        if parts[row] not in _PARTS and self.split:
            raise InvalidValueError(
                f"{table.place(row)}: {self.split!r} must be train or test, got {parts[row]!r:.40}."
            )
        return _PARTS.get(parts[row], False)

    def _odd_words(self, table: DocumentTable, texts: list[str], rows: list[int]) -> list[OddWords | None]:
        """Return the odd words of some documents; None where a row has none."""
        column = str(self.odd_words)
        values = table.values(column)
        found: list[OddWords | None] = []
        for row in rows:
            value = values[row]
            if not value:
                found.append(None)
                continue
            try:
                pairs = json.loads(value)
                words = OddWords([(operator.index(start), operator.index(end)) for start, end in pairs])
            except (TypeError, ValueError) as error:
                raise DataError(
                    f"{table.place(row)}: {column!r} must be pairs of start and end, as in [[0, 5]], got "
                    f"{value!r:.40}."
                ) from error
            try:
                words.check(texts[row])
            except ValueError as error:
                raise DataError(f"{table.place(row)}: {column!r}: {error}.") from error
            found.append(words)
        return found

    def _notes(self, label: str, test: Documents, left_out: list[str], n_unused: int, is_split: bool) -> str:
        split = (
            "split as published, into train and test"
            if is_split
            else f"split by the column {self.split!r}"
            if self.split is not None
            else f"{100 * _TRAIN_SHARE:g} % of the different texts of each class for training, "
            f"drawn with seed {_SEED}"
        )
        notes = [f"classes of the column {label!r}, {split}"]
        if self.language != "en":
            notes.append(f"cleaned for the language {self.language!r}")
        if test.words:
            known = f"odd words of the column {self.odd_words!r}"
            unknown = sum(of_text is None for of_text in test.words)
            notes.append(f"{known}, unknown in {unknown:,} test documents" if unknown else known)
        if left_out:
            listed = ", ".join(left_out[:10]) + (", ..." if len(left_out) > 10 else "")
            notes.append(f"classes left out, with fewer than {_LEAST} different texts: {listed}")
        if n_unused:
            notes.append(f"documents left out, without a class or words: {n_unused:,}")
        return "; ".join(notes)


def _drawn(labels: NDArray[np.int64], families: list[int]) -> NDArray[np.bool_]:
    """Return which documents are for testing: a share of the families of each class, drawn."""
    is_test, random = np.ones(len(labels), dtype=np.bool_), np.random.default_rng(_SEED)
    first_row: dict[int, int] = {}
    first = np.array([first_row.setdefault(family, row) for row, family in enumerate(families)])
    for number in range(labels.max() + 1):
        rows = np.flatnonzero((labels == number) & (first == np.arange(len(first))))
        is_test[random.permutation(rows)[: round(_TRAIN_SHARE * len(rows))]] = False
    of_rows: NDArray[np.bool_] = is_test[first]
    return of_rows


def _few_outliers(normal: str, n_outliers: int) -> list[str]:
    """Return a note on outliers that are no class of their own."""
    few = "" if n_outliers >= _FEW else ", which is few: the figures are uncertain"
    return [f"only {normal} can be normal; outliers for testing: {n_outliers:,}{few}"]


def _near_copies(texts: list[str], families: list[int], is_test: NDArray[np.bool_] | None) -> list[str]:
    """Return a note on near-copies: of how many texts; or, in a given split, across its two parts."""
    if is_test is None:
        n_near = len(set(texts)) - len(set(families))
        return [f"{n_near:,} near-copies, in the part of the text that they are like"] if n_near else []
    training = [row for row, tested in enumerate(is_test) if not tested]
    known, trained = {texts[row] for row in training}, {families[row] for row in training}
    n_near = sum(families[row] in trained and texts[row] not in known for row in np.flatnonzero(is_test))
    return [f"{n_near:,} test documents are near-copies of training documents"] if n_near else []


def _printable(name: str) -> str:
    return name if name.isprintable() else one_line(name)
