"""``adbench-text fetch``: Download datasets and word vectors ahead of time."""

from collections.abc import Sequence

import click

from adbench_text.cli.options import Name
from adbench_text.plugins import registry


@click.command("fetch")
@click.argument("names", nargs=-1, required=True, type=Name("fetchable"))
def command(names: Sequence[str]) -> None:
    """Download datasets, word vectors and vocabularies ahead of time."""
    from adbench_text.corpora import corpus
    from adbench_text.text import vectors, wordpiece

    for name in names:
        if registry.find("datasets", name):
            loaded = corpus.load(registry.dataset(name))
            click.echo(f"{name}: {loaded.edition}; {loaded.counts()}")
        else:
            file = wordpiece.BERT_FILE.fetch() if name == wordpiece.FETCHED else vectors.fetch(name)
            click.echo(f"{name}: {file}")
