"""``adbench-text odd``: rank the documents of a file against each other."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import adding
from adbench_text.cli.own_text import (
    CHOICE,
    DOCUMENTS,
    alpha_option,
    announced,
    check_outputs,
    language_notes,
    opened,
    values_of,
    write_page,
)
from adbench_text.cli.progress import count
from adbench_text.cli.show import echo
from adbench_text.documents.reading import Document
from adbench_text.errors import InvalidValueError
from adbench_text.escaping import no_formula, one_line
from adbench_text.storage import atomic_path

if TYPE_CHECKING:
    from adbench_text.documents.ranking import OddDocuments, RankedDocument

_OURS = ("rank", "score", "p", "odd", "why", "copy_of")
_WIDEST = {"rank": 6, "id": 20, "p": 8, "copies": 6, "why": 40}  # columns on the terminal; text has the rest


@click.command("odd")
@click.argument("file")
@adding(*DOCUMENTS, *CHOICE)
@adding(alpha_option("Share of the different documents that is called odd: those with the highest scores"))
@click.option("--top", default=10, type=click.IntRange(0), help="Number of documents to print.")
@click.option(
    "--output",
    "-o",
    default="odd",
    type=click.Path(path_type=Path),
    help="Path of the table and the page, without suffix.",
)
def command(file: str, alpha: float, top: int, output: Path, **options: Any) -> None:
    """Rank the documents of FILE: which ones are odd among the others?

    FILE is CSV, TSV, JSON lines, Parquet, plain lines (.txt), a folder of text files, or - for
    standard input. Each document is scored by what a detector learned from the others. p is the share of
    the different documents (copies count once) that score at least as high. A document is called odd if p
    is at most --alpha, so that about this share is odd in any file, with or without outliers.
    """
    from adbench_text.documents.ranking import odd_documents

    if not output.name:
        raise InvalidValueError(f"{str(output)!r} is a folder; --output is a path without suffix.")
    table, page = (output.with_name(f"{output.name}.{suffix}") for suffix in ("csv", "html"))
    check_outputs(file, table, page)
    source, choice = opened(file, options), values_of(CHOICE, options)
    documents = source.all()
    with announced(f"ranking {len(documents):,} documents with {choice['detector']}"):
        ranked = odd_documents([document.text for document in documents], **choice, alpha=alpha)
    summary = _summary(ranked, len(documents))
    click.echo(summary)
    different = ranked.different
    explained = different[: max(sum(document.is_odd for document in different), top, 1)]
    ranked.explain(explained)
    if top:
        _print(ranked, different[:top], documents, "row" if source.id_column is None else "id")
    _write_table(table, ranked, documents, explained)
    called_odd = _called_odd(ranked)
    _write_page(page, ranked, documents, explained, [summary, *called_odd])
    click.echo("\n".join(called_odd))
    click.echo(f"All documents: {table}. Page: {page}.")
    for note in _notes(ranked, choice):
        click.echo(f"Note: {note}", err=True)


def _summary(ranked: "OddDocuments", n_documents: int) -> str:
    method = {"leave-one-out": "each left out of its own counts"}.get(ranked.method, ranked.method)
    return (
        f"{n_documents:,} documents, {count(ranked.n_copies, 'duplicate')}, {len(ranked.empty):,} empty; "
        f"{ranked.detector}, {method}; {ranked.seconds:.1f} s"
    )


def _called_odd(ranked: "OddDocuments") -> list[str]:
    """Return how many documents are odd, and what that means."""
    n_odd = sum(document.copy_of is None for document in ranked.odd)
    copies = f" and {count(len(ranked.odd) - n_odd, 'duplicate')} of them" if len(ranked.odd) > n_odd else ""
    return [
        f"Called odd: {n_odd:,} of {len(ranked.different):,} different documents{copies}, those with p of at "
        f"most {ranked.alpha:g} (--alpha).",
        "p is the share of the different documents that score at least as high.",
    ]


def _notes(ranked: "OddDocuments", choice: Mapping[str, Any]) -> list[str]:
    notes = language_notes(choice)
    if not ranked.odd:
        n, least = len(ranked.different), ranked.documents[0].p
        n_tied = round(least * n)
        tied = f", {n_tied:,} of which share the highest score," if n_tied > 1 else ""
        notes.append(
            f"with {n:,} different documents{tied} no p is below {least:.2g}, so none is odd; raise --alpha."
        )
    n_near, n_typical = ranked.n_near_copies, ranked.n_typical
    if n_near > max(n_typical / 2, 5):
        notes.append(
            f"{n_near} of the {n_typical} documents with the lowest scores share most of their words with "
            "another one. Near-copies make each other look typical."
        )
    if ranked.other_language is not None:
        notes.append(
            f"few of the words are common in the language {choice['language']!r}, more in "
            f"{ranked.other_language!r}; give --language {ranked.other_language}."
        )
    return notes


def _facts(ranked: "RankedDocument", document: Document) -> dict[str, str]:
    facts = {
        "rank": str(ranked.rank),
        "id": document.id,
        "p": f"{ranked.p:.2g}",
        "score": f"{ranked.score:.3g}",
    }
    return facts | ({"copies": f"{ranked.n_copies:,}"} if ranked.n_copies else {})


def _print(
    ranked: "OddDocuments", shown: "Sequence[RankedDocument]", documents: Sequence[Document], id_name: str
) -> None:
    """Print documents as a table that fits the terminal; a column without values is left out."""
    from rich.table import Table
    from rich.text import Text

    rows = []
    for each in shown:
        own = documents[each.place]
        rows.append({**_facts(each, own), "why": ", ".join(ranked.why(each)), "text": own.text})
    table = Table(box=None, header_style="")
    names = [name for name in (*_WIDEST, "text") if any(row.get(name) for row in rows)]
    for name in names:
        title = id_name if name == "id" else name
        table.add_column(title, max_width=_WIDEST.get(name), no_wrap=name in _WIDEST)
    table.columns[0].justify = "right"
    for row in rows:
        texts = [one_line(row.get(name, "")[:500]) for name in names]
        table.add_row(*(Text(text, no_wrap=True, overflow="ellipsis") for text in texts))
    echo([table], get_terminal_size((110, 24)).columns + 1)


def _write_table(
    path: Path, ranked: "OddDocuments", documents: Sequence[Document], explained: "Sequence[RankedDocument]"
) -> None:
    """Write all documents with all columns of the file, the most odd first, those without words last.

    The words that explain a document would take much longer for all of them.
    """
    columns = list(dict.fromkeys(name for document in documents for name in document.fields))
    why = {each.place: ", ".join(ranked.why(each)) for each in explained}
    rows: list[list[Any]] = [[*_OURS, *(f"input_{name}" if name in _OURS else name for name in columns)]]

    def add(place: int, ours: Sequence[Any]) -> None:
        rows.append([*ours, *(documents[place].fields.get(name) for name in columns)])

    for each in ranked.documents:
        first = each.place if each.copy_of is None else each.copy_of
        copy_of = "" if each.copy_of is None else documents[first].id
        score, p = f"{each.score:.6g}", f"{each.p:.4g}"
        add(each.place, [each.rank, score, p, int(each.is_odd), why.get(first), copy_of])
    for place in ranked.empty:
        add(place, [""] * len(_OURS))
    with atomic_path(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(map(no_formula, row) for row in rows)


def _write_page(
    path: Path,
    ranked: "OddDocuments",
    documents: Sequence[Document],
    explained: "Sequence[RankedDocument]",
    summary: list[str],
) -> None:
    from adbench_text.reports.formats._heatmap import PageDocument

    shown = []
    for each in explained:
        own = documents[each.place]
        facts = list(_facts(each, own).items())
        shown.append(PageDocument(facts, ranked.why(each), own.text, ranked.words(each)))
    summary = [*summary, "About this share is called odd in any file, with or without outliers."]
    write_page(path, summary, shown, ranked.centre)
