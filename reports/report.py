"""What a format renders: tables of text entries, pictures, heat maps, and the notes under them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from adbench_text.run.result import Example


@dataclass(frozen=True)
class Entry:
    """One entry of a table; ``best`` if no other of its row is better."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Table:
    """A table: its header has as many entries as each row. A row that begins a group is set apart.

    Attributes
    ----------
    blocks : list of (str, int)
        Titles over neighbouring columns after the labels, each with their number; empty for none.
    summaries : set of int
        Rows that sum up the others of their group, a mean say.
    """

    title: str
    header: list[str]
    rows: list[list[Entry]]
    group_starts: set[int] = field(default_factory=set)
    n_labels: int = 2
    blocks: list[tuple[str, int]] = field(default_factory=list)
    summaries: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Picture:
    """A figure, drawn.

    Attributes
    ----------
    name : str
        Of its file, without an ending.
    title, caption : str
        The caption says in words what there is to see, for those who do not see it.
    svg : str
        The picture as an ``<svg>`` element.
    """

    name: str
    title: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Heatmap:
    """Documents of one split, their words coloured by what one detector says of them."""

    title: str
    examples: Sequence[Example]


@dataclass(frozen=True)
class Report:
    """Tables for reading, the same figures as one table for programs, and notes.

    Without the latter the former are what programs get. Pictures and heat maps are for the formats
    that can show them.
    """

    tables: list[Table]
    wide: Table | None
    notes: list[str]
    pictures: Sequence[Picture] = ()
    heatmaps: Sequence[Heatmap] = ()
