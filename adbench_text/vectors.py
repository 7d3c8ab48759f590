"""Word vectors: finding the file, reading of it only the words that are needed, remembering those.

A file of vectors is read once per corpus; what was read lies in the cache directory as one slim
matrix (``vectors/<digest>.npz``) that grows with every corpus, so that the next use is a load of
the words in question and no more.
"""

import gzip
import logging
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, cast
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from adbench_text import storage
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError

#: Vectors that gensim's downloader offers, and what they are.
DOWNLOADS = {
    "glove-wiki-gigaword-50": "GloVe 6B, 50 dimensions, 400,000 words (66 MB)",
    "glove-wiki-gigaword-100": "GloVe 6B, 100 dimensions, 400,000 words (128 MB)",
    "glove-wiki-gigaword-200": "GloVe 6B, 200 dimensions, 400,000 words (252 MB)",
    "glove-wiki-gigaword-300": "GloVe 6B, 300 dimensions, 400,000 words (376 MB)",
    "fasttext-wiki-news-subwords-300": "fastText, 300 dimensions, 1,000,000 words (959 MB)",
}
#: Not a file: gensim's FastText, trained on the training texts of the split alone.
LOCAL = "fasttext-local"

_FASTTEXT_MAGIC = struct.pack("<i", 793712314)  # how a binary model of the fasttext program begins


@dataclass(frozen=True)
class WordVectors:
    """Vectors of some words of a file.

    Parameters
    ----------
    words : list of str
        The words that the file has a vector for, of those asked for.
    matrix : float32 array of shape (n_words, n_dimensions)
        Their vectors.
    ranks : int64 array of shape (n_words,)
        Their places in the file, from 0; files are mostly in order of frequency.
    missing : frozenset of str
        Words that were asked for and that the file does not have.
    """

    words: list[str]
    matrix: NDArray[np.float32]
    ranks: NDArray[np.int64]
    missing: frozenset[str]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each word in the matrix."""
        return {word: row for row, word in enumerate(self.words)}

    def rows(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Return the row of each word, -1 for a word without a vector."""
        row_of = self.row_of
        return np.array([row_of.get(word, -1) for word in words], dtype=np.int64)


def locate(name: str) -> Path:
    """Return the file of these vectors.

    Parameters
    ----------
    name : str
        A name of `DOWNLOADS`, or the path of a word2vec, GloVe or fastText file.

    Raises
    ------
    DataError
        If the file is not there; the message names the command that fetches it.
    UnknownNameError
        If it is neither a known name nor looks like a path.
    """
    if name in DOWNLOADS:
        path = storage.data_dir() / "vectors" / name / f"{name}.gz"
        if not path.is_file():
            raise DataError(f"Word vectors {name} are not in {path.parent}; run: adbench-text fetch {name}")
        return path
    path = Path(name).expanduser()
    if path.is_file():
        return path
    if len(path.parts) > 1 or path.suffix:
        raise DataError(f"There is no file of word vectors at {path}.")
    raise UnknownNameError("word vectors", name, [*DOWNLOADS, LOCAL])


def is_here(name: str) -> bool:
    """Say whether the file of these vectors is in the data directory."""
    try:
        return locate(name).is_file()
    except DataError:
        return False


def fetch(name: str) -> Path:
    """Return the file of these vectors; download it first, through gensim, if it is not there."""
    folder = storage.data_dir() / "vectors"
    try:
        return locate(name)
    except DataError:
        if storage.is_offline() or name not in DOWNLOADS:
            raise
    import gensim.downloader

    folder.mkdir(parents=True, exist_ok=True)
    gensim.downloader.BASE_DIR = gensim.downloader.base_dir = str(folder)
    try:
        gensim.downloader.load(name, return_path=True)  # verifies its checksum
    except Exception as error:  # of the network, the disk or the checksum
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(
            f"Could not download {name}: {reason}. Get {name}.gz by hand and put it into {folder / name}."
        ) from error
    return locate(name)


def load(name: str, words: Iterable[str]) -> WordVectors:
    """Load the vectors of these words (others may come along).

    Raises
    ------
    DataError
        If the file is missing, or a line of it is broken or of another dimension.
    """
    path = locate(name)
    key = storage.file_digest(path)[:16]
    slim = _memory.get(key) or _read_cache(key)
    asked = set(words)
    new = asked if slim is None else asked - slim.row_of.keys() - slim.missing
    if slim is None or new:
        read = _read(path, new)
        slim = read if slim is None else _merge(slim, read)
        _write_cache(key, slim)
    _memory.clear()  # one file of vectors at a time
    _memory[key] = slim
    return slim


_memory: dict[str, WordVectors] = {}


def _merge(first: WordVectors, second: WordVectors) -> WordVectors:
    return WordVectors(
        first.words + second.words,
        np.concatenate([first.matrix, second.matrix]),
        np.concatenate([first.ranks, second.ranks]),
        first.missing | second.missing,
    )


def _cache_path(key: str) -> Path:
    return storage.cache_dir() / "vectors" / f"{key}.npz"


def _write_cache(key: str, slim: WordVectors) -> None:
    with storage.atomic_path(_cache_path(key)) as temporary:
        np.savez(
            temporary,
            words=_packed(slim.words),
            matrix=slim.matrix,
            ranks=slim.ranks,
            missing=_packed(sorted(slim.missing)),
        )


def _read_cache(key: str) -> WordVectors | None:
    try:
        with np.load(_cache_path(key), allow_pickle=False) as arrays:
            words, missing = _unpacked(arrays["words"]), frozenset(_unpacked(arrays["missing"]))
            slim = WordVectors(words, arrays["matrix"], arrays["ranks"], missing)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return None  # not there, or damaged: read anew
    return slim if len(slim.words) == len(slim.matrix) == len(slim.ranks) else None


