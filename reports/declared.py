"""The tables and formats of reports: each is a file that declares itself by constants.

A table declares its place with ``ORDER``, ``NEEDS`` (what must be there), and perhaps ``IS_BRIEF`` (it is
part of the brief report). A format declares what differs from `Format`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adbench_text.errors import UnknownNameError
from adbench_text.plugins import registry


@dataclass(frozen=True)
class Format:
    """A format of reports: its function, and the constants that it declares, in capitals."""

    render: Callable[..., str]  #: takes a report, and the width of a terminal or None; returns text
    has_pictures: bool = False  #: whether pictures and heat maps are shown
    has_notes: bool = True  #: otherwise the command line prints the notes on stderr
    has_all_tables: bool = False  #: whether it shows all tables unless some are named
    suffix: str = ""  #: of the files that are logged with a sweep; empty if none are


def report_format(name: str) -> Format:
    """Return the format of this name; errors are those of `adbench_text.plugins.registry.load`."""
    loaded = registry.load("reports", name)
    return Format(
        loaded.render,
        getattr(loaded, "HAS_PICTURES", False),
        getattr(loaded, "HAS_NOTES", True),
        getattr(loaded, "HAS_ALL_TABLES", False),
        getattr(loaded, "SUFFIX", ""),
    )


def formats_with_all_tables() -> list[str]:
    """Return the formats of ours that show all tables, without importing them."""
    plugins = registry.plugins("reports").values()
    return [plugin.name for plugin in plugins if plugin.constants.get("HAS_ALL_TABLES")]


def tables() -> dict[str, Mapping[str, Any]]:
    """Return the constants of each table, in the order of a report; none is imported for it."""
    plugins = registry.plugins("tables").values()
    return {plugin.name: plugin.constants for plugin in sorted(plugins, key=lambda p: p.constants["ORDER"])}


def brief_tables() -> list[str]:
    """Return the tables of the brief report."""
    return [name for name, constants in tables().items() if constants.get("IS_BRIEF")]


def chosen_tables(chosen: Sequence[str], everything: bool) -> Sequence[str]:
    """Return the tables to show: the chosen ones, otherwise all or the brief ones."""
    for name in chosen:
        if name not in tables():
            raise UnknownNameError("table", name, list(tables()))
    return chosen or (list(tables()) if everything else brief_tables())
