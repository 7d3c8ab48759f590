"""The tables, drawings and formats of reports: each is a file that declares itself by constants.

A table or a drawing declares its place with ``ORDER`` (default: after those that do). A table also declares
``NEEDS`` (what must be there), and perhaps ``IS_BRIEF`` (it is part of the brief report) and ``HAS_RANKING``
(the notes on the ranking belong to it). A format declares what differs from `Format`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from adbench_text.errors import UnknownNameError
from adbench_text.plugins import registry


@dataclass(frozen=True)
class Format:
    """A format of reports.

    Attributes
    ----------
    render : callable
        Takes a report, and the width of the terminal if there is one; returns the text.
    has_pictures : bool
        Whether pictures and heat maps are shown (``HAS_PICTURES``).
    has_notes : bool
        Whether the notes are shown (``HAS_NOTES``); otherwise the command line prints them on stderr.
    has_all_tables : bool
        Whether it shows all tables unless some are named (``HAS_ALL_TABLES``).
    suffix : str
        Of the files that are logged with a sweep (``SUFFIX``); empty if none are.
    standalone : callable, optional
        Returns the report as a complete document, where `render` returns a part of one.
    """

    render: Callable[..., str]
    has_pictures: bool = False
    has_notes: bool = True
    has_all_tables: bool = False
    suffix: str = ""
    standalone: Callable[..., str] | None = None


def report_format(name: str) -> Format:
    """Return the format of this name.

    Raises
    ------
    UnknownNameError, PluginError
        See `adbench_text.plugins.registry.load`.
    """
    loaded = module("reports", name)
    return Format(
        loaded.render,
        getattr(loaded, "HAS_PICTURES", False),
        getattr(loaded, "HAS_NOTES", True),
        getattr(loaded, "HAS_ALL_TABLES", False),
        getattr(loaded, "SUFFIX", ""),
        getattr(loaded, "standalone", None),
    )


def module(kind: str, name: str) -> Any:
    """Return the module of a table, a drawing or a format."""
    return registry.load(kind, name)


def constant(kind: str, name: str, constant: str, default: Any = None) -> Any:
    """Return what a table, drawing or format declares; our own are not imported for it."""
    plugin = registry.plugins(kind)[name]
    if plugin.is_foreign:
        return getattr(module(kind, name), constant, default)
    return plugin.constants.get(constant, default)


def names(kind: str) -> list[str]:
    """Return the names of all tables or drawings, in the order of a report."""
    return sorted(registry.plugins(kind), key=lambda name: constant(kind, name, "ORDER", 1000))


def brief_tables() -> list[str]:
    """Return the tables of the brief report."""
    return [name for name in names("tables") if constant("tables", name, "IS_BRIEF", False)]


def chosen_tables(chosen: Sequence[str], everything: bool) -> Sequence[str]:
    """Return the tables to show: the chosen ones, otherwise all or the brief ones.

    Raises
    ------
    UnknownNameError
        If there is no table of that name.
    """
    tables = names("tables")
    for name in chosen:
        if name not in tables:
            raise UnknownNameError("table", name, tables)
    return chosen or (tables if everything else brief_tables())
