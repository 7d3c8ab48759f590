"""Adapters around detectors of other packages that score document vectors, such as those of PyOD."""

import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from importlib.metadata import version
from inspect import Parameter, signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from adbench_text.checks import Range, check_choice, check_shapes, declared_ranges
from adbench_text.errors import DetectorError
from adbench_text.isolation import seed_generators
from adbench_text.plugins.detector import TextDetector
from adbench_text.plugins.scores import TEST_BATCH, Estimator, Scores, State
from adbench_text.plugins.vector_detector import VectorDetector
from adbench_text.text.encoders import Matrix

#: Modules of PyOD whose detectors score a vector by the vectors that are scored together with it. PyOD does
#: not declare it; `tests/plugins/test_pyod_detector.py` finds them by experiment.
SCORED_BY_BATCH = frozenset(
    f"pyod.models.{name}" for name in "cd cof copod dif ecod lmdd loci rgraph rod sod sos".split()
)

#: Classes of scikit-learn that occur in the attributes of PyOD's detectors, besides data.
_TRUSTED = frozenset(
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


class WrappedDetector(TextDetector):
    """Base of adapters: the hyper-parameters of a class of another package, `wrapped`, beside ours.

    The hyper-parameters in `fixed` are not offered.
    """

    wrapped: type[Any]
    fixed: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, **params: Any) -> None:
        own = self._own_defaults()
        shared = self._get_param_names()
        for name in params:
            check_choice(f"parameter of {type(self).__name__}", name, [*own, *shared])
        super().__init__(**{name: value for name, value in params.items() if name not in own})
        self._params = {name: value for name, value in params.items() if name in own}

    @classmethod
    def _own_defaults(cls) -> dict[str, Any]:
        """Return the hyper-parameters of `wrapped` that are offered, and their default values."""
        parameters = signature(cls.wrapped).parameters.values()
        variable = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
        return {p.name: p.default for p in parameters if p.name not in cls.fixed and p.kind not in variable}

    @classmethod
    def parameter_ranges(cls) -> dict[str, Range]:
        """Return the values that each hyper-parameter may have, ours and those that `wrapped` declares."""
        return super().parameter_ranges() | declared_ranges(cls.wrapped)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all hyper-parameters, those of `wrapped` among them."""
        return {**super().get_params(deep), **self._own_defaults(), **self._params}

    def set_params(self, **params: Any) -> Self:
        """Set hyper-parameters, those of `wrapped` among them."""
        type(self).__init__(self, **(self.get_params() | params))
        return self


class PyODDetector(WrappedDetector, VectorDetector):
    """A detector of PyOD on document vectors.

    Parameters
    ----------
    encoder, vectors, normalize, svd_components
        See `VectorDetector`.
    contamination, random_state
        See `TextDetector`; passed on to PyOD's detector where it takes them.
    **params
        PyOD's own hyper-parameters, by PyOD's names.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> from adbench_text.plugins import registry
    >>> detector = registry.detector("pyod-knn")(n_neighbors=3, encoder="svd").fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "the court heard a witness"])
    >>> bool(far > near)
    True
    """

    fixed: ClassVar[frozenset[str]] = frozenset({"contamination", "random_state", "n_features"})

    @property
    def regime(self) -> str:
        """The regime that its class declares; otherwise the test batch if known, or that of its encoder."""
        declared = getattr(self.wrapped, "regime", None)
        if isinstance(declared, str):
            return declared
        uses_batch = any(base.__module__ in SCORED_BY_BATCH for base in self.wrapped.__mro__)
        return TEST_BATCH if uses_batch else super().regime

    def resources(self) -> dict[str, str]:
        """Return the version of PyOD, and the digest of the file of word vectors if one is read."""
        return {**super().resources(), "pyod": version("pyod")}

    def needed_resources(self) -> dict[str, str]:
        """Return the digest of the word vectors or the encoder; another version of PyOD is only a warning."""
        return {name: value for name, value in super().needed_resources().items() if name != "pyod"}

    def _fit_vectors(self, X: Matrix) -> None:
        # some draw from NumPy's or torch's global generators only
        if self.random_state is not None:
            seed_generators(self.random_state)
        self._n_features = int(X.shape[1])
        try:
            self._detector = self._wrapped(self._n_features)
            with redirect_stdout(sys.stderr):  # PyOD prints its epochs
                self._detector.fit(np.asarray(X, dtype=np.float64))
        except ImportError as error:
            raise DetectorError(
                f"PyOD's {self.wrapped.__name__} needs a package that is not installed: {error}"
            ) from error

    def _wrapped(self, n_features: int) -> Any:
        """Return PyOD's detector, not fitted."""
        accepted = signature(self.wrapped).parameters
        shared: Mapping[str, Any] = {
            "contamination": self.contamination,
            "random_state": self.random_state,
            "n_features": n_features,
        }
        given = {name: value for name, value in shared.items() if name in accepted}
        return self.wrapped(**given, **self._params)

    def _score_vectors(self, X: Matrix) -> NDArray[np.float64]:
        return np.asarray(self._detector.decision_function(np.asarray(X, dtype=np.float64)), dtype=np.float64)

    def _score_training(self, texts: list[str]) -> Scores:
        # neighbours and the like leave a training text itself out
        return np.asarray(self._detector.decision_scores_, dtype=np.float64)

    @property
    def can_be_saved(self) -> bool:
        """Whether it is no network of torch."""
        return not _uses_torch(self.wrapped)

    @property
    def trusted_types(self) -> frozenset[str]:
        """The classes of scikit-learn that PyOD's detectors use."""
        return _TRUSTED

    def _get_state_of_vectors(self) -> State:
        if not self.can_be_saved:
            raise DetectorError(f"{self.wrapped.__name__} cannot be saved: it is a network of torch.")
        name = type(self._detector).__name__
        new = vars(self._wrapped(self._n_features))
        attributes = {
            key: _take_apart(value, f"{name}.{key}")
            for key, value in vars(self._detector).items()
            if not (callable(value) and new.get(key) is value)  # a function that the settings choose
        }
        return {"n_features": self._n_features, "attributes": attributes}

    def _set_state_of_vectors(self, state: State) -> None:
        self._n_features = state["n_features"]
        self._detector = self._wrapped(self._n_features)
        vars(self._detector).update({name: _put_together(v) for name, v in state["attributes"].items()})
        check_shapes(vars(self._detector), decision_scores_="texts", labels_="texts")
        self._check_width(self._n_features)


