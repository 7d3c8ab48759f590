"""The tables, drawings and formats of reports: each is a file that declares itself by constants.

A table or a drawing declares its place with ``ORDER``. A table also declares ``NEEDS`` (what must be there),
and perhaps ``IS_BRIEF`` (it is part of the brief report). A format declares what differs from `Format`.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
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
    standalone: Callable[..., str] | None = None  #: a complete document, `render` a part


def report_format(name: str) -> Format:
    """Return the format of this name; errors are those of `adbench_text.plugins.registry.load`."""
    loaded = registry.load("reports", name)
    return Format(
        loaded.render,
        getattr(loaded, "HAS_PICTURES", False),
        getattr(loaded, "HAS_NOTES", True),
        getattr(loaded, "HAS_ALL_TABLES", False),
        getattr(loaded, "SUFFIX", ""),
        getattr(loaded, "standalone", None),
    )


def formats_with_all_tables() -> list[str]:
    """Return the formats of ours that show all tables, without importing them."""
    plugins = registry.plugins("reports").values()
    return [plugin.name for plugin in plugins if plugin.constants.get("HAS_ALL_TABLES")]


def module(kind: str, name: str) -> Any:
    """Return the module of a table or a drawing."""
    return importlib.import_module(f"adbench_text.reports.{kind}.{name}")


@cache
def constants(kind: str) -> dict[str, dict[str, Any]]:
    """Return what each of the ``"tables"`` or ``"drawings"`` declares, in the order of a report.

    None is imported for it: the command line lists them in its help.
    """
    declared = {name: dict(plugin.constants) for name, plugin in registry.plugins(kind).items()}
    return dict(sorted(declared.items(), key=lambda item: item[1]["ORDER"]))


def names(kind: str) -> list[str]:
    """Return the names of all tables or drawings, in the order of a report."""
    return list(constants(kind))


def brief_tables() -> list[str]:
    """Return the tables of the brief report."""
    return [name for name, of_table in constants("tables").items() if of_table.get("IS_BRIEF")]


def chosen_tables(chosen: Sequence[str], everything: bool) -> Sequence[str]:
    """Return the tables to show: the chosen ones, otherwise all or the brief ones."""
    for name in chosen:
        if name not in constants("tables"):
            raise UnknownNameError("table", name, names("tables"))
    return chosen or (names("tables") if everything else brief_tables())
