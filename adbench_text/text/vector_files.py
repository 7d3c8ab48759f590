"""Reading files of word vectors, completely or, of a fastText model, mapped into memory.

The formats: text, as GloVe writes it or with the header line of word2vec and fastText; word2vec's binary
format; the binary model of the fasttext program. The first two may be gzipped. gensim reads word2vec's binary
format. It refuses those words of GloVe that contain spaces, and takes all of a fastText model (gigabytes)
into memory.
"""

import codecs
import gzip
import mmap
import struct
import warnings
import zlib
from array import array
from collections.abc import Iterable, Sequence
from io import BufferedReader
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adbench_text.errors import DataError
from adbench_text.places import described

_MAX_DIMENSIONS = 10_000  # more is not a header, but some other file
_MAX_LINE = 1 << 20  # bytes; without a limit a small gzipped file could fill the memory
_SAMPLE = 4096  # bytes that show whether a file is text

_FASTTEXT_MAGIC = struct.pack("<i", 793712314)
# Magic and version; dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn,
# lrUpdateRate, t; entries, words, labels, tokens, pruned entries
_FASTTEXT_HEADER = struct.Struct("<2i12id3i2q")
_FASTTEXT_MATRIX = struct.Struct("<?2q")  # is it quantized, rows, columns


class WordVectors:
    """Words and their vectors (n_words, n_dimensions); ``ranks`` are places in the file, from 0."""

    def __init__(
        self, words: list[str], matrix: NDArray[np.float32], ranks: Sequence[int] | None = None
    ) -> None:
        places = range(len(words))
        self.words, self.matrix = words, matrix
        self.matrix.flags.writeable = False  # shared between detectors
        self.ranks = np.array(places if ranks is None else ranks, dtype=np.int64)
        self._row_of = dict(zip(reversed(words), reversed(places), strict=True))  # the first of equal words

    def rows(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Return the row of each word, -1 for a word without a vector."""
        return np.array([self._row_of.get(word, -1) for word in words], dtype=np.int64)

    def vectors_of(self, words: Iterable[str]) -> "WordVectors":
        """Return itself: the vectors of all words of the file."""
        return self


class FastTextModel:
    """A binary model of the fasttext program, mapped; most words have a vector from subwords."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as stream:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            header = _FASTTEXT_HEADER.unpack_from(data)
            n_dimensions, self._bucket, *self._n_grams = header[2], *header[10:13]
            n_entries, self._n_words, n_labels, _, n_pruned = header[15:]
            self._row_of: dict[bytes, int] = {}
            position = _FASTTEXT_HEADER.size
            for row in range(n_entries):
                if (end := data.find(b"\0", position)) < 0:
                    raise ValueError("it ends within its vocabulary")
                self._row_of[data[position:end]] = row
                position = end + 10  # the count and the type of the entry follow
            position += 8 * max(n_pruned, 0)
            is_quantized, n_rows, n_columns = _FASTTEXT_MATRIX.unpack_from(data, position)
            if is_quantized or n_labels:
                raise ValueError("only unsupervised, unquantized models can be read")
            sizes = (n_entries, n_rows, n_columns)
            expected = (self._n_words, self._n_words + self._bucket, n_dimensions)
            if sizes != expected or min(*sizes, self._bucket, *self._n_grams) < 0:
                raise ValueError("its sizes contradict each other")
            matrix = np.frombuffer(data, "<f4", n_rows * n_columns, position + _FASTTEXT_MATRIX.size)
        except (ValueError, OverflowError, struct.error) as error:
            raise DataError(
                f"{path} is damaged, truncated or no fastText model that can be read: {error}."
            ) from error
        self._matrix = matrix.reshape(n_rows, n_columns)

    def vectors_of(self, words: Iterable[str]) -> WordVectors:
        """Return the vectors of these words, without those that have none."""
        from gensim.models.fasttext import ft_ngram_hashes

        found: dict[str, NDArray[np.float32]] = {}
        ranks = []
        for word in sorted(set(words)):
            row = self._row_of.get(word.encode("utf-8", "surrogatepass"), self._n_words)
            rows = [row] if row < self._n_words else []
            if self._bucket:
                hashes = ft_ngram_hashes(word, *self._n_grams, self._bucket)
                rows += [self._n_words + number for number in hashes]
            if rows:
                found[word] = self._matrix[rows].mean(axis=0)
                ranks.append(row)
        matrix = np.array(list(found.values()), dtype=np.float32).reshape(-1, self._matrix.shape[1])
        return WordVectors(list(found), matrix, ranks)


def is_fasttext_model(path: Path) -> bool:
    """Return whether a file is a binary model of the fasttext program."""
    with path.open("rb") as stream:
        return stream.read(len(_FASTTEXT_MAGIC)) == _FASTTEXT_MAGIC


def read(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    """Read all words and vectors of a file in text or in word2vec's binary format, in their order."""
    try:
        with _open(path) as stream:
            first, sample = stream.readline(_MAX_LINE), stream.read(_SAMPLE)
        n_words, n_dimensions = _sizes(first.removeprefix(codecs.BOM_UTF8))
        if path.name.removesuffix(".gz").endswith(".bin") and not sample.isascii():
            words, matrix = _read_binary(path)
        else:
            words, matrix = _read_text(path, n_words, n_dimensions)
    except (OSError, EOFError, zlib.error, ValueError, AssertionError, MemoryError) as error:
        raise DataError(
            f"{path} cannot be read: it is damaged, truncated or not a file of word vectors "
            f"({described(error)}). Get it again, gensim's vectors by adbench-text fetch NAME."
        ) from error
    for row in np.flatnonzero(~np.isfinite(matrix).all(axis=1)):
        raise DataError(f"{path}: the vector of {words[row]!r} has a number that is not finite.")
    return words, matrix


def _open(path: Path) -> gzip.GzipFile | BufferedReader:
    with path.open("rb") as stream:
        is_gzipped = stream.read(2) == b"\x1f\x8b"
    return gzip.open(path) if is_gzipped else path.open("rb")


def _sizes(first: bytes) -> tuple[int | None, int]:
    """Return the number of words that the first line promises (None: it is no header), and the dimension."""
    fields = first.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) < 12 for field in fields):
        n_words, n_dimensions = map(int, fields)
        if n_words and 1 <= n_dimensions <= _MAX_DIMENSIONS:
            return n_words, n_dimensions
    elif 3 <= len(fields) <= _MAX_DIMENSIONS:
        return None, len(fields) - 1
    raise ValueError(f"its first line is {first[:40]!r}")


