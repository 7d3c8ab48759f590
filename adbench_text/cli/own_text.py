"""What the commands for a user's own documents share."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from adbench_text.cli.options import Name, setting

if TYPE_CHECKING:
    from adbench_text.documents.reading import Document

_PATIENCE = 1.0  # seconds


def document_options(command: Any) -> Any:
    """Add the options that say how a file of documents is read."""
    for option in (
        click.option("--encoding", default="utf-8", help="Encoding of the text, for example latin-1."),
        click.option(
            "--format",
            "kind",
            metavar="FORMAT",
            help="csv, tsv, jsonl, parquet, lines or folder.  [default: by the suffix]",
        ),
        click.option(
            "--id",
            "id_column",
            metavar="COLUMN",
            help="Column of the identifiers; '' to number the documents.  [default: id, if there is one]",
        ),
        click.option(
            "--text", metavar="COLUMN", help="Column of the text.  [default: the only one with text]"
        ),
    ):
        command = option(command)
    return command


def detector_options(command: Any) -> Any:
    """Add the options that choose a detector for own documents."""
    for option in (
        click.option(
            "--folds",
            "n_folds",
            default=10,
            type=click.IntRange(2),
            help="Fits of a detector that cannot leave single documents out; fewer are faster, less exact.",
        ),
        click.option("--seed", default=0, type=click.IntRange(0, 2**32 - 1), help="Seed."),
        click.option(
            "--clean/--no-clean", default=True, help="Remove stop words, punctuation and digits first."
        ),
        click.option("--language", default="en", help="Language of the documents: en, de, fr, ..."),
        click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Hyper-parameter."),
        click.option(
            "--preset", help="Named configuration.  [default: what the detector offers for the language]"
        ),
        click.option("--detector", "-d", default="llr", type=Name("detectors"), help="Detector."),
    ):
        command = option(command)
    return command


def settings_of(options: Sequence[str]) -> dict[str, Any]:
    """Return the hyper-parameters that ``--set`` gives."""
    return dict(setting(option) for option in options)


@contextmanager
def announced(message: str) -> Iterator[None]:
    """Print a message on standard error if the block takes more than a second."""
    timer = Timer(_PATIENCE, click.echo, [message], {"err": True})
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Columns(NamedTuple):
    """Names of the columns of a file, and those of text and identifiers."""

    names: list[str]
    text: str
    id: str | None


def read_all(
    file: str, text: str | None, id_column: str | None, kind: str | None, encoding: str
) -> "tuple[list[Document], Columns]":
    """Return all documents of a file; their identifiers must differ."""
    from adbench_text.documents.reading import Documents, check_unique

    source = Documents(file, text, id_column, kind, encoding)
    documents = list(source)
    if source.id_column is not None:
        check_unique(documents, source.id_column)
    return documents, Columns(source.columns, source.text_column, source.id_column)


def print_table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> None:
    """Print rows with columns that fit the terminal; the last column takes the space that is left."""
    from shutil import get_terminal_size

    from rich.cells import cell_len, set_cell_size

    from adbench_text.documents.escaping import one_line

    if not rows:
        return
    limits = [6, 20, 8, 40]
    lines = [[one_line(value[:500]) for value in row] for row in [header, *rows]]
    widths = [
        min(max(cell_len(line[column]) for line in lines), limit) for column, limit in enumerate(limits)
    ]
    rest = max(get_terminal_size((110, 24)).columns - sum(widths) - 2 * len(widths) - 1, 20)
    for line in lines:
        cells = [_fitted(value, width) for value, width in zip(line, [*widths, rest], strict=True)]
        cells[0] = set_cell_size("", widths[0] - cell_len(line[0])) + line[0]  # numbers to the right
        click.echo(" " + "  ".join(cells).rstrip())


def _fitted(value: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    if cell_len(value) > width:
        value = set_cell_size(value, width - 1) + "…"
    return set_cell_size(value, width)
