"""``adbench-text odd``: rank the documents of a file against each other."""

import csv
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import SectionedCommand, adding
from adbench_text.cli.own_text import (
    CHOICE,
    DOCUMENTS,
    WORK,
    alpha_option,
    by_option,
    check_outputs,
    jobs_of,
    language_notes,
    numbers_of,
    opened,
    print_documents,
    sections_of,
    values_of,
    write_page,
)
from adbench_text.cli.progress import Rows, count
from adbench_text.cli.show import link
from adbench_text.errors import InvalidValueError
from adbench_text.escaping import no_formula, one_line
from adbench_text.storage import atomic_path
from adbench_text.text.reading import DocumentFile

if TYPE_CHECKING:
    from adbench_text.documents.progress import OnProgress
    from adbench_text.documents.ranked import OddDocuments, RankedDocument
    from adbench_text.reports.formats._heatmap import PageDocument

_OURS = ("rank", "row", "score", "p", "p_form", "p_both", "odd", "why", "why_form", "copy_of")
_MEANING = "p is the share of the different documents that score at least as high."
_MOST_WRITTEN = 100_000  # documents with all columns of the file
_N_FAMILIES, _N_FAMILIES_PRINTED = 20, 3  # of near-copies, the largest
_OF_FAMILY = 2  # copies at least of one that is named
_N_CHARACTERS_OF_FAMILY = 60


_SECTIONS = sections_of(
    Odd=("--alpha", "--by", "--keep-copies"), Output=("--top", "--max-copies", "--output", "--with-text")
)


@click.command("odd", cls=SectionedCommand, sections=_SECTIONS)
@click.argument("file")
@adding(*DOCUMENTS, *CHOICE)
@adding(alpha_option("Share of the different documents that is called odd: those with the highest scores"))
@adding(by_option("two lists, by words and by form"))
@click.option("--keep-copies", is_flag=True, help="Rank each near-copy by itself.")
@click.option("--top", default=10, type=click.IntRange(0), help="Number of documents of a list to print.")
@click.option(
    "--max-copies",
    metavar="N",
    type=click.IntRange(0),
    help="Leave documents with more copies than this out of the lists; the table has them.",
)
@click.option(
    "--output",
    "-o",
    default="odd",
    type=click.Path(path_type=Path),
    help="Path of the table and the page, without suffix.",
)
@click.option(
    "--with-text",
    is_flag=True,
    help=f"Write the columns of FILE to the table even for more than {_MOST_WRITTEN:,} documents.",
)
@adding(*WORK)
def command(
    file: str,
    alpha: float,
    by: str | None,
    keep_copies: bool,
    top: int,
    max_copies: int | None,
    output: Path,
    with_text: bool,
    **options: Any,
) -> None:
    """Rank the documents of FILE: which ones are odd among the others, by their words and by their form?

    FILE is CSV, TSV, JSON lines, Parquet, plain lines (.txt), also compressed (.csv.gz), a folder of text or
    Parquet files, or - for standard input. Each document is scored by what a detector learned from the
    others: by its words once cleaned, and by its form as it was written (length, characters, kinds of words).
    p is the share of the different documents (copies count once) that score at least as high. A document is
    called odd if p is at most --alpha, so that about this share is odd in any file, with or without outliers.

    Documents that share about 80 % of their different words are near-copies: one of them is ranked for all.

    Rows count from 0, as in pandas: read_csv(FILE).iloc[row] is the row of a document.
    """
    from adbench_text.documents.ranking import odd_documents
    from adbench_text.documents.survey import FileTexts

    if not output.name:
        raise InvalidValueError(f"{str(output)!r} is a folder; --output is a path without suffix.")
    table, page = (output.with_name(f"{output.name}.{suffix}") for suffix in ("csv", "html"))
    check_outputs(file, table, page)
    choice = values_of(CHOICE, options)
    rows = _Rows(opened(file, options, again=True), with_text)
    with Rows() as progress:
        ranked = odd_documents(
            FileTexts(rows.texts),
            **choice,
            alpha=alpha,
            by=by,
            keep_copies=keep_copies,
            jobs=jobs_of(options),
            progress=progress,
        )
        lists = {"": ranked}
        if by is None and ranked.has_form:
            lists = {" by words": ranked, " by form": ranked.ordered("form")}
        progress("explaining", 0, None)
        explained = {name: _explained(each, top, max_copies) for name, each in lists.items()}
        families = [each for each in ranked.families(_N_FAMILIES) if each.n_copies >= _OF_FAMILY]
        ranked.read([*chain(*explained.values()), *families])
        for name, each in lists.items():
            each.explain(explained[name])
    summary, of_families = _summary(ranked), _families(ranked, families, rows)
    click.echo("\n".join([summary, *of_families[:_N_FAMILIES_PRINTED]]))
    for name, each in lists.items():
        shown = explained[name][:top]
        if name and shown:
            click.echo(f"Odd{name}:")
        if shown:
            _print(each, shown, rows)
    called_odd = [_called_odd(name, each, explained[name], max_copies) for name, each in lists.items()]
    called_odd += [_MEANING]
    in_any_file = "About this share is called odd in any file, with or without outliers."
    with Rows() as progress:
        _write_table(table, lists, rows, explained, progress)
        sections = {
            f"Odd{name}" if name else "The most odd": _shown(each, explained[name], rows)
            for name, each in lists.items()
        }
        notes = [*of_families, in_any_file]
        head = [_lead(by, explained), summary, *called_odd]
        write_page(page, file, head, sections, next(iter(lists.values())).centre, notes, rows.id_name)
    click.echo("\n".join(called_odd))
    click.echo(f"All documents: {link(str(table), table)}. Page: {link(str(page), page)}.")
    for note in _notes(lists, choice):
        click.echo(f"Note: {note}", err=True)


