"""Datasets from files with classes: ``files:tickets.csv`` of the user, or ``hf:NAME`` of Hugging Face."""

import json
import operator
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
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
from adbench_text.metrics import MAIN
from adbench_text.plugins import registry
from adbench_text.reading.documents import DocumentFile, DocumentTable, named
from adbench_text.reading.hub import FOLDERS, HUB
from adbench_text.reading.values import of_categories
from adbench_text.text.copies import SHARED, numbered_families
from adbench_text.text.languages import standard
from adbench_text.text.words import digest

_LEAST = 20  # unique texts of a class that can be normal
_FEW = 50  # outliers; with fewer, a single one moves the AUROC by more than two points
_TRAIN_SHARE = 0.7
_SEED = 0
_PARTS = {"train": False, "training": False, "test": True, "testing": True}
_LEFT_OUT = {"val", "valid", "validation", "dev", "development"}  # other names of parts in a column
_SPLITS = {"train", "test"}  # of a data set on Hugging Face
_LABELS = ("label_text", "label", "class", "category")  # SetFit's data sets have a text for each number


class _Labelled(NamedTuple):
    """Documents with a class and words: each list has a value for every document."""

    rows: list[int]  # rows of the table
    names: list[str]  # names of the classes
    texts: list[str]  # cleaned
    families: list[int]  # see `numbered_families`
    is_test: NDArray[np.bool_] | None  # None if the parts are drawn here

    def of_classes(self, names: Collection[str]) -> "_Labelled":
        """Return the documents of some classes."""
        places = [place for place, name in enumerate(self.names) if name in names]
        return _Labelled(
            rows=[self.rows[place] for place in places],
            names=[self.names[place] for place in places],
            texts=[self.texts[place] for place in places],
            families=[self.families[place] for place in places],
            is_test=None if self.is_test is None else self.is_test[places],
        )


class _Classes(NamedTuple):
    """The classes that are measured, and the classes that are left out, both in alphabetical order."""

    names: list[str]
    normal: list[str]  # that can be normal
    untrained: list[str]  # without training documents
    small: list[str]  # left out, with too few texts
    untested: list[str]  # left out, without test documents

    @property
    def only_normal(self) -> list[str]:
        """The only class that can be normal; empty if several can."""
        return self.normal if len(self.normal) == 1 else []


class _Content(NamedTuple):
    """The classes, the documents of both parts as written, and notes for people."""

    classes: _Classes
    train: Documents
    test: Documents
    notes: str


def name_of(text: str) -> str:
    """Return the name that results have for a value of ``--dataset``; a path is reduced to its last part.

    >>> name_of("files:data/tickets.csv"), name_of("hf:./saved"), name_of("hf:SetFit/20_newsgroups")
    ('files:tickets.csv', 'hf:saved', 'hf:SetFit/20_newsgroups')
    """
    prefix, _, path = text.partition(":")
    is_path = text.startswith((registry.OWN, *FOLDERS))
    return _printable(f"{prefix}:{Path(path).name}" if is_path else text)


