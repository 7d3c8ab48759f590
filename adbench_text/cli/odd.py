"""``adbench-text odd``: Rank the documents of a file against each other."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import SectionedCommand
from adbench_text.cli.own_text import (
    CHOICE,
    DOCUMENTS,
    ODD,
    WORK,
    check_outputs,
    form_notes,
    language_notes,
    opened,
    page_documents,
    print_documents,
    rounded,
    values_of,
    write_page,
)
from adbench_text.cli.progress import count, shown_documents
from adbench_text.errors import DataError, InvalidValueError, listing
from adbench_text.escaping import no_formula, one_line, printable
from adbench_text.orders import P_OF_ORDER
from adbench_text.storage import atomic_path
from adbench_text.text.reading import DocumentFile

if TYPE_CHECKING:
    import pandas as pd

    from adbench_text.documents import OnProgress
    from adbench_text.documents.page import PageDocument
    from adbench_text.documents.ranked import OddDocuments

_OURS = ("rank", "mark", "row", "score", "p", "p_form", "p_both", "odd", "why", "why_form", "copy_of")
_MOST_WRITTEN = 100_000  # documents with all columns of the file
_N_WRITTEN = 10_000  # documents that are written at a time
_DIGITS = {"score": 6, "p": 4, "p_form": 4, "p_both": 4}  # significant ones in the table
_N_FAMILIES_PRINTED = 3  # of near-copies, the largest
_OF_FAMILY = 2  # copies at least of one that is named


#: Options on the lists: arguments of `odd_documents`.
_RANKING = [
    *ODD,
    click.Option(["--keep-copies"], is_flag=True, help="Rank each near-copy by itself."),
    click.Option(["--top"], default=10, type=click.IntRange(0), help="Documents of a list to print."),
    click.Option(["--max-copies"], type=click.IntRange(0), help="List no document with more copies."),
    click.Option(["--keep-marked"], is_flag=True, help="Rank marked documents, too."),
]


_OPTIONS = [
    "Input",
    *DOCUMENTS,
    "Detector",
    *CHOICE,
    "Odd",
    *_RANKING,
    click.Option(
        ["--marked"],
        type=click.Path(dir_okay=False, path_type=Path),
        help="CSV whose column mark says odd or fine, such as the table or the page's file: rank the others "
        "again by what it marks.",
    ),
    "Output",
    click.Option(
        ["--output", "-o"],
        default="odd",
        type=click.Path(path_type=Path),
        help="Path of the table and the page, which end in .csv and .html.",
    ),
    click.Option(
        ["--with-text"],
        is_flag=True,
        help=f"Write all columns, also of files with more than {_MOST_WRITTEN:,} rows.",
    ),
    "Execution",
    *WORK,
]


@click.command("odd", cls=SectionedCommand, listed=_OPTIONS)
@click.argument("file")
def command(file: str, output: Path, with_text: bool, **options: Any) -> None:
    """Rank the documents of FILE: which ones are odd among the others, by their words and by their form?

    FILE is CSV, TSV, JSON lines, Parquet, plain lines (.txt), also compressed (.csv.gz), a folder of text or
    Parquet files, or - for standard input. Each document is scored by what a detector learned from the
    others: by its words once cleaned, and by its form as it was written (length, characters, kinds of words).
    p is the share of the different documents (copies count once) that score at least as high. A document is
    called odd if p is at most --alpha, so that about this share is odd in any file, with or without outliers.

    Documents that share about 80 % of their different words are near-copies: one of them is ranked for all.

    Once you have read some documents, mark them on the page, or write odd or fine into the column mark of the
    table, and give the file to --marked: the others are ranked again. So marking goes on in rounds of ten.

    Rows count from 0, as in pandas: read_csv(FILE).iloc[row] is the row of a document.
    """
    from adbench_text.documents.ranking import odd_documents

    if output.name in ("", ".."):
        raise InvalidValueError(f"{str(output)!r} is a folder; --output is the path of a file.")
    name = output.name.removesuffix(".csv").removesuffix(".html")
    table, page = (output.with_name(f"{name}.{suffix}") for suffix in ("csv", "html"))
    check_outputs(file, table, page)
    choice, ranking = values_of(CHOICE, options), values_of(_RANKING, options)
    source = opened(file, options, again=True)
    rows = _Rows(source)
    marks = rows.marks(options["marked"]) if options["marked"] else {}
    _check_marks(table, options["marked"], marks, rows)
    begin = time.perf_counter()
    with shown_documents() as progress:
        ranked = odd_documents(
            rows.texts,
            **choice,
            **ranking,
            marks=marks,
            jobs=options["address"] or options["jobs"],
            progress=progress,
        )
    summary, families = _summary(ranked, time.perf_counter() - begin), _families(ranked, rows)
    effect = [_effect(ranked)] if len(ranked.marked) else []
    shown = {order: _shown(of_list, order, rows, ranked.alpha) for order, of_list in ranked.lists.items()}
    called_odd = [_called_odd(ranked, order) for order in ranked.lists]
    different = "documents without a mark" if marks and not ranking["keep_marked"] else "documents"
    called_odd.append(f"p is the share of the different {different} that score at least as high.")
    with shown_documents() as progress:
        _write_table(table, ranked.table, ranked.alpha, rows, with_text, progress)
    write_page(
        page,
        file,
        summary=[summary, *effect, *called_odd],
        sections={_heading(order, ranked) or "The most odd": of_list for order, of_list in shown.items()},
        middle=ranked.centre,
        notes=[*families, "About this share is called odd in any file, with or without outliers."],
        id_name=rows.id_name,
        marks={rows.id(row): mark for row, mark in marks.items()},
    )
    click.echo("\n".join([summary, *effect, *families[:_N_FAMILIES_PRINTED]]))
    for order, of_list in shown.items():
        if options["top"] and of_list:
            if heading := _heading(order, ranked):
                click.echo(f"{heading}:")
            print_documents(of_list[: options["top"]], P_OF_ORDER[order], rows.id_name)
    click.echo("\n".join(called_odd))
    click.echo(printable(f"All documents: {table}. Page: {page}."))
    for note in (*source.late_notes, *language_notes(choice), *_notes(ranked, choice["language"])):
        click.echo(f"Note: {note}", err=True)


class _Rows:
    """The rows of FILE: their texts, identifiers and columns. The file is read again each time."""

    def __init__(self, source: DocumentFile) -> None:
        self._source = source
        self._ids: list[str] = []
        self.id_name = "id" if source.id_column else "row"

    def id(self, row: int) -> str:
        """Return the identifier of a document."""
        return self._ids[row] if row < len(self._ids) else str(row)

    def texts(self) -> Iterator[str]:
        """Yield the documents; the first time, keep their identifiers, of which no two may be equal."""
        import pandas as pd

        if self._ids or not self._source.id_column:
            yield from self._source.texts()
            return
        ids = []
        for document in self._source:
            ids.append(document.id)
            yield document.text
        is_copy = pd.Index(ids, dtype=object).duplicated()
        for row in is_copy.nonzero()[0]:
            raise DataError(
                f"Two documents have the {self._source.id_column} {ids[row]!r:.40}: rows "
                f"{ids.index(ids[row]):,} and {row:,}. Give another --id, or --id '' to number them."
            )
        self._ids = ids

    def marks(self, path: Path) -> dict[int, str]:
        """Return the marks of a file by row."""
        from adbench_text.documents.marks import read_marks, row_of

        column = self._source.id_column
        if not column:
            return read_marks(path, row_of, ("row",))
        for _ in self.texts():  # the identifiers are not known before
            pass
        rows = {no_formula(name): row for row, name in enumerate(self._ids)}
        columns = self._source.columns
        title = _titles(columns)[columns.index(column)]
        names = tuple(dict.fromkeys([title, column, "id"]))
        return read_marks(path, lambda name: rows.get(no_formula(name)), names)

    def columns(self, n_rows: int, keep_all: bool) -> "pd.DataFrame":
        """Return the columns to write: all, or only the identifiers if there are many rows."""
        import pandas as pd

        if keep_all or n_rows <= _MOST_WRITTEN:
            return pd.DataFrame((document.fields for document in self._source), dtype=object)
        return pd.DataFrame({"id": self._ids} if self._ids else {}, index=range(n_rows))


def _check_marks(table: Path, marked: Path | None, marks: Mapping[int, str], rows: _Rows) -> None:
    """Raise InvalidValueError if the table that will be replaced has marks that nothing carries over."""
    from adbench_text.documents.marks import lost_marks

    if marked is not None and not marks:
        click.echo(printable(f"Note: {marked} has no marks."), err=True)
    is_carried = marked is not None and marked.resolve() == table.resolve()
    if not is_carried and (lost := lost_marks(table, marks, lambda row: no_formula(rows.id(row)))):
        advice = f"add --marked {table}" if marked is None else f"add them to {marked}"
        raise InvalidValueError(
            f"{table} has {count(len(lost), 'mark')} (row {listing(lost, 5)}) that would be lost: {advice}; "
            f"if you took them back, give another --output or delete {table}."
        )


def _summary(ranked: "OddDocuments", seconds: float) -> str:
    documents = ranked.table
    is_copy = documents["copy_of"].notna()
    n_copies = (is_copy & (documents["rank"].notna() | (documents["mark"] != ""))).sum()
    n_different = (~is_copy & documents["p"].notna()).sum()
    n_empty = (documents["score"].isna() & documents["rank"].isna()).sum()  # form ranks some without words
    method = {"leave-one-out": "each left out of its own counts"}.get(ranked.method, ranked.method)
    learned = f"; learned from {ranked.n_learned:,} of them" if ranked.n_learned < n_different else ""
    near = f", {count(ranked.n_near_copies, 'near-copy', 'near-copies')}" if ranked.n_near_copies else ""
    return (
        f"{len(documents):,} documents, {count(n_copies - ranked.n_near_copies, 'duplicate')}{near}, "
        f"{n_empty:,} empty; {ranked.detector}, {method}{learned}; {seconds:.1f} s"
    )


def _effect(ranked: "OddDocuments") -> str:
    """Return how many marks were used, and what they changed about form."""
    is_odd, times = ranked.marked == "odd", f"{ranked.odds_of_form:.2g}"
    change = "" if times == "1" else f"; form counts {times} times as much beside words as without marks"
    return f"Marks: {is_odd.sum():,} odd, {(~is_odd).sum():,} fine{change}."


def _families(ranked: "OddDocuments", rows: _Rows) -> list[str]:
    """Return a line for each of the largest families of near-copies."""
    families: Iterator[Any] = ranked.families[ranked.families["n_copies"] >= _OF_FAMILY].itertuples()
    return [
        one_line(
            f"Near-copies: {each.n_copies + 1:,} documents like {rows.id_name} {rows.id(each.row):.60}: "
            f"{each.text:.60}"
        )
        for each in families
    ]


def _heading(order: str, ranked: "OddDocuments") -> str:
    by = _by(order, ranked)
    return f"Odd{by}" if by else ""


def _by(order: str, ranked: "OddDocuments") -> str:
    return f" by {order}" if len(ranked.lists) > 1 else ""  # one list needs no name


def _called_odd(ranked: "OddDocuments", order: str) -> str:
    """Return how many documents are odd by an order."""
    p, is_copy = ranked.table[P_OF_ORDER[order]], ranked.table["copy_of"].notna()
    is_odd = p <= ranked.alpha
    n_copies = (is_odd & is_copy).sum()
    copies = f" and {count(n_copies, 'copy', 'copies')} of them" if n_copies else ""
    return (
        f"Called odd{_by(order, ranked)}: {(is_odd & ~is_copy).sum():,} of {(p.notna() & ~is_copy).sum():,} "
        f"different documents{copies}, those with p of at most {ranked.alpha:g} (--alpha)."
    )


def _notes(ranked: "OddDocuments", language: str) -> Iterator[str]:
    from adbench_text.documents.models.model import FORM

    different = ranked.table[ranked.table["copy_of"].isna()]
    for order in ranked.lists:
        p = different[P_OF_ORDER[order]].dropna()
        if p.min() > ranked.alpha:
            least = f"no p{_by(order, ranked)} is below {rounded(p.min(), 2, ranked.alpha)}"
            yield f"with {len(p):,} different documents {least}, so none is odd; raise --alpha."
    yield from form_notes(int(different["p" if ranked.detector == FORM else "p_form"].count()))
    if ranked.other_language is not None:
        yield (
            f"few of the words are common in the language {language!r}, more in "
            f"{ranked.other_language!r}; give --language {ranked.other_language}."
        )
    if len(ranked.marked) and not ranked.learns_from_marks:
        yield f"{ranked.detector} leaves documents marked odd out, and learns nothing else from them."


def _shown(documents: "pd.DataFrame", order: str, rows: _Rows, alpha: float) -> "list[PageDocument]":
    """Return the documents of a list as they are printed, and shown on the page."""
    by_words = (order == "words") | ((order == "both") & (documents["p"] <= documents["p_form"]))
    why = documents["why"].where(by_words, documents["why_form"])
    documents = documents.assign(id=documents["row"].map(rows.id), why=why)
    if order == "both":  # the one with the smaller p is shown
        documents["by"] = by_words.map({True: "words", False: "form"})
    return page_documents(documents, alpha)


def _write_table(
    path: Path, table: "pd.DataFrame", alpha: float, rows: _Rows, keep_all: bool, progress: "OnProgress"
) -> None:
    """Write all documents with the columns of the file; of a large file there are only the identifiers."""
    import pandas as pd

    columns = rows.columns(len(table), keep_all)
    header: Any = [*_OURS, *_titles([*map(str, columns)])]
    with atomic_path(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        for begin in range(0, len(table), _N_WRITTEN):
            documents = table[begin : begin + _N_WRITTEN]
            theirs = columns.iloc[documents["row"]].set_axis(documents.index).map(no_formula)
            lines = pd.concat([_cells(documents, rows, alpha), theirs], axis=1)
            lines.to_csv(stream, header=header, index=False, lineterminator="\r\n")
            header = False
            progress("writing", begin + len(documents), len(table))


def _titles(columns: Sequence[str]) -> list[str]:
    """Return the names of the columns of the file in our table, where no two are equal.

    >>> _titles(["p", "text", "input_p", "input_input_p"])
    ['input_input_input_p', 'text', 'input_p', 'input_input_p']
    """
    kept = {name for name in columns if name not in _OURS and no_formula(name) == name}
    taken, titles = {*_OURS, *kept}, []
    for name in columns:
        title = no_formula(name)
        while name not in kept and title in taken:
            title = f"input_{title}"
        taken.add(title)
        titles.append(title)
    return titles


def _cells(documents: "pd.DataFrame", rows: _Rows, alpha: float) -> "pd.DataFrame":
    """Return our columns as they are written."""
    numbers = {
        name: documents[name].map(lambda p, n=digits: rounded(p, n, alpha), na_action="ignore")
        for name, digits in _DIGITS.items()
    }
    odd = documents["odd"].astype("Int64").where(documents["rank"].notna())
    why = {name: documents[name].map(", ".join).map(no_formula) for name in ("why", "why_form")}
    copy_of = documents["copy_of"].map(lambda row: no_formula(rows.id(int(row))), na_action="ignore")
    return documents.assign(**numbers, odd=odd, **why, copy_of=copy_of)[list(_OURS)]
