"""The state of a detector of PyOD: its attributes, taken apart and set on a new object of its class.

A class is never imported by a name from a file: the object is made by its detector, its networks are of
classes that the module of the detector defines or that are listed here, and estimators of scikit-learn become
`Estimator` objects of the listed classes. Functions are not saved: the new object must have the same ones.
Optimisers are not saved either: they only train.
"""

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from adbench_text.errors import DetectorError
from adbench_text.plugins.state import Estimator, State

#: Classes that occur in the attributes of PyOD's detectors, besides data and networks.
TRUSTED = frozenset(
    [
        "pyod.models.kpca.PyODKernelPCA",
        "sklearn.cluster._hdbscan.hdbscan.HDBSCAN",
        "sklearn.cluster._kmeans.KMeans",
        "sklearn.covariance._robust_covariance.MinCovDet",
        "sklearn.decomposition._pca.PCA",
        "sklearn.ensemble._iforest.IsolationForest",
        "sklearn.linear_model._base.LinearRegression",
        "sklearn.mixture._gaussian_mixture.GaussianMixture",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.neighbors._kde.KernelDensity",
        "sklearn.neighbors._lof.LocalOutlierFactor",
        "sklearn.neighbors._unsupervised.NearestNeighbors",
        "sklearn.preprocessing._data.KernelCenterer",
        "sklearn.preprocessing._data.MinMaxScaler",
        "sklearn.preprocessing._data.RobustScaler",
        "sklearn.preprocessing._data.StandardScaler",
        "sklearn.svm._classes.OneClassSVM",
        "sklearn.tree._classes.ExtraTreeRegressor",
        "sklearn.tree._tree.Tree",
        # not PyFuncDistance, which calls a function
        "sklearn.metrics._dist_metrics.BrayCurtisDistance64",
        "sklearn.metrics._dist_metrics.CanberraDistance64",
        "sklearn.metrics._dist_metrics.ChebyshevDistance64",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.metrics._dist_metrics.MinkowskiDistance64",
    ]
)

# Layers, activations and losses of torch.nn that PyOD's networks are made of
_LAYERS = frozenset(
    "BCELoss BatchNorm1d Dropout ELU Identity L1Loss LayerNorm LeakyReLU Linear MSELoss ModuleList ReLU"
    " Sequential Sigmoid Softmax Softplus Tanh".split()
)
# Networks that several detectors share, by the names of their classes
_SHARED: Mapping[str, Callable[[], type]] = {
    "pyod.utils.torch_utility.LinearBlock": lambda: _imported("pyod.utils.torch_utility").LinearBlock,
    # a class within a function
    "pyod.models.gaal_base.create_discriminator.<locals>.Discriminator": lambda: type(
        _imported("pyod.models.gaal_base").create_discriminator(1, 1)
    ),
}
_KIND = "kind"  # key of the dictionaries that stand for all but arrays, numbers and texts


def take_apart(detector: Any, new: Any) -> State:
    """Return the attributes of a fitted detector of PyOD.

    Parameters
    ----------
    detector : object
        Fitted.
    new : object
        Not fitted, of the same class and with the same hyper-parameters.

    Raises
    ------
    DetectorError
        If an attribute cannot be saved; the message names it.
    """
    state = {}
    for name, value in vars(detector).items():
        if _is_of(value, "torch.optim"):
            continue
        if callable(value) and vars(new).get(name) is value:  # a function that the settings choose
            continue
        state[name] = _Encoder(type(detector)).encode(value, f"{type(detector).__name__}.{name}")
    return state


def put_together(new: Any, state: State) -> Any:
    """Return a new detector of the same class and with the same hyper-parameters, with these attributes."""
    vars(new).update({name: _decode(value, type(new)) for name, value in state.items()})
    return new


