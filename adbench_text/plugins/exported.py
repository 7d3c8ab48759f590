"""Splits as plain files, and the scores of other programs for them.

``adbench-text export`` writes a folder for each split:

    split.json    the name of the split, and the digests of its texts
    train.jsonl   a line {"id": ..., "text": ...} for each training document
    test.jsonl    the same for the documents to score
    known.jsonl   the same for known outliers, which a program may learn from; only if there are some
    labels.csv    id, outlier (0 or 1) and the digest of the text; a program that scores must not read it

Another program adds ``scores.csv`` with the columns id and score, one row for each test document in any
order; higher is more abnormal. The detector ``scores:DIR`` then returns these scores for the same texts and
seed, in any order of the texts. If texts are equal, the first gets the score of the lowest id.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.contract.detector import TextDetector
from adbench_text.contract.scores import Scores, check_scores
from adbench_text.errors import DetectorError, InvalidValueError, listing
from adbench_text.failures import message_of
from adbench_text.storage import atomic_path, content_of, file_digest
from adbench_text.text.words import digest

_SPLIT, _LABELS, _SCORES = "split.json", "labels.csv", "scores.csv"
_MOST = 5  # ids in a message


def write(
    folder: Path,
    facts: Mapping[str, str],
    documents: Mapping[str, Sequence[str]],
    outlier: NDArray[np.bool_],
    clean: Callable[[str], str] = str,
) -> None:
    """Write a split to a folder: the documents ``train``, ``test`` and ``known``, and the `facts`."""
    labels = "".join(
        f"{id},{int(outlier[id])},{digest([text])}\n" for id, text in enumerate(documents["test"])
    )
    split = {**facts, "digests": digests(documents)}
    files = {
        **{f"{part}.jsonl": _lines(map(clean, texts)) for part, texts in documents.items() if len(texts)},
        _LABELS: f"id,outlier,text\n{labels}",
        _SPLIT: json.dumps(split, indent=2) + "\n",  # last, so that the other files exist
    }
    for name, text in files.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def digests(documents: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the digests of the documents of each part, and of the test documents in order of their ids."""
    of_parts = {part: digest(sorted(texts)) for part, texts in documents.items()}
    return {**of_parts, "order": digest(list(documents["test"]))}


def _lines(texts: Iterable[str]) -> str:
    """Return texts as JSON lines, with their numbers as ids."""
    return "".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in enumerate(texts))


class Exported(NamedTuple):
    """An exported split: its folder, its name, and the digests of its texts."""

    folder: Path
    facts: Mapping[str, str]  # include the columns of its `SplitKey`
    digests: Mapping[str, str]

    @property
    def _file(self) -> Path:
        """The file of scores; raise DetectorError if it does not exist."""
        if not (self.folder / _SCORES).exists():
            raise DetectorError(f"{self.folder} has no {_SCORES}. Write it, and run the same again.")
        return self.folder / _SCORES

    def scores(self) -> dict[str, list[float]]:
        """Return the scores of texts by digest; copies have several scores, in order of their ids."""
        files = self._file, self.folder / _LABELS
        return _by_text(*files, tuple(map(file_digest, files)))

    def scores_in_order(self, n_texts: int) -> Scores:
        """Return the scores of the test documents, which have the ids 0 ... `n_texts` - 1.

        Raise InvalidValueError if a score is missing, doubled, or not a number.
        """
        table = _scores(self._file, [*map(str, range(n_texts))], "the split")
        return table.set_index(table["id"].astype(int))["score"].sort_index().to_numpy()


def splits(folder: Path) -> Iterator[Exported]:
    """Yield the splits below a folder; raise InvalidValueError for scores without an exported split."""
    for place in sorted({path.parent for name in (_SPLIT, _SCORES) for path in folder.rglob(name)}):
        try:
            facts = json.loads(content_of(place / _SPLIT))
            of_parts = facts.pop("digests")
            if missing := {"train", "known", "test"} - {*of_parts}:
                raise KeyError(min(missing))
            yield Exported(place, {str(name): str(fact) for name, fact in facts.items()}, of_parts)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidValueError(
                f"adbench-text export has not written the folder {place} ({message_of(error)}). "
                "Export the split again, and copy scores.csv to it."
            ) from error


@lru_cache(maxsize=1024)
def _by_text(path: Path, labels_path: Path, file_digests: tuple[str, ...]) -> dict[str, list[float]]:
    """Return the scores of texts by digest; the file must have each id of the labels once.

    `file_digests` only belongs to the key of the cache, so that changed files are read again.
    """
    labels = _table(labels_path, "id", "text")
    table = labels.merge(_scores(path, labels["id"], labels_path.name), on="id")
    return {str(text): of_text.tolist() for text, of_text in table.groupby("text")["score"]}


