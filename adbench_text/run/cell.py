"""A cell: one training and one test of a detector."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adbench_text import own_file
from adbench_text.corpora.split_key import SplitKey
from adbench_text.plugins.configure import choice_name, format_name, text_of_settings


@dataclass(frozen=True)
class Cell:
    """A configured detector on a split: the smallest unit to run and log.

    >>> split = SplitKey("pydocs", "numpy", 0.05)
    >>> print(Cell("ocsvm", "default", {"nu": 0.2}, split))
    ocsvm(nu=0.2) on pydocs/numpy at 5%, seed 0
    >>> print(Cell("llr", "robust", {"cap": 3}, SplitKey("pydocs", "numpy", seed=1)))
    llr:robust on pydocs/numpy at 0%, seed 1
    """

    detector: str
    preset: str  # the origin of the settings
    settings: Mapping[str, Any] = field(hash=False)  # the settings that differ from the defaults
    split: SplitKey
    # of the preset on the dataset; several make a grid
    n_configurations: int = field(default=1, compare=False)
    # the process that runs the cell must know them
    in_files: Mapping[str, Path] = field(default_factory=own_file.known, compare=False, repr=False)

    @property
    def configuration(self) -> str:
        """The settings in one line, ``"kernel=linear, nu=0.2"``; empty for the defaults."""
        return text_of_settings(self.settings)

    @property
    def choice(self) -> str:
        """Name of the detector with its preset, or with its configuration if it has no preset."""
        return choice_name(self.detector, self.preset, self.configuration)

    @property
    def name(self) -> str:
        """The same, with the configuration if the preset is a grid."""
        is_one = self.n_configurations == 1
        return self.choice if is_one else format_name(self.detector, settings=self.configuration)

    def columns(self) -> dict[str, str]:
        """Return the fields that name the cell as text; its code does not matter."""
        own = {"detector": self.detector, "preset": self.preset, "configuration": self.configuration}
        return own | self.split.columns()

    @property
    def identity(self) -> tuple[str, str, str, SplitKey]:
        """The values of `columns`, to compare cells."""
        return self.detector, self.preset, self.configuration, self.split

    def __str__(self) -> str:
        return f"{self.name} on {self.split}"
