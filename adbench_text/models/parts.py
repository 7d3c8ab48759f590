"""Fitted objects of scikit-learn as files in skops's format, read back only if all classes are trusted.

A file is a ZIP archive of a JSON tree of classes and attributes, and of arrays. The detector lists the
classes that may occur, by full name. Before anything of a file is made, its tree is read as plain JSON and
compared with that list. skops itself trusts more, such as all classes of scikit-learn, and makes partial
functions, bound methods and calls of constructors; all of these are refused. skops makes an object of a
listed class without calling its constructor, and sets its attributes. So nothing from a file is executed.

What remains: scikit-learn believes the numbers in its trees and vectors. A file that was made to harm may
crash the process.
"""

import io
import json
import warnings
import zipfile
from collections.abc import Iterator, Set
from typing import Any

from adbench_text.errors import DetectorError, ModelError
from adbench_text.places import described

# How an object is made. Others call functions, look up methods, or follow an older protocol.
_LOADERS = frozenset(
    "CachedNode DictNode DTypeNode JsonNode ListNode NdArrayNode ObjectNode RandomStateNode SetNode TreeNode"
    " TupleNode TypeNode".split()
)
# Data: what attributes are made of.
_DATA = frozenset(
    [f"builtins.{name}" for name in ("bool", "dict", "float", "int", "list", "set", "str", "tuple")]
    + [
        f"numpy.{name}"
        for name in ("bool", "dtype", "float32", "float64", "int32", "int64", "intp", "ndarray")
    ]
    + ["numpy.random.mtrand.RandomState", "collections.OrderedDict"]
)
_DEPTH = 200  # of the tree; an ensemble has 20


def dump(value: Any, name: str, trusted: Set[str]) -> bytes:
    """Return the file of an object.

    Raises
    ------
    DetectorError
        If skops cannot save it, or if it could not be read back.
    """
    import skops.io

    try:
        data = bytes(skops.io.dumps(value))
    except Exception as error:  # skops and the objects themselves raise anything
        raise DetectorError(f"{name} cannot be saved: {described(error)}") from error
    if unknown := sorted(_untrusted(data, trusted)):
        raise DetectorError(f"{name} cannot be saved: its type {unknown[0]} is not in trusted_types.")
    return data


def load(data: bytes, path: str, trusted: Set[str]) -> Any:
    """Return the object in a file.

    Parameters
    ----------
    data : bytes
        The content of the file.
    path : str
        Its name, for messages.
    trusted : set of str
        Full names of the classes that may occur besides numbers, texts, containers and arrays.

    Raises
    ------
    ModelError
        If a class is not trusted, or the file is damaged.
    """
    import skops.io

    try:
        unknown = sorted(_untrusted(data, trusted))
    except Exception as error:  # a damaged archive or tree fails in many ways
        raise ModelError(f"{path} is damaged; fit and save the model again.") from error
    if unknown:
        raise ModelError(
            f"{path} contains {unknown[0]}, which the detector does not trust; it was not loaded."
        )
    from sklearn.exceptions import InconsistentVersionWarning

    try:
        with warnings.catch_warnings():
            # one for each object; `check_libraries` has given one for all of them
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            return skops.io.loads(data, trusted=sorted(trusted | _DATA))
    except Exception as error:
        raise ModelError(
            f"{path} cannot be read ({described(error):.200}); fit and save the model again."
        ) from error


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
    """Yield all nodes of a tree."""
    if depth > _DEPTH:
        raise ValueError("it is nested too deeply")
    if isinstance(tree, dict):
        if "__loader__" in tree:
            yield tree
        for value in tree.values():
            yield from _nodes(value, depth + 1)
    elif isinstance(tree, list):
        for value in tree:
            yield from _nodes(value, depth + 1)
