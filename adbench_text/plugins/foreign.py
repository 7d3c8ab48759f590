"""Give detectors of other packages the interface of `TextDetector`.

Any class with ``fit(texts)`` and ``decision_function(texts)`` is a detector. Other members of the interface
are used if they exist; otherwise the defaults of `TextDetector` apply. A PyOD detector whose ``fit`` takes
a matrix ``X`` gets document vectors. The registry adapts each detector once.

Outlier detectors of scikit-learn give normal texts higher scores. Only this module negates their scores.
`sklearn.base.is_outlier_detector` recognises them. It also recognises detectors of PyOD, but these give
abnormal texts higher scores, so a detector that is or contains one is not negated.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache, partial, wraps
from numbers import Real
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from sklearn.base import OutlierMixin, clone, is_outlier_detector

from adbench_text.checks import Range, declared_ranges
from adbench_text.contract.detector import TextDetector, made_again
from adbench_text.contract.scores import Scores, TokenScore, check_scores
from adbench_text.errors import InvalidValueError

SIGN_RESOURCE = "sign"  # the resource of a detector whose scores are negated
#: What a user reads about such a detector. It is part of the identity of results, so that results with the
#: other sign are outdated.
SIGN_NOTE = "scikit-learn's outlier detectors score normality, so the sign of its scores is turned"

_PYOD = "pyod.models.base"  # the module with the base class of PyOD's detectors


@runtime_checkable
class Detector(Protocol):
    """An object with the two methods of every detector."""

    def fit(self, texts: Any, /) -> Any:
        """Learn from documents."""

    def decision_function(self, texts: Any, /) -> Any:
        """Return a score for each document."""


def adapted_copy(detector: Detector | type[Detector]) -> TextDetector:
    """Return an unfitted copy of a detector, or a new instance of a detector class, with our interface."""
    if not isinstance(detector, Detector):
        raise InvalidValueError(
            f"A detector is a name, or an object with fit and decision_function, got {detector!r:.80}."
        )
    if inspect.isclass(detector):
        return adapted(detector)()
    if isinstance(detector, TextDetector):
        return clone(detector)  # type: ignore[no-any-return]
    original = type(detector)
    if _is_pyod(original) and _takes_a_matrix(original):
        kind, params = adapted(original), detector.get_params()  # type: ignore[attr-defined]
        # the adapter makes its own detector; it has no parameter for `verbose`, for example
        return kind(**{name: params[name] for name in params.keys() & kind.default_params().keys()})
    make_copy = partial(clone, detector, safe=False)
    read = {name: getattr(original, name) for name in ("__module__", "__name__", "__doc__")}
    vars(make_copy).update(read)  # `_adapter` reads them
    return _adapter(make_copy)()


def adapted(kind: Any) -> type[TextDetector]:
    """Return a detector class with our interface.

    `kind` is a detector class of any package, or a function that returns a detector.
    """
    if inspect.isclass(kind) and issubclass(kind, TextDetector):
        return kind
    if _is_pyod(kind) and _takes_a_matrix(kind):
        from adbench_text.plugins.pyod_detector import PyODDetector  # imports the encoders

        return PyODDetector.around(kind, kind.__module__)
    return _adapter_once(kind)


def _is_pyod(kind: Any) -> bool:
    """Return whether a class is a detector of PyOD, or inherits from one."""
    return any(base.__module__ == _PYOD for base in getattr(kind, "__mro__", ()))


def _takes_a_matrix(kind: Any) -> bool:
    """Return whether `fit` names its input ``X``, as in PyOD; text detectors use other names."""
    return list(inspect.signature(kind.fit).parameters)[1:2] == ["X"]


def _adapter(kind: Any) -> type["Foreign"]:
    """Return a subclass of `Foreign` that makes its detectors by calling `kind`, a class or a function."""
    members: dict[str, Any] = {
        "__module__": kind.__module__,
        "__doc__": kind.__doc__,
        "kind": staticmethod(kind),
        # read from the class, where no detector is wrapped yet that could answer
        "test_settings": getattr(kind, "test_settings", {}),
        # in PyOD, contamination moves only the threshold; elsewhere it may change scores, too
        "threshold_params": TextDetector.threshold_params if _is_pyod(kind) else frozenset(),
    }
    return type(getattr(kind, "__name__", repr(kind)), (Foreign,), members)


_adapter_once = cache(_adapter)  # it keeps `kind`, so not for a function that holds a detector of the user


def _attribute(read: Callable[[Any], Any]) -> Any:
    """Return a property of `Foreign`: what `read` finds in the wrapped detector."""
    return property(lambda detector: read(detector.wrapped))


def _method(name: str) -> Any:
    """Return a method of `Foreign` that calls the same method of the wrapped detector.

    If the wrapped detector lacks it, the method of `TextDetector` is called.
    """
    inherited = getattr(TextDetector, name)

    @wraps(inherited)
    def call(detector: "Foreign", *arguments: Any) -> Any:
        own = getattr(detector.wrapped, name, None)
        # copies, because the detector may change its input: texts, and the labels of `oracle_scores`
        copies = [list(value) if isinstance(value, Sequence) else copy(value) for value in arguments]
        return own(*copies) if callable(own) else inherited(detector, *arguments)

    return call


class Foreign(TextDetector):
    """A detector of another package, `wrapped`; the class or function `kind` makes it from settings."""

    kind: ClassVar[Callable[..., Any]]
    implementation = _attribute(type)
    is_oracle = _attribute(lambda wrapped: getattr(wrapped, "is_oracle", False) is True)
    reads_raw = _attribute(lambda wrapped: getattr(wrapped, "reads_raw", False) is True)
    takes_labels = _attribute(lambda wrapped: getattr(wrapped, "takes_labels", False) is True)
    # knowledge besides the training texts; None if not declared
    regime = _attribute(lambda wrapped: getattr(wrapped, "regime", None))
    trusted_types = _attribute(lambda wrapped: getattr(wrapped, "trusted_types", None))
    not_saved: ClassVar[frozenset[str]] = frozenset({"wrapped", "_settings"})
    prepare = _method("prepare")
    oracle_scores = _method("oracle_scores")
    reasons = _method("reasons")

    def __init__(self, **settings: Any) -> None:
        self.wrapped = self.kind(**settings)
        self._settings = settings
        contamination: Any = getattr(self.wrapped, "contamination", None)  # may be a word such as "auto"
        is_share = isinstance(contamination, Real) and 0 < float(contamination) <= 0.5
        super().__init__(contamination=contamination if is_share else 0.1)

    def __reduce__(self) -> tuple[Any, ...]:
        return made_again, (adapted, self.kind), vars(self)

    @property
    def is_turned(self) -> bool:
        """Whether its scores are negated: scikit-learn's detectors measure normality."""
        detector = self.wrapped
        try:
            is_of_sklearn = is_outlier_detector(detector)
        except AttributeError:  # without tags, or with scikit-learn's mixin but not its base
            is_of_sklearn = isinstance(detector, OutlierMixin)
        parts = detector.get_params().values() if is_of_sklearn and hasattr(detector, "get_params") else ()
        return bool(is_of_sklearn) and not any(_is_pyod(type(part)) for part in (detector, *parts))

    @classmethod
    def default_params(cls) -> dict[str, Any]:
        """Return the hyper-parameters by name, with their defaults."""
        detector = cls.kind()  # an error names the hyper-parameter that has no default value
        if hasattr(cls.kind, "get_params"):
            return dict(detector.get_params())
        return {p.name: p.default for p in inspect.signature(cls.kind).parameters.values()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the hyper-parameters of the detector, or the arguments of `kind` if it has no `get_params`.

        If `kind` is a function, the hyper-parameters of the detector are included only with `deep`, because
        the function does not take them.
        """
        method = getattr(self.wrapped, "get_params", None)
        if method is None or (not inspect.isclass(self.kind) and not deep):
            return dict(self._settings)
        return dict(method())

    def set_params(self, **params: Any) -> Self:
        """Set hyper-parameters; the detector must then be fitted again."""
        # a class takes all of them; a function only its arguments, and its detector the rest
        taken = params if inspect.isclass(self.kind) else inspect.signature(self.kind).parameters
        settings = {**self._settings, **{name: value for name, value in params.items() if name in taken}}
        self.__dict__.clear()
        type(self).__init__(self, **settings)
        if of_wrapped := {name: value for name, value in params.items() if name not in taken}:
            self.wrapped.set_params(**of_wrapped)
        return self

    @classmethod
    def presets(cls, dataset: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the named configurations for a dataset."""
        method = getattr(cls.kind, "presets", None)
        return dict(method(dataset)) if method else {}

    @classmethod
    def parameter_ranges(cls) -> dict[str, Range]:
        """Return the values that hyper-parameters may have, if the detector declares them."""
        return declared_ranges(cls.kind)

    def check_params(self) -> None:
        """Raise an error if a hyper-parameter is out of range, if the detector declares or checks ranges."""
        super().check_params()
        _method("check_params")(self)

    def resources(self) -> dict[str, str]:
        """Return the digests of files and data that decide the scores, and whether scores are negated."""
        sign = {SIGN_RESOURCE: SIGN_NOTE} if self.is_turned else {}
        return {**(_method("resources")(self) or {}), **sign}

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the scores of the words of each text, if the detector has them."""
        method = getattr(self.wrapped, "token_scores", None)
        if not callable(method):
            return super().token_scores(texts)
        return [[TokenScore(*token) for token in tokens] for tokens in method(list(texts))]

    def learned(self) -> dict[str, Any]:
        """Return the learned attributes; the attributes of the wrapped detector are under ``wrapped``.

        Its hyper-parameters and the attributes that its `not_saved` lists are left out.
        """
        left_out = {"observer", *getattr(self.wrapped, "not_saved", ()), *self.get_params(deep=False)}
        of_wrapped = {name: value for name, value in vars(self.wrapped).items() if name not in left_out}
        return {**super().learned(), "wrapped": of_wrapped}

    def restore(self, learned: Mapping[str, Any]) -> Self:
        """Set the attributes that the method `learned` returned."""
        vars(self.wrapped).update(learned["wrapped"])
        return super().restore(learned)

    def _fit(self, texts: list[str]) -> None:
        """Fit the wrapped detector, with the observer and the known labels if it takes them."""
        # an attribute `observer` that is None means that the wrapped detector accepts an observer
        is_watched = getattr(self.wrapped, "observer", self) is None
        if is_watched:
            self.wrapped.observer = self.observer
        try:
            self._known_labels.fit(self.wrapped, texts)  # a copy, because it may change its input
        finally:
            if is_watched:
                self.wrapped.observer = None
            with suppress(Exception):  # the attribute is missing, or means something else
                self.ran_on_ = {str(name): str(value) for name, value in self.wrapped.ran_on_.items()}

    def _score(self, texts: list[str]) -> Scores:
        """Return the scores of the wrapped detector; higher is more abnormal."""
        scores: Scores = self.wrapped.decision_function(list(texts))
        return -check_scores(scores, len(texts)) if self.is_turned else scores