def _scores(path: Path, expected: Iterable[str], source: str) -> pd.DataFrame:
    """Return ids and scores; raise InvalidValueError unless every id of the source has one score."""
    table = _table(path, "id", "score")
    ids, known = {*table["id"]}, {*expected}
    doubled = {*table["id"][table["id"].duplicated()]}
    wrong = {"missing": known - ids, "unknown": ids - known, "more than once": doubled}
    problems = [f"{kind}: id {listing(map(repr, those), _MOST)}" for kind, those in wrong.items() if those]
    if problems:
        raise InvalidValueError(f"{path} must have each id of {source} once; {'; '.join(problems)}.")
    try:
        return table.assign(score=check_scores(table["score"], len(table)))
    except DetectorError as error:
        raise InvalidValueError(f"{path}: {error}") from None


def _table(path: Path, *columns: str) -> pd.DataFrame:
    """Return columns of a CSV file as text."""
    as_written: dict[str, Any] = {"dtype": str, "keep_default_na": False, "index_col": False}
    try:
        table: pd.DataFrame = pd.read_csv(BytesIO(content_of(path)), encoding="utf-8-sig", **as_written)
    except (OSError, ValueError) as error:  # ValueError: wrong encoding or format
        raise InvalidValueError(f"Cannot read {path}: {message_of(error)}.") from error
    if lacking := {*columns}.difference(table.columns):
        raise InvalidValueError(
            f"{path} has no column {listing(map(repr, sorted(lacking)))}; it has "
            f"{listing(map(repr, table.columns), _MOST)}. Columns are separated by commas."
        )
    return table[[*columns]]


class GivenScores(TextDetector):
    """The scores of another program for exported splits; see the docstring of the module."""

    folder: ClassVar[str]
    computes_with: ClassVar[frozenset[str]] = frozenset()
    reads_raw: ClassVar[bool] = True
    is_timed: ClassVar[bool] = False
    takes_labels: ClassVar[bool] = True

    @property
    def regime(self) -> str | None:
        """None, because the other program does not declare its knowledge."""
        return None

    def check_params(self) -> None:
        """Raise InvalidValueError if the folder has no scores, or if a file of scores is wrong."""
        super().check_params()
        with_scores = [split for split in splits(Path(self.folder)) if (split.folder / _SCORES).exists()]
        if not with_scores:
            raise InvalidValueError(
                f"{self.folder} has no {_SCORES}. Run adbench-text export --to {self.folder}, and write one "
                "in the folder of each test.jsonl, with the columns id and score."
            )
        for split in with_scores:
            split.scores()  # raises the error

    def resources(self) -> dict[str, str]:
        """Return the digest of all scores and of the descriptions of their splits."""
        paths = sorted(Path(self.folder).rglob(_SCORES))
        files = [file for path in paths for file in (path, path.with_name(_SPLIT))]
        return {"scores": digest([file_digest(file) for file in files])}

    def _fit(self, texts: list[str]) -> None:
        """Find the exported splits with this seed, these training texts and these known outliers.

        They may still differ in their test texts.
        """
        wanted = str(self.random_state), digest(sorted(texts)), digest(sorted(self._known_labels.odd))
        self._splits = [
            split
            for split in splits(Path(self.folder))
            if (split.facts.get("seed"), split.digests["train"], split.digests["known"]) == wanted
        ]
        if not self._splits:
            raise DetectorError(
                f"{self.folder} has no scores of this split: no split in this folder has the same training "
                "texts, known outliers and seed. Export the split with the same options."
            )

    def _score(self, texts: list[str]) -> Scores:
        """Return the scores of the split with these test texts, in the order of the texts."""
        of_test = digest(sorted(texts))
        same = [split for split in self._splits if split.digests["test"] == of_test]
        if not same:
            raise DetectorError(f"{self.folder} has scores of other test documents than this split has.")
        if len(same) > 1:
            raise DetectorError(f"{same[0].folder} and {same[1].folder} are the same split; remove one.")
        # the last one is taken first: copies get their scores in the order of their ids
        waiting = {text: scores[::-1] for text, scores in same[0].scores().items()}
        try:
            return np.array([waiting[digest([text])].pop() for text in texts])
        except LookupError:
            raise InvalidValueError(f"{same[0].folder / _LABELS} was changed; export it again.") from None


def given_scores(folder: str) -> type[GivenScores]:
    """Return a detector with the scores below a folder."""
    return type("GivenScores", (GivenScores,), {"folder": folder, "__module__": __name__})
