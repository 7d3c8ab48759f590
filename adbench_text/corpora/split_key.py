"""The name of a split: one value from the options of a command to a row of a report."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Self

from adbench_text.contract.protocols import ONE_VS_REST
from adbench_text.escaping import file_name

ALL_OUTLIERS = 1.0


def percent(share: float) -> str:
    """Write a share for people: ``"5%"``, ``"2.5%"``."""
    return f"{100 * share:g}%"


def _axis(default: Any, words: Callable[[Any], str]) -> Any:
    """Return a field of `SplitKey` that few splits use; `words` describes its value for people."""
    return field(default=default, metadata={"words": words})


@dataclass(frozen=True, order=True)
class SplitKey:
    """The name of a split: the documents that a detector learns from, and the documents that it scores.

    To add an axis, add a field here and an option in `adbench_text.run.cell_options`, and use the field in
    `adbench_text.corpora.split.draw`.

    >>> key = SplitKey("20news", "comp", 0.05, known=10)
    >>> print(key)
    20news/comp at 5%, seed 0, 10 known outliers
    >>> key.columns()
    {'dataset': '20news', 'inlier': 'comp', 'contamination': '0.05', 'seed': '0', 'known': '10'}
    >>> SplitKey.of(key.columns()) == key
    True
    >>> key.slug
    'comp-0.05-seed0-known-10'
    """

    dataset: str
    inlier: str  # name of the split: its inlier class or classes
    contamination: float = 0.0  # share of outliers in the training documents, in [0, 0.5)
    seed: int = 0  # of all draws, and of the detector
    protocol: str = _axis(ONE_VS_REST, str)  # see `adbench_text.contract.protocols`
    # share of outliers in the test set after some are dropped, in (0, 1); `ALL_OUTLIERS` keeps all
    test_outliers: float = _axis(ALL_OUTLIERS, lambda share: f"{percent(share)} outliers in the test set")
    known: int = _axis(0, lambda n: f"{n} known outliers")  # that a detector may learn from
    known_from: str = _axis("", lambda name: f"from {name}")  # class of known outliers; empty for all others

    @classmethod
    def of(cls, columns: Mapping[str, str]) -> Self:
        """Return the key that columns name, and ignore other columns; raise ValueError for a wrong number."""
        kinds = {each.name: str if each.default is MISSING else type(each.default) for each in fields(cls)}
        given = kinds.keys() & columns.keys()
        values: dict[str, Any] = {name: kinds[name](columns[name]) for name in given}
        return cls(**values)

    @property
    def _axes(self) -> dict[str, Any]:
        """The values of the axes that differ from the default."""
        values = {axis.name: getattr(self, axis.name) for axis in AXES.values()}
        return {name: value for name, value in values.items() if value != AXES[name].default}

    def columns(self) -> dict[str, str]:
        """Return the fields as text, for params of MLflow; leave out axes with their default."""
        own = self.dataset, self.inlier, f"{self.contamination:g}", str(self.seed)
        return dict(zip(("dataset", "inlier", "contamination", "seed"), own, strict=True)) | {
            name: f"{value:g}" if isinstance(value, float) else str(value)
            for name, value in self._axes.items()
        }

    @property
    def variant(self) -> str:
        """The difference from complete one-vs-rest, for people: ``"leave-one-out"``; often empty."""
        return ", ".join(AXES[name].metadata["words"](value) for name, value in self._axes.items())

    @property
    def level(self) -> str:
        """The contamination and the variant, for people: ``"5%, leave-one-out"``."""
        return with_variant(percent(self.contamination), self.variant)

    @property
    def slug(self) -> str:
        """A name for a folder of the split, in the folder of the dataset; it is different for each split."""
        others = [f"-{name.replace('_', '-')}-{self.columns()[name]}" for name in self._axes]
        return file_name(f"{self.inlier}-{self.contamination:g}-seed{self.seed}{''.join(others)}")

    def __str__(self) -> str:
        place = f"{self.dataset}/{self.inlier} at {percent(self.contamination)}, seed {self.seed}"
        return with_variant(place, self.variant)


#: The fields of `SplitKey` that few splits use, by name.
AXES = {each.name: each for each in fields(SplitKey) if each.metadata}


def with_variant(name: str, variant: str) -> str:
    """Return a name followed by a `SplitKey.variant`."""
    return f"{name}, {variant}" if variant else name
