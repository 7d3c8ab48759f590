"""What is to be run: cells, and sweeps that expand into them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from adbench_text.corpora.split import LEVELS, check_contamination
from adbench_text.errors import InvalidValueError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.sweep.cell import DEFAULT, Cell, canonical, text_of_settings, text_of_value
from adbench_text.sweep.construct import build_detector, parameters, scoring_settings


def _is_default(value: Any, default: Any) -> bool:
    return type(canonical(value)) is type(canonical(default)) and text_of_value(value) == text_of_value(
        default
    )


@dataclass(frozen=True)
class DetectorChoice:
    """A detector of a sweep with its named configuration and settings on top of it."""

    name: str
    preset: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name of the preset, with what is set on top of it, so that each stands for itself."""
        if self.preset in (None, DEFAULT):  # told by its configuration
            return DEFAULT
        return f"{self.preset} {text_of_settings(self.settings)}".strip()

    def configurations(self, dataset: str) -> list[dict[str, Any]]:
        """Return the settings to run on a dataset: one, or several where the preset is a grid."""
        detector = registry.detector(self.name)
        presets = {DEFAULT: [{}], **detector.presets(dataset)}
        preset = self.preset or DEFAULT
        if preset not in presets:
            raise UnknownNameError(f"preset of {self.name} on {dataset}", preset, presets)
        defaults = parameters(detector)
        configurations = [
            scoring_settings(detector, {**settings, **self.settings}) for settings in presets[preset]
        ]
        if preset != DEFAULT:
            return configurations
        return [  # a default that is given explicitly makes no other configuration
            {name: v for name, v in settings.items() if not _is_default(v, defaults.get(name))}
            for settings in configurations
        ]


@dataclass(frozen=True)
class Sweep:
    """Everything one ``adbench-text run`` does.

    Parameters
    ----------
    detectors : sequence of DetectorChoice
    datasets : sequence of str
    inliers : sequence of str
        Inlier classes; empty for all of each dataset.
    contamination : sequence of float
        Shares of outliers in the training data, each in [0, 0.5).
    seeds : sequence of int
    limit : int or None
        At most so many documents per class, for a quick look.
    """

    detectors: Sequence[DetectorChoice]
    datasets: Sequence[str]
    inliers: Sequence[str] = ()
    contamination: Sequence[float] = LEVELS
    seeds: Sequence[int] = (0,)
    limit: int | None = None

    def expand(self) -> list[Cell]:
        """Return all cells; those that share their training texts stand together.

        Raises
        ------
        UnknownNameError, InvalidValueError
            At the first name, value or setting that is wrong; nothing has been run by then.
        """
        for level in self.contamination:
            check_contamination(level)
        cells = []
        for dataset, inliers in self._classes().items():
            chosen = [
                (choice, settings) for choice in self.detectors for settings in choice.configurations(dataset)
            ]
            for inlier, level, seed in product(inliers, self.contamination, self.seeds):
                cells += [
                    Cell(choice.name, choice.label, settings, dataset, inlier, level, seed)
                    for choice, settings in chosen
                ]
        for configured in {(cell.detector, cell.configuration): cell for cell in cells}.values():
            build_detector(configured)
        cells = list({cell.identity: cell for cell in reversed(cells)}.values())[::-1]  # each of them once
        presets = {(c.detector, c.preset, c.dataset, c.configuration) for c in cells if c.preset != DEFAULT}
        sizes = Counter(preset[:3] for preset in presets)
        return [
            replace(cell, n_configurations=sizes.get((cell.detector, cell.preset, cell.dataset), 1))
            for cell in cells
        ]

    def _classes(self) -> dict[str, list[str]]:
        """Return the inlier classes to run of each dataset; each one named must be in some dataset."""
        classes = {name: list(registry.dataset(name).classes) for name in self.datasets}
        known = [inlier for names in classes.values() for inlier in names]
        for inlier in self.inliers:
            if inlier not in known:
                raise UnknownNameError(f"inlier class of {', '.join(classes)}", inlier, known)
        if not self.inliers:
            return classes
        return {
            name: [inlier for inlier in names if inlier in self.inliers] for name, names in classes.items()
        }


def choose(
    detectors: Iterable[str | DetectorChoice],
    preset: str | None,
    settings: Mapping[str, Any],
    override: bool = False,
) -> list[DetectorChoice]:
    """Give each detector the preset and those of the settings that it has.

    A setting ``nu`` goes to every detector with a hyper-parameter of that name, ``ocsvm.nu`` to
    that one alone. What a choice says for itself goes first, unless it is to be overridden.

    Raises
    ------
    UnknownNameError
        If none of the detectors has the hyper-parameter.
    """
    choices = [DetectorChoice(d) if isinstance(d, str) else d for d in detectors]
    known = {choice.name: parameters(registry.detector(choice.name)) for choice in choices}
    shared: dict[str, dict[str, Any]] = {name: {} for name in known}
    for key, value in settings.items():
        target, _, parameter = key.rpartition(".")
        if target and target not in known:
            raise UnknownNameError("detector in this run", target, known)
        takers = [name for name in ([target] if target else known) if parameter in known[name]]
        if not takers:
            names = {name for own in known.values() for name in own} - {"random_state"}
            raise UnknownNameError(f"parameter of {target or ', '.join(known)}", parameter, names)
        for name in takers:
            shared[name][parameter] = value
    chosen = []
    for choice in choices:
        said: list[Mapping[str, Any]] = [shared[choice.name], choice.settings]
        presets = [preset, choice.preset]
        if override:
            said.reverse()
            presets.reverse()
        chosen.append(replace(choice, preset=presets[1] or presets[0], settings={**said[0], **said[1]}))
        if "random_state" in chosen[-1].settings:
            raise InvalidValueError("random_state is the seed of the cell; use --seed instead of --set.")
    return chosen
