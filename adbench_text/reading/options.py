"""How a file is to be read, and what was lost when it was."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adbench_text.errors import InvalidValueError, UnknownNameError, listing
from adbench_text.option import Option

_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
_ERRORS = ("strict", "replace")


@dataclass(frozen=True)
class ReadOptions:
    """How a file is to be read; what is None is guessed.

    Attributes
    ----------
    kind : str, optional
        One of ``csv``, ``tsv``, ``jsonl``, ``parquet``, ``lines``, ``mbox``, ``folder``.
    encoding : str
        Of text files; a byte order mark takes precedence.
    delimiter : str, optional
        One character, or its name: ``tab``, ``comma``, ``semicolon``, ``pipe``, ``space``.
    header : bool
        Whether the first row of CSV and TSV has the names of the columns.
    quotes : bool, optional
        Whether fields of CSV and TSV may be in double quotes; if not, a quote is a character.
    errors : {"strict", "replace"}
        Whether an error is raised where a file cannot be read, or U+FFFD replaces wrong bytes, and rows that
        cannot be read are left out.
    skip_lines : int, optional
        Lines to leave out at the start of each file; by default the titles above the header of CSV and TSV.
    as_written : bool
        Whether texts keep escapes, such as entities of HTML, because somebody counts their characters.
    likely : tuple of str
        Columns of the text that a file like it has; what has them is read by them.
    """

    kind: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool = True
    quotes: bool | None = None
    errors: str = "strict"
    skip_lines: int | None = None
    as_written: bool = False
    likely: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            delimiter = _DELIMITERS.get(self.delimiter, self.delimiter)
            if len(delimiter) != 1 or delimiter in '"\r\n\0':
                raise InvalidValueError(
                    f"The delimiter is {self.delimiter!r}; give one character, or one of "
                    f"{', '.join(_DELIMITERS)}."
                )
            object.__setattr__(self, "delimiter", delimiter)
        if self.errors not in _ERRORS:
            raise UnknownNameError("value of errors", self.errors, _ERRORS)
        if self.skip_lines is not None and self.skip_lines < 0:
            raise InvalidValueError(f"skip_lines must be at least 0, got {self.skip_lines}.")

    @property
    def goes_on(self) -> bool:
        """Whether reading goes on where something cannot be read."""
        return self.errors == "replace"


@dataclass(frozen=True, kw_only=True)
class ReadOption(Option):
    """An option for a field of `ReadOptions`."""

    is_kept: bool = False  # by a saved model, for the next file

    @property
    def default(self) -> Any:
        """The value of the field if none is given."""
        return getattr(ReadOptions(), self.field)


#: All of them; commands, sweeps and models take what they need from here.
READ_OPTIONS = (
    ReadOption(
        "format", "csv, tsv, jsonl, parquet, lines, mbox or folder.  [default: by the suffix]", field="kind"
    ),
    ReadOption("delimiter", "Delimiter: a character, or tab.  [default: guessed]", is_kept=True),
    ReadOption(
        "no-header",
        "The first row is no header; the columns are column0, column1, ...",
        field="header",
        kind=bool,
        is_kept=True,
    ),
    ReadOption(
        "quotes", "Whether fields may be in double quotes.  [default: guessed]", kind=bool, is_kept=True
    ),
    ReadOption(
        "skip-lines",
        "Leave out the first N lines of each file.  [default: titles above a header]",
        kind=int,
        least=0,
        metavar="N",
        is_kept=True,
    ),
    ReadOption("encoding", "Encoding of the text, for example cp1252.", is_kept=True),
    ReadOption(
        "errors",
        "At what cannot be read: stop, or go on: U+FFFD replaces wrong bytes, wrong rows are left out.",
        choices=_ERRORS,
    ),
)


def changed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of fields of `ReadOptions` that are given and differ from the defaults.

    Raise InvalidValueError if one is wrong.
    """
    given = {name: value for name, value in values.items() if value is not None}
    options, defaults = ReadOptions(**given), ReadOptions()
    return {name: value for name, value in given.items() if getattr(options, name) != getattr(defaults, name)}


# what is lost: of one, and of several, given their number; then what to know
_SENTENCES = {
    "bytes": ("1 line has", "{n:,} lines have", "bytes that are no characters; U+FFFD replaces them"),
    "surrogates": (
        "1 value has",
        "{n:,} values have",
        "lone surrogates, which are no characters; U+FFFD replaces them",
    ),
    "left out": (
        "1 row is",
        "{n:,} rows are",
        "left out, since it cannot be read; later rows have smaller numbers",
    ),
    "no text": ("1 row has", "{n:,} rows have", "a value that is no text; it counts as missing"),
    "repeated": (
        "1 row repeats",
        "{n:,} rows repeat",
        "the header; left out, so that later rows have smaller numbers",
    ),
    "entities": ("1 text has", "{n:,} texts have", "entities of HTML, which are read as characters"),
    "escapes": (
        "1 text has",
        "{n:,} texts have",
        "line breaks or tabs as a database escapes them, which are read as white space",
    ),
    "missing": ("1 text is", "{n:,} texts are", "missing, written as {values}"),
    "short": (
        "1 row has",
        "{n:,} rows have",
        "fewer fields than the header; the others are missing. A field with a line break must be in quotes",
    ),
    "merged": (
        "1 row holds",
        "{n:,} rows hold",
        "several lines that look like rows, joined by a quote. If a quote is a character in this file, give "
        "--no-quotes",
    ),
    "no file": ("1 file is", "{n:,} files are", "left out, since it is no text"),
    "no part": ("1 file is", "{n:,} files are", "read only up to an error, and the rest is left out"),
    "attachments": ("1 attachment is", "{n:,} attachments are", "left out"),
}


@dataclass
class Losses:
    """What was lost while a file was read: how often each kind, and where first."""

    numbers: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, None]] = field(default_factory=dict)  # the values that were lost
    others: dict[str, str] = field(default_factory=dict)  # notes of their own, by kind

    def add(self, kind: str, place: str, n: int = 1, value: str = "") -> None:
        """Count a loss."""
        self.numbers[kind] += n
        self.values.setdefault(kind, {})[value] = None
        self.first.setdefault(kind, place)

    def note(self, sentence: str, kind: str = "") -> None:
        """Keep the first sentence of a kind."""
        self.others.setdefault(kind or sentence, sentence)

    @property
    def notes(self) -> list[str]:
        """A sentence for each kind."""
        sentences = [*self.others.values()]
        for kind, n in self.numbers.items():
            one, several, what = _SENTENCES[kind]
            what = what.format(values=listing(self.values[kind]))
            where = self.first[kind] if n == 1 else f"first: {self.first[kind]}"
            sentences.append(f"{one if n == 1 else several.format(n=n)} {what} ({where}).")
        return sentences
