"""Print documents as tables, and write pages and the files of odd and score."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.file_rows import MOST_WRITTEN, FileRows, column_titles
from adbench_text.cli.own_text import STDIN
from adbench_text.cli.show import print_table
from adbench_text.documents import OF_GROUPS
from adbench_text.documents.rounding import all_rounded
from adbench_text.escaping import no_formula, one_line
from adbench_text.storage import atomic_path

if TYPE_CHECKING:
    import pandas as pd

    from adbench_text.documents import OnProgress
    from adbench_text.documents.misfiled import InGroups
    from adbench_text.documents.models.model import Scorer
    from adbench_text.documents.page import PageDocument

# column widths on the terminal; the column "text" gets the remaining width
_WIDEST = {"rank": 6, "p": 8, "misfit": 7, "copies": 6, "why": 40}
_WIDEST |= dict.fromkeys(["id", "row", "group", "fits"], 20)
_DIGITS = {"score": 6, "p": 4, "p_form": 4, "p_both": 4, "misfit": 4}  # significant digits in the file of odd
_N_OF_NEAREST = 80  # characters of the most similar document on the page
_N_WRITTEN = 10_000  # documents to write at a time

#: The option of commands that write a table of documents.
WITH_TEXT = click.Option(
    ["--with-text"], is_flag=True, help=f"Write all columns, even for more than {MOST_WRITTEN:,} rows."
)


def print_documents(documents: "Sequence[PageDocument]", id_name: str = "id", heading: str = "") -> None:
    """Print documents as a table that fits the terminal; omit empty columns."""
    if heading:
        click.echo(f"{heading}:")
    columns: dict[str, list[Any]] = {
        "rank": [int(each.rank) for each in documents],
        id_name: [each.id for each in documents],
        "p": [each.p for each in documents],
        **{name: [each.facts.get(name, "") for each in documents] for name in OF_GROUPS},
        "copies": [each.facts.get("copies", "") for each in documents],
        "by": [each.facts.get("by", "") for each in documents],
        "why": [", ".join(each.why) for each in documents],
        "text": [each.text[:500] for each in documents],
    }
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    rows = zip(*columns.values(), strict=True)
    print_table(rows, header=list(columns), indent=1, widths=_WIDEST)


def write_page(path: Path, file: str, title: str = "Odd documents in", **content: Any) -> None:
    """Write an HTML page with lists of documents of FILE, see `page_of_documents`."""
    from datetime import datetime

    from adbench_text.documents.page import page_of_documents
    from adbench_text.provenance import command_line

    name = "standard input" if file == STDIN else Path(file).resolve().name
    made = [f"{datetime.now():%Y-%m-%d %H:%M}", command_line()]
    with atomic_path(path) as temporary:
        markup = page_of_documents(f"{title} {name}", made, **content)
        temporary.write_text(markup, encoding="utf-8")


def listed_documents(
    documents: "pd.DataFrame", order: str, rows: FileRows, alpha: float
) -> "list[PageDocument]":
    """Return the documents of a list, formatted for the terminal and the page."""
    from adbench_text.documents.page import documents_of_list

    nearest = documents["nearest"].fillna(-1).tolist()
    wanted = [row for row in nearest if row >= 0]
    near = zip(wanted, rows.ids_at(wanted), rows.table.texts_at(wanted), strict=True)
    shown = {row: f"{name}: {one_line(text):.{_N_OF_NEAREST}}" for row, name, text in near}
    named = documents.assign(
        id=rows.ids_at(documents["row"].tolist()), nearest=[shown.get(row, "none") for row in nearest]
    )
    return documents_of_list(named, order, alpha)


def misfiled_documents(in_groups: "InGroups", rows: FileRows, alpha: float) -> "list[PageDocument]":
    """Return the documents that fit another group better, formatted for the terminal and the page."""
    from adbench_text.documents.page import page_documents

    listed = in_groups.misfiled.listed
    ids = rows.ids_at(listed["row"].tolist())
    return page_documents(listed.assign(id=ids, rank=range(1, len(listed) + 1)), alpha)


def write_odd_table(
    path: Path, table: "pd.DataFrame", alpha: float, rows: FileRows, keep_all: bool, progress: "OnProgress"
) -> None:
    """Write the documents that `odd` ranked, see `write_documents`."""
    write_documents(path, table, lambda documents: _cells(documents, rows, alpha), rows, keep_all, progress)


def write_documents(
    path: Path,
    table: "pd.DataFrame",
    cells_of: Callable[["pd.DataFrame"], Mapping[str, Sequence[Any]]],
    rows: FileRows,
    keep_all: bool,
    progress: "OnProgress",
) -> None:
    """Write documents: our columns, then the columns of the file.

    If the file is large and `keep_all` is False, only the identifiers follow. `cells_of` returns the cells of
    our columns for some documents, by name. The caller gives a temporary path, see `storage.atomic_path`.
    """
    columns = rows.columns(keep_all)
    with path.open("w", newline="", encoding="utf-8") as stream:
        lines = csv.writer(stream)
        lines.writerow([*rows.our_columns, *column_titles([*columns], rows.our_columns)])
        for begin in range(0, len(table), _N_WRITTEN):
            documents = table[begin : begin + _N_WRITTEN]
            ours, places = cells_of(documents), documents["row"].tolist()
            theirs = [map(no_formula, values_at(places)) for values_at in columns.values()]
            lines.writerows(zip(*(ours[name] for name in rows.our_columns), *theirs, strict=True))
            progress("writing", begin + len(documents), len(table))


def _cells(documents: "pd.DataFrame", rows: FileRows, alpha: float) -> dict[str, list[Any]]:
    """Return the cells of our columns for the file of odd."""
    cells: dict[str, list[Any]] = {}
    for name in rows.our_columns:
        values = documents[name]
        if name in _DIGITS:
            cells[name] = all_rounded(values.astype(float).tolist(), _DIGITS[name], alpha)
        elif name in ("why", "why_form", "subject"):
            cells[name] = [no_formula(", ".join(words)) if words else "" for words in values.tolist()]
        elif name in ("copy_of", "nearest"):
            known = values.dropna()
            ids = dict(zip(known.index, map(no_formula, rows.ids_at(known.tolist())), strict=True))
            cells[name] = [ids.get(label, "") for label in values.index]
        elif name == "odd":
            cells[name] = values.astype(int).astype(object).where(documents["rank"].notna(), "").tolist()
        else:
            known = values.astype(object).where(values.notna(), "") if values.hasnans else values
            cells[name] = known.tolist() if name in ("rank", "row") else [*map(no_formula, known.tolist())]
    return cells


def explained_documents(scorer: "Scorer", documents: "pd.DataFrame", alpha: float) -> "list[PageDocument]":
    """Return documents with their reasons, formatted for the page."""
    from adbench_text.documents.page import page_documents

    explanations = scorer.explain_scored(documents)
    words, why = [], []
    for explanation in explanations:
        by_words, by_form = explanation.why, explanation.why_form
        words.append(explanation.words)
        why.append(by_form + by_words if scorer.by == "form" else by_words + by_form)
    columns: dict[str, Any] = {"words": words, "why": why}
    return page_documents(
        documents.assign(rank=range(1, len(documents) + 1), **columns), alpha, scorer.p_name
    )


def score_lines(table: "pd.DataFrame", suffix: str) -> str:
    """Return one line for each document, as JSON or CSV; an empty string for an empty suffix."""
    if suffix == ".jsonl":
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        return "".join(f"{json.dumps(row)}\n" for row in rows)
    if not suffix:
        return ""
    why = {name: table[name].map(", ".join) for name in ("why", "why_form") if name in table}
    cells = table.assign(odd=table["odd"].astype(int), **why).map(no_formula)
    return cells.to_csv(index=False, header=False, lineterminator="\n")
