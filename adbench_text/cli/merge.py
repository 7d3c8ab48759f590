"""``adbench-text merge``: bring the results of several stores into one."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import TRACKING, adding
from adbench_text.cli.progress import count
from adbench_text.cli.show import next_command
from adbench_text.cli.ui import options_of
from adbench_text.escaping import printable

if TYPE_CHECKING:
    from adbench_text.store.merging import Merged

_MOST_REASONS = 3  # printed for each store


@click.command("merge")
@click.argument("stores", nargs=-1, required=True, metavar="STORE...")
@adding(*TRACKING)
def command(stores: Sequence[str], tracking_uri: str, experiment: str) -> None:
    """Copy the finished cells of several stores into one, each once.

    STORE is the address of an MLflow store. The store to copy to is that of --tracking-uri; it is created
    if it does not exist:

    adbench-text merge sqlite:///laptop/mlflow.db sqlite:///node1/mlflow.db

    Params, metrics, curves, tags, inputs and artifacts are copied, and the start time is kept. A cell that
    the store has finished is not copied again, so a merge that was interrupted can be repeated. Failed
    cells are not copied.
    """
    from adbench_text.store.merging import merge
    from adbench_text.store.store import Store

    sources = [Store(uri, experiment, create=False) for uri in dict.fromkeys(stores)]
    target = Store(tracking_uri, experiment)
    waiting = f"Another merge into {target.shown} is running; waiting for its end."
    merged = merge(sources, target, _shown, lambda: _print(waiting), _print)
    for each in merged:
        click.echo(_line(each, target.shown))
        for reason in each.refused[:_MOST_REASONS]:
            _print(f"Note: {reason}")
        if len(each.refused) > _MOST_REASONS:
            _print(f"Note: {len(each.refused) - _MOST_REASONS:,} more runs like these.")
    next_command("report", *options_of(target))


def _print(text: str) -> None:
    click.echo(printable(text), err=True)


def _shown(cells: list[Any]) -> Iterator[Any]:
    """Yield cells, with a progress bar on a terminal."""
    is_hidden = not (cells and sys.stderr.isatty())
    with click.progressbar(cells, label="Copying cells", file=sys.stderr, hidden=is_hidden) as bar:
        yield from bar


def _line(merged: "Merged", target: str) -> str:
    parts = [f"{count(merged.copied)} copied", f"{merged.present} already in {target}"]
    if merged.repeated:
        parts.append(f"{merged.repeated} taken from another store, which has the same or a newer result")
    if merged.outdated:
        parts.append(f"{merged.outdated} not copied, because a newer run of the same cell failed there")
    if merged.without_artifacts:
        parts.append(f"{merged.without_artifacts} copied without artifacts, which could not be read")
    return f"{merged.source.shown}: {', '.join(parts)}"
