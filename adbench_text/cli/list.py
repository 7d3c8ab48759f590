"""``adbench-text list``: names of detectors, datasets, presets and of all else that an option can name."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from adbench_text.cli.show import json_option, next_command, show, table
from adbench_text.errors import PluginError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT
from adbench_text.reports import contents

Row = dict[str, Any]


def _plugins(kind: str) -> Iterator[Row]:
    for row in registry.listing(kind):
        summary = f"broken: {row.problem}" if row.problem else row.summary
        yield {"name": row.name, "summary": summary.replace("``", "")}  # a docstring


def _contents(kinds: Mapping[str, contents.TableKind | contents.Format]) -> Iterator[Row]:
    for name, kind in kinds.items():
        yield {"name": name, "summary": kind.summary}


def _vectors() -> Iterator[Row]:
    """Yield the word vectors, with their state: downloaded, installed, or empty."""
    from adbench_text.text import vectors

    for name, text in vectors.DOWNLOADS.items():
        state = vectors.state(name)
        yield {"name": name, "summary": f"{text}, {state}" if state else text, "state": state}


def _encoders() -> Iterator[Row]:
    from adbench_text.text.encoders import METHODS

    for name, method in METHODS.items():
        yield {"name": name, "summary": method.description}


def _presets() -> Iterator[Row]:
    """Yield each preset of each detector that can be loaded."""
    from adbench_text.cli.info import content_of, presets_of

    summary = "of every detector: its default hyper-parameters"
    yield {"name": DEFAULT, "summary": summary, "detector": None}
    for detector, plugin in registry.plugins("detectors").items():
        if plugin.is_family:  # its members come from another package, and have none
            continue
        try:
            presets = presets_of(detector)
        except PluginError:  # 'list detectors' reports it
            continue
        grids: dict[str, list[Any]] = {}
        for preset in presets:
            grids.setdefault(preset["name"], []).append(preset["settings"])
        for name, each in grids.items():
            if name != DEFAULT:
                content = content_of(each[0]) if len(each) == 1 else "depends on the dataset"
                yield {"name": name, "summary": f"of {detector}: {content}", "detector": detector}


def _sweeps() -> Iterator[Row]:
    """Yield the built-in sweeps, with the first line of comment of their files."""
    from adbench_text.sweep import file

    for name in file.names():
        path = file.find(name)
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        summary = first.removeprefix("#").strip() if first.startswith("#") else ""
        yield {"name": name, "summary": summary, "path": str(path)}


_ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "detectors": lambda: _plugins("detectors"),
    "datasets": lambda: _plugins("datasets"),
    "vectors": _vectors,
    "encoders": _encoders,
    "presets": _presets,
    "sweeps": _sweeps,
    "tables": lambda: _contents(contents.TABLES),
    "formats": lambda: _contents(contents.FORMATS),
}


@click.command("list")
@click.argument("kind", type=click.Choice(list(_ROWS)), metavar="[KIND]", required=False)
@json_option
def command(kind: str | None, as_json: bool) -> None:
    """List the available names of a KIND, with a short description of each; or all names of all kinds.

    'adbench-text info NAME' describes a detector or a dataset in detail.
    """
    if kind is None:
        found = {each: list(rows()) for each, rows in _ROWS.items()}
        names = {each: ", ".join(dict.fromkeys(row["name"] for row in rows)) for each, rows in found.items()}
        show(found, [table(names.items(), indent=0)], as_json)
        if not as_json:
            next_command("list", "detectors")
        return
    rows = list(_ROWS[kind]())
    show(rows, [table(((row["name"], row["summary"]) for row in rows), indent=0)], as_json)