def _uses_torch(kind: type) -> bool:
    """Return whether the module of a class of PyOD, or of a base of it, imports torch."""
    modules = (vars(sys.modules[base.__module__]) for base in kind.__mro__ if base.__module__ in sys.modules)
    return any(getattr(value, "__name__", "") == "torch" for names in modules for value in names.values())


# The state of a detector of PyOD is its attributes, taken apart and set on a new object of its class. A class
# is never imported by a name from a file. Functions are not saved: the new object must have the same ones.

_KIND = "kind"  # key of the dictionaries that stand for all except arrays, numbers and texts
_SEQUENCES: Mapping[str, Callable[[list[Any]], Any]] = {"list": list, "tuple": tuple, "set": set}


def _take_apart(value: Any, path: str) -> Any:
    """Return a value as a tree of data and estimators; `path` names it in an error."""
    if value is None or isinstance(value, bool | int | float | str | np.generic) or issparse(value):
        return value
    if isinstance(value, np.ndarray):
        # an array of objects; those of texts and numbers need nothing
        is_list = value.dtype == object and value.ndim == 1
        return {_KIND: "objects", "items": _take_all_apart(value, path)} if is_list else value
    kind = type(value)
    if isinstance(value, BaseEstimator | np.random.RandomState) or kind.__module__.startswith("sklearn."):
        return Estimator(value)
    if kind.__name__ in _SEQUENCES and isinstance(value, list | tuple | set):
        listed = list(value)
        kinds = {type(item) for item in listed}
        if len(kinds) == 1 and issubclass(next(iter(kinds)), np.generic | BaseEstimator):
            # together: one array, one file
            whole = np.array(listed) if isinstance(listed[0], np.generic) else Estimator(listed)
            return {_KIND: kind.__name__, "whole": whole}
        return {_KIND: kind.__name__, "items": _take_all_apart(listed, path)}
    if isinstance(value, Mapping):
        keys, values = _take_all_apart(value, path), _take_all_apart(value.values(), path)
        return {_KIND: "dict", "keys": keys, "values": values}
    raise DetectorError(f"{path} cannot be saved: it is of the type {kind.__module__}.{kind.__qualname__}.")


def _take_all_apart(values: Any, path: str) -> list[Any]:
    return [_take_apart(value, f"{path}[{number}]") for number, value in enumerate(values)]


def _put_together(value: Any) -> Any:
    """Return the value that was taken apart."""
    if isinstance(value, Estimator):
        return value.value
    if not isinstance(value, dict):
        return value
    tag = value[_KIND]
    if tag in _SEQUENCES:
        whole = value.get("whole")
        items = [_put_together(item) for item in value["items"]] if whole is None else _put_together(whole)
        return _SEQUENCES[tag](items)
    if tag == "objects":
        array = np.empty(len(value["items"]), dtype=object)
        array[:] = [_put_together(item) for item in value["items"]]
        return array
    if tag == "dict":
        return dict(zip(map(_put_together, value["keys"]), map(_put_together, value["values"]), strict=True))
    raise DetectorError("it holds a network of PyOD, which is no longer read: fit it again.")
