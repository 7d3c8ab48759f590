"""Vectors from a function in a user's file: ``embed(texts) -> (n_texts, n_dimensions)``.

The function may read data, or ask a server whose model may change. So the code of its file and its vectors of
some texts, the probes, identify an encoder. When a corpus is prepared, the probes are documents of the
corpus. A saved model has no documents: its probes are words that several documents share.

Vectors are compared with a tolerance, because batches and threads change their last digits. A function cannot
be identified if it gives all probes the same vector, or different vectors at each call. Then its vectors are
not kept, and its cells run each time.
"""

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text import code_version, own_file
from adbench_text.errors import DataError
from adbench_text.escaping import utf8
from adbench_text.failures import as_plugin_error
from adbench_text.isolation import preserved
from adbench_text.text.words import in_blocks

Matrix = NDArray[np.float32]

_MOST_TEXTS = 32  # in a call: text-embeddings-inference refuses more by default
_MOST_CHARACTERS = 100_000  # in a call, before its last text

#: Number of documents of a corpus that identify its encoder.
N_PROBES = 128
#: Number of probes that are encoded twice.
N_TWICE = 8
_GENERAL = [
    "The committee approved the annual budget after a long debate.",
    "Der Zug nach Hamburg fährt heute eine Stunde später ab.",
    "患者は来週の月曜日に再診の予約をしました。",
    "WIN a free prize now!!! Click http://example.com",
]
_N_DOCUMENTS = 5  # a saved model keeps a word only if so many documents share it
_N_LINES, _N_WORDS = 16, 10  # of shared words

_ROUNDING = 0.02  # relative to the length of a vector
_N_NUMBERS = 64  # of a sketch
_DIFFERENCE = 6  # at most, of two numbers of sketches (up to 127); noise of 1 % in the vectors makes less
_STEPS = 8  # of the logarithmic scale of a sketch, for a factor of two
_WRITTEN = re.compile(
    r"(?P<code>own-[0-9a-f]+-\d+)-(?:(?P<reason>constant|random)-[0-9a-f]+|(?P<sketch>(?:[0-9a-f]{2}){3,}))"
)
_UNIDENTIFIED = {
    "constant": "gives all texts the same vector",
    "random": "gives a text another vector at each call",
}

_identities: dict[str, str] = {}  # by encoder, from the last probes
_lengths: dict[str, int] = {}  # of vectors, by encoder


def code(name: str) -> str:
    """Return the digest of the code and the name of an encoder: a file may have several functions."""
    _function(name)  # puts its folder on Python's path, so that its code is found
    text = f"{code_version.code_version(_module(name))} {name}"
    return f"own-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def libraries(name: str) -> str:
    """Return the releases of the libraries that the file of an encoder imports."""
    return code_version.libraries(_module(name))


def sample(texts: Iterable[str], most: int = N_PROBES) -> list[str]:
    """Return the unique texts with the lowest digests; the order of `texts` does not matter."""
    return sorted({*texts}, key=lambda text: hashlib.sha256(utf8(text)).digest())[:most]


def shared_words(texts: Iterable[str]) -> list[str]:
    """Return lines of words that several cleaned documents share, as probes for a saved model."""
    n_documents = Counter(word for text in texts for word in {*text.split()})
    often = (word for word, n in n_documents.items() if n >= _N_DOCUMENTS)
    words = sample(often, _N_LINES * _N_WORDS)
    return [" ".join(words[begin : begin + _N_WORDS]) for begin in range(0, len(words), _N_WORDS)]


def are_alike(vectors: Matrix, others: Matrix) -> bool:
    """Return whether two matrices of vectors of the same texts differ only by rounding."""
    if vectors.shape != others.shape:
        return False
    lengths = np.linalg.norm(others, axis=1)
    return bool((np.linalg.norm(vectors - others, axis=1) <= _ROUNDING * lengths).all())


def identify(name: str, vectors: Matrix, again: Matrix) -> str:
    """Return and remember the identity of an encoder with these vectors of the probes.

    `again` has the vectors that a second call gave the first probes.
    """
    is_stable = are_alike(again, vectors[: len(again)])
    sketch, reason = (_sketch(vectors), "constant") if is_stable else (b"", "random")
    # without a sketch the identity is unique, so a stored cell with it never counts as finished
    known_by = sketch.hex() if sketch else f"{reason}-{secrets.token_hex(4)}"
    _identities[name] = f"{code(name)}-{vectors.shape[1]}-{known_by}"
    return _identities[name]


def identify_by(name: str, probes: Sequence[str] = ()) -> str:
    """Identify an encoder by its vectors of general texts and of `probes`; see `identify`."""
    _identities[name] = _identity_by(name, (*_GENERAL, *probes))
    return _identities[name]


@lru_cache(4)
def _identity_by(name: str, probes: tuple[str, ...]) -> str:
    return identify(name, encode(name, probes), encode(name, probes[:N_TWICE]))


def identity(name: str) -> str:
    """Return the identity of an encoder by the corpus that was last prepared, or by general texts."""
    return _identities.get(name) or identify_by(name)


