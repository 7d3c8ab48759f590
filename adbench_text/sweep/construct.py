"""Builds detectors with the settings of a cell."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adbench_text.errors import AdbenchTextError, InvalidValueError, UnknownNameError
from adbench_text.isolation import preserved
from adbench_text.places import as_plugin_error, message_of, place_of_error
from adbench_text.plugins import registry
from adbench_text.sweep.cell import DEFAULT, Cell

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
    with as_plugin_error(f"{cell.detector} cannot be built", detector.__module__):
        try:
            built = detector(**{**cell.settings, **seeded})
            built.check_params()
        except AdbenchTextError:
            raise
        except (TypeError, ValueError) as error:
            place = place_of_error(error, detector.__module__)
            named = f"{cell.detector} {cell.configuration}".strip()
            raise InvalidValueError(f"{named}: {message_of(error)}{place}") from error
    return built


@preserved()
def parameters(detector: "type[TextDetector]") -> dict[str, Any]:
    """Return a detector's hyper-parameters by name, with their defaults."""
    with as_plugin_error(f"{detector.__name__} cannot be built without arguments", detector.__module__):
        return detector.default_params()


@preserved()
def presets(detector: "type[TextDetector]", dataset: str) -> dict[str, list[dict[str, Any]]]:
    """Return a detector's named configurations for a dataset, the defaults among them.

    Raises
    ------
    PluginError
        If the detector's method raises any error, or returns anything else.
    """
    with as_plugin_error(f"presets() of {detector.__name__} fails", detector.__module__):
        named = detector.presets(dataset)
        if not isinstance(named, Mapping):
            raise TypeError(f"it must return a mapping of names to lists of settings, got {named!r:.80}")
        grids = {str(name): [dict(settings) for settings in grid] for name, grid in named.items()}
    return {DEFAULT: [{}], **grids}


@preserved()
def scoring_settings(detector: "type[TextDetector]", settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that can change scores: all except those that only move the threshold.

    Raises
    ------
    InvalidValueError
        If the detector rejects one of the latter.
    """
    of_threshold = {name: value for name, value in settings.items() if name in detector.threshold_params}
    if not of_threshold:
        return dict(settings)
    with as_plugin_error(f"{detector.__name__} cannot be built", detector.__module__):
        try:
            detector(**of_threshold)
        except AdbenchTextError:
            raise
        except (TypeError, ValueError) as error:
            listed = ", ".join(f"{name}={value!r}" for name, value in of_threshold.items())
            raise InvalidValueError(f"{detector.__name__} {listed}: {message_of(error)}") from error
    return {name: value for name, value in settings.items() if name not in of_threshold}
