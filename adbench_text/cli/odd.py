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
    by_option,
    check_outputs,
    language_notes,
    numbers_of,
    opened,
    values_of,
    write_page,
)
from adbench_text.cli.progress import count
from adbench_text.cli.show import echo
from adbench_text.errors import InvalidValueError
from adbench_text.escaping import no_formula, one_line
from adbench_text.storage import atomic_path
from adbench_text.text.reading import Document

if TYPE_CHECKING:
    from adbench_text.documents.ranking import OddDocuments, RankedDocument

_OURS = ("rank", "score", "p", "p_form", "p_both", "odd", "why", "why_form", "copy_of")
_MEANING = "p is the share of the different documents that score at least as high."
_WIDEST = {"rank": 6, "id": 20, "p": 8, "copies": 6, "why": 40}  # columns on the terminal; text has the rest


@click.command("odd")
@click.argument("file")
@adding(*DOCUMENTS, *CHOICE)
@adding(alpha_option("Share of the different documents that is called odd: those with the highest scores"))
@adding(by_option("two lists, by words and by form"))
@click.option("--top", default=10, type=click.IntRange(0), help="Number of documents of a list to print.")
@click.option(
    "--output",
    "-o",
    default="odd",
    type=click.Path(path_type=Path),
    help="Path of the table and the page, without suffix.",
)
def command(file: str, alpha: float, by: str | None, top: int, output: Path, **options: Any) -> None:
    """Rank the documents of FILE: which ones are odd among the others, by their words and by their form?

    FILE is CSV, TSV, JSON lines, Parquet, plain lines (.txt), a folder of text files, or - for
    standard input. Each document is scored by what a detector learned from the others: by its words once
    cleaned, and by its form as it was written (length, characters, kinds of words). p is the share of the
    different documents (copies count once) that score at least as high. A document is called odd if p is at
    most --alpha, so that about this share is odd in any file, with or without outliers.
    """
    from adbench_text.documents.ranking import odd_documents

    if not output.name:
        raise InvalidValueError(f"{str(output)!r} is a folder; --output is a path without suffix.")
    table, page = (output.with_name(f"{output.name}.{suffix}") for suffix in ("csv", "html"))
    check_outputs(file, table, page)
    source, choice = opened(file, options), values_of(CHOICE, options)
    documents = source.all()
    with announced(f"ranking {len(documents):,} documents with {choice['detector']}"):
        ranked = odd_documents([document.text for document in documents], **choice, alpha=alpha, by=by)
    summary = _summary(ranked, len(documents))
    click.echo(summary)
    lists = {"": ranked}
    if by is None and ranked.has_form:
        lists = {" by words": ranked, " by form": ranked.ordered("form")}
    explained = {name: _explained(each, top) for name, each in lists.items()}
    for name, each in lists.items() if top else ():
        if name:
            click.echo(f"Odd{name}:")
        _print(each, explained[name][:top], documents, "row" if source.id_column is None else "id")
    _write_table(table, lists, documents, explained)
    called_odd = [*(_called_odd(*item) for item in lists.items()), _MEANING]
    _write_page(page, lists, documents, explained, [summary, *called_odd])
    click.echo("\n".join(called_odd))
    click.echo(f"All documents: {table}. Page: {page}.")
    for note in _notes(lists, choice):
        click.echo(f"Note: {note}", err=True)


def _summary(ranked: "OddDocuments", n_documents: int) -> str:
    method = {"leave-one-out": "each left out of its own counts"}.get(ranked.method, ranked.method)
    return (
        f"{n_documents:,} documents, {count(ranked.n_copies, 'duplicate')}, {len(ranked.empty):,} empty; "
        f"{ranked.detector}, {method}; {ranked.seconds:.1f} s"
    )


def _explained(ranked: "OddDocuments", top: int) -> "list[RankedDocument]":
    """Return the different documents that are odd or printed, at least one; look up their words."""
    different = ranked.different
    explained = different[: max(sum(document.is_odd for document in different), top, 1)]
    if ranked.by != "form":
        ranked.explain(explained)
    return explained


