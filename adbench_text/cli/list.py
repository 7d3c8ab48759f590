"""``adbench-text list``: names of detectors, datasets, word vectors and engines."""

import click

from adbench_text.escaping import printable


@click.command("list")
@click.argument("kind", type=click.Choice(["detectors", "datasets", "vectors", "engines"]))
def command(kind: str) -> None:
    """List the available detectors, datasets, word vectors or engines."""
    if kind == "vectors":
        from adbench_text.text import vectors

        rows = [
            (name, f"{summary}, {state}" if (state := vectors.state(name)) else summary)
            for name, summary in vectors.DOWNLOADS.items()
        ]
        rows.append((vectors.LOCAL, "fastText, 100 dimensions, trained on the training texts of each split"))
    else:
        from adbench_text.plugins import registry

        rows = registry.listing(kind)
    width = max(len(name) for name, _ in rows)
    for name, summary in rows:
        click.echo(printable(f"{name:{width}}  {summary}"))