class _Rows:
    """The rows of FILE: all of them if they are few, or else their identifiers only."""

    def __init__(self, source: DocumentFile, keep_all: bool) -> None:
        self._source = source
        self._keep_all = keep_all
        self._is_read = False
        self.columns: dict[str, None] = {}
        self.fields: list[dict[str, Any]] | None = []
        self._texts: list[str] = []
        self._ids = bytearray()
        self._ends = array("q", [0])

    @property
    def id_name(self) -> str:
        """The name of the identifiers."""
        return "row" if self._source.id_column is None else "id"

    def id(self, place: int) -> str:
        """Return the identifier of a document."""
        if self._source.id_column is None:
            return str(place)
        return self._ids[self._ends[place] : self._ends[place + 1]].decode(errors="surrogatepass")

    def texts(self) -> Iterator[str]:
        """Yield the documents; those of a large file are read each time."""
        if not self._is_read:
            return self._first_texts()
        return iter(self._texts) if self.fields is not None else self._source.texts()

    def _first_texts(self) -> Iterator[str]:
        for n, document in enumerate(self._source.checked()):
            if self._source.id_column:
                self._ids += document.id.encode(errors="surrogatepass")
                self._ends.append(len(self._ids))
            if n == _MOST_WRITTEN and not self._keep_all:
                self.fields, self._texts = None, []
            if self.fields is not None:
                self.columns |= dict.fromkeys(document.fields)
                self.fields.append(document.fields)
                self._texts.append(document.text)
            yield document.text
        self._is_read = True


def _summary(ranked: "OddDocuments") -> str:
    method = {"leave-one-out": "each left out of its own counts"}.get(ranked.method, ranked.method)
    n_different = ranked.n_different_with_words
    learned = f"; learned from {ranked.n_learned:,} of them" if ranked.n_learned < n_different else ""
    near = f", {count(ranked.n_near_copies, 'near-copy', 'near-copies')}" if ranked.n_near_copies else ""
    duplicates = count(ranked.n_copies - ranked.n_near_copies, "duplicate")
    return (
        f"{ranked.n_documents:,} documents, {duplicates}{near}, "
        f"{len(ranked.empty):,} empty; {ranked.detector}, {method}{learned}; {ranked.seconds:.1f} s"
    )


def _families(ranked: "OddDocuments", families: "Sequence[RankedDocument]", rows: _Rows) -> list[str]:
    """Return a line for each of the largest families of near-copies."""
    texts = ranked.read(families)
    return [
        f"Near-copies: {each.n_copies + 1:,} documents like {rows.id_name} {_start(rows.id(each.place))}: "
        f"{_start(texts[each.place])}"
        for each in families
    ]


def _start(text: str) -> str:
    return one_line(text[:_N_CHARACTERS_OF_FAMILY])


def _explained(ranked: "OddDocuments", top: int, max_copies: int | None) -> "list[RankedDocument]":
    """Return the different documents that are odd or printed, at least one; none with too many copies."""

    def is_listed(document: "RankedDocument") -> bool:
        return document.copy_of is None and (max_copies is None or document.n_copies <= max_copies)

    n_listed = max(sum(map(is_listed, ranked.odd)), top, 1)
    return list(islice(filter(is_listed, ranked), n_listed))


def _n_odd(ranked: "OddDocuments") -> tuple[int, int]:
    """Return how many different documents are odd, and how many copies of them."""
    odd = ranked.odd
    n_different = sum(document.copy_of is None for document in odd)
    return n_different, len(odd) - n_different


def _lead(by: str | None, listed: "Mapping[str, Sequence[RankedDocument]]") -> str:
    """Return what the page shows."""
    first, *others = listed.items()
    name = f" by {by}" if by else first[0]
    more = "".join(f", and the {len(each):,} that do{other}" for other, each in others)
    return f"These are the {len(first[1]):,} documents that differ most from the others{name}{more}."


