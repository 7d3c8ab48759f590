"""``adbench-text odd``: Rank the documents of a file against each other."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from adbench_text.cli import odd_sentences as sentences
from adbench_text.cli.document_tables import (
    WITH_TEXT,
    listed_documents,
    misfiled_documents,
    print_documents,
    write_odd_table,
    write_page,
)
from adbench_text.cli.file_rows import COLUMNS_OF_ODD, LANGUAGE, MOST_WRITTEN, FileRows
from adbench_text.cli.kept import KEPT, is_same_format, write_kept
from adbench_text.cli.options import SectionedCommand, is_quiet, say
from adbench_text.cli.own_text import (
    CHOICE,
    DOCUMENTS,
    WORK,
    check_outputs,
    how_read,
    language_notes,
    named_column,
    odd_options,
    opened,
    outputs_of,
    print_notes,
    values_of,
)
from adbench_text.cli.progress import shown_documents
from adbench_text.documents import EXAMPLE, OF_GROUPS
from adbench_text.errors import InvalidValueError, listing
from adbench_text.escaping import count, no_formula, printable
from adbench_text.storage import atomic_path
from adbench_text.text.language_finder import AUTO

_N_FAMILIES_PRINTED = 3  # largest families of near-copies to print
MISFILED = "Filed elsewhere?"  # the list of documents that fit another group better


#: Options for the lists: arguments of `odd_documents`.
_RANKING = [
    *odd_options("Rank by words, by form, or by both.  [default: by both; all three lists on the page]"),
    click.Option(
        ["--keep-copies"],
        is_flag=True,
        help="Rank every near-copy separately; by form, rank every different text.",
    ),
    click.Option(["--top"], default=10, type=click.IntRange(0), help="Number of documents printed per list."),
    click.Option(
        ["--max-copies"],
        type=click.IntRange(0),
        help="Hide documents with more than N near-copies.",
        metavar="N",
    ),
    click.Option(["--keep-marked"], is_flag=True, help="Rank marked documents, too."),
]

_OPTIONS = [
    "Input",
    *DOCUMENTS,
    click.Option(
        ["--group"],
        metavar="COLUMN",
        callback=named_column,
        help="Rank each document within its group, such as a queue or a month.",
    ),
    click.Option(["--example"], is_flag=True, help="Rank 2,000 texts of this package instead of FILE."),
    "Detector",
    *CHOICE,
    "Odd",
    *_RANKING,
    click.Option(
        ["--marked"],
        type=click.Path(dir_okay=False, path_type=Path),
        help="CSV or spreadsheet with a column mark (odd, fine), such as the table or the file that the page "
        "saves; learn from it and rank again.",
    ),
    "Output",
    click.Option(
        ["--output", "-o"],
        default="odd",
        type=click.Path(path_type=Path),
        help="Path of the table (.csv) and the page (.html).",
    ),
    WITH_TEXT,
    KEPT,
    "Execution",
    *WORK,
]


@click.command("odd", cls=SectionedCommand, listed=_OPTIONS)
@click.argument("file", required=False)
def command(
    file: str | None, example: bool, output: Path, with_text: bool, kept: Path | None, **options: Any
) -> None:
    """Rank the documents of FILE: which ones are odd, by their words and by their form?

    FILE is CSV, TSV, JSON lines, Parquet, a spreadsheet (.xlsx, .ods), plain lines (.txt) or mails (.mbox),
    also compressed (.csv.gz). It can also be a folder of text or Parquet files, hf:NAME of the Hugging Face
    Hub, or - for standard input.
    For each document, a detector learns from the other documents. It scores the cleaned words of the
    document, and the form of its raw text (length, characters, kinds of words). p is the share of the
    different documents (copies count once) that score at least as high. A document is called odd if p is at
    most --alpha. So a share of about --alpha is called odd in any file, with or without outliers.

    Documents that share about 80 % of their different words are near-copies: only one of them is ranked.

    Read some documents and mark them on the page, or write odd or fine into the column mark of the table.
    Then give the file to --marked, and the other documents are ranked again. Repeat this in rounds of ten.

    Rows are numbered from 0, as in pandas: read_csv(FILE).iloc[row] is the row of a document.

    --example ranks a file of this package: docstrings of numpy, pandas, scipy and scikit-learn, and 20 other
    texts. In the table, the column planted names these 20 texts.
    """
    from adbench_text.documents.ranking import odd_documents

    file = _file(file, example)
    table, page = outputs_of(output)
    check_outputs(file, table, page, *([kept] if kept else []))
    taken = [other.resolve() for other in (table, page, options["marked"]) if other]
    if kept and kept.resolve() in taken:
        raise InvalidValueError(
            f"--kept {kept} would replace another file of this command; give another path."
        )
    choice, ranking, marked = values_of(CHOICE, options), values_of(_RANKING, options), options["marked"]
    is_auto = choice["language"] == AUTO
    source = opened(file, options, group=options["group"])
    needs_columns = with_text or (kept is not None and not is_same_format(kept, source))
    most_with_all_columns = float("inf") if needs_columns else MOST_WRITTEN
    with shown_documents() as progress:
        table_read = source.table(None, most_with_all_columns, lambda n: progress("reading", n, None))
    of_options = [*(OF_GROUPS if options["group"] else ()), *([LANGUAGE] if is_auto else ())]
    rows = FileRows(source, table_read, [*COLUMNS_OF_ODD, *of_options])
    marks = rows.marks(marked) if marked else {}
    _check_marks(table, marked, marks, rows)
    begin = time.perf_counter()
    with shown_documents() as progress:
        ranked = odd_documents(
            rows.table,
            **choice,
            **ranking,
            marks=marks,
            groups=rows.groups,
            jobs=options["address"] or options["jobs"],
            progress=progress,
        )
    above = sentences.summary(ranked, time.perf_counter() - begin)
    of_groups, families = sentences.groups(ranked, rows), sentences.families(ranked, rows)
    kind = "documents without a mark" if marks and not ranking["keep_marked"] else "documents"
    below = sentences.called_odd(ranked, kind, [*ranked.lists])
    lists = {order: listed_documents(each, order, rows, ranked.alpha) for order, each in ranked.lists.items()}
    headings = {order: sentences.heading(ranked, order) for order in lists}
    if ranked.groups:
        lists[MISFILED] = misfiled_documents(ranked.groups, rows, ranked.alpha)
        headings[MISFILED] = MISFILED
    with atomic_path(table) as new_table:  # if the page fails, the table is not written either
        with shown_documents() as progress:
            write_odd_table(new_table, ranked.table, ranked.alpha, rows, with_text, progress)
        write_page(
            page,
            file,
            summary=[*above, *of_groups, how_read(source), *below],
            sections={headings[order] or "The most odd": documents for order, documents in lists.items()},
            middle=ranked.centre,
            notes=[*families, "About this share is called odd in any file, with or without outliers."],
            id_name=rows.id_name,
            marks={rows.id(row): mark for row, mark in marks.items()},
        )
    of_kept = [write_kept(kept, source, rows, ranked)] if kept else []  # a line on the file that it wrote
    if not is_quiet():
        say("\n".join([*above, *of_groups, *families[:_N_FAMILIES_PRINTED]]))
        printed = sentences.printed(ranked)
        for order in [*printed, *([MISFILED] if MISFILED in lists else [])]:
            if shown := lists[order][: options["top"]]:
                print_documents(shown, rows.id_name, headings[order])
        below = sentences.called_odd(ranked, kind, printed)
        others = " It also has the lists by words and by form." if len(printed) < len(ranked.lists) else ""
        say("\n".join([*below, how_read(source), f"All documents: {table}. Page: {page}.{others}", *of_kept]))
    choice["language"] = ranked.language  # instead of auto
    of_language = [
        *(sentences.languages(ranked) if is_auto else []),
        *language_notes(choice),
    ]
    print_notes([*source.late_notes, *rows.notes, *of_language, *sentences.notes(ranked)])


def _file(file: str | None, is_example: bool) -> str:
    """Return the file to read: the given one, or the example."""
    if is_example and file is not None:
        raise click.UsageError(f"--example takes the place of FILE; leave out {file!r} or --example.")
    if not is_example and file is None:
        raise click.UsageError("Missing argument 'FILE'. Give a file, or --example.")
    return str(EXAMPLE) if file is None else file


def _check_marks(table: Path, marked: Path | None, marks: Mapping[int, str], rows: FileRows) -> None:
    """Raise InvalidValueError if the old table has marks that the new table would lose.

    Print a note if the file of marks has none.
    """
    from adbench_text.documents.marks import lost_marks

    if marked is not None and not marks:
        click.echo(printable(f"Note: {marked} has no marks."), err=True)
    is_carried = marked is not None and marked.resolve() == table.resolve()
    if not is_carried and (lost := lost_marks(table, marks, lambda row: no_formula(rows.id(row)))):
        advice = f"add --marked {table}" if marked is None else f"add what is marked to {marked}"
        raise InvalidValueError(
            f"{table} has {count(len(lost), 'mark')} (row {listing(lost, 5)}) that would be lost: {advice}; "
            f"if you took them back, give another --output or delete {table}."
        )
