"""Builds detectors with the settings of a cell."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adbench_text.errors import AdbenchTextError, InvalidValueError, PluginError, UnknownNameError
from adbench_text.isolation import preserved
from adbench_text.places import described, place_of_error
from adbench_text.plugins import registry
from adbench_text.sweep.cell import Cell

if TYPE_CHECKING:
    from adbench_text.plugins.detector import TextDetector


@preserved()
def build_detector(cell: Cell) -> "TextDetector":
    """Return the cell's detector, unfitted and with checked hyper-parameters.

    Raises
    ------
    UnknownNameError, InvalidValueError
        If the name or the value of a setting is wrong.
    PluginError
        If the detector's class raises any other error.
    """
    detector = registry.detector(cell.detector)
    accepted = parameters(detector)
    for name in cell.settings:
        if name not in accepted:
            raise UnknownNameError(f"parameter of {cell.detector}", name, accepted.keys() - {"random_state"})
    seeded = {"random_state": cell.seed} if "random_state" in accepted else {}
    try:
        built = detector(**{**cell.settings, **seeded})
        built.check_params()
    except AdbenchTextError:
        raise
    except (TypeError, ValueError) as error:
        place = place_of_error(error, detector.__module__)
        raise InvalidValueError(f"{cell.detector} {cell.configuration}: {error}{place}") from error
    except Exception as error:  # a plug-in of another package may raise anything
        reason = described(error, detector.__module__)
        raise PluginError(f"{cell.detector} cannot be built: {reason}") from error
    return built


@preserved()
def parameters(detector: "type[TextDetector]") -> dict[str, Any]:
    """Return a detector's hyper-parameters by name, with their defaults."""
    try:
        return detector.default_params()
    except Exception as error:  # a plug-in of another package may raise anything
        reason = described(error, detector.__module__)
        raise PluginError(f"{detector.__name__} cannot be built without arguments: {reason}") from error


@preserved()
def scoring_settings(detector: "type[TextDetector]", settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that can change scores: all except those that only move the threshold.

    Raises
    ------
    InvalidValueError
        If the detector rejects one of the latter.
    """
    of_threshold = {name: value for name, value in settings.items() if name in detector.threshold_params}
    try:
        detector(**of_threshold)
    except AdbenchTextError:
        raise
    except (TypeError, ValueError) as error:
        listed = ", ".join(f"{name}={value!r}" for name, value in of_threshold.items())
        raise InvalidValueError(f"{detector.__name__} {listed}: {error}") from error
    return {name: value for name, value in settings.items() if name not in of_threshold}
