"""Reading files of word vectors: only the vectors of the words that are wanted.

The formats: text, as GloVe writes it or with the header line of word2vec and fastText; word2vec's
binary format, recognised by the ending ``.bin``; the binary model of the fasttext program. All but the
last may be gzipped.
"""

import codecs
import gzip
import io
import mmap
import struct
import zlib
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from adbench_text.errors import DataError

Vector = NDArray[np.float32]
#: The number of dimensions, and of each wanted word that is in the file its place and vector.
Found = tuple[int, dict[bytes, tuple[int, Vector]]]

_MAX_DIMENSIONS = 10_000  # more is not a header, but some other file
_MAX_LINE = 1 << 20  # bytes; without a limit a small gzipped file could fill the memory
_MAX_WORD = 10_000  # bytes, in the binary format

_FASTTEXT_MAGIC = struct.pack("<i", 793712314)
# Magic and version; dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn,
# lrUpdateRate, t; entries, words, labels, tokens, pruned entries
_FASTTEXT_HEADER = struct.Struct("<2i12id3i2q")
_FASTTEXT_MATRIX = struct.Struct("<?2q")  # is it quantized, rows, columns


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


def read(path: Path, wanted: Iterable[str] | None) -> WordVectors:
    """Read the vectors of the wanted words, of all words if None; of a word that occurs twice, the first.

    Raises
    ------
    DataError
        If the file is damaged, truncated or of an unknown format.
    """
    word_of = {word.encode("utf-8", "surrogatepass"): word for word in wanted or ()}
    try:
        n_dimensions, vector_of = _read(path, _All() if wanted is None else word_of.keys())
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{path} is damaged or truncated ({error}). Delete it and get it again, "
            "for gensim's vectors by adbench-text fetch NAME."
        ) from error
    if wanted is None:
        word_of = {word: word.decode("utf-8", "surrogateescape") for word in vector_of}
    words = [word_of.pop(word) for word in vector_of]
    rows = [vector for _, vector in vector_of.values()]
    matrix = np.array(rows, dtype=np.float32).reshape(-1, n_dimensions)
    for row in np.flatnonzero(~np.isfinite(matrix).all(axis=1)):
        raise DataError(f"{path}: the vector of {words[row]!r} has a number that is not finite.")
    ranks = np.array([rank for rank, _ in vector_of.values()], dtype=np.int64)
    return WordVectors(words, matrix, ranks, frozenset(word_of.values()))


class _All(Set[bytes]):
    """The set of all words."""

    def __contains__(self, word: object) -> bool:
        return True

    def __iter__(self) -> Iterator[bytes]:
        raise TypeError("the set of all words cannot be listed")

    def __len__(self) -> int:
        raise TypeError("the set of all words has no size")


def makes_vectors(path: Path) -> bool:
    """Return whether a file is a model of fastText, which has a vector for nearly any word."""
    with path.open("rb") as stream:
        return stream.read(len(_FASTTEXT_MAGIC)) == _FASTTEXT_MAGIC


def _read(path: Path, wanted: Set[bytes]) -> Found:
    with path.open("rb") as stream:
        gzipped = stream.read(2) == b"\x1f\x8b"
    with cast(io.FileIO, gzip.open(path) if gzipped else path.open("rb")) as raw:
        stream = io.BufferedReader(raw, 1 << 20)  # gzip's own is slow at lines and single bytes
        if stream.peek(4)[:4] == _FASTTEXT_MAGIC:
            if gzipped:
                raise DataError(f"{path} is a gzipped fastText model: unpack it first.")
            return _read_fasttext_model(path, wanted)
        if path.name.removesuffix(".gz").endswith(".bin"):
            return _read_word2vec_binary(path, stream, wanted)
        return _read_text(path, stream, wanted)


def _header(path: Path, stream: io.BufferedReader) -> tuple[int | None, int, Iterator[bytes]]:
    """Return the promised number of words (None: no header), the dimension, and the lines of vectors."""
    lines = iter(lambda: stream.readline(_MAX_LINE), b"")
    first = next(lines, b"").removeprefix(codecs.BOM_UTF8)
    fields = first.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) < 12 for field in fields):
        n_words, n_dimensions = map(int, fields)
    else:
        n_words, n_dimensions = None, len(fields) - 1
        lines = chain([first], lines)
    if not (1 if n_words is not None else 2) <= n_dimensions <= _MAX_DIMENSIONS:
        raise DataError(f"{path} is not a file of word vectors: its first line is {first[:60]!r}.")
    return n_words, n_dimensions, lines


