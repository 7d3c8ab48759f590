"""Load, clean and cache corpora, and identify them by a digest of their content."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adbench_text import storage
from adbench_text.code_version import HARNESS_VERSION, code_version
from adbench_text.contract.dataset import Dataset, Documents, Edition, OddWords, Redraw
from adbench_text.contract.protocols import RANK_ALL, REDRAWN, ProtocolName
from adbench_text.errors import DataError
from adbench_text.escaping import file_name, from_utf8, one_line, utf8, without_surrogates
from adbench_text.failures import as_plugin_error
from adbench_text.text.languages import standard
from adbench_text.text.words import digest

if TYPE_CHECKING:
    import pandas as pd

    from adbench_text.contract.cleaner import Cleaner

_PARTS = ("training", "test")
_BY_UNICODE = "unicode 1"  # cleaning that differs from the papers; raise the number when it changes
_MOST_CLASSES, _FEW_CLASSES, _LONGEST_NAME = 20, 3, 60  # with more than the first, only the second are named
_COLUMNS = ["part", "label", "text", "cleaned", "words"]  # of a table of documents


@dataclass(frozen=True)
class Corpus:
    """A cleaned corpus."""

    name: str
    classes: tuple[str, ...]  # names of the classes
    train: Documents
    test: Documents
    edition: str  # version of the data, for people; includes a limit
    is_published: bool = False  # whether this is the complete published corpus
    limit: int | None = None  # maximum number of documents per class in each part
    n_empty: int = 0  # documents that are left out because cleaning removes all their words
    n_mended: int = 0  # documents in which U+FFFD replaces lone surrogates
    # the documents as written, in the same rows; None if they are not available
    written_train: Documents | None = None
    written_test: Documents | None = None
    is_raw: bool = False  # whether its documents are as written
    # facts of the dataset, see `Dataset`
    language: str = Dataset.language
    is_cleaned: bool = Dataset.is_cleaned
    as_papers: bool = Dataset.as_papers
    inliers: tuple[str, ...] = ()
    outliers: tuple[str, ...] = ()
    protocol: ProtocolName = Dataset.protocol
    redraw: Redraw | None = None

    def __post_init__(self) -> None:
        """Raise DataError if a label has no class, or a class lacks documents in a part that needs them."""
        # otherwise there are no training documents, or they are drawn from the test part
        has_training_part = self.protocol not in (RANK_ALL, REDRAWN)
        may_be_inliers = set(self.inliers or self.classes) - set(self.outliers)
        needed_in = {"training": may_be_inliers if has_training_part else set(), "test": set(self.classes)}
        for part, documents in zip(_PARTS, (self.train, self.test), strict=True):
            needed = needed_in[part]
            present = set(documents.labels.tolist())
            if unknown := present - set(range(len(self.classes))):
                raise DataError(f"{self.name} has {part} documents of no class: label {min(unknown)}.")
            for index, name in enumerate(self.classes):
                if name in needed and index not in present:
                    raise DataError(
                        f"Class {name!r} of {self.name} has no {part} documents after cleaning. "
                        "Check its files, and what splits them into training and test documents."
                    )
        if self.redraw and self.redraw.folds:
            self._check_folds(self.redraw.folds)

    def _check_folds(self, folds: int) -> None:
        """Raise DataError if the documents at one place of their classes may not belong together."""
        counts = Counter(self.test.labels.tolist())
        sizes = [counts[label] for label in range(len(self.classes))]
        if len(set(sizes)) > 1 or self.n_empty:
            of_classes = ", ".join(f"{name} {n:,}" for name, n in zip(self.classes, sizes, strict=True))
            raise DataError(
                f"{self.name} has folds: documents at the same place of their class belong together. So each "
                "class needs the same number of documents, and words must remain in all after cleaning; got "
                f"{of_classes}, and {self.n_empty:,} more that are empty after cleaning."
            )
        if sizes[0] < folds:
            raise DataError(
                f"{self.name} is cut into {folds} folds, so it needs at least {folds} documents of each "
                f"class; got {sizes[0]:,}. Raise the limit, if there is one."
            )

    @cached_property
    def digest(self) -> str:
        """Digest of the full content: classes, texts and labels; 32 hexadecimal digits."""
        parts = [self.classes, self.train.texts, self.test.texts]
        state = hashlib.sha256("".join(digest(part) for part in parts).encode())
        for documents in (self.train, self.test):
            state.update(documents.labels.astype("<i8").tobytes())
        if self.written_test is not None and self.written_test.words:
            state.update(json.dumps(self.written_test.words).encode())
        return state.hexdigest()[:32]

    @cached_property
    def raw(self) -> "Corpus":
        """The same documents as written, in the same rows; the digest is computed from these texts."""
        if self.written_train is None or self.written_test is None:
            raise DataError(f"The documents of {self.name} are not available as they were written.")
        return replace(self, train=self.written_train, test=self.written_test, is_raw=True)

    def written_texts(self, places: NDArray[np.int64]) -> list[str]:
        """Return test documents as written if available, or else cleaned."""
        texts = (self.written_test or self.test).texts
        return [texts[place] for place in places]

    @cached_property
    def n_seen(self) -> int:
        """Number of test documents whose cleaned text equals a training document."""
        trained = set(self.train.texts)
        return sum(text in trained for text in self.test.texts)

    def _seen_when_drawn(self, redraw: Redraw) -> tuple[int, int]:
        """Return how many normal test documents are also training documents, and the number of all."""
        inliers = [self.classes.index(name) for name in self.inliers]
        normal = np.flatnonzero(np.isin(self.test.labels, inliers))
        if redraw.folds:
            drawn = normal[~redraw.is_tested(self.test.labels, seed=0)[normal]]
        else:
            drawn = redraw.training(normal, np.random.default_rng(0))
        trained, rest = {self.test.texts[row] for row in drawn}, np.setdiff1d(normal, drawn)
        return sum(self.test.texts[row] in trained for row in rest), len(rest)

    def limited(self, limit: int) -> "Corpus":
        """Return a corpus with at most `limit` documents per class in each part, for a quick look.

        If no class has more, this is the same corpus.
        With folds, the same places are taken from every class, so that the documents still belong together.
        """
        has_folds = self.redraw is not None and self.redraw.folds > 0

        def some(documents: Documents) -> NDArray[np.int64]:
            """Return the rows of at most `limit` documents of each class, in order."""
            if has_folds and len(documents):
                of_classes = [np.flatnonzero(documents.labels == label) for label in range(len(self.classes))]
                places = np.random.default_rng(0).permutation(len(of_classes[0]))[:limit]
                return np.sort(np.concatenate([rows[np.sort(places)] for rows in of_classes]))
            order = np.random.default_rng(0).permutation(len(documents))
            labels = documents.labels[order]
            chosen = [order[labels == label][:limit] for label in range(len(self.classes))]
            return np.sort(np.concatenate(chosen))

        of_train, of_test = some(self.train), some(self.test)
        if len(of_train) == len(self.train) and len(of_test) == len(self.test):
            return self
        return replace(
            self,
            train=self.train.take(of_train),
            test=self.test.take(of_test),
            written_train=self.written_train and self.written_train.take(of_train),
            written_test=self.written_test and self.written_test.take(of_test),
            edition=f"{self.edition}, at most {limit} documents per class",
            is_published=False,
            limit=limit,
        )

    def counts(self) -> str:
        """Return the numbers of documents in one line for the reader of a report."""
        train, test = (Counter(part.labels.tolist()) for part in (self.train, self.test))
        n_classes = len(self.classes)
        listed = self.classes if n_classes <= _MOST_CLASSES else self.classes[:_FEW_CLASSES]
        per_class = ", ".join(f"{_short(name)} {train[i]:,}/{test[i]:,}" for i, name in enumerate(listed))
        per_class += f" and {n_classes - len(listed):,} more classes" if len(listed) < n_classes else ""
        empty = f"; {self.n_empty:,} more are empty after cleaning" if self.n_empty else ""
        mended = f"; {self.n_mended:,} have lone surrogates, replaced by U+FFFD" if self.n_mended else ""
        seen = (
            f"; {self.n_seen:,} test documents equal a training document when cleaned" if self.n_seen else ""
        )
        if self.redraw and self.redraw.draws_training:
            n_seen, n_normal = self._seen_when_drawn(self.redraw)
            drawn = f"; drawn with seed 0, {n_seen:,} of {n_normal:,} normal test documents"
            seen = f"{drawn} equal a training document when cleaned" if n_seen else ""
        sizes = f"{len(self.train):,} training / {len(self.test):,} test documents ({per_class})"
        return f"{sizes}{empty}{mended}{seen}"


def _short(name: str) -> str:
    """Return the name of a class, cut if it is long."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def load(dataset: Dataset, limit: int | None = None) -> Corpus:
    """Load a cleaned corpus, from the cache or from its sources, and write it to the cache.

    The cache has it under the version of its data and of its code.
    """
    import pandas as pd

    edition = edition_of(dataset)
    cleaning = [_BY_UNICODE] if dataset.is_cleaned and not cleaner_of(dataset).cleans_as_papers else []
    key = digest([edition.digest, *dataset.classes, code_version(type(dataset)), *_COLUMNS, *cleaning])[:16]
    path = storage.cache_dir() / "corpora" / f"{file_name(dataset.name)}-{key}-v{HARNESS_VERSION}.parquet"
    documents = storage.read_cache(path, pd.read_parquet)
    if documents is None:
        documents = cleaned(dataset)
        storage.write_cache(path, documents.to_parquet)
    corpus = of_dataset(dataset, edition, documents)
    return corpus if limit is None else corpus.limited(limit)