def _called_odd(name: str, ranked: "OddDocuments") -> str:
    """Return how many documents of a list are odd."""
    n_odd = sum(document.copy_of is None for document in ranked.odd)
    copies = f" and {count(len(ranked.odd) - n_odd, 'duplicate')} of them" if len(ranked.odd) > n_odd else ""
    return (
        f"Called odd{name}: {n_odd:,} of {len(ranked.different):,} different documents{copies}, those with p "
        f"of at most {ranked.alpha:g} (--alpha)."
    )


def _notes(lists: "Mapping[str, OddDocuments]", choice: Mapping[str, Any]) -> list[str]:
    notes = language_notes(choice)
    for name, ranked in lists.items():
        if ranked.odd:
            continue
        n, least = len(ranked.different), ranked.p_of(ranked.documents[0]) or 0.0
        n_tied = round(least * n)
        tied = f", {n_tied:,} of which share the highest score," if n_tied > 1 else ""
        notes.append(
            f"with {n:,} different documents{tied} no p{name} is below {least:.2g}, so none is odd; raise "
            "--alpha."
        )
    ranked, *_ = lists.values()
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
    facts = {"rank": str(ranked.rank), "id": document.id} | numbers_of(ranked)
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
        rows.append(
            {
                **_facts(each, own),
                "p": f"{ranked.p_of(each):.2g}",
                "why": ", ".join(ranked.why(each)),
                "text": own.text,
            }
        )
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
    path: Path,
    lists: "Mapping[str, OddDocuments]",
    documents: Sequence[Document],
    explained: "Mapping[str, Sequence[RankedDocument]]",
) -> None:
    """Write all documents with all columns of the file, in the order of the first list, the others last.

    What explains a document would take much longer for all of them.
    """
    columns = list(dict.fromkeys(name for document in documents for name in document.fields))
    why: dict[int, str] = {}
    why_form: dict[int, str] = {}
    for name, ranked in lists.items():
        if ranked.by != "form":
            why |= {each.place: ", ".join(ranked.why_words(each)) for each in explained[name]}
        if ranked.by != "words":
            why_form |= {each.place: ", ".join(ranked.why_form(each)) for each in explained[name]}
    rows: list[list[Any]] = [[*_OURS, *(f"input_{name}" if name in _OURS else name for name in columns)]]
    first, *_, last = [*lists.values()] * 2
    ranks = {each.place: [each.rank, int(each.is_odd)] for each in first.documents}
    known = {each.place: each for each in [*first.documents, *last.documents]}
    for place in [*known, *(place for place in range(len(documents)) if place not in known)]:
        ours: list[Any] = [""] * len(_OURS)
        if each := known.get(place):
            rank, is_odd = ranks.get(place, ["", ""])
            origin = place if each.copy_of is None else each.copy_of
            copy_of = "" if each.copy_of is None else documents[origin].id
            ours = [rank, _cell(each.score, 6), *(_cell(p, 4) for p in (each.p, each.p_form, each.p_both))]
            ours += [is_odd, why.get(origin), why_form.get(origin), copy_of]
        rows.append([*ours, *(documents[place].fields.get(name) for name in columns)])
    with atomic_path(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(map(no_formula, row) for row in rows)


def _cell(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}g}"


def _write_page(
    path: Path,
    lists: "Mapping[str, OddDocuments]",
    documents: Sequence[Document],
    explained: "Mapping[str, Sequence[RankedDocument]]",
    summary: list[str],
) -> None:
    from adbench_text.reports.formats._heatmap import PageDocument

    sections = {}
    for name, ranked in lists.items():
        sections[f"Odd{name}" if name else ""] = [
            PageDocument(
                list(_facts(each, documents[each.place]).items()),
                ranked.why(each),
                documents[each.place].text,
                ranked.words(each) if ranked.by != "form" else [],
            )
            for each in explained[name]
        ]
    summary = [*summary, "About this share is called odd in any file, with or without outliers."]
    write_page(path, summary, sections, next(iter(lists.values())).centre)
