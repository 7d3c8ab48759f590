"""Read how people write detectors, ``NAME``, ``NAME:PRESET`` or ``NAME(key=value, ...)``, and build them.

The command line, the files of sweeps and the members of `ensemble` use this notation. A value that is not
JSON is text: ``ocsvm(encoder=svd, nu=0.2)``, ``date:paper(score=mp)``.
"""

import json
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from adbench_text.errors import AdbenchTextError, InvalidValueError, UnknownNameError
from adbench_text.failures import as_plugin_error, message_of, place_of_error
from adbench_text.plugins import declared, registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from adbench_text.contract.detector import TextDetector

DEFAULT = "default"
#: The detector of the commands for own documents, and of `odd_documents`. Its presets need not name it:
#: ``robust`` is ``ensemble:robust``.
DEFAULT_DETECTOR = "ensemble"
GPU = "GPU"  # see `TextDetector.faster`
NOTATION = "NAME, NAME:PRESET or NAME(key=value, ...)"
_WRITTEN = re.compile(r"([^():,]+\.py:\w+|[^():,]+)(?::([^():,]+))?(?:\((.+)\))?", re.DOTALL)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # of an object in memory


@dataclass(frozen=True)
class DetectorChoice:
    """A detector, with the name of a preset and settings that override it.

    >>> DetectorChoice.parse("ocsvm:paper-grid(encoder=svd)")
    DetectorChoice(name='ocsvm', preset='paper-grid', settings={'encoder': 'svd'}, seeds=(), datasets=())
    >>> DetectorChoice.parse("robust").name
    'ensemble'
    """

    name: str
    preset: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    seeds: Sequence[int] = ()  # the only seeds of a sweep for this detector; empty for all
    datasets: Sequence[str] = ()  # the only datasets; empty for all

    @classmethod
    def parse(cls, text: str) -> "DetectorChoice":
        """Return the detector that a text names; raise InvalidValueError if the notation is wrong."""
        if text.startswith(registry.GIVEN) or text in registry.names("detectors"):
            return cls(text)
        written = _WRITTEN.fullmatch(text.strip())
        if written is None:
            raise InvalidValueError(f"Expected a detector as {NOTATION}, got {text!r}.")
        name, preset, inner = written.groups()
        parts: list[str] = []
        for part in split_list(inner or ""):
            if parts and "=" not in part.partition("(")[0]:  # in a list: ensemble(members=llr, iforest)
                parts[-1] += f", {part}"
            else:
                parts.append(part)
        name, settings = name.strip(), dict(map(setting, parts))
        if preset is None and is_preset_of_default(name):
            return cls(DEFAULT_DETECTOR, name, settings)
        return cls(name, preset, settings)

    @property
    def chosen(self) -> str:
        """Name of the preset to use.

        By default it is the default preset of the class. If the settings override every setting of this
        preset, it is ``"default"``: ``ensemble(members=llr)`` keeps nothing of ``ensemble:robust``.
        """
        if self.preset:
            return self.preset
        detector = registry.detector(self.name)
        own: str = declared.of_class(detector, "default_preset")
        if own == DEFAULT or not self.settings:
            return own
        grid = presets(detector, "").get(own, [])
        is_replaced = bool(grid) and all(each.keys() <= self.settings.keys() for each in grid)
        return DEFAULT if is_replaced else own

    @property
    def label(self) -> str:
        """Name of the preset, with the settings that override it, so that labels are unique."""
        if self.chosen == DEFAULT:  # the configuration distinguishes these cells
            return DEFAULT
        return format_name(self.chosen, settings=text_of_settings(self.settings))

    def configurations(self, dataset: str) -> list[dict[str, Any]]:
        """Return the settings to run on a dataset: one configuration, or several if the preset is a grid."""
        detector = registry.detector(self.name)
        grids, preset = presets(detector, dataset), self.chosen
        if preset not in grids:
            place = f" on {dataset}" if dataset else ""
            raise UnknownNameError(f"preset of {self.name}{place}", preset, grids)
        given = [scoring_settings(detector, {**settings, **self.settings}) for settings in grids[preset]]
        if preset != DEFAULT:
            return given
        defaults = parameters(detector)  # a default that is given explicitly makes no new configuration
        return [
            {name: value for name, value in settings.items() if not _is_equal(value, defaults.get(name))}
            for settings in given
        ]

    def configuration(self) -> dict[str, Any]:
        """Return the settings for documents outside the datasets; raise InvalidValueError for a grid."""
        grid = self.configurations("")
        if len(grid) > 1:
            raise InvalidValueError(
                f"{self.name}:{self.preset} has {len(grid)} configurations; give the settings of one."
            )
        return grid[0]


