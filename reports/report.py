"""A report, which a format renders: tables of typed entries, pictures, heat maps and notes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Self

from adbench_text.run.result import Example

if TYPE_CHECKING:
    import pandas as pd

    from adbench_text.reports.figures.export import Drawing


class Kind(Enum):
    """The kind of an entry of a table."""

    LABEL = auto()  #: a name, or another text
    FIGURE = auto()  #: a number
    MISSING = auto()  #: a figure that the cells lack: the metric is newer, or the scores cannot be read
    FAILED = auto()  #: a figure of cells that failed
    NONE = auto()  #: a figure that does not exist, such as a published one of a new dataset


# signs in a table
SPREAD = "±"
OURS = "▸"  #: before the name of a marked detector, in formats without bold or colour
ORACLE = "(oracle)"
UNEQUAL = "†"  #: after a figure that was chosen by the test labels
OTHER_EDITION = "‡"  #: after a dataset if the published figures are of another version of the data


@dataclass(frozen=True)
class Entry:
    """One entry of a table."""

    words: str  #: the label, the digits of the figure, or why it is missing; no spread, no numbers of cells
    kind: Kind = Kind.LABEL
    value: float | None = None  #: the figure itself
    spread: float | None = None  #: standard deviation over the seeds
    n_cells: int = 1  #: behind the figure
    n_expected: int = 1  #: the number of cells that it should have
    is_summary: bool = False  #: label of a row that summarises others, such as a mean
    is_unequal: bool = False  #: only one side of a difference was chosen by the test labels
    best: bool = False  #: no other entry of the row (in a leaderboard, of the column) is better
    link: str = ""  #: the address that a label leads to; only Markdown shows it

    @property
    def is_complete(self) -> bool:
        """Whether there is a figure from all expected cells."""
        return self.kind is Kind.FIGURE and self.n_cells == self.n_expected

    @property
    def complete_value(self) -> float | None:
        """The figure, if it is complete."""
        return self.value if self.is_complete else None

    @property
    def is_incomplete(self) -> bool:
        """Whether the figure lacks some of its cells."""
        return self.kind is Kind.FIGURE and not self.is_complete

    @property
    def text(self) -> str:
        """The entry as people read it: ``"91.2 ± 0.3 (4 of 5)"``."""
        spread = "" if self.spread is None else f" {SPREAD} {self.spread:.1f}"
        cells = f" ({self.n_cells:,} of {self.n_expected:,})" if self.is_incomplete else ""
        return f"{self.words}{UNEQUAL if self.is_unequal else ''}{spread}{cells}"


#: Replaces a figure that does not exist.
NONE = Entry("–", Kind.NONE)


def figure(
    value: float | None, decimals: int = 1, signed: bool = False, spread: float | None = None
) -> Entry:
    """Return the entry of a number, `NONE` for None; with `signed`, a plus precedes 0 and above."""
    if value is None:
        return NONE
    words = f"{value:+z.{decimals}f}" if signed else f"{value:z.{decimals}f}"
    return Entry(words, Kind.FIGURE, value, spread)


def significant(value: float, digits: int = 3) -> Entry:
    """Return the entry of a number with this number of significant digits: ``"1,230"``."""
    return Entry(f"{float(f'{value:.{digits}g}'):,g}", Kind.FIGURE, value)


@dataclass(frozen=True)
class Table:
    """A table; its header has as many entries as each row.

    Examples
    --------
    >>> from adbench_text.reports.report import Entry, Table, figure
    >>> row = [Entry("sci"), figure(78.61), Entry("79.0", Kind.FIGURE, 79.02, spread=0.4)]
    >>> table = Table("AUROC (%)", ["inlier", "llr", "knn-words"], [row], n_labels=1)
    >>> [entry.text for entry in table.rows[0]]
    ['sci', '78.6', '79.0 ± 0.4']
    """

    title: str
    header: list[str]
    rows: list[list[Entry]]
    group_starts: set[int] = field(default_factory=set)  #: rows that begin a group
    n_labels: int = 2  #: the first columns, which name the row
    #: Titles over neighbouring columns after the labels, with the number of columns; may be empty.
    blocks: list[tuple[str, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  #: shown under the table
    bars_from: float | None = None  #: bars go from this figure to 100; None for no bars
    is_folded: bool = False  #: a page shows only the title until the table is opened
    ours: Collection[str] = ()  #: names of detectors to mark in rows and columns

    @property
    def has_best(self) -> bool:
        """Whether an entry is marked as the best."""
        return any(entry.best for row in self.rows for entry in row)

    def is_ours(self, label: str | Entry) -> bool:
        """Whether a head or an entry names a detector to mark, perhaps followed by a level."""
        name = label if isinstance(label, str) else label.words if label.kind is Kind.LABEL else ""
        return any(name == ours or name.startswith(f"{ours}, ") for ours in self.ours)

    def without_empty(self) -> Self:
        """Return the table without rows and columns that have no figure."""
        has_figures = [any(e.kind is not Kind.NONE for e in row[self.n_labels :]) for row in self.rows]
        rows = [number for number, has_figure in enumerate(has_figures) if has_figure]
        columns = [
            column
            for column in range(len(self.header))
            if column < self.n_labels or any(self.rows[row][column].kind is not Kind.NONE for row in rows)
        ]
        # the group of a row; 0 is before the first start
        groups = [sum(start <= row for start in self.group_starts) for row in rows]
        starts = {new for new, group in enumerate(groups) if group and group not in groups[:new]}
        shown = replace(self, rows=[self.rows[row] for row in rows], group_starts=starts)
        shown = shown.with_columns(columns)
        is_one_block = len(shown.blocks) == 1 < len(self.blocks)
        return replace(shown, blocks=[]) if is_one_block else shown

    def with_columns(self, columns: Sequence[int]) -> Self:
        """Return a table with these columns, which include the labels."""
        blocks, first = [], self.n_labels
        for title, n in self.blocks:
            n_kept = sum(first <= column < first + n for column in columns)
            blocks += [(title, n_kept)] if n_kept else []
            first += n
        rows = [[row[column] for column in columns] for row in self.rows]
        return replace(self, header=[self.header[column] for column in columns], rows=rows, blocks=blocks)

    def parts(self, is_too_wide: Callable[[list[int]], bool]) -> list[list[int]]:
        """Cut the table into parts that are not too wide, and return the columns of each part.

        A part begins with the labels of the rows, and has at least one other column.
        """
        labels = list(range(self.n_labels))
        parts = [labels]
        for column in range(self.n_labels, len(self.header)):
            if len(parts[-1]) > self.n_labels and is_too_wide([*parts[-1], column]):
                parts.append(labels)
            parts[-1] = [*parts[-1], column]
        return parts


@dataclass(frozen=True)
class Heatmap:
    """Documents of one split, with words coloured by the scores of one detector."""

    title: str
    examples: Sequence[Example]
    is_first: bool = False  #: the first one of its detector and dataset, which every page shows


@dataclass(frozen=True)
class Report:
    """Tables, notes, pictures and heat maps, and the cells that they show."""

    tables: list[Table]
    notes: list[str]  #: notes that belong to no table; failures last
    pictures: "Sequence[Drawing]" = ()  #: these and heat maps are for formats that can show them
    heatmaps: Sequence[Heatmap] = ()
    headline: str = ""  #: the result in a sentence
    #: Replace the leaderboard in formats with pictures; by contamination level.
    leaders: Mapping[str, Table] = field(default_factory=dict)
    provenance: Sequence[tuple[str, str]] = ()  #: origin of the results: name and value, in order
    cells: "pd.DataFrame | None" = None  #: for programs, with the columns of `store.cells.COLUMNS`

    @property
    def every_note(self) -> list[str]:
        """The notes of the tables, then the others; for a format that cannot put notes under a table."""
        under_tables = [note for table in self.tables for note in table.notes]
        return list(dict.fromkeys([*under_tables, *self.notes]))
