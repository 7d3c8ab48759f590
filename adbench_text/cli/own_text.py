"""Options and notes that the commands for the user's own documents share."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from adbench_text.cli.options import QUIET, Name, click_option
from adbench_text.documents import SAMPLE
from adbench_text.errors import InvalidValueError, listing
from adbench_text.escaping import count, printable
from adbench_text.orders import ORDERS
from adbench_text.plugins.configure import DEFAULT_DETECTOR, english_knowledge, setting
from adbench_text.reading.documents import DocumentFile
from adbench_text.reading.options import READ_OPTIONS
from adbench_text.run.cell_options import ENCODER
from adbench_text.text.language_finder import AUTO, LARGE_SHARE, MANY_DOCUMENTS

STDIN = "-"  # the FILE that is standard input

# Languages without spaces between words. Chinese and Japanese are missing: they are split by character.
_WITHOUT_SPACES = "bo", "km", "lo", "my", "th"
_FEW = 20  # with fewer documents, p of a model and p by form are rough
ALPHA = 0.01  # the default
_MOST_JOBS = 4  # largest default number of processes; each needs some hundred megabytes

#: Options of reading that a model keeps, besides the columns.
DIALECT = tuple(option.field for option in READ_OPTIONS if option.is_kept)

#: Options that say how a file of documents is read: the arguments of `DocumentFile`.
DOCUMENTS = [
    click.Option(
        ["--text"],
        multiple=True,
        metavar="COLUMN",
        help="Columns of the text.  [default: the only one with text]",
    ),
    click.Option(
        ["--id"],
        metavar="COLUMN",
        help="Column of identifiers; '' uses the row numbers.  [default: id]",
    ),
    *map(click_option, READ_OPTIONS),
]


def _set_encoder(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Add ``--encoder`` to the settings of ``--set``."""
    if value:
        ctx.params["settings"]["encoder"] = value  # --set is eager, so it was processed before


def _language(ctx: click.Context, param: click.Parameter, tag: str) -> str:
    """Return the standard tag of a language, or ``auto``."""
    from adbench_text.text.languages import standard  # slow: imports langcodes

    return tag if tag == AUTO else standard(tag)


LANGUAGE = click.Option(
    ["--language"],
    default="en",
    callback=_language,
    help="Language of the documents: en, de, pt-br, ..., or auto to detect it.",
)
SEED = click.Option(["--seed"], default=0, type=click.IntRange(0, 2**32 - 1), help="Seed.")

#: Options that choose a detector: the arguments of `odd_documents` and `fit_model`.
CHOICE = [
    click.Option(["--detector", "-d"], default=DEFAULT_DETECTOR, type=Name("detectors"), help="Detector."),
    click.Option(["--preset"], help="Preset.  [default: chosen for the language]"),
    click.Option(
        ["--set", "settings"],
        multiple=True,
        metavar="KEY=VALUE",
        is_eager=True,
        callback=lambda context, parameter, values: dict(map(setting, values)),
        help="Hyper-parameter.",
    ),
    click_option(ENCODER, expose_value=False, callback=_set_encoder),
    LANGUAGE,
    click.Option(
        ["--clean/--no-clean"], default=True, help="Remove stop words, punctuation and digits first."
    ),
    click.Option(
        ["--folds", "n_folds"],
        default=10,
        type=click.IntRange(2),
        help="Cross-validation folds.",
    ),
    SEED,
    click.Option(
        ["--sample"],
        default=SAMPLE,
        type=click.IntRange(2),
        help="Largest number of documents to learn from.",
    ),
]


def odd_options(of_by: str) -> list[click.Option]:
    """Return the options that decide when a document is odd. `of_by` is the help of ``--by``."""
    return [
        click.Option(
            ["--alpha"], default=ALPHA, type=float, help="Largest p of a document that is called odd."
        ),
        click.Option(["--by"], type=click.Choice(ORDERS), help=of_by),
    ]


#: Options that say where to compute. ``--address`` takes precedence over ``--jobs``.
WORK = [
    click.Option(
        ["--jobs"],
        default=lambda: min(os.cpu_count() or 1, _MOST_JOBS),
        show_default=f"the number of cores, at most {_MOST_JOBS}",
        type=click.IntRange(1),
        help="Processes that read and score a large file.",
    ),
    click.Option(["--address"], help="Address of a Dask scheduler, to compute on its cluster."),
    QUIET,
]


def named_column(ctx: click.Context, param: click.Parameter, column: str | None) -> str | None:
    """Refuse an empty name of a column."""
    if column == "":
        raise click.BadParameter("give the name of a column, or leave it out.")
    return column