@dataclass
class ClassFiles(Dataset):
    """Documents with classes, from a file or folder, or from a data set on Hugging Face.

    Texts that are equal after cleaning are copies. A class can be normal if it has 20 unique texts, and
    documents in both parts. If only one class can be normal, all other classes in the test part are its
    outliers, whatever their size. If several classes can be normal, a class with fewer than 20 unique texts
    is left out, and a class without training documents is always an outlier. A class without test documents
    is left out.

    If the data have no splits train and test, and no column names the split, seed 0 draws 70 % of the unique
    texts for training, in each class that can be normal. The other classes are for testing. Copies and
    near-copies, see `adbench_text.text.copies`, go to the part of the first one, and count once.
    """

    path: str  # see `DocumentFile`
    text: str | Sequence[str] | None = None  # column or columns of the text; by default guessed
    label: str | None = None  # column of the classes; by default one of `_LABELS`
    split: str | None = None  # column with train or test
    odd_words: str | None = None  # column with the [start, end] pairs of the odd words of a document
    language: str = "en"  # type: ignore[misc]  # a class attribute of other datasets, as the properties below
    reading: Mapping[str, Any] = field(default_factory=dict)  # see `ReadOptions`
    name: str = field(init=False)  # type: ignore[misc]
    as_papers = False  # no published figure depends on these words
    source = "a file of the user"
    licence = "unknown"
    citation = "none"

    def __post_init__(self) -> None:
        self.language = standard(self.language)
        self.name = name_of(self.path if self.path.startswith(HUB) else f"{registry.OWN}{self.path}")

    @property
    def classes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the classes, in alphabetical order."""
        return tuple(self._content.classes.names)

    @property
    def inliers(self) -> tuple[str, ...]:  # type: ignore[override]
        """Name of the only class that can be normal; empty if several can."""
        return tuple(self._content.classes.only_normal)

    @property
    def outliers(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the classes without training documents."""
        return tuple(self._content.classes.untrained)

    @property
    def contamination(self) -> tuple[float, ...]:  # type: ignore[override]
        """Only 0 if the training part has no outlier."""
        normal = [self.classes.index(name) for name in self.inliers]
        is_pure = bool(normal) and set(self._content.train.labels.tolist()) <= {*normal}
        return (0.0,) if is_pure else ()

    def edition(self) -> Edition:
        """Return the digest of the documents, with notes on the split and on classes that are left out."""
        parts = [digest(part.texts) + part.labels.astype("<i8").tobytes().hex() for part in self.read()]
        parts += [json.dumps(part.words) for part in self.read() if part.words]
        return Edition(self._content.notes, digest([*self.classes, *parts, *{self.language} - {"en"}]))

    def read(self) -> tuple[Documents, Documents]:
        """Return the documents of both parts."""
        return self._content.train, self._content.test

    @cached_property
    def _content(self) -> _Content:
        """The documents, which are read at the first access."""
        as_written = bool(self.odd_words)  # their places count in the text as written
        file = DocumentFile(self.path, self.text, "", as_written=as_written, **self.reading)
        label = self._label_column(file)
        table = file.table([*filter(None, [label, self.split, self.odd_words])])
        written = [*table.texts()]
        names, on_names = table.values(label), list[str]()
        if label not in file.class_columns:  # the file declares the names of these classes
            names, on_names = of_categories(names, label)
        labelled, notes = self._labelled(table, label, names, written)
        try:
            classes = self._classes(labelled, label)
        except DataError as error:  # a note may say why: the name of a class means a missing value
            raise DataError(" ".join([str(error), *file.late_notes, *on_names])) from error
        number_of = {name: number for number, name in enumerate(classes.names)}
        measured = labelled.of_classes(number_of.keys())
        labels = np.array([number_of[name] for name in measured.names], dtype=np.int64)
        is_test = measured.is_test
        if is_test is None:
            is_untrained = np.isin(labels, [number_of[name] for name in classes.untrained])
            is_test = _drawn(labels, measured.families) | is_untrained
        words = self._odd_words(table, written, measured.rows) if self.odd_words else ()
        every = Documents([written[row] for row in measured.rows], labels, words)
        train, test = (every.take(np.flatnonzero(chosen)) for chosen in (~is_test, is_test))
        notes = [
            f"read as {file.description}",
            *notes,
            *self._on_words(test),
            *_on_classes(classes, test),
            *_near_copies(measured, is_test),
            *(note.rstrip(".") for note in (*file.notes, *file.late_notes, *on_names)),
        ]
        return _Content(classes, train, test, "; ".join(notes))

    def _label_column(self, file: DocumentFile) -> str:
        """Return the column of the classes; raise an error if a column is missing or cannot be guessed."""
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

    def _labelled(
        self, table: DocumentTable, label: str, names: Sequence[str | None], written: Sequence[str]
    ) -> tuple[_Labelled, list[str]]:
        """Return the documents that have a class and words, and notes on their split."""
        clean = Cleaner(self.language)
        used = [
            (row, _printable(name), text)
            for row, name in enumerate(names)
            if name and (text := clean(written[row]))
        ]
        n_unused, n_labelled = len(table) - len(used), len(used)
        values = table.values(self.split) if self.split else table.splits
        parts = [str(value or "").strip().lower() for value in values]
        is_drawn, split = False, f"split by the column {self.split!r}"
        if self.split is None:
            is_drawn = not {parts[row] for row, *_ in used} >= _SPLITS
            split = (
                f"{100 * _TRAIN_SHARE:g} % of the different texts of each class for training, drawn with "
                f"seed {_SEED}"
                if is_drawn
                else "split as published, into train and test"
            )
            used = [(row, name, text) for row, name, text in used if is_drawn or parts[row] in _SPLITS]
        else:
            used = [(row, name, text) for row, name, text in used if parts[row] not in _LEFT_OUT]
        rows, texts = [row for row, *_ in used], [text for *_, text in used]
        is_test = None if is_drawn else np.array([self._is_test(table, parts, row) for row in rows], np.bool_)
        notes = [f"classes of the column {label!r}, {split}"]
        if self.language != "en":
            notes.append(f"cleaned for the language {self.language!r}")
        if n_unused:
            notes.append(f"documents left out, because they have no class or no words: {n_unused:,}")
        if len(used) < n_labelled:
            notes.append(f"documents left out, of other splits: {n_labelled - len(used):,}")
        classes_of = defaultdict[str, set[str]](set)
        for _, name, text in used:
            classes_of[text].add(name)
        if n_several := sum(len(of_text) > 1 for of_text in classes_of.values()):
            notes.append(f"texts with several classes, both normal and odd: {n_several:,}")
        classes = [name for _, name, _ in used]
        families = _families(classes, texts)
        labelled = _Labelled(rows=rows, names=classes, texts=texts, families=families, is_test=is_test)
        return labelled, notes

    def _is_test(self, table: DocumentTable, parts: list[str], row: int) -> bool:
        """Return whether a document is for testing; raise InvalidValueError if its part is unknown.

        `parts` has the name of the part of each row, in lower case. Validation documents are left out before.
        """
        if parts[row] not in _PARTS:
            raise InvalidValueError(
                f"{table.place(row)}: {self.split!r} must be train, test or validation, got "
                f"{parts[row]!r:.40}."
            )
        return _PARTS[parts[row]]

    def _classes(self, labelled: _Labelled, label: str) -> _Classes:
        """Return the classes that are measured; raise DataError if none can be."""
        is_drawn = labelled.is_test is None
        # if the parts are drawn here, near-copies go to the same part, and count once
        different = labelled.families if is_drawn else labelled.texts
        sizes = _sizes(labelled.names, different)
        large = _large(sizes)
        if not large or len(sizes) < 2:
            listed = ", ".join(f"{name} {size:,}" for name, size in sizes.most_common(5)) or "none"
            once = " (near-copies count once)" if is_drawn else ""
            raise DataError(
                f"{self.name} needs a class of {_LEAST} different texts{once} in the column {label!r}, and "
                f"another class. The largest: {listed}."
            )
        # documents of each class for training, and for testing; before the draw, all may be in either part
        n_of_part = [Counter(labelled.names)] * 2
        if labelled.is_test is not None:
            pairs = [*zip(labelled.names, labelled.is_test.tolist(), strict=True)]
            n_of_part = [Counter(name for name, tested in pairs if tested == part) for part in (False, True)]
        trained, tested = ({*of_part} for of_part in n_of_part)
        normal = large & trained & tested
        # if only one class can be normal, every other class is odd, whatever its size
        measured = tested if len(normal) == 1 else large & tested
        if not normal or len(measured) < 2:
            in_parts = (
                f"{name} {'/'.join(f'{n[name]:,}' for n in n_of_part)}" for name, _ in sizes.most_common(5)
            )
            raise DataError(
                f"{self.name} cannot be measured: {MAIN.title} needs normal and odd test documents. One "
                f"class must have {_LEAST} different texts or more, with texts for training and for testing. "
                f"Another class must have texts for testing. Documents for training/testing: "
                f"{', '.join(in_parts)}."
            )
        untrained = measured - (large if is_drawn else trained)  # a small class is not drawn for training
        small, untested = tested - measured, sizes.keys() - tested
        return _Classes(
            names=sorted(measured),
            normal=sorted(normal),
            untrained=sorted(untrained),
            small=sorted(small),
            untested=sorted(untested),
        )

    def _odd_words(self, table: DocumentTable, texts: list[str], rows: list[int]) -> list[OddWords | None]:
        """Return the odd words of some documents; None for a row without this information."""
        column = str(self.odd_words)
        values = table.values(column)
        of_rows: list[OddWords | None] = []
        for row in rows:
            value = values[row]
            if not value:
                of_rows.append(None)
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
            of_rows.append(words)
        return of_rows

    def _on_words(self, test: Documents) -> list[str]:
        """Return a note on the odd words of test documents."""
        if not test.words:
            return []
        known, unknown = f"odd words of the column {self.odd_words!r}", test.words.count(None)
        return [f"{known}, unknown in {unknown:,} test documents" if unknown else known]


