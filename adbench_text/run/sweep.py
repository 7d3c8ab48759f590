"""Expand a sweep into cells."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from adbench_text.corpora.split import check_key, levels_of, protocol_of, splits, unknown_split
from adbench_text.corpora.split_key import SplitKey
from adbench_text.errors import InvalidValueError, PluginError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT, DetectorChoice, build, parameters
from adbench_text.run.cell import Cell

if TYPE_CHECKING:
    from adbench_text.contract.detector import TextDetector

Configuration = tuple[str, str]  #: name and settings of a detector, see `Cell.configuration`


@dataclass(frozen=True)
class Sweep:
    """The grid of cells of one ``adbench-text run``.

    >>> choices = [DetectorChoice("llr"), DetectorChoice("llr", settings={"smoothing": 5})]
    >>> for cell in Sweep(choices, datasets=["pydocs"], inliers=["numpy"], contamination=[0, 0.05]).expand():
    ...     print(cell)
    llr on pydocs/numpy at 0%, seed 0
    llr(smoothing=5) on pydocs/numpy at 0%, seed 0
    llr on pydocs/numpy at 5%, seed 0
    llr(smoothing=5) on pydocs/numpy at 5%, seed 0
    """

    detectors: Sequence[DetectorChoice]
    datasets: Sequence[str]
    inliers: Sequence[str] = ()  # names of splits; empty for all of each dataset
    # shares of outliers in the training data, in [0, 0.5); None for the defaults of each dataset
    contamination: Sequence[float] | None = None
    seeds: Sequence[int] = (0,)
    limit: int | None = None  # maximum number of documents per class, for a quick look
    protocol: str | None = None  # how to make splits; None for the default of each dataset
    # values of the other axes of `SplitKey`, by name; a missing axis has its default
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def splits(self) -> list[SplitKey]:
        """Return all splits, for every dataset, level, seed, and value of an axis."""
        keys: dict[SplitKey, None] = {}
        for dataset, inliers in self._inliers().items():
            source = registry.dataset(dataset)
            protocol = protocol_of(source, self.protocol)
            normal = splits(source, protocol)
            levels = levels_of(source, protocol) if self.contamination is None else self.contamination
            for inlier, level, seed, *values in product(inliers, levels, self.seeds, *self.axes.values()):
                axes = dict(zip(self.axes, values, strict=True))
                key = SplitKey(dataset, inlier, contamination=level, seed=seed, protocol=protocol, **axes)
                check_key(key)
                if not key.known:
                    key = replace(key, known_from="")
                if key.known_from not in normal[inlier]:  # a normal class has no outliers
                    keys[key] = None
        if not keys:
            classes = ", ".join(self.axes.get("known_from", ()))
            raise InvalidValueError(f"No split is left: known outliers of {classes} are normal in each.")
        return list(keys)

    def expand(self) -> list[Cell]:
        """Return all cells; cells with the same training texts are neighbours."""
        return [*self._checked[0]]

    @property
    def built(self) -> dict[Configuration, "TextDetector"]:
        """The unfitted detector of each configuration that can be built."""
        return self._checked[1]

    @cached_property
    def _checked(self) -> tuple[list[Cell], dict[Configuration, "TextDetector"]]:
        """The cells, and the detectors, which are built once to check their settings."""
        chosen = {
            dataset: [
                (choice, preset, settings)
                for choice in self.detectors
                if not choice.datasets or dataset in choice.datasets
                for preset, settings in _configurations(choice, dataset)
            ]
            for dataset in self.datasets
        }
        cells = [
            Cell(choice.name, preset, settings, split)
            for split in self.splits()
            for choice, preset, settings in chosen[split.dataset]
            if not choice.seeds or split.seed in choice.seeds
        ]
        built = {}
        for configuration, cell in {(cell.detector, cell.configuration): cell for cell in cells}.items():
            with suppress(PluginError):  # its cells fail later, and the others run
                built[configuration] = build(cell.detector, cell.settings, cell.split.seed)
        cells = list({cell.identity: cell for cell in reversed(cells)}.values())[::-1]  # without duplicates
        # count each configuration of a preset once, although it has a cell for each split
        presets = {
            (*_preset(cell), cell.configuration): _preset(cell) for cell in cells if cell.preset != DEFAULT
        }
        sizes = Counter(presets.values())
        return [replace(cell, n_configurations=sizes.get(_preset(cell), 1)) for cell in cells], built

    def _inliers(self) -> dict[str, list[str]]:
        """Return the splits to run, by dataset; every name in `inliers` must be in some dataset."""
        sources = {name: registry.dataset(name) for name in self.datasets}
        names = {
            name: list(splits(source, protocol_of(source, self.protocol))) for name, source in sources.items()
        }
        choices = [inlier for of_dataset in names.values() for inlier in of_dataset]
        for inlier in self.inliers:
            if inlier not in choices:
                raise unknown_split(inlier, [*sources.values()], choices)
        if not self.inliers:
            return names
        return {name: [inlier for inlier in own if inlier in self.inliers] for name, own in names.items()}


def _configurations(choice: DetectorChoice, dataset: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the label and the settings of each configuration of a detector on a dataset.

    If its presets cannot be read, use the settings as written: its cells fail, and other detectors run.
    """
    registry.detector(choice.name)  # an unreadable file is an error of the whole sweep
    try:
        return [(choice.label, settings) for settings in choice.configurations(dataset)]
    except PluginError:
        return [(choice.preset or DEFAULT, choice.settings)]


def _preset(cell: Cell) -> tuple[str, str, str]:
    """Return the identity of the preset of a cell on its dataset."""
    return cell.detector, cell.preset, cell.split.dataset


def choose(
    choices: Sequence[DetectorChoice], preset: str | None, settings: Mapping[str, Any]
) -> list[DetectorChoice]:
    """Return the detectors with another preset and other settings.

    Every detector gets the settings that it has as hyper-parameters.
    """
    accepted = {choice.name: parameters(registry.detector(choice.name)) for choice in choices}
    names = {name for own in accepted.values() for name in own}
    for name in settings:
        if name not in names:
            raise UnknownNameError(f"parameter of {', '.join(accepted)}", name, names - {"random_state"})
    chosen = []
    for choice in choices:
        fitting = {name: value for name, value in settings.items() if name in accepted[choice.name]}
        own = {**choice.settings, **fitting}
        if "random_state" in own:
            raise InvalidValueError("random_state is the seed of the cell; use --seed instead of --set.")
        chosen.append(replace(choice, preset=preset or choice.preset, settings=own))
    return chosen
