"""What the commands for a user's own documents share."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from adbench_text.cli.names import Name
from adbench_text.cli.options import setting
from adbench_text.documents import DEFAULT_DETECTOR
from adbench_text.escaping import printable

if TYPE_CHECKING:
    from adbench_text.documents.reading import Document, Documents

_PATIENCE = 1.0  # seconds
_WITHOUT_SPACES = "bo", "km", "lo", "my", "th"  # between words; Chinese and Japanese are split by character


@dataclass(frozen=True)
class Source:
    """How a file of documents is read; the arguments of `adbench_text.documents.reading.Documents`."""

    text: str | None
    id: str | None
    kind: str | None
    encoding: str


@dataclass(frozen=True)
class Choice:
    """A detector for own documents; the arguments of `odd_documents` and `fit_model`."""

    detector: str
    preset: str | None
    settings: Sequence[str]
    language: str
    clean: bool
    n_folds: int
    seed: int

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments by name."""
        return {**vars(self), "settings": dict(setting(option) for option in self.settings)}


def document_options(command: Any) -> Any:
    """Add the options that say how a file of documents is read; the command receives them as `source`."""
    return _together(
        command,
        "source",
        Source,
        click.option(
            "--text", metavar="COLUMN", help="Column of the text.  [default: the only one with text]"
        ),
        click.option(
            "--id",
            metavar="COLUMN",
            help="Column of the identifiers; '' to number the documents.  [default: id, if there is one]",
        ),
        click.option(
            "--format",
            "kind",
            metavar="FORMAT",
            help="csv, tsv, jsonl, parquet, lines or folder.  [default: by the suffix]",
        ),
        click.option("--encoding", default="utf-8", help="Encoding of the text, for example latin-1."),
    )


def detector_options(command: Any) -> Any:
    """Add the options that choose a detector for own documents; the command receives them as `choice`."""
    return _together(
        command,
        "choice",
        Choice,
        click.option("--detector", "-d", default=DEFAULT_DETECTOR, type=Name("detectors"), help="Detector."),
        click.option(
            "--preset",
            type=Name("presets"),
            help="Named configuration.  [default: what the detector offers for the language]",
        ),
        click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Hyper-parameter."),
        click.option("--language", default="en", help="Language of the documents: en, de, fr, ..."),
        click.option(
            "--clean/--no-clean", default=True, help="Remove stop words, punctuation and digits first."
        ),
        click.option(
            "--folds",
            "n_folds",
            default=10,
            type=click.IntRange(2),
            help="Fits of a detector that cannot leave single documents out; fewer are faster, less exact.",
        ),
        click.option("--seed", default=0, type=click.IntRange(0, 2**32 - 1), help="Seed."),
    )


def alpha_option(share: str) -> Callable[[Any], Any]:
    """Return a decorator that adds the option ``--alpha``: the share of which documents."""
    return click.option("--alpha", default=0.01, type=float, help=f"{share}, in (0, 1).")


#: For a model of normal documents.
normal_alpha_option = alpha_option("Share of normal documents that may be called odd")


def language_notes(choice: Choice) -> list[str]:
    """Return what is missing for a language: spaces, word frequencies, knowledge of the detector."""
    from adbench_text.documents.detectors import english_knowledge
    from adbench_text.text.cleaning import has_frequencies

    notes = []
    if choice.language in _WITHOUT_SPACES:
        notes.append(
            f"the language {choice.language!r} has no spaces between words, so that a phrase counts as one "
            "word. Put spaces between the words first."
        )
    if not has_frequencies(choice.language):
        notes.append(
            f"wordfreq has no frequencies of the language {choice.language!r}: "
            "frequent words such as articles stay."
        )
    label, english = english_knowledge(
        choice.detector, choice.preset, choice.arguments["settings"], choice.language
    )
    if english:
        notes.append(
            f"the {' and '.join(english)} of {label} are English, although the documents are in the language "
            f"{choice.language!r}."
        )
    return notes


def _together(command: Any, name: str, kind: type[Any], *options: Any) -> Any:
    """Add options to a command, which receives them as one argument of a data class."""

    @wraps(command)
    def wrapped(**values: Any) -> Any:
        own = {field.name: values.pop(field.name) for field in fields(kind)}
        return command(**{name: kind(**own)}, **values)

    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


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
    """Names of all columns of a file, and those of text and identifiers."""

    names: list[str]
    text: str
    id: str | None


def opened(file: str, source: Source) -> "Documents":
    """Return the documents of a file, to be read; print what is left out."""
    from adbench_text.documents.reading import Documents

    documents = Documents(file, **vars(source))
    for note in documents.notes:
        click.echo(f"Note: {printable(note)}", err=True)
    return documents


def read_all(file: str, source: Source) -> "tuple[list[Document], Columns]":
    """Return all documents of a file; their identifiers must differ."""
    from adbench_text.documents.reading import check_unique

    read = opened(file, source)
    documents = list(read)
    if read.id_column is not None:
        check_unique(documents, read.id_column)
    names = dict.fromkeys(name for document in documents for name in document.fields)
    return documents, Columns(list(names), read.text_column, read.id_column)


def check_outputs(file: str, *outputs: Path) -> None:
    """Raise InvalidValueError if an output would overwrite the documents of FILE, or be one of them later."""
    from adbench_text.errors import InvalidValueError

    if file in ("-", ""):  # an empty path is an error when it is read
        return
    source = Path(file).expanduser().resolve()
    for output in outputs:
        if output.resolve() == source:
            raise InvalidValueError(f"{file} would be overwritten by the result; give another --output.")
        # Every file of a folder is a document: the next run would rank this output with the others.
        if source.is_dir() and source in output.resolve().parents:
            raise InvalidValueError(
                f"{output} would be among the documents of the folder {file}; give an --output outside of "
                f"it, for example in {source.parent}."
            )


def print_table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> None:
    """Print rows in columns that fit the terminal; a column without values is left out."""
    from shutil import get_terminal_size

    from rich.cells import cell_len, set_cell_size

    from adbench_text.escaping import one_line

    if not rows:
        return
    filled = [column for column in range(len(header)) if any(row[column] for row in rows)]
    limits = [limit for column, limit in enumerate([6, 20, 8, 6, 40]) if column in filled]
    lines = [[one_line(row[column][:500]) for column in filled] for row in [header, *rows]]
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
