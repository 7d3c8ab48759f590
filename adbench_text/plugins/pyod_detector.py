"""Adapt detectors of document vectors with the interface of PyOD."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from functools import cache
from importlib.metadata import version
from inspect import Parameter, signature
from pkgutil import resolve_name
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import Range, check_choice, declared_ranges
from adbench_text.code_version import installed
from adbench_text.contract.detector import made_again
from adbench_text.contract.scores import TEST_BATCH, Scores
from adbench_text.contract.vector_detector import VectorDetector
from adbench_text.errors import DetectorError
from adbench_text.isolation import seed_generators
from adbench_text.one_thread import one_thread
from adbench_text.text.encoders import Matrix

#: Modules with transductive detectors: the score of a vector depends on the vectors that are scored with it.
#: PyOD does not declare this; `tests/plugins/test_pyod_detector.py` finds it by experiment.
SCORED_BY_BATCH = frozenset(
    f"pyod.models.{name}" for name in "cd cof copod dif ecod lmdd loci rgraph rod sod sos".split()
)

#: Modules whose detectors need known outliers.
_SUPERVISED = frozenset({"pyod.models.devnet", "pyod.models.xgbod"})

_KEEPS_A_FUNCTION = "pyod.models.lmdd"  # a function is not data, so the detector cannot be saved

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
        # without PyFuncDistance, which calls a function
        "sklearn.metrics._dist_metrics.BrayCurtisDistance64",
        "sklearn.metrics._dist_metrics.CanberraDistance64",
        "sklearn.metrics._dist_metrics.ChebyshevDistance64",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.metrics._dist_metrics.MinkowskiDistance64",
    ]
)


class PyODDetector(VectorDetector):
    """A detector of PyOD on document vectors, or a detector with PyOD's interface.

    Parameters
    ----------
    encoder, vectors, normalize, svd_components
        See `VectorDetector`.
    contamination, random_state
        See `TextDetector`; also given to the wrapped detector if it takes them.
    **params
        The hyper-parameters of the wrapped detector.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> from adbench_text.plugins import registry
    >>> detector = registry.detector("pyod-knn")(n_neighbors=3, encoder="svd").fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "the court heard a witness"])
    >>> bool(far > near)
    True
    """

    wrapped: type[Any]

    @classmethod
    def named(cls, path: str, module: str) -> type[Self]:
        """Return the adapter of the class at a path, ``"pyod.models.knn:KNN"``; see `around`."""
        with redirect_stdout(sys.stderr):  # PyOD prints the names of missing packages
            return cls.around(resolve_name(path), module)

    @classmethod
    @cache
    def around(cls, wrapped: type[Any], module: str) -> type[Self]:
        """Return the adapter of a class; it has the name of the class, and the code of `module` counts."""
        members = {
            "__module__": module,
            "__qualname__": wrapped.__qualname__,
            "__doc__": wrapped.__doc__,
            "__reduce__": lambda detector: (made_again, (cls.around, wrapped, module), vars(detector)),
            "wrapped": wrapped,
        }
        return type(wrapped.__name__, (cls,), members)

    def __init__(self, **params: Any) -> None:
        own = self._own_defaults()
        for name in params:
            check_choice(f"parameter of {type(self).__name__}", name, self._get_param_names())
        super().__init__(**{name: value for name, value in params.items() if name not in own})
        self.__dict__ |= {name: params.get(name, default) for name, default in own.items()}

    @classmethod
    def _own_defaults(cls) -> dict[str, Any]:
        """Return the hyper-parameters of `wrapped` that users may set, with their defaults."""
        parameters = signature(cls.wrapped).parameters.values()
        variable = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
        left_out = {"n_features", "verbose", *super()._get_param_names()}
        return {p.name: p.default for p in parameters if p.name not in left_out and p.kind not in variable}

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return [*super()._get_param_names(), *cls._own_defaults()]

    @classmethod
    def parameter_ranges(cls) -> dict[str, Range]:
        """Return the values that hyper-parameters may have: our own, and the ones that `wrapped` declares."""
        return super().parameter_ranges() | declared_ranges(cls.wrapped)

    @contextmanager
    def _called(self) -> Iterator[None]:
        """Seed the global random generators, keep standard output clean, and use one thread.

        The number of threads changes the last bits of sums, and with them the end of a training or a
        clustering.
        """
        if self.random_state is not None:  # some detectors use only the generators of NumPy or torch
            seed_generators(self.random_state)
        try:
            with redirect_stdout(sys.stderr), one_thread():
                yield
        except ImportError as error:
            raise DetectorError(
                f"{self.wrapped.__name__} needs a package that is not installed: {error}"
            ) from error

    @property
    def regime(self) -> str:
        """The regime that the class declares, or else transductive if known to be, or else the encoder's."""
        declared: str | None = getattr(self.wrapped, "regime", None)
        if declared is not None:
            return declared
        uses_batch = any(base.__module__ in SCORED_BY_BATCH for base in self.wrapped.__mro__)
        return TEST_BATCH if uses_batch else super().regime

    def resources(self) -> dict[str, str]:
        """Return the version of the library, and the digest of the file of word vectors if there is one."""
        return {**super().resources(), "library": f"{self._library} {version(self._library)}"}

    @property
    def _library(self) -> str:
        """The distribution of the wrapped detector; PyOD for a user's detector that inherits from it."""
        package = self.wrapped.__module__.partition(".")[0]
        return package if installed(package) else "pyod"

    @property
    def takes_labels(self) -> bool:  # type: ignore[override]  # a class attribute of other classes
        """Whether it learns from known outliers."""
        return self.wrapped.__module__ in _SUPERVISED

    def _fit_vectors(self, X: Matrix) -> None:
        """Fit a new detector of PyOD; a supervised one also gets vectors of known outliers, as class 1."""
        shared: Mapping[str, Any] = {
            "contamination": self.contamination,
            "random_state": self.random_state,
            "n_features": int(X.shape[1]),
        }
        taken = {name: value for name, value in shared.items() if name in signature(self.wrapped).parameters}
        given: list[Any] = [np.asarray(X, dtype=np.float64)]
        if self.takes_labels:
            if not self._known_labels.odd:
                raise DetectorError(
                    f"{self.wrapped.__name__} learns from known outliers, but got none (--known-outliers)."
                )
            odd = np.asarray(self._encoder(self._known_labels.odd), dtype=np.float64)
            given = [np.vstack([*given, odd]), np.repeat([0, 1], [len(X), len(odd)])]
        with self._called():
            own = {name: getattr(self, name) for name in self._own_defaults()}
            self._detector = self.wrapped(**taken, **own)
            self._detector.fit(*given)
        if device := getattr(self._detector, "device", None):
            self.ran_on_ = {"device": str(device)}

    def _score_vectors(self, X: Matrix) -> NDArray[np.float64]:
        with self._called():
            scores = self._detector.decision_function(np.asarray(X, dtype=np.float64))
        return np.asarray(scores, dtype=np.float64)

    def _score_training(self, texts: list[str]) -> Scores:
        # PyOD scores a training text without itself as a neighbour
        return np.asarray(self._detector.decision_scores_, dtype=np.float64)[: len(texts)]

    @property
    def trusted_types(self) -> frozenset[str] | None:  # type: ignore[override]
        """Its class and the classes of scikit-learn that PyOD uses; None for a network of torch."""
        if _uses_torch(self.wrapped) or self.wrapped.__module__ == _KEEPS_A_FUNCTION:
            return None
        return _TRUSTED | {f"{self.wrapped.__module__}.{self.wrapped.__qualname__}"}


def _uses_torch(kind: type) -> bool:
    """Return whether the module of a PyOD class, or of one of its bases, imports torch."""
    modules = (vars(sys.modules[base.__module__]) for base in kind.__mro__ if base.__module__ in sys.modules)
    return any(getattr(value, "__name__", "") == "torch" for names in modules for value in names.values())
