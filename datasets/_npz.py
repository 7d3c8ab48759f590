"""Arrays of texts and of whole numbers in an ``.npz`` file, read as it comes and in little memory.

An array of texts may be pickled or have rows of a fixed width, which are mostly padding.
"""

import struct
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from adbench_text.datasets import _pickles

_MOST_ROWS = 1_000_000
_MOST_BYTES_OF_ROW = 2**20
_ZIP64 = 2**32 - 1  # instead of a size; the size is in the extra field


def arrays_of(stream: IO[bytes], *names: str) -> list[list[Any]]:
    """Return the values of the arrays with which the file begins; they must have these names."""
    return [_array(stream, name) for name in names]


def _array(stream: IO[bytes], expected: str) -> list[Any]:
    """Return the values of the next array; a zip file must be read from its end to know more than that."""
    head = struct.unpack("<4s5H3L2H", _next(stream, 30))
    signature, _, flags, method, *_, size, n_name, n_extra = head
    is_file = signature == b"PK\3\4"
    if not is_file or _next(stream, n_name) != f"{expected}.npy".encode():
        raise ValueError(f"an .npz in it has no {expected}.npy where it belongs")
    if method or flags & 0b1001:  # encrypted, or with its size at the end
        raise ValueError(f"{expected}.npy is not stored as numpy does")
    extra = _next(stream, n_extra)
    if size == _ZIP64:
        size = struct.unpack("<4xQ", extra[:12])[0]
    start = stream.tell()
    if npy.read_magic(stream) != (1, 0):
        raise ValueError(f"{expected}.npy is of another version")
    shape, _, dtype = npy.read_array_header_1_0(stream)
    n_bytes = size - (stream.tell() - start)
    is_pickled = dtype == np.dtype(object)
    if len(shape) != 1 or not (is_pickled or n_bytes == shape[0] * dtype.itemsize):
        raise ValueError(
            f"{expected}.npy has {n_bytes:,} bytes, and not the shape {shape!s:.40} of its header"
        )
    if shape[0] > _MOST_ROWS or dtype.itemsize > _MOST_BYTES_OF_ROW:
        raise ValueError(f"{expected}.npy has {shape[0]:,} rows of {dtype.itemsize:,} bytes")
    if is_pickled:
        texts = _pickles.values_of(_pickles.unpickled(_next(stream, n_bytes)), str)
        if len(texts) != shape[0]:
            raise ValueError(f"{expected}.npy has {len(texts):,} values, and {shape[0]:,} in its header")
        return texts
    if dtype.str.startswith("<U"):
        rows = (_next(stream, dtype.itemsize) for _ in range(shape[0]))
        return _pickles.texts_of([row.decode("utf-32-le").rstrip("\0") for row in rows])
    if dtype.str in ("<i4", "<i8"):
        return list(np.frombuffer(_next(stream, n_bytes), dtype).tolist())
    raise ValueError(f"{expected}.npy holds {dtype.str!s:.40}")


def _next(stream: IO[bytes], n_bytes: int) -> bytes:
    """Return the next `n_bytes` bytes, or raise ValueError."""
    if not 0 <= n_bytes <= _pickles.MOST_BYTES:
        raise ValueError(f"an array has {n_bytes:,} bytes")
    content = stream.read(n_bytes)
    if len(content) < n_bytes:
        raise ValueError("it ends too early")
    return content
