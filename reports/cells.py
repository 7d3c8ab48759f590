"""The cells of a report, arranged once for all its tables and figures."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from adbench_text.contract.scores import REGIMES, TEST_BATCH
from adbench_text.corpora.split import splits
from adbench_text.corpora.split_key import with_variant
from adbench_text.errors import AdbenchTextError, InvalidValueError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT, format_name
from adbench_text.reports import benchmarks
from adbench_text.reports.report import ORACLE
from adbench_text.run.cell import Cell
from adbench_text.store.cells import SPLIT, key_of, latest

_UNDECLARED, _ORACLES = "not declared", "chosen on the test labels"
_OURS = "Ours"  # name of a detector that the user marks without one

#: A row of a table of cells, a tuple of `DataFrame.itertuples` with the columns of `store.cells.COLUMNS`.
Row = Any


def text_of(row: Row) -> str:
    """Return the cell of a row for people."""
    return f"{format_name(row.detector, settings=row.configuration)} on {key_of(row)}"


@dataclass(frozen=True)
class Column:
    """One configuration of a detector, or a complete preset, which may have one for each dataset.

    A preset that has several for one dataset is a grid and its column an oracle: it takes the best per split.
    """

    detector: str
    preset: str
    configuration: str | None  #: None for a complete preset
    is_oracle: bool = False
    regime: str = ""  #: empty if it is not declared
    source: str = ""  #: the files that its cells were read from; empty if the store has some of them
    generation: int = 0  #: results of other code or libraries have a column of their own; 0 is the newest
    name: str = ""  #: that the user gives to a detector of hers, which is marked

    @property
    def block(self) -> tuple[bool, str]:
        """What the columns of a block share: whether they are oracles, and the title over them."""
        return self.is_oracle, _ORACLES if self.is_oracle else self.regime_title

    @property
    def uses_test_batch(self) -> bool:
        """Whether it uses the test batch: such columns compete among themselves and are never ranked."""
        return self.regime == TEST_BATCH

    @property
    def regime_title(self) -> str:
        """What the detector knows besides the training texts."""
        return self.regime or _UNDECLARED

    @property
    def label(self) -> str:
        """The head of the column."""
        return self.name + f" {ORACLE}" * self.is_oracle if self.name else self.own_label

    @property
    def own_label(self) -> str:
        """The same without the name that the user gives it."""
        number = f" {self.generation}" if self.generation > 1 else ""
        older = f" (older{number})" if self.generation else ""
        source = f" ({self.source})" if self.source else ""
        marks = f" {ORACLE}" * self.is_oracle + older + source
        return format_name(self.detector, self.preset, self.configuration or "") + marks


class Cells:
    """The newest result of each cell, arranged for all tables and figures of a report.

    `stored` is a table as `Store.every_cell` returns it, the oldest first, and not empty; cells of files
    follow. Where `promised` has the cells of a sweep, only its inlier classes are rows. `columns` are in the
    order of a report, `editions` are labels by the name and the digest of a dataset, `corpora` by ``corpus``.

    A detector has one column. On a corpus and level it has the cells of the first source that has some: the
    store, then the files. `apart` names columns of files that are not joined: ``"llr (main)"``. `ours` names
    columns to mark, and what to call them: ``"mine.py:Mine"``, ``"mine.py:Mine=Ours"``.

    `given` has all cells, the oldest first, `in_time` those that count; ``is_first`` tells them apart,
    ``home`` is the source of the column, and ``corpus`` is dataset, digest and variant of the split. `table`
    has the cells that count in the order of columns, corpora and levels, with ``column`` (its number in
    `columns`); its ``n_configurations`` is what a split should have.
    """

    def __init__(
        self,
        stored: pd.DataFrame,
        promised: Sequence[Cell] = (),
        apart: Collection[str] = (),
        ours: Iterable[str] = (),
    ) -> None:
        self.stored, self.promised = stored, promised
        newest = latest(stored)
        self.given = _with_homes(_of_newest_code(newest), apart)
        self.in_time = self.given[self.given["is_first"]].reset_index(drop=True)
        self.n_superseded = len(newest) - len(self.given)
        rows: list[Row] = list(self.in_time.itertuples(index=False))
        self.editions = _editions(rows)
        self.corpora = _corpora(rows, self.editions)
        self.levels = levels_of(self.in_time)
        n_configurations = _n_configurations(rows)
        of_columns = _columns(rows, n_configurations)
        self.columns = _with_names(list(of_columns), ours)
        order = {corpus: place for place, corpus in enumerate(self.corpora)}
        table = pd.DataFrame(
            row._replace(n_configurations=1 if row.preset == DEFAULT else n_configurations[_preset(row)])
            for of_column in of_columns.values()
            for row in sorted(of_column, key=lambda row: (order[row.corpus], row.contamination))
        )
        numbers = [number for number, rows in enumerate(of_columns.values()) for _ in rows]
        self.table = table.set_axis(self.in_time.columns, axis=1).assign(column=numbers)


def _with_names(columns: Sequence[Column], ours: Iterable[str]) -> list[Column]:
    """Return columns with the names that the user gives them; raise InvalidValueError if two are equal."""
    labels = [column.label for column in columns]
    named = list(columns)
    for text in ours:
        fitting = [label for label in labels if text == label or text.startswith(f"{label}=")]
        if not fitting:
            raise UnknownNameError("detector", text.rpartition("=")[0] or text, labels)
        label = max(fitting, key=len)  # a setting has a sign of equality, too
        place = labels.index(label)
        named[place] = replace(named[place], name=text[len(label) + 1 :] or _OURS)
    for label, n in Counter(column.label for column in named).items():
        if n > 1:
            raise InvalidValueError(f"{n} detectors would be called {label!r}: give each its own name.")
    return named


def levels_of(cells: pd.DataFrame) -> list[float]:
    """Return the levels of contamination at which a cell has finished; all levels if none has."""
    finished = cells[cells["is_ok"]]
    return sorted(set((cells if finished.empty else finished)["contamination"]))


def _of_newest_code(stored: pd.DataFrame) -> pd.DataFrame:
    """Return the newest result of each cell, whatever its code, in the order of the first results."""
    rows: list[Row] = list(stored.itertuples(index=False))
    digests, variants = stored["dataset_digest"], [key_of(row).variant for row in rows]
    names = [with_variant(row.dataset, variant) for row, variant in zip(rows, variants, strict=True)]
    table = stored.assign(corpus=digests + " " + names, is_ok=stored["status"] == "ok")
    identity = ["corpus", "source", "detector", "preset", "configuration", *SPLIT]
    order = table.groupby(identity, sort=False, dropna=False).ngroup()
    newest = table.drop_duplicates(identity, keep="last")
    return newest.iloc[order[newest.index].argsort(kind="stable")].reset_index(drop=True)


def name_with_source(cells: pd.DataFrame) -> "pd.Series[str]":
    """Return the name of the detector of each cell, with the name of its file if it comes from one."""
    source = cells["source"]
    return cells["name"] + (" (" + source + ")").where(source != "", "")


def _with_homes(cells: pd.DataFrame, apart: Collection[str]) -> pd.DataFrame:
    """Return cells with the source of their column, and whether theirs is the first on corpus and level."""
    # somebody else's mine.py:Mine is the same detector only if its code is the same
    is_own_code = cells["detector"].str.contains(":", regex=False)
    numbers, sources = pd.factorize(cells["source"])
    table = cells.assign(
        settings=cells["configuration"].where(cells["preset"] == DEFAULT, ""),
        code=cells["code_version"].where(is_own_code, ""),
        apart=cells["source"].where(name_with_source(cells).isin(apart), ""),
        source=numbers,
    )
    detector = ["detector", "preset", "settings", "code", "apart"]
    first = table.groupby([*detector, "corpus", "contamination"])["source"].transform("min")
    home = sources[table.groupby(detector)["source"].transform("min")]
    return cells.assign(home=home, is_first=first == numbers)


def _preset(row: Row) -> tuple[str, str, str]:
    return row.detector, row.preset, row.corpus


def _editions(rows: Iterable[Row]) -> dict[tuple[str, str], str]:
    digests = dict.fromkeys((row.dataset, row.dataset_digest) for row in rows)
    n_editions = Counter(dataset for dataset, _ in digests)
    names, seen = {}, Counter[str]()
    for dataset, digest in sorted(digests, key=lambda item: item[0]):
        seen[dataset] += 1
        names[dataset, digest] = dataset if n_editions[dataset] == 1 else f"{dataset} ({seen[dataset]})"
    return names


def _corpora(rows: Iterable[Row], editions: dict[tuple[str, str], str]) -> dict[str, str]:
    order = {edition: place for place, edition in enumerate(editions)}
    labels = {}
    for row in sorted(rows, key=lambda row: (order[row.dataset, row.dataset_digest], -row.test_outliers)):
        label, relation = editions[row.dataset, row.dataset_digest], benchmarks.relation(row)
        # the relation implies how the splits are made
        labels[row.corpus] = f"{label} ({relation})" if relation else with_variant(label, key_of(row).variant)
    return labels


def known_splits(cells: pd.DataFrame) -> list[str]:
    """Return the names of all splits of the corpus of these cells in its order; empty if unknown."""
    for text in filter(None, cells["classes"]):
        return [str(name) for name in json.loads(text)]
    with suppress(AdbenchTextError):  # own documents, or a plug-in that is no longer installed
        return list(splits(registry.dataset(cells["dataset"].iloc[0]), cells["protocol"].iloc[0]))
    return []


def _n_configurations(rows: Iterable[Row]) -> dict[tuple[str, str, str], int]:
    """Return the number of configurations, run or not, of each detector and preset on each corpus."""
    run: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    known: dict[tuple[str, str, str], int] = defaultdict(int)
    for row in rows:
        key = _preset(row)
        run[key].add(row.configuration)
        known[key] = max(known[key], row.n_configurations, len(run[key]))
    return known


def _columns(
    rows: Sequence[Row], n_configurations: dict[tuple[str, str, str], int]
) -> dict[Column, list[Row]]:
    """Return the columns in their order, each with its rows."""
    oracles = {(row.detector, row.configuration) for row in rows if row.oracle}
    regimes = {(row.detector, row.configuration): row.regime for row in rows}
    grids = {(detector, preset) for (detector, preset, _), n in n_configurations.items() if n > 1}
    held: dict[tuple[str, str, str | None, str], list[Row]] = defaultdict(list)
    for row in rows:
        configuration = row.configuration if row.preset == DEFAULT else None
        held[row.detector, row.preset, configuration, row.home].append(row)
    columns: dict[Column, list[Row]] = {}
    for (detector, preset, configuration, home), of_column in held.items():
        key = detector, of_column[0].configuration
        is_oracle = key in oracles or (configuration is None and (detector, preset) in grids)
        sources = ", ".join(dict.fromkeys(row.source for row in of_column)) if home else ""
        column = Column(detector, preset, configuration, is_oracle, regimes[key], sources)
        columns |= _generations(column, of_column)
    own = sorted({column.regime for column in columns if column.regime} - set(REGIMES))
    regimes_in_order = [*REGIMES, *own, ""]
    presets = list(dict.fromkeys((detector, preset) for detector, preset, *_ in held))

    def order(column: Column) -> tuple[bool, int, int, str]:
        place = presets.index((column.detector, column.preset))
        return column.is_oracle, regimes_in_order.index(column.regime), place, column.source

    return {column: columns[column] for column in sorted(columns, key=order)}


def _generations(column: Column, rows: Sequence[Row]) -> dict[Column, list[Row]]:
    """Return a column with its rows for each version of code and libraries, the newest of a source first."""

    def version(row: Row) -> tuple[str, str, str, str]:
        return row.source, row.code_version, row.harness_version, row.libraries

    newest_first = dict.fromkeys(version(row) for row in sorted(rows, key=lambda row: row.started)[::-1])
    n_of_source = Counter[str]()
    generations = {}
    for key in newest_first:
        generations[key] = n_of_source[key[0]]
        n_of_source[key[0]] += 1
    of_generations: dict[int, list[Row]] = {n: [] for n in sorted(generations.values())}
    for row in rows:
        of_generations[generations[version(row)]].append(row)
    return {replace(column, generation=n): each for n, each in of_generations.items()}