def cleaner_of(source: Dataset | Corpus) -> "Cleaner":
    """Return the cleaner for the documents of a dataset or corpus; it may leave them unchanged."""
    from adbench_text.contract.cleaner import Cleaner  # imports scikit-learn; shell completion must not

    return Cleaner(source.language if source.is_cleaned else None, as_papers=source.as_papers)


def cleaned(dataset: Dataset) -> "pd.DataFrame":
    """Return a table of the documents of both parts, as written and cleaned."""
    import pandas as pd

    train, test = read(dataset)
    texts = [*train.texts, *test.texts]
    columns = (
        np.repeat(_PARTS, [len(train), len(test)]),
        np.concatenate([train.labels, test.labels]),
        [utf8(text) for text in texts],  # as bytes, because strings of Parquet have no lone surrogates
        [utf8(text) for text in cleaner_of(dataset).cleaned(texts)],
        [json.dumps(words) for words in [None] * len(train) + list(test.words or [None] * len(test))],
    )
    return pd.DataFrame(dict(zip(_COLUMNS, columns, strict=True)))


def of_dataset(dataset: Dataset, edition: Edition, documents: "pd.DataFrame") -> Corpus:
    """Return the corpus of a dataset, given the table of its documents; leave out documents without words."""
    with_words = documents[documents["cleaned"].map(bytes.strip) != b""]
    parts = [with_words[with_words["part"] == part] for part in _PARTS]
    train, test = (Documents(map(_sound, part["cleaned"]), part["label"].to_numpy()) for part in parts)
    written_train, written_test = map(_written, parts)
    return Corpus(
        name=dataset.name,
        classes=tuple(dataset.classes),
        train=train,
        test=test,
        edition=edition.name,
        is_published=edition.is_published,
        n_empty=len(documents) - len(with_words),
        n_mended=sum(map(_is_broken, with_words["text"])),
        written_train=written_train,
        written_test=written_test,
        language=standard(dataset.language),
        is_cleaned=dataset.is_cleaned,
        as_papers=dataset.as_papers,
        inliers=dataset.inliers,
        outliers=dataset.outliers,
        protocol=dataset.protocol,
        redraw=dataset.redraw,
    )