def _read_binary(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    from gensim.models import KeyedVectors

    read = KeyedVectors.load_word2vec_format(str(path), binary=True, unicode_errors="replace")
    n_words = read.next_index  # less than promised if a word occurs twice
    return read.index_to_key[:n_words], read.vectors[:n_words]


def _read_text(path: Path, n_words: int | None, n_dimensions: int) -> tuple[list[str], NDArray[np.float32]]:
    words: list[str] = []
    numbers = array("f")
    with _open(path) as stream, warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # older releases of NumPy only warn
        if n_words is not None:
            stream.readline(_MAX_LINE)
        lines = iter(lambda: stream.readline(_MAX_LINE), b"")
        for place, line in enumerate(lines, start=1 if n_words is None else 2):
            if not line.strip():
                continue
            try:
                word, vector = _word_and_vector(line, n_dimensions)
            except ValueError as error:
                raise ValueError(f"line {place}: {error}") from error
            words.append(word.decode("utf-8", "replace"))
            numbers.frombytes(vector.tobytes())
    if n_words is not None and len(words) != n_words:
        raise EOFError(f"it holds {len(words):,} words, but its first line promises {n_words:,}")
    words[:1] = [word.removeprefix("\ufeff") for word in words[:1]]
    return words, np.frombuffer(numbers, dtype=np.float32).reshape(-1, n_dimensions)


def _word_and_vector(line: bytes, n_dimensions: int) -> tuple[bytes, NDArray[np.float32]]:
    word, _, rest = line.partition(b" ")
    with np.errstate(over="ignore"):  # read() refuses what is not finite
        try:
            vector = np.fromstring(rest, dtype=np.float32, sep=" ")
        except (ValueError, DeprecationWarning):  # some of GloVe 840B's words have spaces
            word, *fields = line.rsplit(None, n_dimensions)
            vector = np.array([float(field) for field in fields]).astype(np.float32)
    if len(vector) != n_dimensions:
        raise ValueError(f"{len(vector)} numbers where others have {n_dimensions}")
    return word, vector
