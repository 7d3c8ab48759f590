"""The detector for the user's own documents: configured for their language, not yet fitted."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adbench_text.errors import DetectorError, InvalidValueError
from adbench_text.failures import as_plugin_error
from adbench_text.plugins import registry
from adbench_text.plugins.configure import (
    DEFAULT_DETECTOR,
    DetectorChoice,
    build,
    format_name,
    text_of_settings,
)
from adbench_text.plugins.foreign import Detector, adapted_copy
from adbench_text.text.languages import standard

if TYPE_CHECKING:
    from adbench_text.contract.detector import TextDetector


@dataclass(frozen=True)
class OwnDetector:
    """An unfitted detector for documents of a language. `label` is its configuration, as ``"llr:robust"``."""

    name: str
    label: str
    detector: "TextDetector"
    settings: Mapping[str, Any]  # given by the user

    def errors(self) -> AbstractContextManager[None]:
        """Turn any error of the detector in a ``with`` block into a `DetectorError` of one line."""
        module = self.detector.implementation.__module__
        return as_plugin_error(f"{self.label} failed", module, DetectorError)


def own_detector(
    detector: str | Detector | type[Detector] = DEFAULT_DETECTOR,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    language: str = "en",
    seed: int = 0,
    *,
    normal: bool = False,
) -> OwnDetector:
    """Return a detector for documents of a language.

    `detector` is a name, an object or a class. Without a preset, the detector chooses a preset and its
    settings for the language. With one, its settings are those for the language, if the detector has such.
    With `normal`, all training documents are known to be normal.
    """
    language = standard(language)
    if not isinstance(detector, str):
        return _configured(detector, preset, settings, seed)
    choice = DetectorChoice.parse(registry.with_known_files(detector))
    if preset and choice.preset:
        raise InvalidValueError(
            f"{detector!r} has a preset already; leave out preset (--preset), got {preset!r}."
        )
    name, preset = choice.name, preset or choice.preset
    with_paths = {  # a relative path is one from here, wherever the detector runs
        key: registry.with_known_files(value) if isinstance(value, str) else value
        for key, value in (settings or {}).items()
    }
    of_user = {**choice.settings, **with_paths}
    of_preset: Mapping[str, Any]
    if preset is None:
        preset, of_preset = registry.detector(name).for_documents(language, of_user, normal=normal)
    else:
        preset, of_preset = _preset_for(name, preset, language, of_user)
    built = build(name, {**of_preset, **of_user}, seed)
    preset, *notes = preset.split(", ")  # "robust, without word vectors"
    label = ", ".join([format_name(name, preset, text_of_settings(of_user)), *notes])
    return OwnDetector(name, label, built, of_user)


def _configured(
    detector: Detector | type[Detector],
    preset: str | None,
    settings: Mapping[str, Any] | None,
    seed: int,
) -> OwnDetector:
    """Return a copy of a detector that has its settings; the seed is for one that has none."""
    copy = adapted_copy(detector)
    name = registry.name_of(type(copy))
    if preset or settings:
        raise InvalidValueError(f"This {name} has its settings already; leave out preset and settings.")
    if copy.get_params().get("random_state", seed) is None:
        copy.set_params(random_state=seed)
    return OwnDetector(name, name, copy, {})


def _preset_for(
    name: str, preset: str, language: str, given: Mapping[str, Any]
) -> tuple[str, Mapping[str, Any]]:
    """Return a preset, with notes, and its settings for documents of a language, given settings of the user.

    In another language than English, a detector may have other settings for a preset. They are known only if
    it would choose this preset itself, for documents that are all normal or for others.
    """
    if language != "en":
        for normal in (False, True):
            with suppress(InvalidValueError):  # the detector needs word vectors
                offered, settings = registry.detector(name).for_documents(language, given, normal=normal)
                if offered.split(", ")[0] == preset:
                    return offered, settings
    return preset, DetectorChoice(name, preset).configuration()
