"""What a format renders: tables of text entries, and the notes under them."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entry:
    """One entry of a table; ``best`` if no other of its row is better."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Table:
    """A table: its header has as many entries as each row. A row that begins a group is set apart."""

    title: str
    header: list[str]
    rows: list[list[Entry]]
    group_starts: set[int] = field(default_factory=set)
    n_labels: int = 2


@dataclass(frozen=True)
class Report:
    """Tables for reading, the same figures as one table for programs, and notes."""

    tables: list[Table]
    wide: Table
    notes: list[str]
