"""``adbench-text score``: score documents with a model, as JSON lines."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import adding
from adbench_text.cli.own_text import DOCUMENTS, alpha_option, opened
from adbench_text.documents.reading import Document
from adbench_text.errors import AdbenchTextError

if TYPE_CHECKING:
    from adbench_text.models.model import ScoredDocument

_MOST = 4096  # documents that are scored together


@click.command("score")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file")
@adding(*DOCUMENTS, alpha_option())
def command(model: Path, file: str, alpha: float, **options: Any) -> None:
    """Score the documents of FILE (- for standard input) with a MODEL that fit has saved.

    Prints one JSON object for each document, in their order: id, score, p (the share of normal documents
    that score at least as high), odd (whether p is at most --alpha) and why (the words that make it odd).
    """
    from adbench_text.models.folder import load
    from adbench_text.models.model import Scorer

    scorer = Scorer(load(model), alpha)
    for batch in _batches(opened(file, options)):
        if results := scorer.score([document.text for document in batch]):
            click.echo("\n".join(map(_line, batch, results)))


def _line(document: Document, result: "ScoredDocument") -> str:
    values = {"score": result.score, "p": result.p, "odd": result.is_odd, "why": result.why}
    return json.dumps({"id": document.id, **values})


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield documents in batches that double: the first answer comes with the first document.

    An error in the file comes after the documents before it.
    """
    batch: list[Document] = []
    size = 1
    try:
        for document in documents:
            batch.append(document)
            if len(batch) == size:
                yield batch
                batch, size = [], min(2 * size, _MOST)
    except AdbenchTextError:
        yield batch
        raise
    yield batch
