"""The state of a detector as JSON, arrays and files of scikit-learn's objects, and back.

What JSON does not have is a dictionary with one key:

``{"~array": name}``    an array of numbers
``{"~fortran": name}``  the same, transposed: an array whose columns lie one after the other in memory
``{"~number": name}``   a scalar of NumPy, an array without dimensions
``{"~texts": name}``    an array of texts: UTF-8 in ``name`` and the ends of the texts, in characters, in
                        ``name.ends``
``{"~sparse": [format, shape, name]}``  a sparse array: ``name.data``, ``name.indices``, ``name.indptr``
``{"~tuple": [...]}``   a tuple
``{"~float": "nan"}``   a number that JSON does not have
``{"~part": number}``   an object of scikit-learn, in a file of skops

A file of skops is a ZIP archive of a JSON tree of classes and attributes, and of arrays. The detector lists
the classes that may occur, by full name. Before anything of a file is made, its tree is read as plain JSON
and compared with that list. skops itself trusts more, such as all classes of scikit-learn, and makes partial
functions, bound methods and calls of constructors; all of these are refused. skops makes an object of a
listed class without calling its constructor, and sets its attributes. So nothing from a file is executed.

What remains: scikit-learn believes the numbers in its trees and vectors. A file that was made to harm may
crash the process.
"""

import io
import json
import math
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Set
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from adbench_text.errors import DetectorError, ModelError
from adbench_text.escaping import from_utf8, utf8
from adbench_text.places import described
from adbench_text.plugins.scores import Estimator

_MARK = "~"
_SPARSE = {"csr": csr_array, "csc": csc_array}
_PARTS_OF_SPARSE = ("data", "indices", "indptr")

# How skops makes an object. Other ways call functions, look up methods, or follow an older protocol.
_LOADERS = frozenset(
    "CachedNode DictNode DTypeNode JsonNode ListNode NdArrayNode ObjectNode RandomStateNode SetNode TreeNode"
    " TupleNode TypeNode".split()
)
# Data: what attributes are made of.
_DATA = frozenset(
    [f"builtins.{name}" for name in "bool dict float int list set str tuple".split()]
    + [f"numpy.{name}" for name in "bool dtype float32 float64 int32 int64 intp ndarray".split()]
    + ["numpy.random.mtrand.RandomState", "collections.OrderedDict"]
)
_DEPTH = 200  # of the tree in a file; an ensemble has 20


