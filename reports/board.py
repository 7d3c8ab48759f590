"""The leaderboard of detectors over all corpora: means and mean ranks in groups of corpora."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd

from adbench_text.plugins.configure import DetectorChoice
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.origins import Origin, origin_of
from adbench_text.reports.report import NONE, Entry, Table, figure, significant
from adbench_text.reports.standings import DOCUMENTS, LEVELS, Place, Standing, knowledge, seconds


@dataclass(frozen=True)
class Group:
    """Corpora of one kind, at a level of contamination.

    Only detectors with all corpora have a mean and a rank. The variants of a dataset, such as
    ``onion:badnets`` and ``onion:scpn``, count as one corpus.
    """

    title: str
    places: Sequence[Place]
    level: float = LEVELS[0]

    def lacking(self, label: str) -> list[str]:
        """Return the labels of the corpora that a detector lacks."""
        key = label, self.level
        return [place.corpus.label for place in self.places if key not in place.standings]

    def means(self, labels: Iterable[str]) -> "pd.Series[float]":
        """Return the mean over the corpora for each detector that has all of them."""
        return self._mean(self._figures(labels))

    def ranks(self, labels: Iterable[str]) -> "pd.Series[float]":
        """Return the mean rank among the detectors that have all corpora; the best rank is 1."""
        return self._mean(self._figures(labels).rank(axis="columns", ascending=False))

    @property
    def corpora(self) -> str:
        """The names of the corpora."""
        numbers = Counter(self._datasets)
        return ", ".join(f"{name} ({n} variants)" if n > 1 else name for name, n in numbers.items())

    @property
    def _datasets(self) -> list[str]:
        return [place.corpus.dataset.partition(":")[0] for place in self.places]

    def _figures(self, labels: Iterable[str]) -> pd.DataFrame:
        """Return a row for each corpus, and a column for each detector that has all corpora."""
        complete = [label for label in labels if not self.lacking(label)]
        figures = [
            [place.standings[label, self.level].entry.value for label in complete] for place in self.places
        ]
        return pd.DataFrame(figures, columns=complete, dtype=float)

    def _mean(self, values: pd.DataFrame) -> "pd.Series[float]":
        return values.groupby(self._datasets).mean().mean()


@dataclass(frozen=True)
class Board:
    """Groups of corpora, and the detectors that have all corpora of at least one group.

    `origins` has the origin of each detector that others have sent.
    """

    groups: Sequence[Group]
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def table(self) -> Table:
        """Return a row for each detector and each entry; the best of a column is marked."""
        table = self._table([column for column in self._columns if not _is_variant(column)])
        titles: dict[str, list[str]] = {}  # by the corpora of groups
        for group in self.groups:
            titles.setdefault(group.corpora, []).append(group.title)
        notes = [f"{' and '.join(of_corpora)}: {corpora}." for corpora, of_corpora in titles.items()]
        return replace(table, notes=notes)

    def variants(self) -> Table:
        """Return a row for each detector with other settings or in a file; they are not ranked."""
        table = self._table([column for column in self._columns if _is_variant(column)])
        plain = [[replace(entry, best=False) for entry in row] for row in table.rows]
        unranked = [place for place, name in enumerate(table.header) if not name.startswith("rank")]
        return replace(table, rows=plain).with_columns(unranked)

    def fates(self, sent: Comparison) -> Iterator[str]:
        """Yield a line for each entry and group: whether the table has its mean."""
        for column in sent.columns:
            for group in self.groups:
                start = f"{column.label}: all corpora, {group.title}"
                n, n_lacking = len(group.places), len(group.lacking(column.label))
                if n_lacking:
                    yield f"{start}; not shown, it has {n - n_lacking} of {n} corpora"
                else:
                    yield f"{start}, {figure(group.means([column.label]).item()).text}; shown"

    @cached_property
    def _columns(self) -> list[Column]:
        standings = [
            standing
            for group in self.groups
            for place in group.places
            for standing in place.standings.values()
        ]
        columns = {standing.column.label: standing.column for standing in standings}
        return [
            column
            for label, column in columns.items()
            if any(not group.lacking(label) for group in self.groups)
        ]

    def _table(self, columns: Sequence[Column]) -> Table:
        """Return a row for each detector by its mean rank; detectors with all groups come first."""
        of_labels = {column.label: column for column in columns}
        titles = [group.title for group in self.groups]
        means = _with_mean({group.title: group.means(of_labels) for group in self.groups}, of_labels)
        ranks = _with_mean({group.title: group.ranks(of_labels) for group in self.groups}, of_labels)
        order = pd.DataFrame({"lacks": ranks["mean"].isna(), "rank": ranks[titles].mean(axis="columns")})
        labels = list(order.sort_values(["lacks", "rank"]).index)
        means, ranks = means.loc[labels], ranks.loc[labels]
        standings = [self._standings(label) for label in labels]
        origins = [self._origin(of_labels[label]) for label in labels]
        names = [Entry(label, link=origin.link) for label, origin in zip(labels, origins, strict=True)]
        of_header = {
            "detector": names,
            "knows": [knowledge(of_labels[label]) for label in labels],
            "mean": _marked(means["mean"], max),
            "rank": _marked(ranks["mean"], min),
            **{title: _marked(means[title], max) for title in titles},
            f"seconds for {DOCUMENTS:,}": list(map(seconds, standings)),
            "GB": list(map(_memory, standings)),
            "year": [figure(origin.year, 0) for origin in origins],
            **{f"rank, {title}": _marked(ranks[title], min) for title in titles},
        }
        return Table("", list(of_header), [list(row) for row in zip(*of_header.values(), strict=True)])

    def _origin(self, column: Column) -> Origin:
        return self.origins.get(column.detector, Origin()) if column.source else origin_of(column.detector)

    def _standings(self, label: str) -> list[Standing]:
        """Return a detector on each corpus at the lowest level."""
        key = label, LEVELS[0]
        found = [place for group in self.groups for place in group.places if key in place.standings]
        return list({place.corpus.digest: place.standings[key] for place in found}.values())


def _with_mean(groups: Mapping[str, "pd.Series[float]"], labels: Iterable[str]) -> pd.DataFrame:
    """Return a row for each detector, and a column for each group and for the mean of all groups."""
    table = pd.DataFrame(groups, list(labels))
    return table.assign(mean=table.mean(axis="columns", skipna=False))


def _is_variant(column: Column) -> bool:
    """Return whether a detector is in a file, or has other settings than a preset and an encoder."""
    if column.source:  # sent
        return False
    return ":" in column.detector or not {*DetectorChoice.parse(column.label).settings} <= {"encoder"}


def _marked(values: "pd.Series[float]", best: Callable[[Iterable[float]], float]) -> list[Entry]:
    """Return the entries of a column, with the best ones after rounding marked."""
    entries = [NONE if pd.isna(value) else figure(float(value)) for value in values]
    printed = [float(entry.words) for entry in entries if entry is not NONE]
    if not printed:
        return entries
    words = figure(best(printed)).words
    return [replace(entry, best=entry.words == words) for entry in entries]


def _memory(standings: Sequence[Standing]) -> Entry:
    """Return the median over the cells, in GB."""
    cells = [standing.corpus.finished(standing.column)["peak_memory_mb"] for standing in standings]
    median = float(pd.concat(cells).median()) if cells else None
    return NONE if median is None or pd.isna(median) else significant(median / 1000, 2)
