"""Sweeps, and the cells that they expand into."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from adbench_text.corpora.planted import parsed
from adbench_text.corpora.split import check_shares, levels_of, protocol_of, splits
from adbench_text.errors import InvalidValueError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT, DetectorChoice, build, parameters
from adbench_text.run.cell import Cell


@dataclass(frozen=True)
class Sweep:
    """The grid of cells that one ``adbench-text run`` covers.

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
    # shares of outliers in the training data, each in [0, 0.5); None for those of each dataset
    contamination: Sequence[float] | None = None
    seeds: Sequence[int] = (0,)
    limit: int | None = None  # maximum number of documents per class, for a quick look
    test_outliers: float | None = None  # share that the outliers of each test set are thinned to, in (0, 1)
    protocol: str | None = None  # how splits are made; None for the protocol of each dataset
    labelled: Sequence[int] = (0,)  # numbers of known outliers
    labelled_from: str = ""  # their class; empty for all other classes
    planted: Sequence[str] = ("",)  # kinds of words that are planted, see `adbench_text.corpora.planted`

    def splits(self) -> list[Cell]:
        """Return a cell without a detector for each split, level and seed."""
        for planted in filter(None, self.planted):
            parsed(planted)
        cells = []
        for dataset, inliers in self._inliers().items():
            source = registry.dataset(dataset)
            protocol = protocol_of(source, self.protocol)
            levels = levels_of(source, protocol) if self.contamination is None else self.contamination
            for level in levels:
                check_shares(protocol, level, self.test_outliers)
            of_sweep: dict[str, Any] = {"test_outliers": self.test_outliers, "protocol": protocol}
            cells += [
                Cell(
                    *("", DEFAULT, {}, dataset, inlier, level, seed),
                    labelled=n,
                    labelled_from=name,
                    planted=planted,
                    **of_sweep,
                )
                for inlier, level, seed, n, planted in product(
                    inliers, levels, self.seeds, self.labelled, self.planted
                )
                for name in [self.labelled_from if n else ""]
                if name != inlier  # a class is no outlier where it is normal
            ]
        return cells

    def expand(self) -> list[Cell]:
        """Return all cells; those that share their training texts are neighbours."""
        chosen = {
            dataset: [
                (choice, settings)
                for choice in self.detectors
                if not choice.datasets or dataset in choice.datasets
                for settings in choice.configurations(dataset)
            ]
            for dataset in self.datasets
        }
        cells = [
            replace(split, detector=choice.name, preset=choice.label, settings=settings)
            for split in self.splits()
            for choice, settings in chosen[split.dataset]
            if not choice.seeds or split.seed in choice.seeds
        ]
        for configured in {(cell.detector, cell.configuration): cell for cell in cells}.values():
            build(configured.detector, configured.settings, configured.seed)
        cells = list({cell.identity: cell for cell in reversed(cells)}.values())[::-1]  # without duplicates
        presets = {(c.detector, c.preset, c.dataset, c.configuration) for c in cells if c.preset != DEFAULT}
        sizes = Counter(preset[:3] for preset in presets)
        return [
            replace(cell, n_configurations=sizes.get((cell.detector, cell.preset, cell.dataset), 1))
            for cell in cells
        ]

    def _inliers(self) -> dict[str, list[str]]:
        """Return the splits to run, by dataset; each of `inliers` must be in some dataset."""
        names = {}
        for name in self.datasets:
            source = registry.dataset(name)
            names[name] = list(splits(source, protocol_of(source, self.protocol)))
        choices = [inlier for of_dataset in names.values() for inlier in of_dataset]
        for inlier in self.inliers:
            if inlier not in choices:
                raise UnknownNameError(f"inlier class of {', '.join(names)}", inlier, choices)
        if not self.inliers:
            return names
        return {name: [inlier for inlier in own if inlier in self.inliers] for name, own in names.items()}


def choose(
    choices: Sequence[DetectorChoice], preset: str | None, settings: Mapping[str, Any]
) -> list[DetectorChoice]:
    """Return the detectors with a preset and settings in place of their own.

    A setting goes to every detector with a hyper-parameter of that name.
    """
    accepted = {choice.name: parameters(registry.detector(choice.name)) for choice in choices}
    names = {name for own in accepted.values() for name in own}
    for name in settings:
        if name not in names:
            raise UnknownNameError(f"parameter of {', '.join(accepted)}", name, names - {"random_state"})
    chosen = []
    for choice in choices:
        taken = {name: value for name, value in settings.items() if name in accepted[choice.name]}
        own = {**choice.settings, **taken}
        if "random_state" in own:
            raise InvalidValueError("random_state is the seed of the cell; use --seed instead of --set.")
        chosen.append(replace(choice, preset=preset or choice.preset, settings=own))
    return chosen
