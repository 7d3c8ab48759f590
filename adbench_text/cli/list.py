"""``adbench-text list``: names of detectors, datasets and word vectors."""

import click


@click.command("list")
@click.argument("what", type=click.Choice(["detectors", "datasets", "vectors"]))
def command(what: str) -> None:
    """List what can be named."""
    if what == "vectors":
        from adbench_text.text import vectors

        rows = [
            (name, summary + (", here" if vectors.is_here(name) else ""))
            for name, summary in vectors.DOWNLOADS.items()
        ]
        rows.append((vectors.LOCAL, "fastText, 100 dimensions, trained on the training texts of each split"))
    else:
        from adbench_text.plugins import registry

        rows = registry.listing(what)
    width = max(len(name) for name, _ in rows)
    for name, summary in rows:
        click.echo(f"{name:{width}}  {summary}")
