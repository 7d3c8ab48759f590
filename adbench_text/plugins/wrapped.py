"""The hyper-parameters of adapters around detectors of another package."""

from inspect import Parameter, signature
from typing import Any, ClassVar, Self

from adbench_text.checks import check_choice
from adbench_text.plugins.detector import TextDetector


class WrappedDetector(TextDetector):
    """Base of adapters: the hyper-parameters of a class of another package beside ours.

    Parameters
    ----------
    **params
        Ours, and those of `wrapped` by their own names.

    Attributes
    ----------
    wrapped : type
        The class of the other package.
    fixed : frozenset of str
        Its hyper-parameters that are not offered.

    Examples
    --------
    >>> import numpy as np
    >>> class Longest:
    ...     def __init__(self, limit=10):
    ...         self.limit = limit
    >>> class LongestDetector(WrappedDetector):
    ...     wrapped = Longest
    ...
    ...     def _fit(self, texts):
    ...         self._detector = self.wrapped(**self._own_defaults() | self._params)
    ...
    ...     def _score(self, texts):
    ...         return np.array([max(len(text) - self._detector.limit, 0) for text in texts])
    >>> LongestDetector(limit=3).fit(["one", "two"]).decision_function(["three", "six"])
    array([2., 0.])
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

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all hyper-parameters, those of `wrapped` among them."""
        return {**super().get_params(deep), **self._own_defaults(), **self._params}

    def set_params(self, **params: Any) -> Self:
        """Set hyper-parameters, those of `wrapped` among them."""
        type(self).__init__(self, **(self.get_params() | params))
        return self
