"""The columns of a comparison: one configuration of a detector, or one preset, each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from adbench_text.plugins.scores import REGIMES, TEST_BATCH
from adbench_text.reports.report import Mark
from adbench_text.store.record import Record
from adbench_text.sweep.cell import DEFAULT

UNDECLARED, ORACLES = "not declared", "chosen on the test labels"
OLDER_CODE, OTHER_LIBRARIES = "older code", "other libraries"


@dataclass(frozen=True)
class Version:
    """What made a record: the code (of the detector and the protocol), and the libraries."""

    code: tuple[str, str]
    libraries: str

    @classmethod
    def of(cls, record: Record) -> "Version":
        """Return the version of a record."""
        return cls(record.code, record.libraries)


@dataclass(frozen=True)
class Column:
    """One configuration of a detector, or a complete preset (`configuration` is None then).

    A preset may have one configuration for each dataset. Where it has several for one dataset, it
    is a grid and its column an oracle: the column takes the best of them per split. A single
    configuration can be an oracle as well.

    Results of other code or other libraries have a column of their own: `generation` 0 is the
    newest, `differs` names the difference from it.
    """

    detector: str
    preset: str
    configuration: str | None
    is_oracle: bool = False
    regime: str | None = None
    generation: int = 0
    differs: str = OLDER_CODE

    @property
    def block(self) -> tuple[bool, str]:
        """What the columns of a block share: whether they are oracles, otherwise the regime."""
        return self.is_oracle, "" if self.is_oracle else self.regime_title

    @property
    def block_title(self) -> str:
        """The title over its block."""
        return ORACLES if self.is_oracle else self.regime_title

    @property
    def uses_test_batch(self) -> bool:
        """Whether its scores depend on the other test documents; such columns compete among themselves."""
        return self.regime == TEST_BATCH

    @property
    def regime_title(self) -> str:
        """What the detector knows besides the training texts."""
        return self.regime or UNDECLARED

    @property
    def label(self) -> str:
        """The head of the column."""
        suffix = self.preset if self.configuration is None else self.configuration
        number = f" {self.generation}" if self.generation > 1 else ""
        difference = f" ({self.differs}{number})" if self.generation else ""
        marks = (f" {Mark.ORACLE.value}" if self.is_oracle else "") + difference
        return f"{self.detector} {suffix}".strip() + marks

    def holds(self, record: Record) -> bool:
        """Whether a record belongs to the column, whatever its generation."""
        is_of_preset = (record.detector, record.preset) == (self.detector, self.preset)
        return is_of_preset and self.configuration in (None, record.configuration)


def columns_of(records: Sequence[Record]) -> dict[Column, list[Record]]:
    """Return the columns of a comparison, in their order, each with its records."""
    columns = {}
    for column, of_preset in _without_versions(records):
        held = list(filter(column.holds, of_preset))
        version_of = {id(record): Version.of(record) for record in held}
        newest_first = sorted(held, key=lambda record: record.started)[::-1]
        versions = list(dict.fromkeys(version_of[id(record)] for record in newest_first))
        for generation, version in enumerate(versions):
            is_same_code = generation > 0 and version.code == versions[0].code
            differs = OTHER_LIBRARIES if is_same_code else OLDER_CODE
            versioned = replace(column, generation=generation, differs=differs)
            columns[versioned] = [record for record in held if version_of[id(record)] == version]
    own = sorted({column.regime for column in columns if column.regime} - set(REGIMES))
    order = [*REGIMES, *own, None]
    return dict(sorted(columns.items(), key=lambda item: (item[0].is_oracle, order.index(item[0].regime))))


def _without_versions(records: Sequence[Record]) -> Iterator[tuple[Column, list[Record]]]:
    """Yield the columns of each preset, with all records of it."""
    oracles = {(record.detector, record.configuration) for record in records if record.is_oracle}
    regimes = {(record.detector, record.configuration): record.regime for record in records}
    presets: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        presets.setdefault((record.detector, record.preset), []).append(record)
    for (detector, preset), of_preset in presets.items():
        first = detector, of_preset[0].configuration
        if preset != DEFAULT:
            is_grid = any(
                n_configurations(records, detector, preset, digest) > 1
                for digest in {record.corpus for record in of_preset}
            )
            yield Column(detector, preset, None, is_grid or first in oracles, regimes[first]), of_preset
        else:
            for configuration in dict.fromkeys(record.configuration for record in of_preset):
                key = detector, configuration
                yield Column(detector, preset, configuration, key in oracles, regimes[key]), of_preset


def n_configurations(records: Sequence[Record], detector: str, preset: str, digest: str) -> int:
    """Return the number of configurations that a preset has on a corpus, run or not."""
    key = detector, preset, digest
    of_preset = [r for r in records if (r.detector, r.preset, r.corpus) == key]
    n_run = len({record.configuration for record in of_preset})
    return max([n_run, *(record.n_configurations for record in of_preset)])


def blocks_of(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Return the title over each block of neighbouring columns, with their number."""
    blocks = [list(group) for _, group in groupby(columns, key=lambda column: column.block)]
    return [(block[0].block_title, len(block)) for block in blocks]
