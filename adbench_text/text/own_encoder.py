"""Vectors of a function in a file of the user's own: ``embed(texts) -> (n_texts, n_dimensions)``.

The function may ask a server, whose model may change. So an encoder is known by the code of its file, and by
a sketch of its vectors of some texts. Sketches are compared with a tolerance: batches and threads change the
last digits of vectors.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text import code_version, own_file, storage
from adbench_text.errors import DataError
from adbench_text.failures import as_plugin_error
from adbench_text.isolation import preserved
from adbench_text.text.words import in_blocks

_MOST_TEXTS = 32  # of a call: text-embeddings-inference refuses more by default
_MOST_CHARACTERS = 100_000  # of a call, before its last text

_PROBES = [
    "The committee approved the annual budget after a long debate.",
    "Der Zug nach Hamburg fährt heute eine Stunde später ab.",
    "患者は来週の月曜日に再診の予約をしました。",
    "WIN a free prize now!!! Click http://example.com",
]
_ALIKE = 0.9995  # cosine of sketches; noise of 1 % in the vectors leaves more, 5 % less


@lru_cache(4)
def digest(name: str) -> str:
    """Return the digest of an encoder: the one of vectors in the cache, if they are alike."""
    vectors = _call(name, _PROBES).astype(np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
    # six numbers for each text, to which all dimensions contribute, without what the texts share
    numbers = (unit - unit.mean(axis=0)) @ np.cos(np.outer(np.arange(unit.shape[1]), range(1, 7)))
    sketch = np.rint(127 * numbers / abs(numbers).max().clip(1e-12)).astype(np.int8)
    code = f"{code_version.code_version(_module(name))} {name}"  # a file may have several functions
    new = f"own-{hashlib.sha256(code.encode()).hexdigest()[:16]}-{unit.shape[1]}-{sketch.tobytes().hex()}"
    folders = (storage.cache_dir() / "encodings").glob("own-*")
    cached = sorted(folder.name.rpartition("-")[0] for folder in folders)
    return next((each for each in cached if is_same(each, new)), new)


def libraries(name: str) -> str:
    """Return the releases of the libraries that the file of an encoder imports."""
    return code_version.libraries(_module(name))


def is_same(first: str | None, second: str | None) -> bool:
    """Return whether two digests are equal, or of an encoder in a file whose vectors differ by rounding."""
    (kind, one), (other_kind, other) = ((each or "").rpartition("-")[::2] for each in (first, second))
    if first == second or kind != other_kind or not kind.startswith("own-"):
        return first == second
    a, b = (np.frombuffer(bytes.fromhex(sketch), np.int8).astype(np.float64) for sketch in (one, other))
    return bool(a @ b > _ALIKE * np.linalg.norm(a) * np.linalg.norm(b))


def encode(name: str, digest: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of texts by an encoder with a digest, of shape (n_texts, n_dimensions)."""
    batches = in_blocks(texts, _MOST_CHARACTERS, _MOST_TEXTS)
    vectors = [vector for batch in batches for vector in _call(name, batch)]
    length = int(digest.split("-")[2])
    if other := next((len(vector) for vector in vectors if len(vector) != length), 0):
        raise DataError(f"The encoder {name!r} returned vectors of length {length}, and now of {other}.")
    return np.array(vectors)


def _call(name: str, texts: list[str]) -> NDArray[np.float32]:
    """Return what the function returns for texts, of shape (n_texts, n_dimensions)."""
    function = _function(name)
    is_failing = as_plugin_error(f"The encoder {name!r} failed", _module(name), DataError)
    with is_failing, np.errstate(over="ignore"):
        found = function(list(texts))
        if np.iscomplexobj(found):
            raise TypeError("it must return real numbers, got complex ones")
        vectors = np.asarray(found, dtype=np.float32)
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
    path = own_file.find(name)
    with preserved(), as_plugin_error(f"The encoder {name!r} cannot be loaded", path.stem):
        function = own_file.load(path, name.partition(":")[2])
        if not callable(function):
            raise TypeError(f"it must be a function, got {function!r:.60}")
    return function  # type: ignore[no-any-return]


def _module(name: str) -> str:
    return own_file.find(name).stem