def _called_odd(
    name: str, ranked: "OddDocuments", listed: "Sequence[RankedDocument]", max_copies: int | None
) -> str:
    """Return how many documents are odd, and how many have too many copies to be listed."""
    n_odd, n_copies = _n_odd(ranked)
    copies = f" and {count(n_copies, 'copy', 'copies')} of them" if n_copies else ""
    line = (
        f"Called odd{name}: {n_odd:,} of {ranked.n_different:,} different documents{copies}, those with p "
        f"of at most {ranked.alpha:g} (--alpha)."
    )
    if max_copies is None:
        return line
    n_left_out = max([n_odd, *(document.rank for document in listed)]) - len(listed)
    most = count(max_copies, "copy", "copies")
    return f"{line} {n_left_out:,} with more than {most} not listed (--max-copies)."


def _notes(lists: "Mapping[str, OddDocuments]", choice: Mapping[str, Any]) -> list[str]:
    notes = language_notes(choice)
    for name, ranked in lists.items():
        if ranked.odd:
            continue
        n, least = ranked.n_different, ranked.p_of(ranked.first(1)[0]) or 0.0
        n_tied = round(least * n)
        tied = f", {n_tied:,} of which share the highest score," if n_tied > 1 else ""
        notes.append(
            f"with {n:,} different documents{tied} no p{name} is below {least:.2g}, so none is odd; raise "
            "--alpha."
        )
    ranked, *_ = lists.values()
    if ranked.other_language is not None:
        notes.append(
            f"few of the words are common in the language {choice['language']!r}, more in "
            f"{ranked.other_language!r}; give --language {ranked.other_language}."
        )
    return notes


def _numbers(ranked: "RankedDocument") -> dict[str, str]:
    return numbers_of(ranked) | ({"copies": f"{ranked.n_copies:,}"} if ranked.n_copies else {})


def _print(ranked: "OddDocuments", shown: "Sequence[RankedDocument]", rows: _Rows) -> None:
    texts = ranked.read(shown)
    facts = [
        {
            "rank": str(each.rank),
            "id": rows.id(each.place),
            **_numbers(each),
            "p": f"{ranked.p_of(each):.2g}",
            "why": ", ".join(ranked.why(each)),
            "text": texts[each.place],
        }
        for each in shown
    ]
    print_documents(facts, rows.id_name)


def _write_table(
    path: Path,
    lists: "Mapping[str, OddDocuments]",
    rows: _Rows,
    explained: "Mapping[str, Sequence[RankedDocument]]",
    progress: "OnProgress",
) -> None:
    """Write all documents in the order of the first list, the others last, with the columns of the file.

    What explains a document would take much longer for all of them. Of a large file there are only the
    identifiers.
    """
    why: dict[int, str] = {}
    why_form: dict[int, str] = {}
    for name, ranked in lists.items():
        if ranked.by != "form":
            why |= {each.place: ", ".join(ranked.why_words(each)) for each in explained[name]}
        if ranked.by != "words":
            why_form |= {each.place: ", ".join(ranked.why_form(each)) for each in explained[name]}
    first, *_, last = [*lists.values()] * 2

    def cells(each: "RankedDocument", *ranks: Any) -> list[Any]:
        origin = each.place if each.copy_of is None else each.copy_of
        copy_of = "" if each.copy_of is None else rows.id(origin)
        numbers = [_cell(each.score, 6), *(_cell(p, 4) for p in (each.p, each.p_form, each.p_both))]
        texts = map(no_formula, (why.get(origin), why_form.get(origin), copy_of))
        return [ranks[0], each.place, *numbers, ranks[1], *texts]

    def ours() -> Iterator[tuple[int, list[Any]]]:
        is_written = bytearray(first.n_documents)
        for each in first:
            is_written[each.place] = True
            yield each.place, cells(each, each.rank, int(each.is_odd))
        for each in last if len(last) > len(first) else ():
            if not is_written[each.place]:
                is_written[each.place] = True
                yield each.place, cells(each, "", "")
        for place, written in enumerate(is_written):
            if not written:
                yield place, ["", place] + [""] * (len(_OURS) - 2)

    fields = rows.fields
    columns = list(rows.columns) if fields is not None else ["id"] * (rows.id_name == "id")
    with atomic_path(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        titles = [f"input_{name}" if name in _OURS else name for name in columns]
        writer.writerow([*_OURS, *map(no_formula, titles)])
        for n, (place, own) in enumerate(ours(), start=1):
            theirs = [fields[place].get(name) if fields is not None else rows.id(place) for name in columns]
            writer.writerow([*own, *map(no_formula, theirs)])
            progress("writing", n, first.n_documents)


def _cell(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}g}"


def _shown(
    ranked: "OddDocuments", explained: "Sequence[RankedDocument]", rows: _Rows
) -> "list[PageDocument]":
    """Return the documents of a list of the page."""
    from adbench_text.reports.formats._heatmap import PageDocument

    texts = ranked.read(explained)
    return [
        PageDocument(
            str(each.rank),
            rows.id(each.place),
            _numbers(each),
            ranked.why(each),
            texts[each.place],
            ranked.words(each) if ranked.by != "form" else [],
        )
        for each in explained
    ]
