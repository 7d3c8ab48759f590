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

    Only detectors with results on all corpora of the group have a mean and a rank. The variants of a dataset,
    such as ``onion:badnets`` and ``onion:scpn``, count as one corpus. Labels are the names of detectors with
    their presets or settings.
    """

    title: str
    places: Sequence[Place]
    level: float = LEVELS[0]

    def lacking(self, label: str) -> list[str]:
        """Return the labels of the corpora on which a detector has no result at the level of the group."""
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
        """The names of the datasets, with the number of their variants if there are several."""
        n_variants = Counter(self._datasets)
        return ", ".join(f"{name} ({n} variants)" if n > 1 else name for name, n in n_variants.items())

    @property
    def _datasets(self) -> list[str]:
        """The dataset of each corpus, without the variant."""
        return [place.corpus.dataset.partition(":")[0] for place in self.places]

    def _figures(self, labels: Iterable[str]) -> pd.DataFrame:
        """Return the AUROC on each corpus (row) of each detector that has all corpora (column)."""
        complete = [label for label in labels if not self.lacking(label)]
        figures = [
            [place.standings[label, self.level].entry.value for label in complete] for place in self.places
        ]
        return pd.DataFrame(figures, columns=complete, dtype=float)

    def _mean(self, values: pd.DataFrame) -> "pd.Series[float]":
        """Return the mean of each column over the datasets; a dataset has the mean of its variants."""
        return values.groupby(self._datasets).mean().mean()


@dataclass(frozen=True)
class Board:
    """Groups of corpora, and the detectors that have all corpora of at least one group.

    Some detectors are submitted: others have sent their scores. `origins` has their origins, by their names.
    """

    groups: Sequence[Group]
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def table(self) -> Table:
        """Return a row for each detector, ours and submitted; the best figure of a column is marked.

        Notes name the corpora of each group.
        """
        table = self._table([column for column in self._columns if not _is_variant(column)])
        titles_of: dict[str, list[str]] = {}  # titles of groups with the same corpora share a note
        for group in self.groups:
            titles_of.setdefault(group.corpora, []).append(group.title)
        notes = [f"{' and '.join(titles)}: {corpora}." for corpora, titles in titles_of.items()]
        return replace(table, notes=notes)

    def variants(self) -> Table:
        """Return a row for each detector with other settings or in a file; they are not ranked."""
        table = self._table([column for column in self._columns if _is_variant(column)])
        unmarked = [[replace(entry, best=False) for entry in row] for row in table.rows]
        without_ranks = [n for n, name in enumerate(table.header) if not name.startswith("rank")]
        return replace(table, rows=unmarked).with_columns(without_ranks)

    def notes_on_submitted(self, sent: Comparison) -> Iterator[str]:
        """Yield a line for each submitted detector and each group: whether the table shows its mean."""
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
        """The detectors that have all corpora of at least one group."""
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

    def _table(self, detectors: Sequence[Column]) -> Table:
        """Return a row for each detector by its mean rank; detectors with all groups come first.

        A detector is a `Column`, because the tables of a sweep have a column for each detector.
        """
        detector_of = {detector.label: detector for detector in detectors}
        titles = [group.title for group in self.groups]
        means = _with_mean({group.title: group.means(detector_of) for group in self.groups}, detector_of)
        ranks = _with_mean({group.title: group.ranks(detector_of) for group in self.groups}, detector_of)
        # a detector without all groups has no mean rank; it is sorted by the mean over its groups
        lacks_group, rank_in_groups = ranks["mean"].isna(), ranks[titles].mean(axis="columns")
        order = pd.DataFrame({"lacks group": lacks_group, "rank": rank_in_groups})
        labels = list(order.sort_values(["lacks group", "rank"]).index)
        means, ranks = means.loc[labels], ranks.loc[labels]
        standings = [self._standings(label) for label in labels]
        origins = [self._origin(detector_of[label]) for label in labels]
        names = [Entry(label, link=origin.link) for label, origin in zip(labels, origins, strict=True)]
        by_header = {
            "detector": names,
            "knows": [knowledge(detector_of[label]) for label in labels],
            "mean": _marked(means["mean"], max),
            "rank": _marked(ranks["mean"], min),
            **{title: _marked(means[title], max) for title in titles},
            f"seconds for {DOCUMENTS:,}": list(map(seconds, standings)),
            "GB": list(map(_memory, standings)),
            "year": [figure(origin.year, 0) for origin in origins],
            **{f"rank, {title}": _marked(ranks[title], min) for title in titles},
        }
        return Table("", list(by_header), [list(row) for row in zip(*by_header.values(), strict=True)])

    def _origin(self, detector: Column) -> Origin:
        """Return the origin of a detector; a submitted one has stated it."""
        if detector.source:  # submitted
            return self.origins.get(detector.detector, Origin())
        return origin_of(detector.detector)

    def _standings(self, label: str) -> list[Standing]:
        """Return the results of a detector on all its corpora, at the lowest level of contamination."""
        key = label, LEVELS[0]
        found = [place for group in self.groups for place in group.places if key in place.standings]
        # several groups may have the same corpus
        return list({place.corpus.digest: place.standings[key] for place in found}.values())


def _with_mean(groups: Mapping[str, "pd.Series[float]"], labels: Iterable[str]) -> pd.DataFrame:
    """Return a row for each detector, and a column for each group and for the mean of all groups.

    The mean is missing for a detector without all groups.
    """
    table = pd.DataFrame(groups, list(labels))
    return table.assign(mean=table.mean(axis="columns", skipna=False))


def _is_variant(column: Column) -> bool:
    """Return whether a detector is in a file, or has other settings than a preset and an encoder."""
    if column.source:  # submitted
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
    """Return the median of the peak memory over the cells, in GB."""
    peaks = [standing.corpus.finished(standing.column)["peak_memory_mb"] for standing in standings]
    median = float(pd.concat(peaks).median()) if peaks else None
    return NONE if median is None or pd.isna(median) else significant(median / 1000, 2)