def unidentified(identity: str) -> str:
    """Return why an encoder with this identity cannot be recognised, or an empty string."""
    found = _WRITTEN.fullmatch(identity)
    return _UNIDENTIFIED[found["reason"]] if found and found["reason"] else ""


def is_same(first: str | None, second: str | None) -> bool:
    """Return whether two identities belong to the same encoder: their vectors may differ by rounding.

    If both encoders cannot be recognised by their vectors, and the reason is the same, they are the same if
    their code is the same.
    """
    if first == second:
        return True
    one, other = (_WRITTEN.fullmatch(each or "") for each in (first, second))
    if one is None or other is None or one["code"] != other["code"]:
        return False
    if one["reason"] or other["reason"]:
        return one["reason"] == other["reason"]
    return _are_near(bytes.fromhex(one["sketch"]), bytes.fromhex(other["sketch"]))


def _are_near(first: bytes, second: bytes) -> bool:
    """Return whether two sketches differ by rounding alone."""
    if len(first) != len(second):
        return False
    (scale, numbers), (other_scale, others) = map(_read_sketch, (first, second))
    return abs(scale - other_scale) <= 1 and bool((abs(numbers - others) <= _DIFFERENCE).all())


def _sketch(vectors: Matrix) -> bytes:
    """Return a fingerprint of the vectors of the probes: a scale, and numbers from -127 to 127.

    A number is a sum over vectors and dimensions with fixed weights. Another model changes it much, rounding
    hardly. The fingerprint is empty if all vectors are equal.
    """
    vectors = vectors.astype(np.float64)
    n_texts, n_dimensions = vectors.shape
    n_directions = max(_N_NUMBERS // n_texts, 1)
    weights = np.cos(np.outer(np.arange(n_dimensions), np.arange(1, n_directions + 1)))
    projections = ((vectors - vectors.mean(axis=0)) @ weights).ravel()
    padded = np.pad(projections, (0, -len(projections) % _N_NUMBERS))
    sums = padded.reshape(-1, _N_NUMBERS).sum(axis=0)
    largest = abs(sums).max()
    if largest <= 1e-6 * abs(vectors).max():
        return b""
    scale = np.rint(_STEPS * np.log2(largest)).astype("<i2")
    return bytes(scale.tobytes() + np.rint(127 * sums / largest).astype(np.int8).tobytes())


def _read_sketch(sketch: bytes) -> tuple[int, NDArray[np.float64]]:
    """Return the scale and the numbers of a sketch."""
    return int(np.frombuffer(sketch[:2], "<i2")[0]), np.frombuffer(sketch[2:], np.int8).astype(np.float64)


def encode(name: str, texts: Sequence[str]) -> Matrix:
    """Return the vectors of texts (at least one), of shape (n_texts, n_dimensions).

    Raise DataError if the function fails, or if its vectors have another length than in an earlier call.
    """
    batches = in_blocks(texts, _MOST_CHARACTERS, _MOST_TEXTS)
    vectors = [vector for batch in batches for vector in _call(name, batch)]
    length = _lengths.setdefault(name, len(vectors[0]))
    if other := next((len(vector) for vector in vectors if len(vector) != length), 0):
        raise DataError(f"The encoder {name!r} returned vectors of length {length}, and now of {other}.")
    return np.array(vectors)


def _call(name: str, texts: list[str]) -> NDArray[np.float32]:
    """Call the function; return its vectors, of shape (n_texts, n_dimensions).

    Raise DataError if it fails, or does not return a matrix of finite real numbers.
    """
    function = _function(name)
    with as_plugin_error(f"The encoder {name!r} failed", _module(name), DataError):
        found = function(list(texts))
        if np.iscomplexobj(found):
            raise TypeError("it must return real numbers, got complex ones")
        with np.errstate(over="ignore"):  # a number that is too large becomes infinite
            vectors = np.array(found, dtype=np.float32)  # a copy: the function may use its array again
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.size:
        got = f"shape {vectors.shape}" if vectors.ndim else f"{found!r:.60}"
        expected = f"shape ({len(texts)}, n_dimensions) for {len(texts)} texts"
        raise DataError(f"The encoder {name!r} must return an array of {expected}, got {got}.")
    if not np.isfinite(vectors).all():
        row, column = np.argwhere(~np.isfinite(vectors))[0]
        wrong = f"{vectors[row, column]} for {texts[row]!r:.60}"
        raise DataError(f"The encoder {name!r} must return finite numbers, got {wrong}.")
    return vectors


@lru_cache(4)
def _function(name: str) -> Callable[[list[str]], Any]:
    """Load the function of a user; the folder of its file is on Python's path from then on."""
    path = own_file.find(name)
    with preserved(), as_plugin_error(f"The encoder {name!r} cannot be loaded", path.stem):
        function = own_file.load(path, name.partition(":")[2])
        if not callable(function):
            raise TypeError(f"it must be a function, got {function!r:.60}")
    return function  # type: ignore[no-any-return]


def _module(name: str) -> str:
    return own_file.find(name).stem