def _written(part: "pd.DataFrame") -> Documents:
    """Return the documents of a part as written, with their marked words."""
    marks = [fields and OddWords(*fields) for fields in map(json.loads, part["words"])]
    return Documents(map(_sound, part["text"]), part["label"].to_numpy(), marks if any(marks) else ())


def _sound(data: bytes) -> str:
    """Decode a text that `utf8` encoded, and replace lone surrogates."""
    return without_surrogates(from_utf8(data)) if _is_broken(data) else data.decode()


def _is_broken(data: bytes) -> bool:
    """Return whether a text that `utf8` encoded has lone surrogates."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


def edition_of(dataset: Dataset) -> Edition:
    """Return the edition of a dataset; raise DataError if the method fails or returns something else."""
    with as_plugin_error(f"{dataset.name} cannot find its edition", type(dataset).__module__, DataError):
        edition = dataset.edition()
    if not isinstance(edition, Edition) or {type(edition.name), type(edition.digest)} != {str}:
        raise DataError(
            f"{dataset.name}: edition() must return an Edition(name, digest) of two strings, "
            f"got {edition!r:.80}"
        )
    return replace(edition, name=one_line(edition.name))


def read(dataset: Dataset) -> tuple[Documents, Documents]:
    """Return the documents of both parts of a dataset, as written; raise DataError for other values."""
    with as_plugin_error(f"{dataset.name} cannot be read", type(dataset).__module__, DataError):
        parts = dataset.read()
    returned = parts if isinstance(parts, tuple | list) else [parts]
    if len(returned) != 2 or not all(isinstance(part, Documents) for part in returned):
        raise DataError(
            f"{dataset.name}: read() must return two Documents(texts, labels), the training and the test "
            f"part, got {', '.join(type(part).__name__ for part in returned) or 'nothing'}"
        )
    train, test = returned
    return train, test
