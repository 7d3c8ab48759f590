"""Pickles of texts and arrays, read without running what they name.

Admitted are the names that numpy's arrays need, and the containers that a dataset allows. An object of each
becomes a stand-in that keeps what it is given: numpy's own types take addresses in it on trust.
"""

import io
import pickle
import pickletools
from collections.abc import Set
from typing import Any, TypeVar

import numpy as np

MOST_BYTES = 128 * 2**20  # the pickle of 20 Newsgroups has 40 MiB
MOST_OPERATIONS = 1_000_000  # it has 38,000

_ARRAYS = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "_reconstruct"),  # before numpy 2
    ("numpy._core.numeric", "_frombuffer"),  # since pickle's protocol 5
}
_INTEGERS = ("<i4", "<i8")

_T = TypeVar("_T", int, str)


class _StandIn(dict[str, Any]):
    """Stands for every class that a pickle may name, and keeps what it is given."""

    state: Any = None

    def __init__(self, *given: Any) -> None:
        self.given = given

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Unpickler(pickle.Unpickler):
    """Reads strings, numbers, lists and stand-ins; runs no code that a file names."""

    admitted: Set[tuple[str, str]]

    def find_class(self, module: str, name: str) -> type:
        """Return the stand-in for a name."""
        if (module, name) not in self.admitted:
            raise ValueError(f"it holds {module:.40}.{name:.40}, which is no part of an array of numpy")
        return _StandIn


def unpickled(data: bytes, containers: Set[tuple[str, str]] = frozenset()) -> Any:
    """Return the content of a pickle, with a limit on the memory that it takes.

    `containers` are module and name of further classes that it may name; they become dictionaries.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES // 2**20} MiB")
    previous, n_numbered, tuples = "", 0, set[Any]()
    for count, (operation, number, _) in enumerate(pickletools.genops(data)):
        name = operation.name
        # each operation makes one object of at least 50 bytes; one that numbers an object makes a table
        if count > MOST_OPERATIONS or ("PUT" in name and (number or 0) > MOST_OPERATIONS):
            raise ValueError(f"it holds more than {MOST_OPERATIONS:,} objects")
        # tuples in tuples, each used several times, would take for ever as the key of a dictionary
        if name == "DUP" or ("GET" in name and number in tuples):
            raise ValueError("it uses a tuple several times")
        if name == "MEMOIZE" or "PUT" in name:
            tuples |= {n_numbered if name == "MEMOIZE" else number} if "TUPLE" in previous else set()
            n_numbered += 1
        previous = name
    unpickler = _Unpickler(io.BytesIO(data))
    unpickler.admitted = _ARRAYS | containers
    return unpickler.load()


def values_of(array: Any, kind: type[_T]) -> list[_T]:
    """Return the values of an array from a pickle, if it has one dimension and holds `kind`."""
    if array.state:  # before protocol 5
        _, shape, dtype, _, content = array.state
    else:
        content, dtype, shape = array.given[:3]
    code = dtype.state[1] + dtype.given[0]
    values: Any
    if kind is str and code == "|O8":
        values = texts_of(content)
    elif kind is int and code in _INTEGERS:
        values = np.frombuffer(content, code).tolist()
    else:
        raise ValueError(f"an array holds {code!s:.20} and not {kind.__name__}")
    if shape != (len(values),):
        raise ValueError(f"an array of {len(values):,} values has the shape {shape!s:.40}")
    return list(values)


def texts_of(values: Any) -> list[str]:
    """Return a list from a pickle, if it holds texts, and these are not one large text many times."""
    if not (isinstance(values, list) and all(isinstance(text, str) for text in values)):
        raise ValueError("a text is not a string")
    if sum(map(len, values)) > MOST_BYTES:
        raise ValueError(f"its texts have more than {MOST_BYTES // 2**20} million characters")
    return values
