"""``adbench-text list``: List the names that options can take."""

from collections.abc import Callable, Iterator, Sequence

import click

from adbench_text.cli.show import print_table
from adbench_text.metrics import METRICS
from adbench_text.plugins import registry
from adbench_text.reports import contents

Rows = Iterator[tuple[str, str]]  # names and descriptions


def _plugins(kind: str) -> Rows:
    """Yield the plug-ins of a kind; the description of a broken one is its problem."""
    for row in registry.listing(kind):
        summary = f"broken: {row.problem}" if row.problem else row.summary
        yield row.name, summary.replace("``", "")  # the summary comes from a docstring


def _vectors() -> Rows:
    from adbench_text.text import vectors

    yield from ((name, description) for name, (_, description) in vectors.DOWNLOADS.items())


def _encoders() -> Rows:
    from adbench_text.text.encoders import METHODS

    yield from ((name, method.description) for name, method in METHODS.items())
    yield "./FILE.py:NAME", "a function of your own: texts in, an array of shape (n_texts, n_dimensions) out"


def _sweeps() -> Rows:
    """Yield the built-in sweeps, with the comment in the first line of their files."""
    from adbench_text.run import sweep_file

    for name in sweep_file.names():
        first = sweep_file.find(name).read_text(encoding="utf-8").partition("\n")[0]
        yield name, first.removeprefix("# ") if first.startswith("#") else ""


_ROWS: dict[str, Callable[[], Rows]] = {
    "detectors": lambda: _plugins("detectors"),
    "datasets": lambda: _plugins("datasets"),
    "vectors": _vectors,
    "encoders": _encoders,
    "sweeps": _sweeps,
    "tables": lambda: contents.summaries("tables", contents.TABLES),
    "formats": lambda: contents.summaries("formats", contents.FORMATS),
}


def names_of(kind: str) -> Sequence[str]:
    """Return the names of a kind; empty for inlier classes, which depend on the dataset."""
    if kind in registry.KINDS:
        return registry.names(kind)
    if kind == "metrics":
        return list(METRICS)
    if kind == "checkable":
        return [*registry.names("detectors"), *registry.names("datasets")]
    if kind == "fetchable":
        from adbench_text.text import vectors, wordpiece

        return [*registry.names("datasets"), *vectors.DOWNLOADS, wordpiece.FETCHED]
    if kind == "describable":
        from adbench_text.text.sources import SOURCES

        return [*names_of("checkable"), *SOURCES]
    return [name for name, _ in _ROWS[kind]()] if kind in _ROWS else []


@click.command("list")
@click.argument("kind", type=click.Choice(list(_ROWS)), metavar="[KIND]", required=False)
def command(kind: str | None) -> None:
    """List the names of a KIND with short descriptions, or all names of all kinds.

    'adbench-text info NAME' describes a detector or a dataset in detail.
    """
    all_names = ((each, ", ".join(name for name, _ in rows())) for each, rows in _ROWS.items())
    print_table(_ROWS[kind]() if kind else all_names, indent=0)
