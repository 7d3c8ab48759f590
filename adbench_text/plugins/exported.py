"""Splits as plain files, and scores that other programs write beside them.

``adbench-text export`` writes a folder for each split:

    split.json    what it is, and the digests of its texts
    train.jsonl   a line {"id": ..., "text": ...} for each training document
    test.jsonl    the same for the documents to score, in an order that gives no label away
    labels.csv    id, document (its place in the test set) and outlier (0 or 1): not for a program that scores

Another program adds ``scores.csv`` with the columns id and score, one row for each test document; higher is
more abnormal. The detector ``scores:DIR`` then returns these scores for the same texts.
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.errors import DetectorError, InvalidValueError
from adbench_text.places import message_of
from adbench_text.plugins.detector import TextDetector
from adbench_text.plugins.scores import Scores
from adbench_text.storage import atomic_path, file_digest
from adbench_text.text.words import digest

_SPLIT, _LABELS, _SCORES = "split.json", "labels.csv", "scores.csv"
_MOST = 5  # ids that a message lists


def write(
    folder: Path,
    facts: Mapping[str, str],
    train: Sequence[str],
    test: Sequence[str],
    outlier: NDArray[np.bool_],
) -> None:
    """Write a split to a folder."""
    order = np.random.default_rng(0).permutation(len(test)).tolist()
    labels = "".join(f"{id},{place},{int(outlier[place])}\n" for id, place in enumerate(order))
    digests = {"train": digest(train), "test": digest(test)}
    files = {
        "train.jsonl": _lines(train),
        "test.jsonl": _lines([test[place] for place in order]),
        _LABELS: f"id,document,outlier\n{labels}",
        _SPLIT: json.dumps({**facts, "digests": digests}, indent=2) + "\n",  # last: then all is there
    }
    for name, text in files.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _lines(texts: Sequence[str]) -> str:
    return "".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in enumerate(texts))


class _Split(NamedTuple):
    """A split that has scores: its folder, its seed, and the digests of its texts."""

    folder: Path
    seed: str
    train: str
    test: str

    def scores(self) -> Scores:
        """Return the scores of the test documents in their order."""
        files = self.folder / _SCORES, self.folder / _LABELS
        return _scores(*files, tuple(map(file_digest, files)))


def _splits(folder: Path) -> Iterator[_Split]:
    """Yield the splits below a folder that have scores; raise InvalidValueError if it is not exported."""
    for path in sorted(folder.rglob(_SCORES)):
        try:
            facts = json.loads((path.parent / _SPLIT).read_text(encoding="utf-8"))
            digests = facts["digests"]
            yield _Split(path.parent, facts["seed"], digests["train"], digests["test"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InvalidValueError(
                f"{path.parent} is no folder that adbench-text export has written ({message_of(error)}). "
                "Export the split again, and copy scores.csv to it."
            ) from error


@lru_cache(maxsize=1024)
def _scores(path: Path, labels: Path, digests: tuple[str, ...]) -> Scores:
    """Return the scores of a file in the order of the documents; each id of the labels must be there once."""
    score_of: dict[str, float] = {}
    for place, row in _rows(path, "id", "score"):
        if row["id"] in score_of:
            raise InvalidValueError(f"{place}: the id {row['id']!r:.40} is there twice.")
        try:
            score_of[row["id"]] = float(row["score"])
        except ValueError:
            raise InvalidValueError(f"{place}: {row['score']!r:.40} is no number.") from None
        if not math.isfinite(score_of[row["id"]]):
            raise InvalidValueError(f"{place}: the score must be finite, got {row['score']}.")
    ids = {row["document"]: row["id"] for _, row in _rows(labels, "id", "document")}
    known = set(ids.values())
    for problem, wrong in (
        ("has no score for", known - score_of.keys()),
        ("has scores of unknown documents:", score_of.keys() - known),
    ):
        if wrong:
            listed = ", ".join(sorted(wrong)[:_MOST]) + (", ..." if len(wrong) > _MOST else "")
            raise InvalidValueError(f"{path} {problem} {len(wrong):,} of {len(ids):,} ids ({listed}).")
    try:
        return np.array([score_of[ids[str(place)]] for place in range(len(ids))])
    except KeyError as error:
        raise InvalidValueError(f"{labels} was changed: it has no document {error}. Export again.") from error


def _rows(path: Path, *columns: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each row of a CSV that has these columns, with its place for messages."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = csv.DictReader(stream, strict=True)
            for row in rows:
                place = f"{path}, line {rows.line_num}"
                if any(row.get(column) is None for column in columns):
                    raise InvalidValueError(f"{place}: expected the columns {' and '.join(columns)}.")
                yield place, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidValueError(f"Cannot read {path}: {message_of(error)}.") from error


class GivenScores(TextDetector):
    """Scores that another program wrote beside exported splits; see the head of the module."""

    folder: ClassVar[str]
    computes_with: ClassVar[frozenset[str]] = frozenset()

    @property
    def regime(self) -> str | None:
        """None: what the other program knows is not declared."""
        return None

    def check_params(self) -> None:
        """Raise InvalidValueError if the folder has no scores, or a file of scores is not right."""
        super().check_params()
        splits = list(_splits(Path(self.folder)))
        if not splits:
            raise InvalidValueError(
                f"{self.folder} has no {_SCORES}. Run adbench-text export --to {self.folder}, and write one "
                "beside each test.jsonl, with the columns id and score."
            )
        for split in splits:
            split.scores()

    def resources(self) -> dict[str, str]:
        """Return the digest of all scores."""
        files = sorted(Path(self.folder).rglob(_SCORES))
        return {"scores": digest([file_digest(path) for path in files])}

    def _fit(self, texts: list[str]) -> None:
        of_training = digest(texts)
        self._splits = [split for split in _splits(Path(self.folder)) if split.train == of_training]
        if not self._splits:
            raise DetectorError(
                f"{self.folder} has no scores of this split: the training texts are those of no split there. "
                "Export it with the same dataset, protocol, contamination, seed and limit."
            )

    def _score(self, texts: list[str]) -> Scores:
        of_test = digest(texts)
        same = [split for split in self._splits if split.test == of_test]
        same = [split for split in same if split.seed == str(self.random_state)] or same
        if not same:
            raise DetectorError(f"{self.folder} has scores of other test documents than those of this split.")
        first, *others = (split.scores() for split in same)
        if any(not np.array_equal(first, other) for other in others):
            folders = ", ".join(str(split.folder) for split in same)
            raise DetectorError(f"these folders have the same texts, and different scores: {folders}.")
        return first.copy()


def given_scores(folder: str) -> type[GivenScores]:
    """Return the detector that has the scores below a folder."""
    return type("GivenScores", (GivenScores,), {"folder": folder, "__module__": __name__})
