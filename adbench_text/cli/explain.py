"""``adbench-text explain``: a page of documents with the words that make them odd for a model."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from adbench_text.cli.options import SectionedCommand, adding
from adbench_text.cli.own_text import (
    DOCUMENTS,
    WORK,
    alpha_option,
    by_option,
    check_outputs,
    mapper_of,
    numbers_of,
    opened,
    sections_of,
    write_page,
)
from adbench_text.cli.progress import Rows
from adbench_text.cli.show import link
from adbench_text.text.reading import Document

if TYPE_CHECKING:
    from adbench_text.models.model import ScoredDocument, Scorer


class _Found(NamedTuple):
    """One of the most odd documents."""

    order: tuple[float, ...]
    id: str
    text: str
    scored: "ScoredDocument"


class _Part(NamedTuple):
    """What is kept of a chunk."""

    found: list[_Found]
    n_documents: int
    n_odd: int
    n_empty: int


@dataclass(frozen=True)
class _First:
    """Finds the most odd documents of a chunk; a worker process may do it."""

    scorer: "Scorer"
    top: int

    def __call__(self, numbered: tuple[int, list[Document]]) -> _Part:
        """Return the most odd documents."""
        number, chunk = numbered
        scored = self.scorer.score([document.text for document in chunk])
        found = [
            _Found((p, -(each.score or 0.0), number, place), document.id, document.text, each)
            for place, (document, each) in enumerate(zip(chunk, scored, strict=True))
            if (p := self.scorer.p_of(each)) is not None
        ]
        n_odd, n_empty = sum(each.is_odd for each in scored), sum(each.score is None for each in scored)
        return _Part(sorted(found, key=lambda each: each.order)[: self.top], len(chunk), n_odd, n_empty)


_SECTIONS = sections_of(Odd=("--alpha", "--by"), Output=("--output", "--top"))


@click.command("explain", cls=SectionedCommand, sections=_SECTIONS)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file")
@click.option(
    "--output", "-o", default="explained.html", type=click.Path(path_type=Path), help="Path of the page."
)
@click.option("--top", default=20, type=click.IntRange(1), help="Number of documents, the most odd first.")
@adding(*DOCUMENTS, alpha_option(), by_option("both, if the model knows form"), *WORK)
def command(
    model: Path, file: str, output: Path, top: int, alpha: float, by: str | None, **options: Any
) -> None:
    """Write a page of the most odd documents of FILE, their words coloured by what MODEL makes of them."""
    from adbench_text.documents.chunks import in_chunks
    from adbench_text.models.folder import load
    from adbench_text.models.model import Scorer
    from adbench_text.reports.formats._heatmap import PageDocument

    check_outputs(file, output)
    fitted = load(model)
    scorer = Scorer(fitted, alpha, by)
    chunks = in_chunks(opened(file, options).checked(), lambda document: len(document.text))
    found: list[_Found] = []
    n_documents = n_odd = n_empty = 0
    with Rows() as progress, closing(mapper_of(options).map(_First(scorer, top), enumerate(chunks))) as parts:
        for part in parts:
            found = sorted([*found, *part.found], key=lambda each: each.order)[:top]
            n_documents += part.n_documents
            n_odd += part.n_odd
            n_empty += part.n_empty
            progress("scoring", n_documents, None)
    texts = [each.text for each in found]
    shown = []
    explained = zip(found, scorer.words(texts), *scorer.why(texts), strict=True)
    for rank, (each, words, *why) in enumerate(explained, start=1):
        facts = numbers_of(each.scored)
        shown.append(PageDocument(str(rank), each.id, facts, [*why[0], *why[1]], each.text, words))
    by_what = {"words": " by words", "form": " by form", "both": " by words and form"}[scorer.by]
    by_what = by_what if fitted.form else ""
    summary = [
        f"{n_documents:,} documents, {n_empty:,} without words; "
        f"{fitted.training.options.get('configuration', fitted.name)}, fitted on "
        f"{fitted.training.n_documents:,} documents.",
        f"Odd{by_what} at {100 * alpha:g} % false alarms: {n_odd:,}. p is the share of normal documents that "
        "score at least as high.",
    ]
    write_page(output, file, summary, {"The most odd": shown}, scorer.centre)
    click.echo(f"{summary[0]}
{summary[1]}
Page: {link(str(output), output)}")
