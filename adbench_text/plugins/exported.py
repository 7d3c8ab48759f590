"""Splits as plain files, and scores that other programs write beside them.

``adbench-text export`` writes a folder for each split:

    split.json    what it is, and the digests of its texts
    train.jsonl   a line {"id": ..., "text": ...} for each training document
    test.jsonl    the same for the documents to score
    labels.csv    id, outlier (0 or 1) of the test documents: no program that scores them may read it

Another program adds ``scores.csv`` with the columns id and score, one row for each test document; higher is
more abnormal. The detector ``scores:DIR`` then returns these scores for the same texts.
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from adbench_text.errors import DetectorError, InvalidValueError
from adbench_text.places import message_of
from adbench_text.plugins.detector import TextDetector
from adbench_text.plugins.scores import Scores
from adbench_text.storage import atomic_path, file_digest
from adbench_text.text.words import digest

_SPLIT, _SCORES = "split.json", "scores.csv"
_MOST = 5  # ids that a message lists


def write(
    folder: Path,
    facts: Mapping[str, str],
    train: Sequence[str],
    test: Mapping[int, str],
    outliers: Set[int],
) -> None:
    """Write a split to a folder; `test` has the texts by their ids, `outliers` are ids of some of them."""
    labels = "".join(f"{id},{int(id in outliers)}\n" for id in test)
    digests = {"train": digest(train), "test": digest(list(test.values()))}
    files = {
        "train.jsonl": _lines(dict(enumerate(train))),
        "test.jsonl": _lines(test),
        "labels.csv": f"id,outlier\n{labels}",
        _SPLIT: json.dumps({**facts, "digests": digests}, indent=2) + "\n",  # last: then all is there
    }
    for name, text in files.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _lines(texts: Mapping[int, str]) -> str:
    return "".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in texts.items())


class _Given(NamedTuple):
    """The digests of the texts of a split, and the scores of its test documents in their order."""

    train: str
    test: str
    scores: Scores


def _given(folder: Path) -> Iterator[_Given]:
    """Yield the splits below a folder that have scores; raise InvalidValueError if a file is not right."""
    for path in sorted(folder.rglob(_SCORES)):
        try:
            digests = json.loads((path.parent / _SPLIT).read_text(encoding="utf-8"))["digests"]
            with (path.parent / "test.jsonl").open(encoding="utf-8") as lines:
                ids = [str(json.loads(line)["id"]) for line in lines]
            train, test = str(digests["train"]), str(digests["test"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InvalidValueError(
                f"{path.parent} is no folder that adbench-text export has written ({message_of(error)}). "
                "Export the split again, and copy scores.csv to it."
            ) from error
        yield _Given(train, test, _scores(path, ids))


def _scores(path: Path, ids: Sequence[str]) -> Scores:
    """Return the scores of a file in the order of ids, of which each must be there once."""
    score_of: dict[str, float] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = csv.DictReader(stream, strict=True)
            for row in rows:
                place = f"{path}, line {rows.line_num}"
                if row.get("id") is None or row.get("score") is None:
                    raise InvalidValueError(f"{place}: expected the columns id and score.")
                if row["id"] in score_of:
                    raise InvalidValueError(f"{place}: the id {row['id']!r:.40} is there twice.")
                try:
                    score_of[row["id"]] = float(row["score"])
                except ValueError:
                    raise InvalidValueError(f"{place}: {row['score']!r:.40} is no number.") from None
                if not math.isfinite(score_of[row["id"]]):
                    raise InvalidValueError(f"{place}: the score must be finite, got {row['score']}.")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidValueError(f"Cannot read {path}: {message_of(error)}.") from error
    known = set(ids)
    for problem, wrong in (
        ("has no score for", [id for id in ids if id not in score_of]),
        ("has scores of unknown documents:", [id for id in score_of if id not in known]),
    ):
        if wrong:
            listed = ", ".join(wrong[:_MOST]) + (", ..." if len(wrong) > _MOST else "")
            raise InvalidValueError(f"{path} {problem} {len(wrong):,} of {len(ids):,} ids ({listed}).")
    return np.array([score_of[id] for id in ids])


class GivenScores(TextDetector):
    """Scores that another program wrote beside exported splits; see the head of the module."""

    folder: ClassVar[str]

    def check_params(self) -> None:
        """Raise InvalidValueError if the folder has no scores, or a file of scores is not right."""
        super().check_params()
        if not list(_given(Path(self.folder))):
            raise InvalidValueError(
                f"{self.folder} has no {_SCORES}. Run adbench-text export --to {self.folder}, and write one "
                "beside each test.jsonl, with the columns id and score."
            )

    def resources(self) -> dict[str, str]:
        """Return the digest of all scores."""
        files = sorted(Path(self.folder).rglob(_SCORES))
        return {"scores": digest([file_digest(path) for path in files])}

    def _fit(self, texts: list[str]) -> None:
        of_training = digest(texts)
        self._splits = [split for split in _given(Path(self.folder)) if split.train == of_training]
        if not self._splits:
            raise DetectorError(
                f"{self.folder} has no scores of this split: the training texts are those of no split there. "
                "Export it with the same dataset, protocol, contamination, seed and limit."
            )

    def _score(self, texts: list[str]) -> Scores:
        of_test = digest(texts)
        for split in self._splits:
            if split.test == of_test:
                return split.scores
        raise DetectorError(f"{self.folder} has scores of other test documents than those of this split.")


def given_scores(folder: str) -> type[GivenScores]:
    """Return the detector that has the scores below a folder."""
    return type("GivenScores", (GivenScores,), {"folder": folder, "__module__": __name__})
