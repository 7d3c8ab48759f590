"""A detector for a user's own documents."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

from adbench_text.documents import DEFAULT_DETECTOR
from adbench_text.errors import DetectorError, InvalidValueError
from adbench_text.places import as_plugin_error
from adbench_text.plugins import registry
from adbench_text.plugins.regimes import TEST_BATCH
from adbench_text.sweep.cell import Cell, text_of_settings
from adbench_text.sweep.construct import build_detector
from adbench_text.sweep.names import with_preset
from adbench_text.sweep.sweep import DetectorChoice, choose
from adbench_text.text.cleaning import check_language

if TYPE_CHECKING:
    from adbench_text.plugins.detector import TextDetector


# Of each resource that is English by default: the hyper-parameter that names another, and what it is.
_ENGLISH = {
    "wordfreq": ("language", "word frequencies"),
    "vectors": ("vectors", "word vectors"),
    "vocabulary": ("vocabulary", "word pieces"),
}


class OwnDetector(NamedTuple):
    """An unfitted detector with the name of its configuration: ``"llr (robust)"``."""

    name: str
    label: str
    detector: "TextDetector"

    def errors(self) -> AbstractContextManager[None]:
        """Turn any error of the detector in a block into a `DetectorError` of one line."""
        module = self.detector.implementation.__module__
        return as_plugin_error(f"{self.label} failed", module, DetectorError)


def own_detector(
    name: str = DEFAULT_DETECTOR,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    language: str = "en",
    seed: int = 0,
    *,
    normal: bool = False,
) -> OwnDetector:
    """Return a detector with its settings for documents of a language.

    Parameters
    ----------
    name : str
        Also with a preset: ``"mean:llr-minilm"``.
    preset : str, optional
        Named configuration; by default the one that the detector offers for such documents.
    settings : mapping, optional
        Hyper-parameters that override those of the preset.
    language : str
    seed : int
    normal : bool
        Whether all training documents are normal, as the user says.

    Raises
    ------
    UnknownNameError, InvalidValueError
        If the detector, the preset or a setting is not known, the preset is a grid, the language is not a
        code, or the detector has no configuration for it.
    """
    check_language(language)
    chosen = with_preset(DetectorChoice(name, preset))
    name, preset = chosen.name, chosen.preset
    offered: Mapping[str, Any]
    if preset is None:
        preset, offered = registry.detector(name).for_documents(language, settings or {}, normal=normal)
    else:
        choice = choose([name], preset, {})[0]
        configurations = choice.configurations("")
        if len(configurations) > 1:
            raise InvalidValueError(
                f"The preset {preset!r} of {name} has {len(configurations)} configurations; give the "
                "settings of one with --set."
            )
        offered = configurations[0]
    given = choose([name], None, settings or {})[0].settings
    cell = Cell(name, preset, {**offered, **given}, "", "", 0, seed)
    notes = ", ".join(part for part in (preset, text_of_settings(given)) if part and part != "default")
    return OwnDetector(name, f"{name} ({notes})" if notes else name, build_detector(cell))


def english_knowledge(
    name: str, preset: str | None, settings: Mapping[str, Any], language: str
) -> tuple[str, list[str]]:
    """Return the name of a configuration, and what it knows from elsewhere that is not of the language.

    An encoder may be of many languages, and is left out. So is a member with settings of the user.
    """
    own = own_detector(name, preset, settings, language)
    if language == "en":
        return own.label, []
    # those of a detector's members have the number of the member before them
    resources = [name for name in own.detector.resources() if not (settings and "." in name)]
    used = {resource.rpartition(".")[2] for resource in resources}
    params, defaults = own.detector.get_params(), own.detector.default_params()
    return own.label, [
        what
        for resource, (param, what) in _ENGLISH.items()
        if resource in used and params.get(param) == defaults.get(param) and param not in settings
    ]


def check_can_be_saved(name: str, preset: str | None, settings: Mapping[str, Any]) -> None:
    """Raise DetectorError if a detector cannot be saved: better before it is fitted than after."""
    own = own_detector(name, preset, settings)
    if not own.detector.can_be_saved:
        raise DetectorError(
            f"{own.label} cannot be saved: it defines no _get_state, see CONTRIBUTING.md. To rank documents "
            f"without a model: adbench-text odd -d {name}"
        )


def check_scores_alone(own: OwnDetector) -> None:
    """Raise InvalidValueError if a document's score depends on what is scored together with it."""
    if own.detector.regime == TEST_BATCH:
        raise InvalidValueError(
            f"{own.label} scores documents by the batch that they come in, so its scores cannot be compared "
            "with those of earlier documents. Choose another --detector or --preset."
        )