def _families(names: Sequence[str], texts: Sequence[str]) -> list[int]:
    """Return the number of the family of each document: copies and near-copies are a family.

    Near-copies are found at a low similarity. Short texts with few words may all be that similar, and then a
    class may be too small. If the higher similarity `SHARED` makes more classes large enough, it is used for
    all classes.
    """
    loose: list[int] = numbered_families(texts).tolist()
    if _large(_sizes(names, texts)) > _large(_sizes(names, loose)):  # more classes are large
        strict: list[int] = numbered_families(texts, SHARED).tolist()
        return strict if _large(_sizes(names, strict)) > _large(_sizes(names, loose)) else loose
    return loose


def _sizes(names: Sequence[str], different: Sequence[Any]) -> Counter[str]:
    """Return the number of unique documents in each class."""
    return Counter(name for name, _ in set(zip(names, different, strict=True)))


def _large(sizes: Counter[str]) -> set[str]:
    """Return the classes with enough documents to be normal."""
    return {name for name, size in sizes.items() if size >= _LEAST}


def _drawn(labels: NDArray[np.int64], families: list[int]) -> NDArray[np.bool_]:
    """Draw a share of the families of each class for testing; return which documents are in them."""
    is_test, random = np.ones(len(labels), dtype=np.bool_), np.random.default_rng(_SEED)
    first_row: dict[int, int] = {}
    first = np.array([first_row.setdefault(family, row) for row, family in enumerate(families)])
    for number in range(labels.max() + 1):
        rows = np.flatnonzero((labels == number) & (first == np.arange(len(first))))
        is_test[random.permutation(rows)[: round(_TRAIN_SHARE * len(rows))]] = False
    of_rows: NDArray[np.bool_] = is_test[first]
    return of_rows


