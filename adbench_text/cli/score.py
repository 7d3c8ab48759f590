"""``adbench-text score``: score documents with a model, as JSON lines."""

import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import SectionedCommand, adding
from adbench_text.cli.own_text import (
    DOCUMENTS,
    STDIN,
    WORK,
    alpha_option,
    by_option,
    mapper_of,
    opened,
    sections_of,
)
from adbench_text.cli.progress import Rows
from adbench_text.errors import AdbenchTextError
from adbench_text.text.reading import Document

if TYPE_CHECKING:
    from adbench_text.models.model import ScoredDocument, Scorer

_MOST = 4096  # documents that are scored together


@click.command("score", cls=SectionedCommand, sections=sections_of(Odd=("--alpha", "--by")))
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file")
@adding(*DOCUMENTS, alpha_option(), by_option("both, if the model knows form"), *WORK)
def command(model: Path, file: str, alpha: float, by: str | None, **options: Any) -> None:
    """Score the documents of FILE (- for standard input) with a MODEL that fit has saved.

    Prints one JSON object for each document, in their order: id, score (of its words), p (the share of normal
    documents that score at least as high), p_form and p_both (the same by form, and by words and form
    together), odd (whether p_both, or the p of --by, is at most --alpha), why and why_form (the words and the
    facts about its form that make it odd).
    """
    from adbench_text.models.folder import load
    from adbench_text.models.model import Scorer

    lines = _Lines(Scorer(load(model), alpha, by))
    if file == STDIN:  # the first answer comes with the first document
        options["jobs"] = 1
    n_done = 0
    with (
        Rows() as progress,
        closing(mapper_of(options).map(lines, _batches(opened(file, options)))) as scored,
    ):
        for batch in scored:
            if batch:
                click.echo("\n".join(batch))
            n_done += len(batch)
            progress("scoring", n_done, None)


@dataclass(frozen=True)
class _Lines:
    """Scores documents; a worker process may do it."""

    scorer: "Scorer"

    def __call__(self, batch: list[tuple[str, str]]) -> list[str]:
        """Return a line for each document, given its identifier and its text."""
        results = self.scorer.score([text for _, text in batch])
        return [self._line(name, result) for (name, _), result in zip(batch, results, strict=True)]

    def _line(self, name: str, result: "ScoredDocument") -> str:
        values: dict[str, Any] = {"id": name, "score": result.score, "p": result.p}
        if self.scorer.by == "words":
            return json.dumps(values | {"odd": result.is_odd, "why": result.why})
        values |= {"p_form": result.p_form, "p_both": result.p_both}
        return json.dumps(values | {"odd": result.is_odd, "why": result.why, "why_form": result.why_form})


def _batches(documents: Iterable[Document]) -> Iterator[list[tuple[str, str]]]:
    """Yield documents in batches that double: the first answer comes with the first document.

    An error in the file comes after the documents before it.
    """
    batch: list[tuple[str, str]] = []
    size = 1
    try:
        for document in documents:
            batch.append((document.id, document.text))
            if len(batch) == size:
                yield batch
                batch, size = [], min(2 * size, _MOST)
    except AdbenchTextError:
        yield batch
        raise
    yield batch
