"""``adbench-text grew``: Find the subjects that are more frequent in a new file."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.document_tables import WITH_TEXT, write_documents, write_page
from adbench_text.cli.file_rows import MOST_WRITTEN, FileRows
from adbench_text.cli.options import SectionedCommand, is_quiet, say
from adbench_text.cli.own_text import (
    DOCUMENTS,
    LANGUAGE,
    SEED,
    STDIN,
    WORK,
    check_outputs,
    forgotten_language,
    found_languages,
    how_read,
    named_column,
    opened,
    outputs_of,
    print_notes,
)
from adbench_text.cli.progress import shown_documents
from adbench_text.cli.show import print_table
from adbench_text.errors import UnknownNameError
from adbench_text.escaping import count, no_formula, one_line, printable
from adbench_text.storage import atomic_path

if TYPE_CHECKING:
    import pandas as pd

    from adbench_text.documents.growth import Group, Growth
    from adbench_text.documents.page import PageDocument
    from adbench_text.documents.source import TextSource
    from adbench_text.reading.documents import DocumentFile, DocumentTable

_GROWN = 4  # exit code
_N_TYPICAL = 3  # documents of a group in JSON
_N_WORDS_OF_HEADING = 4
_N_ON_PAGE = 500  # documents of a group on the page
_N_WHY = 5  # words that show why a document is in a group
_N_COPIES = 3  # largest families of near-copies to name
_N_LANGUAGE = 1000  # documents that show whether --language is wrong
_LONGER = 1.25  # a note is printed if documents became longer by more than this factor
_OUR_COLUMNS = "row", "group", "words", "copy_of"
_WIDTHS = {"n": 6, "expected": 8, "p": 8, "words": 44}

_OPTIONS = [
    "Input",
    *DOCUMENTS,
    click.Option(
        ["--by-time"],
        metavar="COLUMN",
        callback=named_column,
        help="Column of dates: compare the last day, week or month of one file with the time before.",
    ),
    click.Option(
        ["--sender"], metavar="COLUMN", callback=named_column, help="Count a sender once in a group."
    ),
    LANGUAGE,
    "Test",
    click.Option(
        ["--alpha"], default=0.05, type=float, help="Chance of one false group, if nothing has grown."
    ),
    SEED,
    "Output",
    click.Option(
        ["--output", "-o"],
        default="grew",
        type=click.Path(path_type=Path),
        help="Path of the table (.csv) and the page (.html).",
    ),
    click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object for each group."),
    WITH_TEXT,
    click.Option(
        ["--fail-on-growth"],
        is_flag=True,
        help=f"Exit with {_GROWN} if a subject or a family of near-copies has grown.",
    ),
    "Execution",
    *WORK,
]


@click.command("grew", cls=SectionedCommand, listed=_OPTIONS)
@click.argument("old")
@click.argument("new", required=False)
def command(old: str, new: str | None, output: Path, as_json: bool, **options: Any) -> None:
    """Find the subjects that are more frequent in NEW than in OLD.

    adbench-text grew last-month.csv this-month.csv --text body

    adbench-text grew tickets.csv --by-time created

    A group has the documents of one subject that grew. They have a word in common, or they are similar. n is
    the number of different documents of NEW in the group. expected is the number that NEW would have if the
    subject had the same share as in OLD. Near-copies count once, in both files. p takes all tested groups
    into account: if nothing has grown, the chance to find a group is at most --alpha. Numbers, and names of
    months and days, are ignored. The result may also be that no subject has grown.

    The table has all documents of NEW with the number of their group, and the page has the documents of each
    group. OLD and NEW are read like FILE of the command odd.
    """
    from adbench_text.documents.growth import growth

    table, page = outputs_of(output)
    for file in (old, *filter(None, [new])):
        check_outputs(file, table, page)
    sides = _sides(old, new, options)
    with shown_documents() as progress:
        grown = growth(
            sides.old,
            sides.new,
            language=options["language"],
            alpha=options["alpha"],
            senders=sides.senders,
            seed=options["seed"],
            jobs=options["address"] or options["jobs"],
            progress=progress,
        )
    summary = [*_summary(grown, options), *sides.how_read]
    with atomic_path(table) as new_table:
        with shown_documents() as progress:
            _write(new_table, grown, sides, options["with_text"], progress)
        write_page(
            page,
            new or old,
            "What grew in",
            summary=summary,
            sections={
                _heading(number, group, sides): _documents(grown, group, sides)
                for number, group in _numbered(grown)
            },
            middle=0.0,
            shows_scale=False,
            notes=_copies(grown, sides),
            id_name=sides.rows.id_name,
        )
    if as_json:
        for line in [*(_as_json(*each, sides) for each in _numbered(grown)), *_waves_as_json(grown, sides)]:
            click.echo(json.dumps(line))
    elif not is_quiet():
        say("\n".join(summary))
        if grown.groups:
            print_table(
                [_cells(number, group, sides) for number, group in _numbered(grown)],
                header=["group", "n", "expected", "p", "words", "text"],
                indent=1,
                widths=_WIDTHS,
            )
        say(f"All documents of NEW: {table}. Page: {page}.")
    elif grown.groups:
        for number, group in _numbered(grown):
            click.echo(printable(f"Grew: {_heading(number, group, sides)}"))
    print_notes([*_copies(grown, sides), *sides.all_notes, *_notes(grown, sides, options["language"])])
    if (grown.groups or len(grown.waves)) and options["fail_on_growth"]:
        click.get_current_context().exit(_GROWN)


@dataclass(frozen=True)
class _Sides:
    """The documents of OLD and of NEW."""

    old: "TextSource"
    new: "TextSource"
    rows: FileRows  # of the file of NEW
    row_of: Sequence[int]  # the row in the file, for each document of NEW
    senders: tuple[Sequence[Any], Sequence[Any]] | None
    files: Sequence["DocumentFile"]
    how_read: Sequence[str]
    notes: Sequence[str] = ()

    @property
    def all_notes(self) -> list[str]:
        """Notes on dates, identifiers, and losses while files were read."""
        of_files = dict.fromkeys(note for file in self.files for note in file.late_notes)
        return [*self.notes, *self.rows.notes, *of_files]

    def id(self, place: int) -> str:
        """Return the identifier of a document of NEW."""
        return self.ids([place])[0]

    def ids(self, places: Iterable[int]) -> list[str]:
        """Return the identifiers of documents of NEW: of many at once, because each call looks for rows."""
        return self.rows.ids_at([self.row_of[place] for place in places])

    def text(self, place: int) -> str:
        """Return a document of NEW."""
        return next(self.new.at([place]))


def _sides(old: str, new: str | None, options: Mapping[str, Any]) -> _Sides:
    """Read two files, or with --by-time one file, which is divided."""
    if options["by_time"] is None:
        if new is None:
            raise click.UsageError("Missing argument 'NEW'. Give a second file, or --by-time COLUMN.")
        return _two_files(old, new, options)
    if new is not None:
        raise click.UsageError(f"--by-time compares periods of one file; leave out {new!r} or --by-time.")
    return _by_time(old, options)


def _two_files(old: str, new: str, options: Mapping[str, Any]) -> _Sides:
    """Read both files."""
    from adbench_text.documents.source import TextSource

    if old == new == STDIN:
        raise click.UsageError(f"Only one of OLD and NEW can be standard input ({STDIN}).")
    sender = options["sender"]
    # a table always has the column `group`, so the senders are read with any other columns
    old_file, new_file = (opened(file, options, group=sender) for file in (old, new))
    of_old = _read(old_file, columns=())
    of_new = _read(new_file, columns=None, keep_all=options["with_text"])  # `--output` writes them
    senders = (_senders(of_old, sender), _senders(of_new, sender)) if sender else None
    return _Sides(
        old=TextSource.of(of_old),
        new=TextSource.of(of_new),
        rows=FileRows(new_file, of_new, _OUR_COLUMNS),
        row_of=range(len(of_new)),
        senders=senders,
        files=[old_file, new_file],
        how_read=list(dict.fromkeys(how_read(file, "senders") for file in (old_file, new_file))),
    )


def _by_time(file: str, options: Mapping[str, Any]) -> _Sides:
    """Read one file, and divide it by time."""
    from adbench_text.documents.source import TextSource
    from adbench_text.reading.dates import last_period

    column, sender = options["by_time"], options["sender"]
    documents = opened(file, options, group=column)
    if sender and sender not in documents.columns:
        raise UnknownNameError("column", sender, documents.columns)
    table = _read(documents, None, keep_all=options["with_text"] or bool(sender))
    periods = last_period(table.values(column), column, table.place)
    senders = None
    if sender:
        of_rows = _senders(table, sender)
        senders = [of_rows[row] for row in periods.old], [of_rows[row] for row in periods.new]
    source = TextSource.of(table)
    return _Sides(
        old=source.some(periods.old),
        new=source.some(periods.new),
        rows=FileRows(documents, table, _OUR_COLUMNS),
        row_of=periods.new.tolist(),
        senders=senders,
        files=[documents],
        how_read=[periods.summary, how_read(documents, "dates")],
        notes=periods.notes,
    )


def _senders(table: "DocumentTable", column: str) -> list[str | None]:
    """Return the sender of each document; None if it is unknown."""
    from adbench_text.reading.values import MISSING

    return [None if value in MISSING else value for value in table.values(column)]


def _read(file: "DocumentFile", columns: Sequence[str] | None, keep_all: bool = False) -> "DocumentTable":
    """Read all documents, with some of their columns; None for all columns if there are not too many rows."""
    most = float("inf") if keep_all else MOST_WRITTEN
    with shown_documents() as progress:
        return file.table(columns, most, lambda n: progress("reading", n, None))


def _numbered(grown: "Growth") -> Iterator[tuple[int, "Group"]]:
    """Return the groups with their numbers, from 1 on."""
    return enumerate(grown.groups, 1)


def _summary(grown: "Growth", options: Mapping[str, Any]) -> list[str]:
    """Return the lines above the groups."""
    n_groups = len(grown.groups)
    which = f"{count(n_groups, 'subject')} grew" if n_groups else "No subject has grown"
    unit = "senders" if options["sender"] else "different documents"
    both = f", and {grown.n_both:,} are in both" if grown.n_both else ""
    return [
        f"{which} (alpha {options['alpha']:g}; p is over all groups that were looked at).",
        f"NEW has {grown.n_new:,} different documents, OLD has {grown.n_old:,}{both}; n and expected count "
        f"{unit}.",
    ]


def _heading(number: int, group: "Group", sides: _Sides) -> str:
    """Return the heading of a group on the page."""
    expected, p = _facts(group)
    words = ", ".join(group.words[:_N_WORDS_OF_HEADING]) or "similar documents"
    unit = "document" if sides.senders is None else "sender"
    return f"{number}. {words}: {count(group.n, unit)}, {expected} expected (p {p})"


def _facts(group: "Group") -> list[str]:
    """Return the expected number of documents of a group and its p, rounded."""
    expected = f"{group.expected:,.0f}" if group.expected >= 10 else f"{group.expected:.2g}"
    return [expected, f"{group.p:.2g}"]


def _cells(number: int, group: "Group", sides: _Sides) -> list[Any]:
    """Return the row of a group in the table on the terminal, with its most typical document."""
    words = ", ".join(group.words)
    return [number, group.n, *_facts(group), words, one_line(sides.text(int(group.rows[0])))[:500]]


def _as_json(number: int, group: "Group", sides: _Sides) -> dict[str, Any]:
    """Return the JSON object of a group."""
    rows = group.rows.tolist()
    return {
        "group": number,
        "n": group.n,
        "expected": round(group.expected, 2),
        "p": group.p,
        "words": group.words,
        "typical": [{"id": sides.id(row), "text": sides.text(row)} for row in rows[:_N_TYPICAL]],
        "ids": sides.ids(rows),
    }


def _documents(grown: "Growth", group: "Group", sides: _Sides) -> "list[PageDocument]":
    """Return the documents of a group, with their words coloured."""
    from adbench_text.documents.page import PageDocument

    documents = list[PageDocument]()
    different = [row for row in group.rows.tolist() if grown.copy_of[row] < 0]
    for rank, row in enumerate(different[:_N_ON_PAGE], 1):
        text = sides.text(row)
        scored = grown.token_scores(row, text, group)
        score_of = {word.token.lower(): word.score for word in scored if word.score > 0}
        why = sorted(score_of, key=lambda word: -score_of[word])[:_N_WHY]
        documents.append(
            PageDocument(rank=str(rank), id=sides.id(row), facts={}, why=why, text=text, words=scored)
        )
    return documents


def _waves_as_json(grown: "Growth", sides: _Sides) -> Iterator[dict[str, Any]]:
    """Yield families of near-copies that have grown."""
    for row, n, n_old in grown.waves.to_numpy().tolist():
        yield {"copies": n, "copies_in_old": n_old, "id": sides.id(row), "text": sides.text(row)}


def _notes(grown: "Growth", sides: _Sides, language: str) -> Iterator[str]:
    """Yield notes on languages, and on documents that became longer."""
    from itertools import islice

    from adbench_text.text.language_finder import AUTO, LanguageCounts

    if language == AUTO:
        yield from found_languages(grown.languages, [*grown.languages])
    elif other := LanguageCounts.of_some([*islice(sides.new, _N_LANGUAGE)]).other_than(language):
        yield forgotten_language(other, language)
    if grown.words_of_new > _LONGER * grown.words_of_old:
        yield (
            f"documents of NEW are longer: {grown.words_of_new:g} different words (median), and "
            f"{grown.words_of_old:g} in OLD. Words may be more frequent although no subject has grown."
        )


def _copies(grown: "Growth", sides: _Sides) -> list[str]:
    """Return lines on waves of near-copies in NEW."""
    return [
        one_line(
            f"Near-copies: {n:,} documents of NEW and {n_old:,} of OLD like {sides.rows.id_name} "
            f"{sides.id(row)}: {sides.text(row)[:60]}"
        )
        for row, n, n_old in grown.waves[:_N_COPIES].to_numpy().tolist()
    ]


def _write(path: Path, grown: "Growth", sides: _Sides, keep_all: bool, progress: Any) -> None:
    """Write the documents of NEW; the documents of groups come first."""
    import pandas as pd

    table = pd.DataFrame({"row": sides.row_of, "group": pd.array([None] * len(sides.row_of), dtype="Int64")})
    table["words"], table["copy_of"] = "", ""
    is_copy = grown.copy_of >= 0
    table.loc[is_copy, "copy_of"] = sides.ids(grown.copy_of[is_copy].tolist())
    in_groups = list[int]()
    for number, group in _numbered(grown):
        table.loc[group.rows, "group"] = number
        table.loc[group.rows, "words"] = ", ".join(group.words)
        in_groups += group.rows.tolist()
    rest = table.index.difference(in_groups, sort=True)

    def cells(documents: "pd.DataFrame") -> dict[str, list[Any]]:
        known = documents.astype(object).where(documents.notna(), None)
        return {name: [*map(no_formula, known[name].tolist())] for name in _OUR_COLUMNS}

    write_documents(path, table.loc[[*in_groups, *rest]], cells, sides.rows, keep_all, progress)
