"""Vectors of texts that pre-trained models made, kept on disk: a corpus is encoded once for all cells.

A file ``encodings/<digest of the model>-<digest of the code>/<digest of texts>.npz`` in the cache directory
holds the digests of some texts, their vectors, and the seconds that each text took. The seconds are added
to those of every cell that uses the vectors, so that no detector looks faster for it.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text import memo, storage
from adbench_text.code_version import PROTOCOL, releases
from adbench_text.escaping import utf8
from adbench_text.text import vectors, words
from adbench_text.text.pretrained import Encoded, Source

Encode = Callable[[Sequence[str]], Encoded]

_CHUNK = 10_000  # texts in a file: an interrupted preparation keeps those that are finished


class VectorCache:
    """The vectors that one model has made; get one from `open_cache`.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: dict[Path, _Part] = {}

    def prepare(self, texts: Sequence[str], encode: Encode) -> None:
        """Encode the texts whose vectors are not on disk; write them in a block of `vectors.caching`."""
        new = self._missing({_digest(text): text for text in texts})
        listed = list(new.items())
        for begin in range(0, len(listed), _CHUNK):
            digests, chunk = zip(*listed[begin : begin + _CHUNK], strict=True)
            encoded = encode(chunk)
            path = self._folder / f"{words.digest(chunk)}.npz"
            arrays: dict[str, NDArray[Any]] = {
                "texts": np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, _N_BYTES),
                "matrix": encoded.matrix,
                "seconds": encoded.seconds,
            }
            if vectors.is_caching():
                storage.write_arrays(path, arrays)
            self._parts[path] = _Part(_rows(digests), encoded)

    def look_up(self, texts: Sequence[str], encode: Encode) -> NDArray[np.float32]:
        """Return the vectors of texts; those that are not prepared are encoded, and not kept.

        The seconds that prepared texts took are credited to the running stopwatch.
        """
        digests = [_digest(text) for text in texts]
        new = self._missing(dict(zip(digests, texts, strict=True)))
        parts = list(self._parts.values())
        if new or not parts:
            encoded = encode(list(new.values()))
            parts.append(_Part(_rows(new), encoded._replace(seconds=np.zeros_like(encoded.seconds))))
        matrix = np.empty((len(texts), parts[-1].encoded.matrix.shape[1]), dtype=np.float32)
        left = list(enumerate(digests))
        for part in parts:
            pairs = [(row, part.rows[key]) for row, key in left if key in part.rows]
            left = [(row, key) for row, key in left if key not in part.rows]
            if pairs:
                rows, places = np.array(pairs).T
                matrix[rows] = part.encoded.matrix[places]
                memo.credit(float(part.encoded.seconds[np.unique(places)].sum()))
        return matrix

    def _missing(self, wanted: dict[bytes, str]) -> dict[bytes, str]:
        """Return the texts without a vector, after loading every file that has one of them."""
        for part in self._parts.values():
            wanted = _without(wanted, part)
        for path in sorted(self._folder.glob("[!.]*.npz")) if wanted else ():
            loaded = None if path in self._parts else _read(path, wanted)
            if loaded:
                self._parts[path] = loaded
                wanted = _without(wanted, loaded)
        return wanted


@lru_cache(4)
def _open(folder: Path) -> VectorCache:
    return VectorCache(folder)


def open_cache(source: Source) -> VectorCache:
    """Return the vectors that a model has made; the same object for the same model."""
    code = f"{PROTOCOL} {releases('numpy', 'tokenizers')}"
    name = f"{source.digest}-{hashlib.sha256(code.encode()).hexdigest()[:8]}"
    return _open(storage.cache_dir() / "encodings" / name)


class _Part(NamedTuple):
    rows: dict[bytes, int]
    encoded: Encoded


_N_BYTES = 16  # of a text's digest


def _digest(text: str) -> bytes:
    return hashlib.sha256(utf8(text)).digest()[:_N_BYTES]


def _without(wanted: dict[bytes, str], part: _Part) -> dict[bytes, str]:
    return {key: text for key, text in wanted.items() if key not in part.rows}


def _rows(digests: Sequence[bytes] | dict[bytes, str]) -> dict[bytes, int]:
    return {key: row for row, key in enumerate(digests)}


def _read(path: Path, wanted: dict[bytes, str]) -> _Part | None:
    """Read a file if it has one of the wanted texts; None also for a damaged file, whose texts are new."""
    try:
        with np.load(path, allow_pickle=False) as arrays:  # not all of the file yet
            texts = arrays["texts"].tobytes()
    except Exception:  # damaged in any way
        return None
    rows = _rows([texts[i : i + _N_BYTES] for i in range(0, len(texts), _N_BYTES)])
    if rows.keys().isdisjoint(wanted):
        return None
    sound = storage.read_arrays(path)
    if sound is None:
        return None
    encoded = Encoded(sound["matrix"], sound["seconds"])
    is_sound = encoded.matrix.ndim == 2 and len(rows) == len(encoded.matrix) == len(encoded.seconds)
    return _Part(rows, encoded) if is_sound else None
