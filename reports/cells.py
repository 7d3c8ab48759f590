"""The cells of a report, arranged once for all its tables and figures."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import starmap

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.contract.scores import REGIMES, TEST_BATCH
from adbench_text.corpora.split import splits
from adbench_text.corpora.split_key import with_variant
from adbench_text.errors import AdbenchTextError, InvalidValueError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT, format_name
from adbench_text.reports import benchmarks
from adbench_text.reports.report import ORACLE
from adbench_text.run.cell import Cell
from adbench_text.store.cells import SPLIT, key_of, keys_of, latest

_UNDECLARED, _ORACLES = "not declared", "chosen on the test labels"
_OURS = "Ours"  # the name of a marked detector, if the user gives no name

#: Columns that are equal in all cells of a `Column`; code and libraries may differ.
_COLUMN = ["detector", "preset", "settings", "home"]


def text_of(row: pd.Series) -> str:
    """Return the cell of a row as people read it."""
    return f"{format_name(row['detector'], settings=row['configuration'])} on {key_of(row)}"


@dataclass(frozen=True)
class Column:
    """One configuration of a detector, or a complete preset, which may have another for each dataset.

    A preset with several configurations for one dataset is a grid. Its column is an oracle: it takes the best
    configuration per split.
    """

    detector: str
    preset: str
    configuration: str  #: empty for a complete preset
    is_oracle: bool = False
    regime: str = ""  #: empty if the detector declares none
    source: str = ""  #: the files that its cells were read from; empty if the store has some of them
    generation: int = 0  #: a number for its code and libraries, which get separate columns; 0 is the newest
    name: str = ""  #: given by the user, who marks the detector

    @property
    def block(self) -> tuple[bool, str]:
        """The block of the column: whether it has oracles, and its title."""
        return self.is_oracle, _ORACLES if self.is_oracle else self.regime_title

    @property
    def uses_test_batch(self) -> bool:
        """Whether it is transductive: such columns compete only with each other, and are never ranked."""
        return self.regime == TEST_BATCH

    @property
    def regime_title(self) -> str:
        """The setting of the detector: its knowledge besides the training texts."""
        return self.regime or _UNDECLARED

    @property
    def label(self) -> str:
        """The head of the column."""
        if not self.name:
            return self.own_label
        return f"{self.name} {ORACLE}" if self.is_oracle else self.name

    @property
    def own_label(self) -> str:
        """The label of a column that the user gives no name: the detector and its settings.

        ``lof:fast (older 2) (cells.csv)`` has older code than ``lof:fast (older)``.
        """
        number = f" {self.generation}" if self.generation > 1 else ""
        older = f" (older{number})" if self.generation else ""
        source = f" ({self.source})" if self.source else ""
        oracle = f" {ORACLE}" if self.is_oracle else ""
        return f"{format_name(self.detector, self.preset, self.configuration)}{oracle}{older}{source}"


_ATTRIBUTES = [each.name for each in fields(Column) if each.name != "name"]  # of a column, from its cells


class Cells:
    """The newest result of each cell, arranged for all tables and figures of a report.

    `stored` is a table from `Store.every_cell`, not empty, the oldest first; cells of files follow. If
    `promised` has the cells of a sweep, only its inlier classes are rows. `columns` are in the order of a
    report, `corpora` are labels by ``corpus``.

    A detector has one column. Its cells on a corpus and level come from the first source that has some: the
    store, then the files. `not_joined` names columns of files that stay separate: ``"llr (main)"``. `ours`
    names columns to mark, perhaps with a new name: ``"mine.py:Mine"``, ``"mine.py:Mine=Ours"``.

    `every` has all cells, the oldest first. It has the columns of `stored` and some more: ``corpus`` is the
    digest, dataset and variant of the split, ``home`` is the source of the column of a report, and
    ``is_first`` says whether the cell counts. `counted` has the cells that count, with ``column`` (its number
    in `columns`); ``n_configurations`` is the number that a split should have. `table` has the same cells,
    sorted by columns, corpora and levels.
    """

    def __init__(
        self,
        stored: pd.DataFrame,
        promised: Sequence[Cell] = (),
        not_joined: Collection[str] = (),
        ours: Iterable[str] = (),
    ) -> None:
        self.stored, self.promised = stored, promised
        newest = _with_corpora(latest(stored))
        self.every = _with_homes(_newest_results(newest), not_joined)
        self.n_superseded = len(newest) - len(self.every)
        counted = self.every[self.every["is_first"]].reset_index(drop=True)
        counted["n_configurations"] = _n_configurations(counted)
        self.corpora = _corpora(counted)
        self.levels = levels_of(counted)
        numbers, columns = _columns(counted)
        self.columns = _with_names(columns, ours)
        self.counted = counted.assign(column=numbers)
        place_of = {corpus: place for place, corpus in enumerate(self.corpora)}
        self.table = self.counted.sort_values(
            ["column", "corpus", "contamination"],
            key=lambda values: values.map(place_of) if values.name == "corpus" else values,
            ignore_index=True,
        )


def _with_names(columns: Sequence[Column], ours: Iterable[str]) -> list[Column]:
    """Return columns with the names that the user gives them (``"LABEL"`` or ``"LABEL=NAME"``).

    Raise UnknownNameError if there is no such column, InvalidValueError if two names are equal.
    """
    labels = [column.label for column in columns]
    named = list(columns)
    for text in ours:
        fitting = [label for label in labels if text == label or text.startswith(f"{label}=")]
        if not fitting:
            raise UnknownNameError("detector", text.rpartition("=")[0] or text, labels)
        label = max(fitting, key=len)  # a setting also contains =
        place = labels.index(label)
        named[place] = replace(named[place], name=text[len(label) + 1 :] or _OURS)
    for label, n in Counter(column.label for column in named).items():
        if n > 1:
            raise InvalidValueError(f"{n} detectors would be called {label!r}: give them different names.")
    return named


def levels_of(cells: pd.DataFrame) -> list[float]:
    """Return the levels of contamination with a finished cell; all levels if no cell has finished."""
    finished = cells[cells["is_ok"]]
    return sorted(set((cells if finished.empty else finished)["contamination"]))


def _with_corpora(stored: pd.DataFrame) -> pd.DataFrame:
    """Return cells with their corpus, its variant and relation, and whether they finished."""
    variants = pd.Series([key.variant for key in keys_of(stored)], stored.index)
    return stored.assign(
        variant=variants,
        corpus=stored["dataset_digest"] + " " + stored["dataset"].combine(variants, with_variant),
        relation=benchmarks.relation(stored),
        is_ok=stored["status"] == "ok",
    )


def _newest_results(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the newest result of each cell, given a result for each version of its code, the oldest first.

    A cell stays at the place of its first result, so that a new result moves no column.
    """
    identity = ["corpus", "source", "detector", "preset", "configuration", *SPLIT]
    places = cells.groupby(identity, sort=False, dropna=False).ngroup()  # in the order of the first results
    newest = cells.drop_duplicates(identity, keep="last")
    return newest.iloc[places[newest.index].argsort(kind="stable")].reset_index(drop=True)


