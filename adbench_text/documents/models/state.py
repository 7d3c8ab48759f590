"""Save the state of a model in a file of skops: a ZIP archive of arrays and a JSON tree of objects.

Loading executes nothing from the file. First its tree is read as plain JSON. All classes in it must be in the
detector's list of trusted classes, or in the list below. skops itself trusts more: all classes of
scikit-learn, partial functions, bound methods and calls of constructors. All of these are refused. skops
makes an object of a listed class without calling its constructor, and sets its attributes.

One risk remains: detectors trust the numbers in their arrays and trees. A malicious file may crash the
process.
"""

import io
import json
import zipfile
from collections.abc import Mapping, Set
from importlib import import_module
from types import ModuleType
from typing import Any

from adbench_text.errors import DetectorError, ModelError
from adbench_text.failures import described
from adbench_text.text.vocabulary import Vocabulary

# Allowed loaders of skops. Other loaders call functions, look up methods, or follow an older protocol.
_LOADERS = frozenset(
    "CachedNode DictNode DTypeNode JsonNode ListNode NdArrayNode ObjectNode RandomStateNode SetNode"
    " SparseMatrixNode TreeNode TupleNode TypeNode".split()
)
# Classes that any detector may use in its attributes: data, words and encoders.
_DATA = frozenset(
    [f"builtins.{name}" for name in "bool dict float int list set str tuple".split()]
    + [f"numpy.{name}" for name in "bool dtype float32 float64 int32 int64 intp ndarray".split()]
    + ["numpy.random.mtrand.RandomState", "collections.OrderedDict", "scipy.sparse._csr.csr_array"]
    + [
        "sklearn.decomposition._truncated_svd.TruncatedSVD",
        "sklearn.feature_extraction.text.TfidfTransformer",
    ]
    + ["adbench_text.text.vocabulary.Vocabulary"]
    + [
        f"adbench_text.text.encoders.{name}"
        for name in "Encoding Mean MiniLM Pretrained SVD TFIDF WordLlama".split()
    ]
)


def dump(state: Mapping[str, Any], name: str, trusted: Set[str]) -> bytes:
    """Return the content of the file of a state; raise DetectorError if it could not be loaded again."""
    try:
        data = bytes(_skops_io().dumps(dict(state)))
        unknown = sorted(_untrusted(data, trusted))
    except Exception as error:  # skops and the objects themselves raise anything
        raise DetectorError(f"{name} cannot be saved: {described(error)}.") from error
    if unknown:
        raise DetectorError(f"{name} cannot be saved: its type {unknown[0]} is not in trusted_types.")
    return data


def load(data: bytes, path: str, trusted: Set[str]) -> Any:
    """Return the state in a file.

    Raise ModelError if a class is not trusted. A damaged file may raise any error.
    """
    if unknown := sorted(_untrusted(data, trusted)):
        raise ModelError(
            f"{path} contains {unknown[0]}, which the detector does not trust; it was not loaded."
        )
    state = _skops_io().loads(data, trusted=sorted(trusted | _DATA))
    _check_sparse(state)
    return state


def _skops_io() -> ModuleType:
    """Import skops without its list of scikit-learn's estimators, which this module does not trust.

    For the list, skops would import all of scikit-learn, and torch with it.
    """
    import sklearn.utils

    all_estimators, sklearn.utils.all_estimators = sklearn.utils.all_estimators, list
    try:
        return import_module("skops.io")
    finally:
        sklearn.utils.all_estimators = all_estimators


def _check_sparse(value: Any) -> None:
    """Raise ValueError if a sparse array has wrong indices, which would read memory outside the array."""
    if hasattr(value, "check_format"):
        value.check_format(full_check=True)
    elif isinstance(value, list | tuple):
        for each in value:
            _check_sparse(each)
    elif isinstance(value, Vocabulary):  # it is large and has no arrays
        return
    elif isinstance(value, dict) or type(value).__module__.startswith("adbench_text."):
        for each in (value if isinstance(value, dict) else vars(value)).values():
            _check_sparse(each)


def _untrusted(data: bytes, trusted: Set[str]) -> set[str]:
    """Return the classes and the loaders of a file that are not trusted."""
    objects: list[dict[str, Any]] = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        json.loads(archive.read("schema.json"), object_hook=objects.append)
    names = set()
    for node in objects:
        loader = node.get("__loader__")
        if loader in (None, "CachedNode"):  # a mapping inside a node, or a node that comes again
            continue
        name = f"{node['__module__']}.{node['__class__']}"
        names.add(name if loader in _LOADERS else f"{name} by {loader}")
    return names - trusted - _DATA
