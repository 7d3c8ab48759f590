"""The leaderboard of all published results: the best detector on a corpus, for each kind of knowledge."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import pandas as pd

from adbench_text.corpora.split_key import percent
from adbench_text.errors import DataError
from adbench_text.metrics import COSTS, MAIN
from adbench_text.reports import benchmarks
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import NONE, Entry, Kind, Table, significant

#: Labels of kinds of knowledge; our detectors may also know word frequencies.
_LABELS = {benchmarks.WORD_VECTORS: "words"}
#: The levels of contamination with columns.
LEVELS = 0.0, 0.1
#: The number of documents of `seconds`.
DOCUMENTS = 10_000


@dataclass(frozen=True)
class Standing:
    """A detector on a corpus at a level: its mean over the splits, and its seconds per split."""

    column: Column
    corpus: Corpus
    level: float

    @cached_property
    def entry(self) -> Entry:
        """The mean over the splits."""
        return self.corpus.entry(self.column, level=self.level)

    @property
    def seconds(self) -> Entry:
        """The seconds to fit and score a split at the lowest level; `NONE` if not measured."""
        times = [self.corpus.entry(self.column, name=name) for name in COSTS]
        values = [time.complete_value for time in times]
        return NONE if None in values else significant(sum(filter(None, values)), 2)


@dataclass
class Place:
    """A corpus of the leaderboard; several sweeps may have measured it."""

    corpus: Corpus  #: from the first sweep
    standings: dict[tuple[str, float], Standing] = field(default_factory=dict)  #: by label and level

    def add(self, standing: Standing) -> None:
        """Add a detector; if several sweeps have it, the one with most cells stays."""
        key = standing.column.label, standing.level
        if key not in self.standings or self.standings[key].entry.n_cells < standing.entry.n_cells:
            self.standings[key] = standing

    def best(self, knowledge: str, level: float) -> Standing | None:
        """Return our best detector with this knowledge at this level, None without one."""
        of_kind = [
            standing
            for standing in self.standings.values()
            if standing.level == level and benchmarks.knowledge_of(standing.column.regime) == knowledge
        ]
        return max(of_kind, key=lambda standing: standing.entry.value or 0.0, default=None)


def places(comparisons: Iterable[Comparison]) -> list[Place]:
    """Return the corpora of comparisons, with every ranked detector that has all their splits."""
    by_digest: dict[str, Place] = {}
    for comparison in comparisons:
        newest = [column for column in comparison.ranked if not column.generation]
        for corpus in comparison.corpora:
            place = by_digest.setdefault(corpus.digest, Place(corpus))
            for column, level in product(newest, LEVELS):
                if corpus.entry(column, level=level).complete_value is not None:
                    place.add(Standing(column, corpus, level))
    return [place for place in by_digest.values() if place.standings]


def check(sent: Comparison, ours: Sequence[Comparison]) -> None:
    """Raise DataError if a sent result cannot compete with our results."""
    own = pd.concat([comparison.cells.table for comparison in ours])
    cells = sent.cells.table
    for corpus in sent.corpora:
        if corpus.digest not in set(own["corpus"]):
            raise DataError(
                f"The leaderboard has no corpus {corpus.label} ({corpus.digest!r}: digest of the documents, "
                "dataset, split). Export and score a split of the leaderboard."
            )
    standings = {
        (place.corpus.digest, standing.column)
        for place in places([sent])
        for standing in place.standings.values()
    }
    of_columns: Any = cells.groupby(["column", "corpus"], sort=False)
    for (number, digest), of_column in of_columns:
        column = sent.columns[number]
        corpus = next(corpus for corpus in sent.corpora if corpus.digest == digest)
        if (digest, column) not in standings:
            raise DataError(_not_complete(corpus, column))
        known = _seeds(own[own["corpus"] == digest])
        for level, seeds in _seeds(of_column).items():
            (given,) = seeds  # the cells of one detector have one set of seeds
            if level in LEVELS and given not in known.get(level, set()):
                allowed = " or ".join(sorted(f"{[*each]}" for each in known.get(level, set())))
                raise DataError(
                    f"{column.label} on {corpus.label} at {percent(level)} cannot compete: its seeds are "
                    f"{[*given]}, and our results have {allowed}. Export and score the same."
                )


def _seeds(cells: pd.DataFrame) -> dict[float, set[tuple[int, ...]]]:
    """Return the sets of seeds that detectors have, by level of contamination."""
    of_levels: dict[float, set[tuple[int, ...]]] = {}
    of_columns: Any = cells.groupby(["contamination", "name"])
    for (level, _), of_column in of_columns:
        of_levels.setdefault(level, set()).add(tuple(sorted(set(of_column["seed"]))))
    return of_levels


def notes_on_submitted(places: Iterable[Place], sent: Comparison) -> Iterator[str]:
    """Yield a line for each figure of a submitted detector: whether the leaderboard shows it, or why not."""
    of_corpora = {place.corpus.digest: place for place in places}
    for corpus, column, level in product(sent.corpora, sent.columns, LEVELS):
        entry, place = corpus.entry(column, level=level), of_corpora[corpus.digest]
        if entry.value is None:
            continue
        start = f"{column.label}: {corpus.label} at {percent(level)}, {entry.text}"
        if entry.complete_value is None:
            yield f"{start}; not shown, it has {entry.n_cells} of {entry.n_expected} cells"
            continue
        best = place.best(benchmarks.knowledge_of(column.regime), level)
        if best is None or best.column == column:
            yield f"{start}; shown"
        else:
            yield f"{start}; not shown, {best.column.label} has {best.entry.text}"


def knowledge(column: Column) -> Entry:
    """Return the label of the outside knowledge of a detector."""
    known = benchmarks.knowledge_of(column.regime)
    return Entry(_LABELS.get(known, known))


def seconds(standings: Sequence[Standing]) -> Entry:
    """Return the seconds to fit and score `DOCUMENTS` documents of all corpora; `NONE` if not measured."""
    spent = sum(_sum(standing, *COSTS) for standing in standings)
    documents = sum(_sum(standing, "n_train", "n_test") for standing in standings)
    return significant(DOCUMENTS * spent / documents, 2) if spent > 0 and documents > 0 else NONE


def _sum(standing: Standing, *names: str) -> float:
    """Return the sum over all cells; NaN if one lacks a value."""
    return float(standing.corpus.finished(standing.column)[[*names]].to_numpy().sum())


def table_of_entries(places: Iterable[Place]) -> Table:
    """Return a row for each entry on a corpus, also if others are better."""
    clean, mixed = map(percent, LEVELS)
    rows = []
    for place in places:
        labels = dict.fromkeys(each.column.label for each in place.standings.values() if each.column.source)
        for label in labels:
            of_levels = [place.standings.get((label, level)) for level in LEVELS]
            column = next(standing.column for standing in of_levels if standing)
            entries = [standing.entry if standing else NONE for standing in of_levels]
            rows.append([Entry(label), Entry(place.corpus.label), knowledge(column), *entries])
    metric = MAIN.title
    return Table("", ["detector", "corpus", "knows", f"{metric}, {clean}", f"{metric}, {mixed}"], rows)


def _not_complete(corpus: Corpus, column: Column) -> str:
    """Return the reason why a column cannot compete on a corpus."""
    name = f"{column.label} on {corpus.label} cannot compete"
    if column.is_oracle:
        return f"{name}: its settings were chosen by test labels."
    if column.generation:
        return f"{name}: it has other code or libraries than the rest. Run it again, or leave it out."
    entries = {percent(level): corpus.entry(column, level=level) for level in LEVELS}
    finished = [
        f"{level}: {'none' if entry.value is None else f'{entry.n_cells} of {entry.n_expected}'}"
        for level, entry in entries.items()
    ]
    return (
        f"{name}: its splits of all seeds must be finished at {' or '.join(entries)} of outliers. Finished "
        f"are, at {', at '.join(finished)}."
    )


def table(places: Iterable[Place]) -> Table:
    """Return a row for each corpus and kind of knowledge with a detector or a published method."""
    clean, mixed = map(percent, LEVELS)
    metric = MAIN.title
    header = ["corpus", "knows", f"detector, {clean}", metric, "seconds", f"detector, {mixed}", metric]
    header += [f"published, {clean}", metric]
    rows: list[list[Entry]] = []
    starts = set()
    for place in places:
        starts.add(len(rows))
        rows += _rows(place)
    return Table("", header, rows, starts).without_empty()


def _rows(place: Place) -> Iterator[list[Entry]]:
    """Yield a row for each kind of knowledge on a corpus, without empty rows.

    The best figure from clean training data is marked, ours or a published one. Equal figures after rounding
    are all marked.
    """
    theirs = benchmarks.best_of_each(place.corpus.published_rows)
    clean = {kind: place.best(kind, LEVELS[0]) for kind in benchmarks.KNOWLEDGE}
    figures = [each.entry.value for each in clean.values() if each] + [row.figure for row in theirs.values()]
    best = max((round(value, 1) for value in figures if value is not None), default=None)
    for kind in benchmarks.KNOWLEDGE:
        of_ours = [*_of_ours(clean[kind], seconds=True), *_of_ours(place.best(kind, LEVELS[1]))]
        published = [Entry(theirs[kind].label), theirs[kind].entry] if kind in theirs else [NONE, NONE]
        entries = [*of_ours, *published]
        of_clean = (1, len(entries) - 1)  # the places of our figure and of the published one
        if any(entry.kind is not Kind.NONE for entry in entries):
            marked = [
                replace(entry, best=column in of_clean and round(entry.value or 0.0, 1) == best)
                for column, entry in enumerate(entries)
            ]
            yield [Entry(place.corpus.label), Entry(_LABELS.get(kind, kind)), *marked]


def _of_ours(standing: Standing | None, seconds: bool = False) -> list[Entry]:
    """Return the detector and its figure, and its seconds if asked; `NONE` for each without a detector."""
    if standing is None:
        return [NONE] * (3 if seconds else 2)
    return [Entry(standing.column.label), standing.entry, *([standing.seconds] if seconds else [])]
