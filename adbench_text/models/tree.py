"""The state of a detector as JSON, arrays and parts, and back.

JSON holds what JSON can; everything else is a dictionary with one key that begins with a tilde:

``{"~array": name}``    an array of numbers, in ``arrays.safetensors`` under this name
``{"~fortran": name}``  the same, transposed: an array whose columns lie one after the other in memory
``{"~number": name}``   a scalar of NumPy, an array without dimensions
``{"~texts": name}``    an array of texts: UTF-8 in ``name`` and the ends of the texts, in characters, in
                        ``name.ends``
``{"~sparse": [format, shape, name]}``  a sparse array: ``name.data``, ``name.indices``, ``name.indptr``
``{"~tuple": [...]}``   a tuple
``{"~float": "nan"}``   a number that JSON does not have
``{"~part": number}``   the object in the file ``parts/<number>.skops``
"""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from adbench_text.errors import DetectorError
from adbench_text.escaping import from_utf8, utf8
from adbench_text.plugins.state import Estimator

_MARK = "~"
_SPARSE = {"csr": csr_array, "csc": csc_array}


class Writer:
    """Takes a state apart.

    Attributes
    ----------
    arrays : dict of str to array
    parts : list of object
        The values of the `Estimator` objects.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.parts: list[Any] = []

    def write(self, value: Any, name: str) -> Any:
        """Return the JSON of a value, whose arrays are called `name`, or begin with it.

        Raises
        ------
        DetectorError
            If a state must not contain this value.
        """
        if value is None or (isinstance(value, bool | int | str) and not isinstance(value, np.generic)):
            return value
        if isinstance(value, float) and not isinstance(value, np.generic):
            return value if math.isfinite(value) else {"~float": repr(value)}
        if isinstance(value, Mapping):
            return {_checked(key, name): self.write(each, f"{name}.{key}") for key, each in value.items()}
        if isinstance(value, list | tuple):
            items = [self.write(each, f"{name}.{number}") for number, each in enumerate(value)]
            return {"~tuple": items} if isinstance(value, tuple) else items
        if isinstance(value, Estimator):
            self.parts.append(value.value)
            return {"~part": len(self.parts) - 1}
        if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
            value = value.detach().cpu().numpy()
        if issparse(value):
            return self._sparse(value, name)
        if isinstance(value, np.generic):
            return {"~number": self._array(np.asarray(value), name)}
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "OU":
                return self._texts(value, name)
            if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous:
                return {
                    "~fortran": self._array(value.T, name)
                }  # in another order sums are rounded differently
            return {"~array": self._array(value, name)}
        raise DetectorError(f"{name} cannot be saved: it is of the type {_name(type(value))}.")

    def _array(self, value: NDArray[Any], name: str) -> str:
        if value.dtype.kind not in "biuf":
            raise DetectorError(f"{name} cannot be saved: it is an array of the type {value.dtype}.")
        native = value.astype(value.dtype.newbyteorder("="), copy=False)
        self.arrays[name] = np.ascontiguousarray(native).reshape(value.shape)
        return name

    def _texts(self, value: NDArray[Any], name: str) -> Any:
        texts = value.tolist()
        if value.ndim != 1 or not all(type(text) is str for text in texts):
            raise DetectorError(f"{name} cannot be saved: it must be an array of texts with one dimension.")
        joined = utf8("".join(texts))
        self._array(np.frombuffer(joined, dtype=np.uint8), name)
        self._array(np.cumsum([len(text) for text in texts], dtype=np.int64), f"{name}.ends")
        return {"~texts": name}

    def _sparse(self, value: Any, name: str) -> Any:
        if value.format not in _SPARSE:
            value = value.tocsr()
        for part in ("data", "indices", "indptr"):
            self._array(getattr(value, part), f"{name}.{part}")
        return {"~sparse": [value.format, list(value.shape), name]}


def read(value: Any, arrays: Mapping[str, NDArray[Any]], parts: Mapping[int, Any]) -> Any:
    """Return the value that `Writer.write` took apart.

    Raises
    ------
    KeyError, TypeError, ValueError
        If it was not written by this version, or was changed.
    """
    if isinstance(value, list):
        return [read(each, arrays, parts) for each in value]
    if not isinstance(value, dict):
        return value
    if not any(key.startswith(_MARK) for key in value):
        return {key: read(each, arrays, parts) for key, each in value.items()}
    ((mark, content),) = value.items()
    if mark == "~array":
        return arrays[content]
    if mark == "~fortran":
        return arrays[content].T
    if mark == "~number":
        return arrays[content][()]
    if mark == "~texts":
        return _read_texts(arrays[content], arrays[f"{content}.ends"])
    if mark == "~sparse":
        form, shape, name = content
        return _read_sparse(form, shape, arrays, name)
    if mark == "~tuple":
        return tuple(read(each, arrays, parts) for each in content)
    if mark == "~float":
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[content]
    if mark == "~part":
        return Estimator(parts[content])
    raise ValueError(f"{mark} is unknown")


def _read_texts(data: NDArray[Any], ends: NDArray[Any]) -> NDArray[Any]:
    joined = from_utf8(data.tobytes())
    borders = [0, *ends.tolist()]
    if borders[-1] != len(joined) or any(np.diff(borders) < 0):
        raise ValueError("the borders of texts are wrong")
    texts = np.empty(len(borders) - 1, dtype=object)
    texts[:] = [joined[begin:end] for begin, end in pairwise(borders)]
    return texts


def _read_sparse(form: str, shape: list[int], arrays: Mapping[str, NDArray[Any]], name: str) -> Any:
    parts = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    matrix = _SPARSE[form](parts, shape=tuple(shape))
    matrix.check_format(full_check=True)  # otherwise wrong indices reach memory that is not its own
    return matrix


def _checked(key: Any, name: str) -> str:
    if not isinstance(key, str) or key.startswith(_MARK):
        raise DetectorError(
            f"{name} cannot be saved: the key {key!r} must be a text without a tilde in front."
        )
    return key


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