class _Encoder:
    """Takes the attributes of an object of some class apart."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def encode(self, value: Any, path: str) -> Any:
        if value is None or isinstance(value, bool | int | float | str | np.generic) or issparse(value):
            return value
        if isinstance(value, np.ndarray):
            # an array of objects; those of texts and numbers need nothing
            is_list = value.dtype == object and value.ndim == 1
            return {_KIND: "objects", "items": self._items(value, path)} if is_list else value
        if isinstance(value, BaseEstimator | np.random.RandomState) or _is_of(value, "sklearn"):
            return Estimator(value)
        if isinstance(value, list | tuple | set):
            return self._sequence(value, path)
        if isinstance(value, Mapping):
            keys, values = list(value), list(value.values())
            return {_KIND: "dict", "keys": self._items(keys, path), "values": self._items(values, path)}
        if _is_of(value, "torch") and hasattr(value, "detach"):
            is_weight = type(value).__name__ == "Parameter"
            return {_KIND: "weight" if is_weight else "tensor", "values": value, "device": str(value.device)}
        if _is_of(value, "torch") and type(value).__name__ == "device":
            return {_KIND: "device", "name": str(value)}
        if hasattr(value, "_parameters") and hasattr(value, "_modules"):
            return self._network(value, path)
        raise DetectorError(f"{path} cannot be saved: it is of the type {_full_name(type(value))}.")

    def _items(self, values: Any, path: str) -> list[Any]:
        return [self.encode(value, f"{path}[{number}]") for number, value in enumerate(values)]

    def _sequence(self, values: Any, path: str) -> Any:
        kind = type(values).__name__
        if kind not in _SEQUENCES:
            raise DetectorError(f"{path} cannot be saved: it is of the type {_full_name(type(values))}.")
        listed = list(values)
        kinds = {type(value) for value in listed}
        if len(kinds) == 1 and issubclass(next(iter(kinds)), np.generic | BaseEstimator):
            # together: one array, one file
            whole = np.array(listed) if isinstance(listed[0], np.generic) else Estimator(listed)
            return {_KIND: kind, "whole": whole}
        return {_KIND: kind, "items": self._items(listed, path)}

    def _network(self, network: Any, path: str) -> State:
        name = _full_name(type(network))
        if _network_class(name, self._kind) is None:
            raise DetectorError(f"{path} cannot be saved: it is a network of the unlisted class {name}.")
        plain = vars(_torch().nn.Module())
        parts = ("_parameters", "_buffers", "_modules")
        for attribute in sorted(plain.keys() - {*parts, "training"}):
            if vars(network)[attribute] not in (
                plain[attribute],
                {},
                set(),
            ):  # such as hooks, which are functions
                raise DetectorError(
                    f"{path} cannot be saved: it has {attribute.strip('_').replace('_', ' ')}."
                )
        saved = {part: vars(network)[part] for part in parts} | {"training": network.training}
        own = {key: value for key, value in vars(network).items() if key not in plain}
        encoded = {key: self.encode(value, f"{path}.{key}") for key, value in {**saved, **own}.items()}
        return {_KIND: "network", "class": name, "attributes": encoded}


_SEQUENCES: Mapping[str, Callable[[list[Any]], Any]] = {"list": list, "tuple": tuple, "set": set}


def _decode(value: Any, kind: type) -> Any:
    """Return the value that was taken apart; `kind` is the class of the detector."""
    if isinstance(value, Estimator):
        return value.value
    if not isinstance(value, dict):
        return value
    tag = value[_KIND]
    if tag in _SEQUENCES:
        whole = value.get("whole")
        listed = list(_decode(whole, kind)) if whole is not None else _decoded(value["items"], kind)
        return _SEQUENCES[tag](listed)
    if tag == "objects":
        array = np.empty(len(value["items"]), dtype=object)
        array[:] = _decoded(value["items"], kind)
        return array
    if tag == "dict":
        return dict(zip(_decoded(value["keys"], kind), _decoded(value["values"], kind), strict=True))
    if tag == "device":
        return _device(value["name"])
    if tag in ("tensor", "weight"):
        tensor = _torch().from_numpy(value["values"]).to(_device(value["device"]))
        return _torch().nn.Parameter(tensor) if tag == "weight" else tensor
    if tag == "network":
        return _decode_network(value, kind)
    raise ValueError(f"the kind {tag!r} is unknown")


def _decoded(values: list[Any], kind: type) -> list[Any]:
    return [_decode(value, kind) for value in values]


def _decode_network(value: State, kind: type) -> Any:
    cls = _network_class(value["class"], kind)
    if cls is None:
        raise ValueError(f"the network {value['class']!r} is not listed")
    network: Any = object.__new__(cls)
    _torch().nn.Module.__init__(network)
    vars(network).update({name: _decode(part, kind) for name, part in value["attributes"].items()})
    return network


def _network_class(name: str, kind: type) -> type | None:
    """Return the class of a network, None if it is neither listed nor of the module of the detector."""
    if name in _SHARED:
        return _SHARED[name]()
    module, _, short = name.rpartition(".")
    nn = _torch().nn
    if module == kind.__module__:
        cls = vars(sys.modules[module]).get(short)
        is_own = isinstance(cls, type) and issubclass(cls, nn.Module) and cls.__module__ == module
        return cls if is_own else None
    return getattr(nn, short) if short in _LAYERS and _full_name(getattr(nn, short)) == name else None


def _device(name: str) -> Any:
    """Return a device of torch; the CPU where the GPU of then is missing."""
    torch = _torch()
    device = torch.device(name)
    return device if device.type != "cuda" or torch.cuda.is_available() else torch.device("cpu")


def _is_of(value: Any, package: str) -> bool:
    return f"{type(value).__module__}.".startswith(f"{package}.")


def _full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _imported(name: str) -> ModuleType:
    return importlib.import_module(name)


def _torch() -> Any:
    return _imported("torch")
