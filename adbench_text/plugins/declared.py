"""Check the attributes that a detector declares, and copy them into plain values.

A detector may be code of somebody else: with one comma too many, its regime is a tuple. Only this module
reads these attributes in the process that runs a sweep.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adbench_text.checks import Boolean, Named, Names, Number, Range, Text
from adbench_text.errors import InvalidValueError, PluginError
from adbench_text.failures import as_plugin_error

if TYPE_CHECKING:
    from adbench_text.contract.detector import TextDetector

# Members of `TextDetector`, with the values that they may have.
_OF_CLASS: dict[str, Range] = {
    "computes_with": Names(),
    "default_preset": Text(),
    "faster": Named(Number("(0, inf)")),
    "is_timed": Boolean(),
    "leaves_out_self": Boolean(),
    "takes_language": Boolean(),
    "threshold_params": Names(),
}
_OF_OBJECT: dict[str, Range] = {
    "is_oracle": Boolean(),
    "reads_raw": Boolean(),
    "regime": Text(nullable=True),
    "takes_labels": Boolean(),
}


@dataclass(frozen=True)
class Declared:
    """The attributes that determine the results of a detector, and its needs."""

    kinds: tuple[type, ...]  # its class, and the class that it wraps
    regime: str | None
    is_oracle: bool
    reads_raw: bool
    takes_labels: bool
    computes_with: frozenset[str]  # packages
    resources: Mapping[str, str]
    params: Mapping[str, Any]  # hyper-parameters


def declared(detector: "TextDetector", name: str) -> Declared:
    """Return the attributes that a detector declares; errors call the detector `name`.

    Raise PluginError if reading an attribute fails, or if a value has the wrong type.
    """
    members = {member: _read(detector, name, member) for member in _OF_OBJECT}
    with as_plugin_error(f"{name} cannot be identified", type(detector).__module__):
        kinds = type(detector), detector.implementation
    with as_plugin_error(f"{name} cannot be identified", kinds[1].__module__):
        resources = {str(key): str(value) for key, value in detector.resources().items()}
        params = detector.get_params()
    _check(name, "get_params()", Named(), params)
    packages = [_read(kind, name, "computes_with") for kind in kinds if hasattr(kind, "computes_with")]
    return Declared(
        kinds,
        **members,
        computes_with=frozenset().union(*packages),
        resources=resources,
        params={**params},
    )


def of_class(kind: "type[TextDetector]", member: str) -> Any:
    """Return a member of a detector's class; raise PluginError if its value has the wrong type."""
    return _read(kind, kind.__name__, member)


def check(detector: "TextDetector", name: str) -> None:
    """Raise PluginError if a member of a detector has a value of the wrong type."""
    for member in (*_OF_CLASS, *_OF_OBJECT):
        _read(detector, name, member)


def _read(owner: Any, name: str, member: str) -> Any:
    """Check and return a member of a detector or its class."""
    with as_plugin_error(f"{name} cannot be identified", owner.__module__):
        value = getattr(owner, member)
    _check(name, member, (_OF_CLASS | _OF_OBJECT)[member], value)
    return value


def _check(name: str, member: str, values: Range, value: Any) -> None:
    """Raise PluginError if a member of the detector `name` has a value that is not one of `values`."""
    try:
        values.check(member, value)
    except InvalidValueError as error:
        raise PluginError(f"{name} cannot be used: {error}") from error
