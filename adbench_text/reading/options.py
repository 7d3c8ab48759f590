"""Options for reading a file, and losses while reading it."""

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
    """How to read a file. A value of None is guessed.

    Attributes
    ----------
    kind : str, optional
        One of ``csv``, ``tsv``, ``jsonl``, ``parquet``, ``lines``, ``mbox``, ``spreadsheet``,
        ``folder``.
    encoding : str
        Encoding of text files. A byte order mark takes precedence.
    delimiter : str, optional
        One character, or its name: ``tab``, ``comma``, ``semicolon``, ``pipe``, ``space``.
    header : bool
        Whether the first row of CSV, TSV and spreadsheets has the names of the columns.
    quotes : bool, optional
        Whether fields of CSV and TSV may be in double quotes. If not, a quote is a character.
    errors : {"strict", "replace"}
        On unreadable input: raise an error, or replace bytes by U+FFFD and skip rows.
    skip_lines : int, optional
        Lines to skip at the start of each file. The default skips titles above the header of a table.
    sheet : str, optional
        Name or number of the sheet of a spreadsheet, from 1 on. The default is the only one with rows.
    role : tuple of str
        Roles of the turns of a chat to keep; each may be a list with commas. The default keeps all turns.
    as_written : bool
        Whether to keep escapes such as HTML entities.
    likely : tuple of str
        Text columns of the model's file; used if present.
    """

    kind: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool = True
    quotes: bool | None = None
    errors: str = "strict"
    skip_lines: int | None = None
    sheet: str | None = None
    role: tuple[str, ...] = ()
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
        roles = [part.strip() for each in self.role for part in each.split(",")]
        object.__setattr__(self, "role", tuple(filter(None, roles)))
        if self.errors not in _ERRORS:
            raise UnknownNameError("value of errors", self.errors, _ERRORS)
        if self.skip_lines is not None and self.skip_lines < 0:
            raise InvalidValueError(f"skip_lines must be at least 0, got {self.skip_lines}.")

    @property
    def goes_on(self) -> bool:
        """Whether reading continues after unreadable input."""
        return self.errors == "replace"


@dataclass(frozen=True, kw_only=True)
class ReadOption(Option):
    """An option for a field of `ReadOptions`."""

    is_kept: bool = False  # whether a saved model keeps its value for new files

    @property
    def default(self) -> Any:
        """The default of the field."""
        return getattr(ReadOptions(), self.field)


#: All options for reading. Commands, sweeps and models select from them.
READ_OPTIONS = (
    ReadOption(
        "format",
        "csv, tsv, jsonl, parquet, lines, mbox, spreadsheet or folder.  [default: by the suffix]",
        field="kind",
    ),
    ReadOption("delimiter", "Delimiter: a character, or tab.  [default: guessed]", is_kept=True),
    ReadOption(
        "no-header",
        "The first row is not a header; name the columns column0, column1, ...",
        field="header",
        kind=bool,
        is_kept=True,
    ),
    ReadOption(
        "quotes", "Whether fields may be in double quotes.  [default: guessed]", kind=bool, is_kept=True
    ),
    ReadOption(
        "skip-lines",
        "Skip the first N lines of each file.  [default: skip titles above a header]",
        kind=int,
        least=0,
        metavar="N",
        is_kept=True,
    ),
    ReadOption(
        "sheet",
        "Sheet of a spreadsheet: its name, or its number from 1 on.  [default: the only one with rows]",
        metavar="NAME",
        is_kept=True,
    ),
    ReadOption(
        "role",
        "Keep only the turns of a chat that have this role, such as user or assistant.  [default: all turns]",
        is_several=True,
        metavar="ROLE",
        is_kept=True,
    ),
    ReadOption("encoding", "Encoding of the text, for example cp1252.", is_kept=True),
    ReadOption(
        "errors",
        "On unreadable input: stop, or replace bytes and skip rows.",
        choices=_ERRORS,
    ),
)


def changed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values of fields of `ReadOptions` that differ from the defaults.

    Raise InvalidValueError if a value is wrong.
    """
    given = {name: value for name, value in values.items() if value is not None}
    options, defaults = ReadOptions(**given), ReadOptions()
    return {name: value for name, value in given.items() if getattr(options, name) != getattr(defaults, name)}


# by kind of loss: the beginning of the sentence for one and for several, and its end
_SENTENCES = {
    "bytes": ("1 line has", "{n:,} lines have", "invalid bytes; U+FFFD replaces them"),
    "surrogates": (
        "1 value has",
        "{n:,} values have",
        "lone surrogates, which are not characters; U+FFFD replaces them",
    ),
    "left out": (
        "1 row is",
        "{n:,} rows are",
        "unreadable and left out; later rows have smaller numbers",
    ),
    "no text": ("1 row has", "{n:,} rows have", "a value that is not text; it counts as missing"),
    "repeated": (
        "1 row repeats",
        "{n:,} rows repeat",
        "the header; left out, so later rows have smaller numbers",
    ),
    "entities": ("1 text has", "{n:,} texts have", "HTML entities, which are read as characters"),
    "escapes": (
        "1 text has",
        "{n:,} texts have",
        "line breaks or tabs that a database escaped; they are read as white space",
    ),
    "missing": ("1 text is", "{n:,} texts are", "missing, written as {values}"),
    "short": (
        "1 row has",
        "{n:,} rows have",
        "fewer fields than the header; the rest is missing. A field with a line break must be in quotes",
    ),
    "merged": (
        "1 row holds",
        "{n:,} rows hold",
        "several lines that look like rows, joined by a quote. If a quote is a character in this file, give "
        "--no-quotes",
    ),
    "no file": ("1 file is", "{n:,} files are", "not text and left out"),
    "no part": ("1 file is", "{n:,} files are", "read only up to an error; the rest is left out"),
    "mail bytes": ("1 mail has", "{n:,} mails have", "invalid bytes; U+FFFD replaces them"),
    "attachments": ("1 attachment is", "{n:,} attachments are", "left out"),
}


@dataclass
class Losses:
    """Losses while a file is read: how often each kind occurs, and where first."""

    numbers: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, None]] = field(default_factory=dict)  # the lost values
    others: dict[str, str] = field(default_factory=dict)  # other notes, by kind

    def add(self, kind: str, place: str, n: int = 1, value: str = "") -> None:
        """Count `n` losses of a kind at a place; `value` is the lost value, for a sentence that names it."""
        self.numbers[kind] += n
        self.values.setdefault(kind, {})[value] = None
        self.first.setdefault(kind, place)

    def note(self, sentence: str, kind: str = "") -> None:
        """Add a note, unless there is one of the same kind; without a kind, unless it is there already."""
        self.others.setdefault(kind or sentence, sentence)

    @property
    def notes(self) -> list[str]:
        """One sentence for each kind."""
        sentences = [*self.others.values()]
        for kind, n in self.numbers.items():
            one, several, end = _SENTENCES[kind]
            beginning = one if n == 1 else several.format(n=n)
            place = self.first[kind] if n == 1 else f"first: {self.first[kind]}"
            sentences.append(f"{beginning} {end.format(values=listing(self.values[kind]))} ({place}).")
        return sentences