def is_preset_of_default(name: str) -> bool:
    """Return whether a text names a preset of the default detector, such as ``robust``, and no detector."""
    if not name.isidentifier() or registry.find("detectors", name) is not None:
        return False
    return name in registry.detector(DEFAULT_DETECTOR).presets("")


def split_list(text: str) -> list[str]:
    """Split a list at commas outside brackets.

    >>> split_list("llr, knn-words(k=5, references=20)")
    ['llr', 'knn-words(k=5, references=20)']
    """
    parts, depth = [""], 0
    for character in text:
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts] if text else []


def setting(text: str) -> tuple[str, Any]:
    """Return key and value of ``KEY=VALUE``; a value that is not JSON is text.

    >>> setting("nu=0.2"), setting("kernel=rbf"), setting("normalize=True")
    (('nu', 0.2), ('kernel', 'rbf'), ('normalize', True))
    """
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key:
        raise InvalidValueError(f"Expected KEY=VALUE, got {text!r}.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, {"True": True, "False": False, "None": None}.get(value, value)


def detector(name: str) -> "Callable[..., TextDetector]":
    """Return the class or preset factory of a detector.

    For a name with a preset or settings, such as ``"llr:robust"``, it is `TextDetector.from_preset` with this
    preset and these settings.

    Examples
    --------
    >>> detector("llr")(cap=3).get_params()["cap"]
    3
    >>> robust = detector("llr:robust")(topics=4)
    >>> type(robust).__name__, robust.topics, robust.em_rounds
    ('LLR', 4, 5)
    """
    choice = DetectorChoice.parse(name)
    kind = registry.detector(choice.name)
    if choice == DetectorChoice(choice.name):
        return kind
    kind.from_preset(choice.preset or DEFAULT, **choice.settings)  # an error at once
    return partial(kind.from_preset, choice.preset or DEFAULT, **choice.settings)


def build(name: str, settings: Mapping[str, Any], seed: int | None = None) -> "TextDetector":
    """Return an unfitted detector; raise InvalidValueError if a hyper-parameter is wrong."""
    kind = registry.detector(name)
    accepted = parameters(kind).keys()
    for key in settings:
        if key not in accepted - {"random_state"}:
            raise UnknownNameError(f"parameter of {name}", key, accepted - {"random_state"})
    seeded = {"random_state": seed} if "random_state" in accepted else {}
    return _built(kind, {**settings, **seeded}, format_name(name, settings=text_of_settings(settings)))


def _built(kind: "type[TextDetector]", settings: Mapping[str, Any], label: str) -> "TextDetector":
    """Build and check a detector; a TypeError or ValueError means that a setting of the user is wrong."""
    with as_plugin_error(f"{label} cannot be built", kind.__module__):
        try:
            built = kind(**settings)
            built.check_params()
            declared.check(built, label)
        except AdbenchTextError:
            raise
        except (TypeError, ValueError) as error:
            reason = f"{message_of(error)}{place_of_error(error, kind.__module__)}"
            raise InvalidValueError(f"{label}: {reason}") from error
    return built


# Resources that are English by default, with the hyper-parameter that replaces them and a name for users.
_ENGLISH = {
    "wordfreq": ("language", "word frequencies"),
    "vectors": ("vectors", "word vectors"),
    "vocabulary": ("vocabulary", "word pieces"),
}


def english_knowledge(detector: "TextDetector", given: Container[str] = ()) -> list[str]:
    """Return the default English resources of a detector that the user's settings, `given`, do not replace.

    An encoder may know many languages, so it is left out.
    """
    english: dict[str, None] = {}
    has_members = hasattr(detector, "build_members")
    for member in detector.build_members() if has_members else [detector]:
        used, params, defaults = member.resources(), member.get_params(), member.default_params()
        for resource, (param, name) in _ENGLISH.items():
            is_default = params.get(param) == defaults.get(param) and param not in given
            if resource in used and is_default:
                english[name] = None
    return list(english)


def parameters(detector: "type[TextDetector]") -> dict[str, Any]:
    """Return a detector's hyper-parameters by name, with their defaults."""
    with as_plugin_error(f"{detector.__name__} cannot be built without arguments", detector.__module__):
        return detector.default_params()


def presets(detector: "type[TextDetector]", dataset: str) -> dict[str, list[dict[str, Any]]]:
    """Return a detector's named configurations for a dataset, including the defaults.

    If the dataset is not English, they name its language for a detector that `takes_language`.
    """
    with as_plugin_error(f"presets() of {detector.__name__} fails", detector.__module__):
        named = detector.presets(dataset)
        if not isinstance(named, Mapping):
            raise TypeError(f"it must return a mapping of names to lists of settings, got {named!r:.80}")
        grids = {str(name): [dict(settings) for settings in grid] for name, grid in named.items()}
    grids = {DEFAULT: [{}], **grids}
    if declared.of_class(detector, "takes_language") and (language := registry.language_of(dataset)) != "en":
        grids = {name: [{"language": language, **each} for each in grid] for name, grid in grids.items()}
    return grids


def scoring_settings(detector: "type[TextDetector]", settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that can change scores; check the settings that only move the threshold."""
    moving = declared.of_class(detector, "threshold_params")
    of_threshold = {name: value for name, value in settings.items() if name in moving}
    if of_threshold:
        listed = ", ".join(f"{name}={value!r}" for name, value in of_threshold.items())
        _built(detector, of_threshold, f"{detector.__name__} {listed}")
    return {name: value for name, value in settings.items() if name not in of_threshold}


def format_name(name: str, preset: str = DEFAULT, settings: str = "") -> str:
    """Write the name of a detector with its preset and settings.

    >>> format_name("llr", "robust"), format_name("ocsvm", settings="encoder=svd, nu=0.2")
    ('llr:robust', 'ocsvm(encoder=svd, nu=0.2)')
    """
    chosen = name if preset == DEFAULT else f"{name}:{preset}"
    return f"{chosen}({settings})" if settings else chosen


def choice_name(detector: str, preset: str, configuration: str) -> str:
    """Return the name of a detector with its preset, or with its configuration if it has no preset.

    >>> choice_name("llr", "robust", "topics=4"), choice_name("llr", "default", "cap=3")
    ('llr:robust', 'llr(cap=3)')
    """
    return format_name(detector, preset, configuration if preset == DEFAULT else "")


def text_of_settings(settings: Mapping[str, Any]) -> str:
    """Return settings in one line, sorted by name: ``"kernel=linear, nu=0.2"``."""
    return ", ".join(f"{name}={text_of_value(value)}" for name, value in sorted(settings.items()))


def text_of_value(value: Any) -> str:
    """Return the value of a setting as text; equal values have equal texts."""
    return value if isinstance(value, str) else json.dumps(canonical(value), default=_text_of_object)


def _text_of_object(value: Any) -> str:
    """Return an object as text, without its address in memory, which differs between processes."""
    if name := getattr(value, "__qualname__", ""):
        return f"{value.__module__}.{name}"
    return _ADDRESS.sub("", str(value))


def _is_equal(value: Any, other: Any) -> bool:
    """Return whether two values of a setting are the same: 1 is 1.0, but not "1"."""
    same_type = type(canonical(value)) is type(canonical(other))
    return same_type and text_of_value(value) == text_of_value(other)


def canonical(value: Any) -> Any:
    """Return a value with whole floats as int, also within lists: 1e4 and 10000 become equal."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return [canonical(item) for item in value] if isinstance(value, list | tuple) else value
