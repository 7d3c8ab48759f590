"""Find and count the words of documents."""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from adbench_text.escaping import utf8, without_surrogates
from adbench_text.memo import remember

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


# Chinese characters and Hiragana have no spaces between words, so each character is a word (UAX 29).
_IDEOGRAPHS = "\u3005-\u3007\u3041-\u3096\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Each ASCII character in lower case, and a space for a character that belongs to no word.
_OF_ASCII = "".join([each.lower() if each.isalnum() or each == "_" else " " for each in map(chr, range(128))])
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_JOINERS = "\u200c\u200d"
_END_OF_MARKS = 0x1F000  # marks from here on do not belong to letters
#: One of these characters.
IDEOGRAPHS = re.compile(f"[{_IDEOGRAPHS}]")


@cache
def marks() -> str:
    """Return the combining marks of letters."""
    return "".join(
        [mark for mark in map(chr, range(_END_OF_MARKS)) if unicodedata.category(mark) in ("Mn", "Mc")]
    )


@cache
def word_pattern() -> re.Pattern[str]:
    """Return the pattern of a word: letters, digits and underscores with their combining marks.

    The marks are vowels in the scripts of India, and accents in decomposed text (NFD).
    """
    with_word = f"[{marks()}{_JOINERS}]"
    return re.compile(rf"[{_IDEOGRAPHS}]{with_word}*|(?:[^\W{_IDEOGRAPHS}]++{with_word}*+)++")


def words(text: str) -> list[str]:
    """Split a document into lower-case words: runs of letters, digits and underscores.

    A Chinese character or Hiragana is a word.

    Examples
    --------
    >>> words("The ship's crew.")
    ['the', 'ship', 's', 'crew']
    """
    if text.isascii():  # the same words, ten times as fast
        return text.translate(_OF_ASCII).split()
    text = text.lower()
    if text.replace(" ", "").isalnum() and max(text) < _IDEOGRAPHS[0]:
        return text.split()  # a cleaned document: only words and spaces
    return word_pattern().findall(text)


class Word(NamedTuple):
    """A word of a document and its place: ``text[start:end]``."""

    word: str
    start: int
    end: int


def word_positions(text: str) -> Iterator[Word]:
    """Yield the words that `words` returns, with their places in the original."""
    pattern = _ASCII_WORD if text.isascii() else word_pattern()  # the same words, several times as fast
    for match in pattern.finditer(text):
        yield Word(match.group().lower(), match.start(), match.end())


def text_key(text: str, kind: bytes = b"", seed: int = 0) -> int:
    """Digest a text into 64 bits, which depend on `kind` and `seed`. All lone surrogates count as equal."""
    data, salt = without_surrogates(text).encode(), seed.to_bytes(8, "little")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, salt=salt, person=kind).digest())


def digest(texts: Sequence[str]) -> str:
    """Digest documents, with their order and borders, into 32 hexadecimal digits."""
    state = hashlib.sha256()
    for text in texts:
        data = utf8(text)
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()[:32]


def in_blocks(
    texts: Iterable[str], most_characters: int, most_texts: float = float("inf")
) -> Iterator[list[str]]:
    """Yield lists of texts; a list is full after so many texts, or after more than so many characters."""
    block: list[str] = []
    n_characters = 0
    for text in texts:
        block.append(text)
        n_characters += len(text)
        if len(block) >= most_texts or n_characters > most_characters:
            yield block
            block, n_characters = [], 0
    if block:
        yield block


class SplitTexts(NamedTuple):
    """The words of texts: text i has the words ``vocabulary[numbers[ends[i] : ends[i + 1]]]``."""

    numbers: "NDArray[np.int32]"
    ends: "NDArray[np.int64]"  # of shape (n_texts + 1,)
    vocabulary: "NDArray[np.object_]"


def split_texts(texts: Iterable[str]) -> SplitTexts:
    """Split texts at whitespace like ``str.split``, and number the words; several times as fast."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    # the only whitespace of printable texts is the space
    spaced = pa.array(
        [text.strip() if text.isprintable() else " ".join(text.split()) for text in texts], pa.large_string()
    )
    has_words = pc.greater(pc.binary_length(spaced), 0)
    of_texts = pc.ascii_split_whitespace(spaced.filter(has_words))
    encoded = of_texts.flatten().dictionary_encode()
    lengths = np.zeros(len(spaced), dtype=np.int64)
    lengths[has_words.to_numpy(zero_copy_only=False)] = pc.list_value_length(of_texts).to_numpy()
    vocabulary = np.array(encoded.dictionary.to_pylist(), dtype=object)
    return SplitTexts(encoded.indices.to_numpy(), np.append(0, np.cumsum(lengths)), vocabulary)


class WordCounts(NamedTuple):
    """How often each word occurs in each document: `counts` has the shape (n_texts, n_words)."""

    counts: "csr_array[Any]"
    vocabulary: "np.ndarray[Any, Any]"


def count_words(texts: Sequence[str]) -> WordCounts:
    """Count the words of each document; remember the last results, because splits share documents."""
    return _count_words(tuple(texts))


@remember(4, of_documents=True)
def _count_words(texts: tuple[str, ...]) -> WordCounts:
    import numpy as np
    from scipy.sparse import csr_array

    # ten times as fast as scikit-learn's CountVectorizer; every cell counts its documents
    numbers, ends, vocabulary = split_texts(map(_spaced_words, texts))
    ones = np.ones(len(numbers), dtype=np.int64)
    counts = csr_array((ones, numbers, ends), shape=(len(texts), len(vocabulary)))
    counts.sum_duplicates()
    result = WordCounts(counts, vocabulary)
    for values in (counts.data, counts.indices, counts.indptr, result.vocabulary):
        values.flags.writeable = False  # shared between detectors
    return result


def _spaced_words(text: str) -> str:
    """Return the words of `words`, with spaces between them."""
    return text.translate(_OF_ASCII) if text.isascii() else " ".join(words(text))


def count_parts(texts: Sequence[str], n: int) -> WordCounts:
    """Count the character n-grams of `parts_of` in each document; remember the last results."""
    return _count_parts((tuple(texts), n))


@remember(4, of_documents=True)
def _count_parts(key: tuple[tuple[str, ...], int]) -> WordCounts:
    import numpy as np
    from scipy.sparse import csr_array

    texts, n = key
    counts, words = _count_words(texts)
    of_words = [parts_of(word, n) for word in words.tolist()]
    number_of: defaultdict[str, int] = defaultdict()
    number_of.default_factory = number_of.__len__
    columns = [number_of[part] for parts in of_words for part in parts]
    ends = np.cumsum([0, *map(len, of_words)])
    ones = np.ones(len(columns), dtype=np.int64)
    parts = csr_array((ones, columns, ends), shape=(len(words), len(number_of)))
    result = WordCounts(csr_array(counts @ parts), np.array(list(number_of), dtype=object))
    for values in (result.counts.data, result.counts.indices, result.counts.indptr, result.vocabulary):
        values.flags.writeable = False  # shared between detectors
    return result


@lru_cache(1 << 16)
def parts_of(word: str, n: int) -> list[str]:
    """Return the character n-grams of a word with a space at both ends; a short word is one n-gram.

    >>> parts_of("ship", 3), parts_of("a", 5)
    ([' sh', 'shi', 'hip', 'ip '], [' a '])
    """
    spaced = f" {word} "
    return [spaced[start : start + n] for start in range(max(len(spaced) - n + 1, 1))]
