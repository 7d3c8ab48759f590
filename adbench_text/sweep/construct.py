"""Detectors with the settings of a cell."""

import inspect
from collections.abc import Mapping
from typing import Any

from adbench_text.errors import AdbenchTextError, InvalidValueError, PluginError, UnknownNameError
from adbench_text.isolation import preserved
from adbench_text.plugins import registry
from adbench_text.sweep.cell import Cell

_THRESHOLD = "contamination"


@preserved()
def build_detector(cell: Cell) -> Any:
    """Return the cell's detector, unfitted and with checked hyper-parameters.

    Raises
    ------
    UnknownNameError, InvalidValueError
        If a name or a value of a setting is wrong.
    """
    detector = registry.detector(cell.detector)
    known = parameters(detector)
    for name in cell.settings:
        if name not in known:
            raise UnknownNameError(f"parameter of {cell.detector}", name, known.keys() - {"random_state"})
    seeded = {"random_state": cell.seed} if "random_state" in known else {}
    try:
        built = detector(**{**cell.settings, **seeded})
        if hasattr(built, "check_params"):
            built.check_params()
    except AdbenchTextError:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidValueError(f"{cell.detector} {cell.configuration}: {error}") from error
    except Exception as error:  # somebody else's plug-in
        raise PluginError(f"{cell.detector} cannot be made: {type(error).__name__}: {error}") from error
    return built


@preserved()
def parameters(detector: Any) -> dict[str, Any]:
    """Return a detector's hyper-parameters by name, with their defaults."""
    try:
        if hasattr(detector, "get_params"):
            return dict(detector().get_params())
        return {name: p.default for name, p in inspect.signature(detector).parameters.items()}
    except Exception as error:  # somebody else's plug-in
        what = f"{type(error).__name__}: {error}"
        raise PluginError(f"{detector.__name__} cannot be made without arguments: {what}") from error


@preserved()
def scoring_settings(detector: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without the contamination of a PyOD detector, which decides its labels and no score.

    Raises
    ------
    InvalidValueError
        If the detector refuses the contamination.
    """
    is_pyod = any(base.__module__ == "pyod.models.base" for base in getattr(detector, "__mro__", ()))
    if not is_pyod or _THRESHOLD not in settings:
        return dict(settings)
    try:
        detector(**{_THRESHOLD: settings[_THRESHOLD]})
    except AdbenchTextError:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidValueError(f"{detector.__name__} {_THRESHOLD}: {error}") from error
    return {name: value for name, value in settings.items() if name != _THRESHOLD}