def values_of(declared: Sequence[click.Option], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of some of the options of a command."""
    return {str(option.name): options[str(option.name)] for option in declared if option.expose_value}


def language_notes(choice: Mapping[str, Any]) -> list[str]:
    """Return notes if a language has no spaces or word frequencies, or the detector knows only English."""
    from adbench_text.documents.own_detector import own_detector
    from adbench_text.text.languages import has_frequencies

    language = choice["language"]
    notes = []
    own = own_detector(choice["detector"], choice["preset"], choice["settings"], language)
    # the default detector reads character n-grams, and so does a detector with `characters`
    reads_parts = own.name == DEFAULT_DETECTOR or own.detector.get_params().get("characters")
    if language in _WITHOUT_SPACES and not reads_parts:
        notes.append(
            f"the language {language!r} has no spaces between words, so a phrase counts as one word. Put "
            "spaces between the words first."
        )
    if not has_frequencies(language):
        notes.append(
            f"wordfreq has no frequencies of the language {language!r}, so frequent words such as "
            "articles are not removed."
        )
    if language != "en" and (english := english_knowledge(own.detector, own.settings)):
        notes.append(
            f"the {' and '.join(english)} of {own.label} are English, although the documents are in the "
            f"language {language!r}."
        )
    return notes


def found_languages(
    shares: Mapping[str, float], apart: Sequence[str] = (), *, notes_small: bool = False
) -> list[str]:
    """Return notes on the detected languages, and how they are read.

    `shares` has the main language first. `apart` has the languages that are ranked separately, with the main
    language; it is empty if all documents are read as the main language. With `notes_small`, a note says that
    the other languages have too few documents.
    """
    if not shares:
        return ["no document has enough text to detect its language; all are read as English."]
    main, *others = shares
    if not others:
        return [f"all documents are read as {main}."]
    named = ", ".join(f"{language} ({100 * share:.0f} %)" for language, share in shares.items())
    small = [language for language in others if language not in apart]  # they are read as the main language
    how = "each is ranked among the documents of its language" if apart else f"all are read as {main}"
    if apart and small:
        how = f"{how}, but {listing(small)} as {main}"
    notes = [f"the documents are in {named}; {how}."]
    if small and notes_small:
        notes.append(
            f"few documents are in {listing(small)}, and their ranks as {main} say little; a language is "
            f"ranked separately if it has at least {MANY_DOCUMENTS} documents and {100 * LARGE_SHARE:g} % of "
            "them."
        )
    return notes


def forgotten_language(detected: str, given: str) -> str:
    """Return a note that most documents are not in the given language."""
    return f"most documents are in the language {detected!r}, not {given!r}; give --language {detected}."


def second_language(detected: str, share: float, given: str) -> str:
    """Return a note that many documents are in a second language, with advice."""
    return (
        f"about {100 * share:.0f} % of the different documents are in the language {detected!r}, and all are "
        f"read as {given!r}; --language auto ranks each among the documents of its language."
    )


def few_notes(n: int, p: str) -> list[str]:
    """Return a note if `n` documents are too few for p-values; 0 stands for no p-values."""
    few = f"{p} among {count(n, 'document')} is rough; {_FEW} or more are needed."
    return [few] if 0 < n < _FEW else []


def opened(file: str, options: Mapping[str, Any], **others: Any) -> DocumentFile:
    """Return the documents of a file, and print its notes. `others` are arguments of `DocumentFile`."""
    documents = DocumentFile(file, **values_of(DOCUMENTS, options), **others)
    print_notes(documents.notes)
    return documents


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on standard error."""
    for note in notes:
        click.echo(f"Note: {printable(note)}", err=True)


def how_read(file: DocumentFile, of_groups: str = "groups") -> str:
    """Return a line that says how a file was read, with all guesses.

    `of_groups` says what the column of groups holds.
    """
    columns = [f"text {each!r}" for each in file.text_columns if len(file.columns) > 1]
    columns += [f"identifiers {file.id_column!r}"] if file.id_column else []
    columns += [f"{of_groups} {file.group_column!r}"] if file.group_column else []
    return printable(f"Read as {file.description}{''.join(f'; {each}' for each in columns)}.")


def check_outputs(file: str, *outputs: Path) -> None:
    """Raise InvalidValueError if an output would replace FILE, or be in its folder of documents."""
    source = Path(file).expanduser().resolve()
    for output in () if file in (STDIN, "") else outputs:  # reading an empty path raises an error later
        target = output.resolve()
        # every file of a folder is a document: the next run would also rank this output
        if source == target or (source.is_dir() and source in target.parents):
            raise InvalidValueError(
                f"{output} would replace {file} or become one of its documents; give a path outside of it."
            )


def outputs_of(output: Path) -> tuple[Path, Path]:
    """Return the paths of the table and the page."""
    if output.name in ("", ".."):
        raise InvalidValueError(f"{str(output)!r} is a folder; --output is the path of a file.")
    name = output.name.removesuffix(".csv").removesuffix(".html")
    return output.with_name(f"{name}.csv"), output.with_name(f"{name}.html")