def _read_text(path: Path, stream: io.BufferedReader, wanted: Set[bytes]) -> Found:
    n_words, n_dimensions, lines = _header(path, stream)
    vector_of: dict[bytes, tuple[int, Vector]] = {}
    n_read = 0
    try:
        for line in lines:
            # Every line is checked, by a count that is cheaper than a split; spaces in the word
            # itself (some of GloVe 840B's have them) only ever add to the count.
            if line.rstrip().count(b" ") < n_dimensions:
                if not line.strip() and not any(map(bytes.strip, lines)):
                    break  # empty lines at the end
                raise ValueError(f"fewer than {n_dimensions} numbers with a space before each")
            word = line[: line.index(b" ")]
            if word in wanted and word not in vector_of:
                fields = line.split()
                if len(fields) <= n_dimensions + 1 or _is_number(fields[1]):  # else a word with spaces
                    vector_of[word] = n_read, _vector(fields[1:], n_dimensions)
            n_read += 1
    except ValueError as error:
        number = n_read + (1 if n_words is None else 2)
        raise DataError(f"{path}, line {number}: {error}. The file is damaged: get it again.") from error
    if n_words is not None and n_read != n_words:
        raise DataError(
            f"{path} is damaged or truncated: it holds {n_read:,} words, "
            f"but its first line promises {n_words:,}. Get it again."
        )
    return n_dimensions, vector_of


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _vector(fields: list[bytes], n_dimensions: int) -> Vector:
    if len(fields) != n_dimensions:
        raise ValueError(f"{len(fields)} numbers where others have {n_dimensions}")
    with np.errstate(over="ignore"):  # read() refuses what is not finite
        return np.array([float(field) for field in fields]).astype(np.float32)


def _read_word2vec_binary(path: Path, stream: io.BufferedReader, wanted: Set[bytes]) -> Found:
    """Read word by word: gensim's reader takes all of a file (gigabytes, of Google's) into memory."""
    n_words, n_dimensions, _ = _header(path, stream)
    if n_words is None:
        raise DataError(
            f"{path} is not a word2vec file in binary format: it does not begin with two numbers."
        )
    vector_of: dict[bytes, tuple[int, Vector]] = {}
    for rank in range(n_words):
        letters = []
        while (letter := stream.read(1)) not in (b" ", b""):
            letters.append(letter)
            if len(letters) > _MAX_WORD:
                raise DataError(f"{path} is damaged: the word at place {rank:,} does not end. Get it again.")
        data = stream.read(4 * n_dimensions)
        if len(data) < 4 * n_dimensions:
            raise EOFError(f"it ends after {rank:,} of the {n_words:,} words that its first line promises")
        word = b"".join(letters).lstrip(b"\n")
        if word in wanted and word not in vector_of:
            vector_of[word] = rank, np.frombuffer(data, "<f4").astype(np.float32)
    if stream.read(2).strip():
        raise DataError(
            f"{path} continues after the {n_words:,} words of its first line; is it in binary format?"
        )
    return n_dimensions, vector_of


def _read_fasttext_model(path: Path, wanted: Set[bytes]) -> Found:
    """Read a binary model, which has a vector for nearly any word through its subwords.

    Mapped, not loaded: published models have some gigabytes. (gensim's reader loads all of it,
    and does not end on a truncated vocabulary.)
    """
    from gensim.models.fasttext import ft_ngram_hashes

    with path.open("rb") as stream:
        data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        header = _FASTTEXT_HEADER.unpack_from(data)
        n_dimensions, bucket, min_n, max_n = header[2], *header[10:13]
        n_entries, n_words, n_labels, _, n_pruned = header[15:]
        row_of: dict[bytes, int] = {}
        position = _FASTTEXT_HEADER.size
        for row in range(n_entries):
            if (end := data.find(b"\0", position)) < 0:
                raise ValueError("it ends within its vocabulary")
            row_of[data[position:end]] = row
            position = end + 10  # the count and the type of the entry follow
        position += 8 * max(n_pruned, 0)
        is_quantized, n_rows, n_columns = _FASTTEXT_MATRIX.unpack_from(data, position)
        if is_quantized or n_labels:
            raise ValueError("only unsupervised, unquantized models can be read")
        sizes = (n_entries, n_rows, n_columns)
        if sizes != (n_words, n_words + bucket, n_dimensions) or min(*sizes, bucket, min_n, max_n) < 0:
            raise ValueError("its sizes contradict each other")
        matrix = np.frombuffer(data, "<f4", n_rows * n_columns, position + _FASTTEXT_MATRIX.size)
    except (ValueError, OverflowError, struct.error) as error:
        raise DataError(
            f"{path} is damaged, truncated or no fastText model that can be read: {error}."
        ) from error
    matrix = matrix.reshape(n_rows, n_columns)
    vector_of = {}
    for word in sorted(wanted):
        rows = [row_of[word]] if word in row_of else []
        if bucket:
            text = word.decode("utf-8", "surrogatepass")
            rows += [n_words + number for number in ft_ngram_hashes(text, min_n, max_n, bucket)]
        if rows:
            vector_of[word] = row_of.get(word, n_words), matrix[rows].mean(axis=0)
    return n_dimensions, vector_of
