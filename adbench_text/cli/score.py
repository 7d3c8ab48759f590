"""``adbench-text score``: score documents with a model, as JSON lines."""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import adding
from adbench_text.cli.own_text import DOCUMENTS, alpha_option, by_option, opened
from adbench_text.errors import AdbenchTextError
from adbench_text.text.reading import Document

if TYPE_CHECKING:
    from adbench_text.models.model import ScoredDocument

_MOST = 4096  # documents that are scored together


@click.command("score")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file")
@adding(*DOCUMENTS, alpha_option(), by_option("both, if the model knows form"))
def command(model: Path, file: str, alpha: float, by: str | None, **options: Any) -> None:
    """Score the documents of FILE (- for standard input) with a MODEL that fit has saved.

    Prints one JSON object for each document, in their order: id, score (of its words), p (the share of normal
    documents that score at least as high), p_form and p_both (the same by form, and by words and form
    together), odd (whether p_both, or the p of --by, is at most --alpha), why and why_form (the words and the
    facts about its form that make it odd).
    """
    from adbench_text.models.folder import load
    from adbench_text.models.model import Scorer

    scorer = Scorer(load(model), alpha, by)
    for batch in _batches(opened(file, options)):
        if results := scorer.score([document.text for document in batch]):
            click.echo("\n".join(map(partial(_line, scorer.by), batch, results)))


def _line(by: str, document: Document, result: "ScoredDocument") -> str:
    values: dict[str, Any] = {"id": document.id, "score": result.score, "p": result.p}
    if by != "words":
        values |= {"p_form": result.p_form, "p_both": result.p_both}
    values |= {"odd": result.is_odd, "why": result.why}
    return json.dumps(values if by == "words" else values | {"why_form": result.why_form})


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
