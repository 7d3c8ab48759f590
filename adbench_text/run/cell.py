"""Cells: one training and one test of a detector each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adbench_text.plugins.configure import DEFAULT, text_of_settings, written
from adbench_text.plugins.registry import Plugin, in_files

TEST_OUTLIERS = "test_outliers"
LABELLED, LABELLED_FROM = "labelled", "labelled_from"
PLANTED = "planted"
ONE_VS_REST = "one-vs-rest"
SPLITS = "splits"  # in a definition, the protocol of the splits; absent for one-vs-rest
IDENTITY = ("detector", "preset", "configuration", "dataset", "inlier", "contamination", "seed")


@dataclass(frozen=True)
class Cell:
    """One training and one test of a detector: the smallest unit that is run and logged.

    >>> cell = Cell("ocsvm", "default", {"nu": 0.2}, "pydocs", "numpy", 0.05, seed=0)
    >>> print(cell)
    ocsvm(nu=0.2) on pydocs/numpy at 5%, seed 0
    >>> print(Cell("llr", "robust", {"cap": 3}, "pydocs", "numpy", 0, seed=1))
    llr:robust on pydocs/numpy at 0%, seed 1
    """

    detector: str
    preset: str  # that the settings come from
    settings: Mapping[str, Any] = field(hash=False)  # that differ from the detector's defaults
    dataset: str
    inlier: str  # name of the split: its inlier class or classes
    contamination: float  # share of outliers in the training data
    seed: int  # of the contamination and of the detector
    # of the preset on the dataset; several make a grid
    n_configurations: int = field(default=1, compare=False)
    # share that the outliers of the test set are thinned to; None keeps all
    test_outliers: float | None = None
    labelled: int = 0  # known outliers that the detector may learn from
    labelled_from: str = ""  # their class; empty for all other classes
    planted: str = ""  # kind and number of words planted in the test documents, see `corpora.planted`
    protocol: str = ONE_VS_REST  # how the splits are made, see `adbench_text.corpora.split.PROTOCOLS`
    # the process that runs the cell must know them
    in_files: Mapping[str, Plugin] = field(default_factory=in_files, compare=False, repr=False)

    @property
    def configuration(self) -> str:
        """The settings in one line, ``"kernel=linear, nu=0.2"``; empty for the defaults."""
        return text_of_settings(self.settings)

    @property
    def name(self) -> str:
        """Name of the detector with its preset, or with its configuration where a preset is a grid."""
        return (
            self.choice if self.n_configurations == 1 else written(self.detector, settings=self.configuration)
        )

    @property
    def choice(self) -> str:
        """Name of the detector with its preset, or with its configuration where it has no preset."""
        return choice_of(self)

    @property
    def texts(self) -> dict[str, str]:
        """What names the cell, whatever its code, as text: `IDENTITY`, and what is not the default."""
        numbers = {"contamination": f"{self.contamination:g}", "seed": str(self.seed)}
        texts = {name: numbers.get(name) or str(getattr(self, name)) for name in IDENTITY}
        texts |= {} if self.test_outliers is None else {TEST_OUTLIERS: f"{self.test_outliers:g}"}
        if self.labelled:
            texts |= {LABELLED: str(self.labelled)}
            texts |= {LABELLED_FROM: self.labelled_from} if self.labelled_from else {}
        texts |= {PLANTED: self.planted} if self.planted else {}
        return texts if self.protocol == ONE_VS_REST else texts | {SPLITS: self.protocol}

    @property
    def identity(self) -> tuple[str, ...]:
        """The values of `texts`."""
        return identity_of(self.texts)

    def __str__(self) -> str:
        return f"{self.name} on {split_text(self)}"


def choice_of(cell: Any) -> str:
    """Return the name of the detector of a cell or of its record, with its preset, otherwise its settings."""
    return written(cell.detector, cell.preset, cell.configuration if cell.preset == DEFAULT else "")


def identity_of(definition: Mapping[str, str]) -> tuple[str, ...]:
    """Return the `Cell.identity` of the cell with this definition."""
    others = TEST_OUTLIERS, SPLITS, LABELLED, LABELLED_FROM, PLANTED
    return *(definition[name] for name in IDENTITY), *(definition.get(name, "") for name in others)


def split_text(cell: Any) -> str:
    """Return the split of a cell or of its record for people: ``"20news/comp at 5%, seed 0"``."""
    return f"{cell.dataset}/{cell.inlier} at {percent(cell.contamination)}, seed {cell.seed}{of_splits(cell)}"


def of_splits(cell: Any) -> str:
    """Return how the documents of a cell differ from complete one-vs-rest: ``", leave-one-out"``.

    It names the protocol, the share of test outliers, labelled outliers and planted words, if any.
    """
    share = cell.test_outliers
    protocol = "" if cell.protocol in (None, ONE_VS_REST) else f", {cell.protocol}"
    of_class = f" of {cell.labelled_from}" if cell.labelled_from else ""
    labelled = f", {cell.labelled} labelled{of_class}" if cell.labelled else ""
    planted = f", planted {cell.planted}" if cell.planted else ""
    thinned = "" if share is None else f", {percent(share)} outliers in the test set"
    return f"{protocol}{thinned}{labelled}{planted}"


def percent(level: float) -> str:
    """Return a contamination level as people write it: ``"5%"``, ``"2.5%"``."""
    return f"{100 * level:g}%"
