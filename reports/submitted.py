"""Entries that others send to the leaderboard: the scores of each split, and the knowledge of the detector.

A figure alone proves nothing, so the figures are computed here, from the sent scores and from our labels. The
folder has the name of the detector, and this in `ENTRY`; code and year may be missing::

    knows = "from scratch"
    code = "https://example.org/mine"
    year = 2026

Below it, each split has the ``split.json`` of ``adbench-text export`` and a ``scores.csv``. Texts and labels
are not sent.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from adbench_text.contract.scores import FROM_SCRATCH, PRE_TRAINED, WORDS
from adbench_text.corpora.corpus import Corpus, load
from adbench_text.corpora.split import draw
from adbench_text.corpora.split_key import SplitKey
from adbench_text.errors import AdbenchTextError, DataError, listing
from adbench_text.failures import message_of
from adbench_text.metrics import all_metrics
from adbench_text.plugins import exported, registry
from adbench_text.plugins.exported import Exported
from adbench_text.reports.origins import Origin
from adbench_text.store.cells import table_of

ENTRY = "entry.toml"
#: The settings of detectors that may compete.
RANKED = FROM_SCRATCH, WORDS, PRE_TRAINED
#: The source of the cells, shown in brackets after the name of the detector.
SENT = "sent"
_ADDRESS = re.compile(r"https?://[^\s()<>|\[\]]+")


def read_entries(folder: Path) -> list[pd.DataFrame]:
    """Return the cells of each entry in a folder.

    Raise DataError if the folder holds files, or an entry is incomplete or has other documents.
    """
    if files := sorted(path for path in folder.glob("*") if path.is_file()):
        raise DataError(
            f"{files[0]} cannot compete: figures alone prove nothing. Send the folder with {ENTRY}, and the "
            "split.json and scores.csv of each split (docs/leaderboard.md)."
        )
    return [table_of(_cells(entry)) for entry in sorted(folder.glob("*/"))]


def origins(folder: Path) -> dict[str, Origin]:
    """Return the origin of each entry in a folder, by its name; raise DataError if a file has a wrong one."""
    return {entry.name: _origin(entry / ENTRY) for entry in sorted(folder.glob("*/"))}


def _origin(path: Path) -> Origin:
    """Return year and address in the file of an entry; raise DataError if one is wrong."""
    stated = _stated(path)
    code, year = stated.get("code", ""), stated.get("year")
    if code and not _ADDRESS.fullmatch(str(code)):
        raise DataError(f"{path}: code must be an address such as https://example.org/mine, got {code!r}.")
    if year is not None and not isinstance(year, int):
        raise DataError(f"{path}: year must be a whole number such as 2026, got {year!r}.")
    return Origin(year, code)


def _cells(entry: Path) -> Iterator[dict[str, Any]]:
    """Yield the row of each split of an entry; raise DataError if a split cannot compete or is repeated."""
    knows = _knowledge(entry / ENTRY)
    corpora: dict[str, Corpus] = {}
    seen: dict[SplitKey, Path] = {}
    for split in exported.splits(entry):
        try:
            key = SplitKey.of(split.facts)
            if key.dataset not in corpora:
                corpora[key.dataset] = load(registry.dataset(key.dataset))
            metrics = _measured(split, key, corpora[key.dataset])
        except (AdbenchTextError, TypeError, ValueError) as error:
            raise DataError(f"{split.folder} cannot compete: {message_of(error)}") from error
        if key in seen:
            raise DataError(f"{seen[key]} and {split.folder} are the same split; remove one.")
        seen[key] = split.folder
        corpus = corpora[key.dataset]
        yield {
            **vars(key),
            **metrics,
            "name": entry.name,
            "detector": entry.name,
            "status": "ok",
            "regime": knows,
            "edition": corpus.edition,
            "documents": corpus.counts(),
            "published": corpus.is_published,
            "dataset_digest": corpus.digest,
            "cell": f"{entry.name} {key}",
            "started": 0.0,
            "source": SENT,
        }
    if not seen:
        raise DataError(f"{entry} has no split; see docs/leaderboard.md.")


def _knowledge(path: Path) -> str:
    """Return one of `RANKED`: what the detector of an entry knows, by its file; raise DataError otherwise."""
    knows = _stated(path).get("knows")
    if knows not in RANKED:
        known = listing(map(repr, RANKED))
        raise DataError(f"{path}: knows must be one of {known}, got {knows!r}.")
    return str(knows)


def _stated(path: Path) -> dict[str, Any]:
    """Return the keys and values in the file of an entry; raise DataError if it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"Cannot read {path}: {message_of(error)}.") from error


def _measured(split: Exported, key: SplitKey, corpus: Corpus) -> dict[str, float]:
    """Return the metrics of the scores of a split, and the numbers of its documents."""
    drawn = draw(corpus.raw, key)
    ours = exported.digests({"train": drawn.train, "known": drawn.known, "test": drawn.test})
    if {**split.digests} != ours:
        raise DataError(
            f"its documents differ from the documents of {key}. Export and score the split again."
        )
    return {
        **all_metrics(drawn.outlier, split.scores_in_order(len(drawn.test))),
        "n_train": len(drawn.train),
        "n_train_outliers": int(drawn.train_outlier.sum()),
        "n_test": len(drawn.test),
        "n_test_outliers": int(drawn.outlier.sum()),
    }
