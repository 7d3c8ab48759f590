"""``adbench-text list``: names of detectors, datasets, presets and of all else that an option can name."""

import json
from typing import TYPE_CHECKING, Any

import click

from adbench_text.escaping import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = dict[str, Any]

_KINDS = (
    "detectors",
    "datasets",
    "vectors",
    "encoders",
    "presets",
    "sweeps",
    "engines",
    "tables",
    "formats",
)


@click.command("list", epilog=f"KIND is one of {', '.join(_KINDS)}.")
@click.argument("kind", type=click.Choice(_KINDS), metavar="KIND")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def command(kind: str, as_json: bool) -> None:
    """List the available names of a KIND, with a short description of each.

    'adbench-text info NAME' describes a detector or a dataset in detail.
    """
    special = {"vectors": _vectors, "encoders": _encoders, "presets": _presets, "sweeps": _sweeps}
    rows = list(special[kind]() if kind in special else _plugins(kind))
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        click.echo(printable(f"{row['name']:{width}}  {row['summary']}"))


def _plugins(kind: str) -> "Iterator[Row]":
    from adbench_text.plugins import registry

    for name, summary in registry.listing({"formats": "reports"}.get(kind, kind)):
        yield {"name": name, "summary": summary.replace("``", "")}  # a docstring


def _vectors() -> "Iterator[Row]":
    """Yield the word vectors, with their state: downloaded, installed, or empty."""
    from adbench_text.text import vectors

    for name, text in vectors.DOWNLOADS.items():
        state = vectors.state(name)
        yield {"name": name, "summary": f"{text}, {state}" if state else text, "state": state}
    summary = "fastText, 100 dimensions, trained on the training texts of each split"
    yield {"name": vectors.LOCAL, "summary": summary, "state": "installed"}


def _encoders() -> "Iterator[Row]":
    from adbench_text.text.encoders import METHODS

    for name, method in METHODS.items():
        yield {"name": name, "summary": method.description}


def _sweeps() -> "Iterator[Row]":
    """Yield the built-in sweeps, with the first line of comment of their files."""
    from adbench_text.sweep import file

    for name in file.names():
        path = file.find(name)
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        summary = first.removeprefix("#").strip() if first.startswith("#") else ""
        yield {"name": name, "summary": summary, "path": str(path)}


def _presets() -> "Iterator[Row]":
    """Yield each preset of each detector that can be loaded."""
    from adbench_text.errors import PluginError
    from adbench_text.plugins import registry
    from adbench_text.sweep.cell import DEFAULT, text_of_settings
    from adbench_text.sweep.construct import presets

    summary = "of every detector: its default hyper-parameters"
    yield {"name": DEFAULT, "summary": summary, "detector": None}
    datasets = registry.names("datasets")
    for detector, plugin in registry.plugins("detectors").items():
        if plugin.is_family:  # its members come from another package, and have none
            continue
        try:
            kind = registry.detector(detector)
            named = [presets(kind, dataset) for dataset in datasets]
        except PluginError:  # 'list detectors' reports it
            continue
        for name in dict.fromkeys(name for each in named for name in each if name != DEFAULT):
            grids = [each[name] for each in named if name in each]
            grid = grids[0]
            content = f"{len(grid)} configurations" if len(grid) > 1 else text_of_settings(grid[0])
            if any(other != grid for other in grids):
                content = "depends on the dataset"
            yield {"name": name, "summary": f"of {detector}: {content}", "detector": detector}