def name_with_source(cells: pd.DataFrame) -> "pd.Series[str]":
    """Return the name of the detector of each cell, and of the file that the cell comes from."""
    source = cells["source"]
    return cells["name"] + (" (" + source + ")").where(source != "", "")


def _with_homes(cells: pd.DataFrame, not_joined: Collection[str]) -> pd.DataFrame:
    """Return cells with the columns ``settings``, ``home`` and ``is_first``.

    ``settings`` is the configuration of a cell without a preset. ``home`` is the first source that has its
    detector. ``is_first`` says whether the cell counts: it does if its source is the first one that has this
    detector for its corpus and contamination. The detectors in `not_joined` are not joined across sources.
    """
    # somebody else's mine.py:Mine is the same detector only if its code is the same
    is_own_code = cells["detector"].str.contains(":", regex=False)
    numbers, sources = pd.factorize(cells["source"])  # the lowest number is the first source
    table = cells.assign(
        settings=cells["configuration"].where(cells["preset"] == DEFAULT, ""),
        code=cells["code_version"].where(is_own_code, ""),
        not_joined=cells["source"].where(name_with_source(cells).isin(not_joined), ""),
        source=numbers,
    )
    detector = ["detector", "preset", "settings", "code", "not_joined"]
    first_numbers = table.groupby([*detector, "corpus", "contamination"])["source"].transform("min")
    home = sources[table.groupby(detector)["source"].transform("min")]
    return cells.assign(settings=table["settings"], home=home, is_first=first_numbers == numbers)


