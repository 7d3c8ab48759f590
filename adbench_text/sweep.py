"""What is to be run: cells, and sweeps that expand into them."""

import hashlib
import inspect
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from adbench_text import registry
from adbench_text.code_version import code_version, libraries, protocol_version
from adbench_text.corpus import LEVELS, Corpus, check_contamination
from adbench_text.errors import AdbenchTextError, InvalidValueError, PluginError, UnknownNameError
from adbench_text.isolation import preserved

DEFAULT = "default"
_THRESHOLD = "contamination"  # PyOD's: it decides labels, and no score
IDENTITY = ("detector", "preset", "configuration", "dataset", "inlier", "contamination", "seed")


@dataclass(frozen=True)
class Cell:
    """One training and test of one detector: the smallest thing that is run and logged.

    Parameters
    ----------
    detector : str
        Name of the detector.
    preset : str
        Name of the configuration it comes from.
    settings : mapping
        Hyper-parameters that differ from the detector's defaults.
    dataset, inlier : str
        The one-vs-rest split.
    contamination : float
        Share of outliers in the training data.
    seed : int
        Seed of the contamination and of the detector.
    n_configurations : int
        How many its preset has on the dataset; more than one make it a grid.
    """

    detector: str
    preset: str
    settings: Mapping[str, Any] = field(hash=False)
    dataset: str
    inlier: str
    contamination: float
    seed: int
    n_configurations: int = field(default=1, compare=False)

    @property
    def configuration(self) -> str:
        """The settings in one line, ``"nu=0.2 kernel=linear"``; empty for the defaults."""
        return _in_one_line(self.settings)

    @property
    def split(self) -> tuple[str, str, float, int]:
        """What cells share that are trained on the same texts."""
        return self.dataset, self.inlier, self.contamination, self.seed

    @property
    def identity(self) -> tuple[str, ...]:
        """What a reader knows it by, whatever code and corpus; the params of `IDENTITY` as text."""
        settled = {"contamination": f"{self.contamination:g}", "seed": str(self.seed)}
        return tuple(settled.get(name) or str(getattr(self, name)) for name in IDENTITY)

    def __str__(self) -> str:
        what = " ".join(filter(None, (self.detector, self.configuration)))
        return f"{what} on {self.dataset}/{self.inlier} at {percent(self.contamination)}, seed {self.seed}"


def identity_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the `Cell.identity` of a record of a store."""
    return tuple(record[name] for name in IDENTITY)


def percent(level: float) -> str:
    """Return a contamination level as people write it: ``"5%"``, ``"2.5%"``."""
    return f"{100 * level:g}%"


def _in_one_line(settings: Mapping[str, Any]) -> str:
    named = {name: value for name, value in settings.items() if name != _THRESHOLD}
    return " ".join(f"{name}={_plain(value)}" for name, value in sorted(named.items()))


def _plain(value: Any) -> str:
    """Return a value of a setting as text; values that are equal have the same."""
    return value if isinstance(value, str) else json.dumps(_settled(value), default=str)


def _settled(value: Any) -> Any:
    """Return a number that is whole as such, also within lists: 1e4 and 10000 are one value."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return [_settled(item) for item in value] if isinstance(value, list | tuple) else value


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
def definition(cell: Cell, corpus: Corpus) -> dict[str, str]:
    """Return everything that decides the result of a cell, as plain strings for params.

    Two cells with equal definitions have equal results; see `cell_id`.
    """
    detector = build_detector(cell)
    kind: Any = type(detector)
    values = detector.get_params() if hasattr(detector, "get_params") else cell.settings
    resources = detector.resources() if hasattr(detector, "resources") else {}
    record = {
        "detector": cell.detector,
        "preset": cell.preset,
        "configuration": cell.configuration,
        "dataset": cell.dataset,
        "inlier": cell.inlier,
        "contamination": f"{cell.contamination:g}",
        "seed": str(cell.seed),
        "dataset_digest": corpus.digest,
        "code_version": code_version(kind),
        "protocol": protocol_version(),
        "libraries": libraries(kind),
    }
    if isinstance(getattr(detector, "regime", None), str):
        record["regime"] = detector.regime
    if getattr(detector, "is_oracle", False) is True:
        record["oracle"] = "true"
    record |= {f"resource.{name}": value for name, value in sorted(resources.items())}
    return record | {
        f"detector.{name}": _plain(value)
        for name, value in sorted(values.items())
        if name not in ("random_state", _THRESHOLD)
    }


def cell_id(definition: Mapping[str, str]) -> str:
    """Return the digest of a definition, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:16]


def _is_default(value: Any, default: Any) -> bool:
    return type(_settled(value)) is type(_settled(default)) and _plain(value) == _plain(default)


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
        return f"{self.preset} {_in_one_line(self.settings)}".strip()

    def configurations(self, dataset: str) -> list[dict[str, Any]]:
        """Return the settings to run on a dataset: one, or several where the preset is a grid."""
        detector = registry.detector(self.name)
        presets = detector.presets(dataset) if hasattr(detector, "presets") else {}
        presets = {DEFAULT: [{}], **presets}
        preset = self.preset or DEFAULT
        if preset not in presets:
            raise UnknownNameError(f"preset of {self.name} on {dataset}", preset, presets)
        defaults = parameters(detector)
        configurations = [{**settings, **self.settings} for settings in presets[preset]]
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