def _packed(words: list[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(words).encode(), dtype=np.uint8)


def _unpacked(data: NDArray[np.uint8]) -> list[str]:
    return data.tobytes().decode().split("\n") if data.size else []


def _read(path: Path, wanted: set[str]) -> WordVectors:
    """Read the vectors of the wanted words from a file of any of the known formats."""
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
        if magic == _FASTTEXT_MAGIC:
            return _read_fasttext_model(path, wanted)
        if path.suffix == ".bin":
            return _read_word2vec_binary(path, wanted)
        with cast(IO[bytes], gzip.open(path)) if magic[:2] == b"\x1f\x8b" else path.open("rb") as stream:
            return _read_text(path, stream, wanted)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{path} is damaged or truncated ({error}). Delete it and get it again, "
            "for gensim's vectors by adbench-text fetch NAME."
        ) from error


def _read_text(path: Path, stream: IO[bytes], wanted: set[str]) -> WordVectors:
    """Read GloVe's text format, or word2vec's and fastText's, which has a header line."""
    words, ranks, values = [], [], []
    wanted_bytes = {word.encode("utf-8", "surrogatepass"): word for word in wanted}
    n_words, n_dimensions, lines = _header(path, stream)
    number = -1
    for number, line in enumerate(lines):
        word, _, rest = line.partition(b" ")
        # Cheaper than a split, and the whole file is checked: a word with spaces in it (GloVe
        # 840B has some) only ever adds to the count.
        if line.rstrip().count(b" ") < n_dimensions:
            raise _broken(path, number, n_words, f"fewer than {n_dimensions} numbers")
        if word in wanted_bytes:
            vector = np.array(rest.split(), dtype=object)
            if len(vector) != n_dimensions:
                raise _broken(
                    path, number, n_words, f"{len(vector)} numbers where others have {n_dimensions}"
                )
            words.append(wanted_bytes.pop(word))
            ranks.append(number)
            try:
                values.append(vector.astype(np.float32))
            except ValueError as error:
                raise _broken(path, number, n_words, str(error)) from error
    if n_words is not None and number + 1 != n_words:
        raise DataError(
            f"{path} is truncated: {number + 1:,} of the {n_words:,} words that its first line promises."
        )
    matrix = np.array(values, dtype=np.float32).reshape(len(words), n_dimensions)
    return WordVectors(words, matrix, np.array(ranks, dtype=np.int64), frozenset(wanted_bytes.values()))


def _header(path: Path, stream: IO[bytes]) -> tuple[int | None, int, Iterator[bytes]]:
    """Return the promised number of words (None: no header), the dimension, and the lines of vectors."""
    first = stream.readline()
    fields = first.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        return int(fields[0]), int(fields[1]), iter(stream)
    if len(fields) < 3:
        raise DataError(f"{path} is no file of word vectors: its first line is {first[:60]!r}.")

    def lines() -> Iterator[bytes]:
        yield first
        yield from stream

    return None, len(fields) - 1, lines()


def _broken(path: Path, number: int, n_words: int | None, what: str) -> DataError:
    line = number + (1 if n_words is None else 2)
    return DataError(f"{path}, line {line}: {what}. The file is damaged: get it again.")


def _read_word2vec_binary(path: Path, wanted: set[str]) -> WordVectors:
    from gensim.models import KeyedVectors

    try:
        vectors = KeyedVectors.load_word2vec_format(str(path), binary=True, unicode_errors="replace")
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is no word2vec file in binary format: {error}") from error
    words = [word for word in sorted(wanted) if word in vectors.key_to_index]
    ranks = np.array([vectors.key_to_index[word] for word in words], dtype=np.int64)
    return WordVectors(
        words, vectors.vectors[ranks].astype(np.float32), ranks, frozenset(wanted - set(words))
    )


def _read_fasttext_model(path: Path, wanted: set[str]) -> WordVectors:
    """Read a binary fastText model, which has a vector for any word through its subwords."""
    from gensim.models.fasttext import load_facebook_vectors

    try:
        vectors = load_facebook_vectors(str(path))
    except (ValueError, NotImplementedError, struct.error) as error:
        raise DataError(f"{path} is no fastText model that gensim can read: {error}") from error
    words = sorted(wanted)
    n_known = len(vectors.key_to_index)
    ranks = np.array([vectors.key_to_index.get(word, n_known) for word in words], dtype=np.int64)
    matrix = np.array([vectors[word] for word in words], dtype=np.float32).reshape(-1, vectors.vector_size)
    return WordVectors(words, matrix, ranks, frozenset())


def train_local(
    texts: Iterable[str], words: Iterable[str], seed: int, n_dimensions: int = 100
) -> WordVectors:
    """Train gensim's FastText on texts and return its vectors of these words (unknown ones by subwords).

    One worker thread, since with several gensim's result depends on their timing.

    Raises
    ------
    InvalidValueError
        If the texts hold no word at all.
    """
    from gensim.models import FastText

    from adbench_text.text import words as words_of

    logging.getLogger("gensim").setLevel(logging.ERROR)
    sentences = [words_of(text) for text in texts]
    if not any(sentences):
        raise InvalidValueError("fasttext-local needs training texts with at least one word.")
    model = FastText(sentences, vector_size=n_dimensions, min_count=1, epochs=5, seed=seed, workers=1)
    listed = sorted(set(words))
    matrix = np.array([model.wv[word] for word in listed], dtype=np.float32).reshape(-1, n_dimensions)
    return WordVectors(listed, matrix, np.arange(len(listed)), frozenset())