class Writer:
    """Takes a state apart, into `arrays` by name and `parts`, the values of its `Estimator` objects."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.parts: list[Any] = []

    def write(self, value: Any, name: str) -> Any:
        """Return the JSON of a value; raise DetectorError if a state must not contain it."""
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
            return {"~sparse": self._sparse(value, name)}
        if isinstance(value, np.generic):
            return {"~number": self._array(np.asarray(value), name)}
        if not isinstance(value, np.ndarray):
            kind = type(value)
            raise _unsaved(name, f"it is of the type {kind.__module__}.{kind.__qualname__}")
        if value.dtype.kind in "OU":
            return {"~texts": self._texts(value, name)}
        # in another order sums are rounded differently
        if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous:
            return {"~fortran": self._array(value.T, name)}
        return {"~array": self._array(value, name)}

    def _array(self, value: NDArray[Any], name: str) -> str:
        if value.dtype.kind not in "biuf":
            raise _unsaved(name, f"it is an array of the type {value.dtype}")
        native = value.astype(value.dtype.newbyteorder("="), copy=False)
        self.arrays[name] = np.ascontiguousarray(native).reshape(value.shape)
        return name

    def _sparse(self, value: Any, name: str) -> list[Any]:
        matrix = value if value.format in _SPARSE else value.tocsr()
        for part in _PARTS_OF_SPARSE:
            self._array(getattr(matrix, part), f"{name}.{part}")
        return [matrix.format, list(matrix.shape), name]

    def _texts(self, value: NDArray[Any], name: str) -> str:
        texts = value.tolist()
        if value.ndim != 1 or not all(type(text) is str for text in texts):
            raise _unsaved(name, "it must be an array of texts with one dimension")
        joined = utf8("".join(texts))
        self._array(np.cumsum([len(text) for text in texts], dtype=np.int64), f"{name}.ends")
        return self._array(np.frombuffer(joined, dtype=np.uint8), name)


def _checked(key: Any, name: str) -> str:
    if not isinstance(key, str) or key.startswith(_MARK):
        raise _unsaved(name, f"the key {key!r} must be a text without a tilde in front")
    return key


def _unsaved(name: str, reason: str) -> DetectorError:
    return DetectorError(f"{name} cannot be saved: {reason}.")


def read_state(value: Any, arrays: Mapping[str, NDArray[Any]], parts: Mapping[int, Any]) -> Any:
    """Return the value that `Writer.write` took apart; raise any error if it was changed."""
    if isinstance(value, list):
        return [read_state(each, arrays, parts) for each in value]
    if not isinstance(value, dict):
        return value
    if not any(key.startswith(_MARK) for key in value):
        return {key: read_state(each, arrays, parts) for key, each in value.items()}
    ((mark, content),) = value.items()
    match mark:
        case "~array":
            return arrays[content]
        case "~fortran":
            return arrays[content].T
        case "~number":
            return arrays[content][()]
        case "~texts":
            return _read_texts(arrays[content], arrays[f"{content}.ends"])
        case "~sparse":
            form, shape, name = content
            matrix = _SPARSE[form](
                tuple(arrays[f"{name}.{part}"] for part in _PARTS_OF_SPARSE), shape=tuple(shape)
            )
            matrix.check_format(full_check=True)  # otherwise wrong indices reach memory that is not its own
            return matrix
        case "~tuple":
            return tuple(read_state(each, arrays, parts) for each in content)
        case "~float":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[content]
        case "~part":
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


def dump_part(value: Any, name: str, trusted: Set[str]) -> bytes:
    """Return the file of an object; raise DetectorError if it could not be read back."""
    import skops.io

    try:
        data = bytes(skops.io.dumps(value))
    except Exception as error:  # skops and the objects themselves raise anything
        raise _unsaved(name, described(error)) from error
    if unknown := sorted(_untrusted(data, trusted)):
        raise _unsaved(name, f"its type {unknown[0]} is not in trusted_types")
    return data


def load_part(data: bytes, path: str, trusted: Set[str]) -> Any:
    """Return the object in a file; raise ModelError if a class is not trusted, any error if it is damaged."""
    import skops.io
    from sklearn.exceptions import InconsistentVersionWarning

    if unknown := sorted(_untrusted(data, trusted)):
        raise ModelError(
            f"{path} contains {unknown[0]}, which the detector does not trust; it was not loaded."
        )
    with warnings.catch_warnings():
        # one for each object; the folder gives one for all of them
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        return skops.io.loads(data, trusted=sorted(trusted | _DATA))


def _untrusted(data: bytes, trusted: Set[str]) -> set[str]:
    """Return the classes of a file that are not trusted, and the ways of making objects that are not."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        # nothing is compressed: an archive cannot grow when it is read
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("a member is compressed")
        if sum(member.file_size for member in members) > len(data):
            raise ValueError("its members are larger than the file")
        tree = json.loads(archive.read("schema.json"))
    names = set()
    for node in _nodes(tree):
        if node["__loader__"] not in _LOADERS:
            names.add(f"{node['__module__']}.{node['__class__']} by {node['__loader__']}")
        elif node["__loader__"] != "CachedNode":
            names.add(f"{node['__module__']}.{node['__class__']}")
    return names - trusted - _DATA


def _nodes(tree: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth > _DEPTH:
        raise ValueError("it is nested too deeply")
    if isinstance(tree, dict) and "__loader__" in tree:
        yield tree
    for value in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(value, depth + 1)