def _on_classes(classes: _Classes, test: Documents) -> list[str]:
    """Return notes on classes that are left out or always odd, and on a small number of outliers."""
    kinds = {
        f"left out, with fewer than {_LEAST} different texts": classes.small,
        "left out, without test documents": classes.untested,
    }
    notes = []
    if classes.only_normal:
        (normal,) = classes.only_normal
        n_outliers = int((test.labels != classes.names.index(normal)).sum())
        few = "" if n_outliers >= _FEW else ", which is few: the figures are uncertain"
        notes.append(f"only {normal} can be normal; outliers for testing: {n_outliers:,}{few}")
    else:
        kinds["without training documents, always outliers"] = classes.untrained
    for kind, names in kinds.items():
        if names:
            notes.append(f"classes {kind}: {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}")
    return notes


def _near_copies(documents: _Labelled, is_test: NDArray[np.bool_]) -> list[str]:
    """Return notes on near-copies that are drawn together, and on near-copies in different parts.

    A given split may separate near-copies, and so does a class that is always odd. Equal texts do not count.
    """
    texts, families, notes = documents.texts, documents.families, list[str]()
    training = np.flatnonzero(~is_test)
    training_texts = {texts[row] for row in training}
    training_families = {families[row] for row in training}
    apart = [
        texts[row]
        for row in np.flatnonzero(is_test)
        if families[row] in training_families and texts[row] not in training_texts
    ]
    n_together = len(set(texts)) - len(set(families)) - len(set(apart))
    if documents.is_test is None and n_together:
        notes.append(f"{n_together:,} near-copies, each in the part of the document that it copies")
    if apart:
        notes.append(f"{len(apart):,} test documents are near-copies of training documents")
    return notes


def _printable(name: str) -> str:
    """Return a name in one line, safe to print."""
    return name if name.isprintable() else one_line(name)