def _corpora(cells: pd.DataFrame) -> dict[str, str]:
    """Return the label of each corpus. Editions of a dataset are numbered and follow each other."""
    digests = cells.groupby("dataset")["dataset_digest"]
    edition, n_editions = digests.transform(_numbered) + 1, digests.transform("nunique")
    numbered = cells["dataset"] + " (" + edition.astype(str) + ")"
    names = cells["dataset"].where(n_editions == 1, numbered)
    # a relation implies the protocol, so it replaces the variant
    related = names + " (" + cells["relation"] + ")"
    labels = related.where(cells["relation"] != "", names.combine(cells["variant"], with_variant))
    ordered = cells.assign(edition=edition, label=labels).sort_values(
        ["dataset", "edition", "test_outliers"], ascending=[True, True, False]
    )
    return dict(zip(ordered["corpus"], ordered["label"], strict=True))


def _numbered(values: pd.Series) -> NDArray[np.int64]:
    """Number the different values from 0, in the order of their first places."""
    return values.factorize()[0]


def known_splits(cells: pd.DataFrame) -> list[str]:
    """Return the names of all splits of the corpus of these cells, in order; empty if unknown."""
    for text in filter(None, cells["classes"]):
        return [str(name) for name in json.loads(text)]
    with suppress(AdbenchTextError):  # documents of the user, or a plug-in that is no longer installed
        return list(splits(registry.dataset(cells["dataset"].iloc[0]), cells["protocol"].iloc[0]))
    return []


def _n_configurations(cells: pd.DataFrame) -> pd.Series:
    """Return the number of configurations of the preset of each cell on its corpus, also of those not run."""
    of_preset = cells.groupby(["detector", "preset", "corpus"])
    known = of_preset["n_configurations"].transform("max")
    n_run = of_preset["configuration"].transform("nunique")
    # a cell knows the number of its sweep only: other sweeps or files may have more configurations
    at_least_run = known.clip(lower=n_run)
    # without a preset, each configuration has a separate column
    return at_least_run.where(cells["preset"] != DEFAULT, 1)


def _columns(cells: pd.DataFrame) -> tuple[pd.Series, list[Column]]:
    """Return the number of the column of each cell, and the columns in their order.

    Fair columns come before oracles, then the regimes from less knowledge to more.
    """
    of_preset = cells.groupby(["detector", "preset"], sort=False)
    of_configuration = cells.groupby(["detector", "configuration"])
    is_grid = of_preset["n_configurations"].transform("max") > 1
    of_column = cells.assign(
        is_oracle=of_configuration["oracle"].transform("any") | is_grid,
        regime=of_configuration["regime"].transform("last"),
    ).groupby(_COLUMN, sort=False)
    sources = of_column["source"].transform(lambda each: ", ".join(each.unique()))
    # the first configuration decides for a column
    table = cells.assign(
        configuration=cells["settings"],
        is_oracle=of_column["is_oracle"].transform("first"),
        regime=of_column["regime"].transform("first"),
        source=sources.where(cells["home"] != "", ""),  # an empty home is the store
        generation=_generations(cells),
    )
    own = sorted(set(table["regime"]) - {*REGIMES, ""})
    regimes = {regime: place for place, regime in enumerate([*REGIMES, *own, ""])}
    sort_keys = [
        table["is_oracle"],
        table["regime"].map(regimes),
        of_preset.ngroup(),
        table["source"],
        of_column.ngroup(),
        table["generation"],
    ]
    numbers = table.groupby(sort_keys).ngroup()
    firsts = table.loc[numbers.drop_duplicates().sort_values().index, _ATTRIBUTES]
    return numbers, list(starmap(Column, firsts.itertuples(index=False, name=None)))


def _generations(cells: pd.DataFrame) -> pd.Series:
    """Number the versions of code and libraries for each column and source; the newest is 0."""
    version = cells.groupby(["code_version", "harness_version", "libraries"]).ngroup()
    newest_first = cells.assign(version=version).sort_values("started", kind="stable", na_position="first")
    return newest_first[::-1].groupby([*_COLUMN, "source"])["version"].transform(_numbered)
