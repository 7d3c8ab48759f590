"""Reading files of word vectors: text, as GloVe writes it or with word2vec's line of sizes, or binary.

pandas reads text, in a tenth of the time that gensim takes. gensim reads word2vec's binary format. A file
with one of their suffixes, such as ``.gz``, may be compressed.
"""

import csv
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.errors import DataError
from adbench_text.failures import described

_MAX_DIMENSIONS = 10_000  # more is not a file of vectors


def read(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    """Read all words and vectors of a file, in their order."""
    is_binary = path.name.removesuffix(".gz").endswith(".bin")
    try:
        words, matrix = (_read_binary if is_binary else _read_text)(path)
    except (OSError, EOFError, zlib.error, ValueError, OverflowError, AssertionError, MemoryError) as error:
        raise DataError(
            f"{path} cannot be read: it is damaged, truncated or not a file of word vectors "
            f"({described(error)[:200]}). Get it again, gensim's vectors by adbench-text fetch NAME."
        ) from error
    for row in np.flatnonzero(~np.isfinite(matrix).all(axis=1)):
        raise DataError(f"{path}: the vector of {words[row]!r:.40} has a number that is not finite.")
    return words, matrix


def _read_binary(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load_word2vec_format(str(path), binary=True, unicode_errors="replace")
    n_words = vectors.next_index  # less than promised if a word occurs twice
    return vectors.index_to_key[:n_words], vectors.vectors[:n_words]


def _read_text(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    import pandas as pd

    layout: dict[str, Any] = {
        "sep": " ",
        "header": None,
        "quoting": csv.QUOTE_NONE,
        "lineterminator": "\n",
        "na_filter": False,
        "encoding_errors": "replace",
    }
    first = pd.read_csv(path, nrows=1, dtype=str, **layout).iloc[0].tolist()
    n_words, n_dimensions = _sizes(first)
    with np.errstate(over="ignore"):  # `read` refuses what is not finite
        table = pd.read_csv(
            path,
            skiprows=0 if n_words is None else 1,
            dtype={0: str, **dict.fromkeys(range(1, n_dimensions + 1), np.float32)},
            # a few words of GloVe 840B have spaces; no word of a document does
            on_bad_lines="skip" if n_words is None else "error",
            low_memory=False,
            **layout,
        )
    rest = table.iloc[:, n_dimensions + 1 :]  # fastText ends each line with a space
    if table.shape[1] <= n_dimensions or rest.to_numpy().any():
        raise ValueError(f"a line has {table.shape[1] - 1} numbers, and not {n_dimensions}")
    if n_words is not None and len(table) != n_words:
        raise EOFError(f"it holds {len(table):,} words, but its first line promises {n_words:,}")
    return table[0].tolist(), table.iloc[:, 1 : n_dimensions + 1].to_numpy()


def _sizes(first: list[str]) -> tuple[int | None, int]:
    """Return the number of words that the first line promises (None: it is a word), and the dimension."""
    fields = list(filter(None, (field.strip() for field in first)))
    if len(fields) == 2 and all(field.isdecimal() and len(field) < 12 for field in fields):
        n_words, n_dimensions = map(int, fields)
    else:
        n_words, n_dimensions = None, len(fields) - 1
    if n_words == 0 or not 1 <= n_dimensions <= _MAX_DIMENSIONS or (n_words is None and n_dimensions < 2):
        raise ValueError(f"its first line is {' '.join(first)[:40]!r}")
    return n_words, n_dimensions
