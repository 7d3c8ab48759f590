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
    drift_line,
    mapper_of,
    numbers_of,
    opened,
    print_documents,
    sections_of,
    write_page,
)
from adbench_text.cli.progress import Rows
from adbench_text.cli.show import link, show, table
from adbench_text.text.reading import Document

if TYPE_CHECKING:
    from adbench_text.models.model import ScoredDocument, Scorer

_SHARE = 0.1  # of normal documents; the words of documents with at most this p are counted


class _Found(NamedTuple):
    """One of the most odd documents."""

    order: tuple[float, ...]
    id: str
    text: str
    scored: "ScoredDocument"


class _Word(NamedTuple):
    """A word of the more odd documents."""

    weight: float  # the sum of its scores above the centre, one for each document
    n_documents: int
    example: tuple[tuple[float, ...], str]  # the order and the identifier of the most odd one


class _Part(NamedTuple):
    """What is kept of a chunk."""

    found: list[_Found]
    n_documents: int
    n_empty: int
    evidence: dict[int, float]
    words: dict[str, _Word]


@dataclass(frozen=True)
class _First:
    """Finds the most odd documents of a chunk; a worker process may do it."""

    scorer: "Scorer"
    top: int
    with_words: bool

    def __call__(self, numbered: tuple[int, list[Document]]) -> _Part:
        """Return the most odd documents."""
        number, chunk = numbered
        scored = self.scorer.score([document.text for document in chunk])
        found = sorted(
            _Found((p, -(each.score or 0.0), number, place), document.id, document.text, each)
            for place, (document, each) in enumerate(zip(chunk, scored, strict=True))
            if (p := self.scorer.p_of(each)) is not None
        )
        n_empty = sum(each.score is None for each in scored)
        words = self._words([each for each in found if each.order[0] <= _SHARE]) if self.with_words else {}
        return _Part(found[: self.top], len(chunk), n_empty, self.scorer.evidence(scored), words)

    def _words(self, found: list[_Found]) -> dict[str, _Word]:
        """Return the words that make documents more odd."""
        words: dict[str, _Word] = {}
        for each, scored in zip(found, self.scorer.words([each.text for each in found]), strict=True):
            highest: dict[str, float] = {}
            for word in scored:
                name = word.token.lower()
                highest[name] = max(highest.get(name, 0.0), word.score - self.scorer.centre)
            for name, weight in highest.items():
                if weight > 0:
                    _add(words, name, _Word(weight, 1, (each.order, each.id)))
        return words


def _add(words: dict[str, _Word], name: str, new: _Word) -> None:
    """Add what is known of a word in other documents."""
    weight, n_documents, example = words.get(name, (0.0, 0, new.example))
    words[name] = _Word(weight + new.weight, n_documents + new.n_documents, min(example, new.example))


def _print_words(words: dict[str, _Word], top: int, scored_by: str) -> None:
    if not words:
        click.echo(f"No words: {scored_by} scores none, or none makes a document odd.")
        return
    click.echo(f"Words that weigh most in the documents with p of at most {_SHARE:g}:")
    strongest = sorted(words.items(), key=lambda item: (-item[1].weight, item[0]))[:top]
    lines = [(name, word.n_documents, word.example[1]) for name, word in strongest]
    show(None, [table(lines, ("word", "documents", "example"))], as_json=False)


_SECTIONS = sections_of(Odd=("--alpha", "--by"), Output=("--output", "--top", "--summary"))


@click.command("explain", cls=SectionedCommand, sections=_SECTIONS)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file")
@click.option(
    "--output", "-o", default="explained.html", type=click.Path(path_type=Path), help="Path of the page."
)
@click.option("--top", default=20, type=click.IntRange(1), help="Number of documents, the most odd first.")
@click.option(
    "--summary", is_flag=True, help="Print the words and documents that make FILE differ from that of MODEL."
)
@adding(*DOCUMENTS, alpha_option(), by_option("both, if the model knows form"), *WORK)
def command(
    model: Path,
    file: str,
    output: Path,
    top: int,
    summary: bool,
    alpha: float,
    by: str | None,
    **options: Any,
) -> None:
    """Write a page of the most odd documents of FILE, their words coloured by what MODEL makes of them."""
    from adbench_text.documents.chunks import in_chunks
    from adbench_text.models.folder import load_model
    from adbench_text.models.model import Scorer
    from adbench_text.reports.formats._heatmap import PageDocument

    check_outputs(file, output)
    fitted = load_model(model)
    scorer = Scorer(fitted, alpha, by)
    chunks = in_chunks(opened(file, options).checked(), lambda document: len(document.text))
    first = _First(scorer, top, with_words=summary and scorer.by != "form")
    found: list[_Found] = []
    words: dict[str, _Word] = {}
    evidence: dict[int, float] = {}
    n_documents = n_empty = 0
    with Rows() as progress, closing(mapper_of(options).map(first, enumerate(chunks))) as parts:
        for part in parts:
            found = sorted([*found, *part.found])[:top]
            n_documents += part.n_documents
            n_empty += part.n_empty
            evidence |= part.evidence
            for name, word in part.words.items():
                _add(words, name, word)
            progress("scoring", n_documents, None)
    drift = scorer.drift(evidence)
    texts = [each.text for each in found]
    shown, rows = [], []
    explained = zip(found, scorer.words(texts), *scorer.why(texts), strict=True)
    for rank, (each, scored, *why) in enumerate(explained, start=1):
        reasons = [*why[1], *why[0]] if scorer.by == "form" else [*why[0], *why[1]]
        shown.append(PageDocument(str(rank), each.id, numbers_of(each.scored), reasons, each.text, scored))
        rows.append(
            {"id": each.id, "p": f"{each.order[0]:.2g}", "why": ", ".join(reasons), "text": each.text}
        )
    by_what = {"words": " by words", "form": " by form", "both": " by words and form"}[scorer.by]
    by_what = by_what if fitted.form else ""
    detector = fitted.training.options.get("configuration", fitted.name)
    head = [
        f"{n_documents:,} documents, {n_empty:,} without words; {detector}, fitted on "
        f"{fitted.training.n_documents:,} documents.",
        f"Odd{by_what} at {100 * alpha:g} % false alarms: {drift.n_odd:,}. p is the share of normal "
        "documents that score at least as high.",
    ]
    write_page(output, file, head, {"The most odd": shown}, scorer.centre)
    click.echo("\n".join(head))
    if summary:
        click.echo(drift_line(n_documents, drift, alpha))
        _print_words(words, top, "form" if scorer.by == "form" else detector)
        if rows:
            click.echo("Documents with the smallest p:")
            print_documents(rows)
    click.echo(f"Page: {link(str(output), output)}")
