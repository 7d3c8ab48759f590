"""Open a source of rows: a file, the files of a folder, a pipe, or a data set of Hugging Face."""

import sys
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.escaping import count
from adbench_text.reading import chats, json_rows, mail, parquet, separated, spreadsheets
from adbench_text.reading.batch import LONGEST, Batch, batch_of, check_length, in_sizes
from adbench_text.reading.decoding import PACKED_SUFFIXES, Lines, named_errors, only_member, unpacked
from adbench_text.reading.dialects import Dialect
from adbench_text.reading.hub import HUB, HubData
from adbench_text.reading.options import Losses, ReadOptions
from adbench_text.storage import database_advice

STDIN, STDIN_NAME = "-", "standard input"
TEXT = json_rows.TEXT
_TABLES = ("csv", "tsv", "jsonl", "parquet", "mbox", spreadsheets.KIND)
KINDS = (*_TABLES, "lines", "folder")
#: Format of a file by its suffix.
FORMAT_OF_SUFFIX = {
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
    "parquet": "parquet",
    "pq": "parquet",
    "mbox": "mbox",
    "txt": "lines",
    "log": "lines",
    **dict.fromkeys(spreadsheets.SUFFIXES, spreadsheets.KIND),
}
_WIDE = ("utf-16", "utf16", "utf-32", "utf32")  # encodings of text with NUL bytes
_LOOKED_AT = 8192  # bytes
_N_COMPARED = 50  # lines
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # a missing value in a folder label=..., from Hive and Spark


class WholeLines(NamedTuple):
    """How a file is cut into lines and rows, where a row is one or several whole lines."""

    lines: Lines  #: read to the end
    dialect: Dialect | None = None  #: of CSV and TSV; otherwise a row is one line


@dataclass
class Source:
    """A source of rows, which are read in batches. A pipe can be read only once.

    The keys of `files` are names for messages. `description` lists the guesses; it is known after rows are
    read.
    """

    name: str
    options: ReadOptions
    text: Collection[str] = ()  # columns that the user named
    files: dict[str, Path] = field(default_factory=dict)
    pipe: BinaryIO | None = None
    hub: HubData | None = None
    losses: Losses = field(default_factory=Losses)
    notes: list[str] = field(default_factory=list)  # known before reading
    doubled: set[str] = field(default_factory=set)  # names of several columns
    chosen: Collection[str] = ()  # columns of the text that the user named
    description: str = ""
    found_text: str = ""  # the column of the text, if the format has one; known after rows are read
    correcting: str = ""  # options that correct the guesses; known after rows are read
    whole_lines: WholeLines | None = None  # if a row is one or several whole lines; known after rows are read
    _skipped: set[str] = field(default_factory=set)  # names of unreadable files
    is_table: bool = True  # whether texts are cells; known after rows are read

    @property
    def kind(self) -> str | None:
        """The format; None for a pipe whose first line shows it."""
        return self.options.kind

    @property
    def goes_on(self) -> bool:
        """Whether unreadable files are skipped, if there are several files."""
        return self.options.goes_on and len(self.files) > 1

    @property
    def advice(self) -> str:
        """Advice if a column is not found because of a wrong guess; empty for other formats."""
        if not self.correcting:
            return ""
        return f"It was read as {self.description}; {self.correcting} change this."

    def batches(self, only: Collection[str] | None = None) -> Iterator[Batch]:
        """Yield all rows. `only` selects columns of Parquet and Hugging Face."""
        if self.options.skip_lines and (self.hub or self.kind in ("parquet", "mbox")):
            raise InvalidValueError(
                f"{self.name} has no lines to skip; --skip-lines is for CSV, TSV, JSON and plain lines."
            )
        if self.options.sheet is not None and self.kind != spreadsheets.KIND:
            self.losses.note(f"{self.name} is not a spreadsheet, so --sheet is not used.")
        if self.hub:
            self.description = "a data set of Hugging Face"
            yield from self.hub.batches(only)
        elif self.pipe:
            with named_errors(self.name):
                yield from self._parsed(self.pipe, self.name, only)
        elif self.kind == "folder":
            yield from self._texts()
        else:
            for name, file in self.files.items():
                try:
                    yield from self._part(name, file, only)
                except DataError as error:
                    self.skip_part(name, error)
            if len(self.files) > 1:
                self.description = f"{len(self.files):,} files, each {self.description}"
        if self.options.role and not self.found_text:
            self.losses.note(f"{self.name} has no chats, so --role is not used.")

    def _part(self, name: str, file: Path, only: Collection[str] | None) -> Iterator[Batch]:
        """Yield the rows of a file, with the columns in the names of its folders."""
        with named_errors(file), file.open("rb") as stream:
            partition = _partition(Path(name))
            for batch in self._parsed(stream, name, only):
                more = {key: [value] * len(batch) for key, value in partition.items()}
                yield replace(batch, columns={**batch.columns, **more})

    def skip_part(self, name: str, error: DataError) -> None:
        """Count an unreadable file; raise its error unless unreadable files are skipped."""
        if not self.goes_on:
            if len(self.files) < 2 or "--errors replace" in str(error):
                raise error
            raise DataError(f"{error} --errors replace skips such files.") from error
        if name not in self._skipped:  # some formats read their first rows twice
            self._skipped.add(name)
            self.losses.add("no part", str(error).rstrip("."))

    def _parsed(self, stream: BinaryIO, name: str, only: Collection[str] | None) -> Iterator[Batch]:
        """Yield the rows of a stream; set what is known after rows are read, such as `description`."""
        kind = self.kind
        if kind == "parquet":
            self.description = "Parquet"
            yield from parquet.batches(stream, name, only, self.doubled)
            return
        if kind == "mbox":
            self.description, self.is_table = "mails", False
            yield from mail.batches(unpacked(stream, name), name, self.losses, self.options.encoding)
            return
        if kind == spreadsheets.KIND:
            wanted = self.text or self.options.likely
            sheet = spreadsheets.SheetFile(stream, name, self.options, self.losses, wanted=wanted)
            self.doubled |= sheet.doubled
            self.description = sheet.description
            self.correcting = "--sheet, --skip-lines and --no-header"
            yield from sheet.batches()
            return
        lines = Lines(stream, name, self.options, self.losses, any_end=kind in ("csv", "tsv"))
        if kind in ("csv", "tsv") and lines.first_line().startswith('{"'):
            kind = "jsonl"  # the file has a wrong suffix
        if kind is None:
            kind = _kind_of_lines(lines, self.text, self.options)
            lines.any_end = kind in ("csv", "tsv")
        encoding, sizes = lines.encoding.upper(), lines.sizes(grow=self.pipe is not None)
        if kind == "lines":
            self.description, self.is_table = f"lines, {encoding}", False
            self.whole_lines = WholeLines(lines)
            self._note_tabs(lines.ahead()[:_N_COMPARED], name)
            yield from _plain(lines, name, sizes)
        elif kind == "jsonl":
            self.description = f"JSON, {encoding}"
            chat = chats.Chats(
                name, self.options, self.losses, chosen=self.chosen, is_part=len(self.files) > 1
            )
            batches = json_rows.batches(lines, name, self.options, self.losses, sizes, chat)
            first = next(batches, None)  # shows whether the rows are conversations
            if chat.is_found:
                self.description = f"chats, a document for each turn, {encoding}"
                self.found_text, self.is_table = chats.TEXT, False
            elif json_rows.is_by_line(lines.first_line()):
                self.whole_lines = WholeLines(lines)
            if first is not None:
                yield first
                yield from batches
        else:
            wanted = self.text or self.options.likely
            table = separated.SeparatedFile(
                lines, name, replace(self.options, kind=kind), self.losses, wanted=wanted
            )
            is_named = self.text or (wanted and {*wanted} <= {*table.names})
            if self.options.header and not is_named:
                table.note_header()
            self.doubled |= table.doubled
            header = "header" if self.options.header else "no header"
            self.description = f"{table.dialect}, {header}, {encoding}"
            self.whole_lines = WholeLines(lines, table.dialect)
            self.correcting = "--delimiter, --skip-lines and --no-header"
            yield from table.batches(sizes)

    def _note_tabs(self, first: list[str], name: str) -> None:
        """Add a note if plain lines may be rows: all have the same number of tabs."""
        if len(first) > 1 and len(numbers := {line.count("\t") for line in first}) == 1 and 0 not in numbers:
            self.losses.note(
                f"Each line of {name} has {count(numbers.pop(), 'tab')}; if they separate columns, give "
                "--format tsv."
            )

    def _texts(self) -> Iterator[Batch]:
        """Yield the files of a folder, one document each. A file that is not text is skipped."""
        n_read, n_mails, self.is_table = 0, 0, False
        for name, file in self.files.items():
            try:
                with named_errors(file), file.open("rb") as stream:
                    content = unpacked(stream, name)
                    is_mail = mail.is_mail(name, content.peek(_LOOKED_AT))
                    row = (
                        mail.row(content.read(mail.LARGEST), name, self.losses, self.options.encoding)
                        if is_mail
                        else self._text(content, name)
                    )
                if self.options.goes_on:  # otherwise a later check raises the error
                    check_length(row[TEXT], name)
            except DataError as error:
                self.losses.add("no file", str(error).rstrip("."))
                continue
            n_read, n_mails = n_read + 1, n_mails + (1 if is_mail else 0)
            yield batch_of([{"file": name, **row}], [1], name)
        mails = f", {n_mails:,} of them mails" if n_mails else ""
        self.description = f"{n_read:,} files, a document each{mails}, {self.options.encoding.upper()}"

    def _text(self, content: Any, name: str) -> dict[str, Any]:
        """Return the text of a file. Wrong bytes are replaced; a binary file is an error."""
        lines = Lines(content, name, replace(self.options, errors="replace"), self.losses)
        if b"\0" in content.peek(_LOOKED_AT)[:_LOOKED_AT] and not lines.encoding.lower().startswith(_WIDE):
            raise DataError(f"{name} has a NUL byte")
        blocks, n_characters = [], 0
        for block in lines.blocks():
            blocks.append(block)
            n_characters += len(block)
            if n_characters > LONGEST:  # a small compressed file may unpack to more than the memory
                break
        return {TEXT: "".join(blocks)}


def source_of(path: str, text: Collection[str], options: ReadOptions) -> Source:
    """Return the source that a path, ``"-"`` or ``"hf:..."`` names."""
    kind = options.kind
    if kind is not None and kind not in KINDS:
        raise UnknownNameError("format of documents", kind, KINDS)
    if not path:  # an unset variable of the shell; `Path` would read it as the current folder
        raise InvalidValueError("The path of the documents is empty (''); give a file, a folder, or - .")
    if path.startswith(HUB):
        data = HubData(path)
        return Source(path, options, text, notes=data.notes, hub=data)
    if path == STDIN:
        return _of_pipe(STDIN_NAME, sys.stdin.buffer, options, text)
    file = Path(path).expanduser()
    with named_errors(file):
        if file.is_dir():
            return _of_folder(path, file, options, text)
        if not file.exists():
            raise DataError(f"There is no file {file}.")
        if not file.is_file():  # a named pipe, or <(command) in a shell
            pipe = file.open("rb")
            if not (file.is_fifo() or pipe.isatty()):
                raise DataError(f"{file} is a device, which may have no end; give a file or a pipe.")
            return _of_pipe(file.name, pipe, options, text)
        kind = kind or _kind_of(file)
    return Source(path, replace(options, kind=kind), text, {file.name: file})


def _of_pipe(name: str, pipe: BinaryIO, options: ReadOptions, text: Collection[str]) -> Source:
    """Return the source of a pipe; formats with their contents at the end are read into memory."""
    if options.kind == "folder":
        raise DataError(f"{name} cannot be read as {options.kind}; save it to a file.")
    if options.kind in ("parquet", spreadsheets.KIND):
        from io import BytesIO

        pipe = BytesIO(pipe.read())
    return Source(name, options, text, pipe=pipe)


def _of_folder(path: str, folder: Path, options: ReadOptions, text: Collection[str]) -> Source:
    """Return the files of a folder: parts of one table, or otherwise one document each."""
    source = Source(path, options, text)
    names = _files_of_folder(folder, source.notes)
    data = [name for name in names if not any(part.startswith("_") for part in name.parts)]  # without Spark's
    kinds = {name: kind_of_name(name.name) for name in data}
    different = set(kinds.values())
    kind = options.kind
    if kind is None:
        (only_kind,) = different if len(different) == 1 else (None,)
        kind = only_kind if only_kind in _TABLES else "folder"
        n_tables = sum(each in _TABLES for each in kinds.values())
        if kind == "folder" and n_tables:
            source.notes.append(
                f"Each file of {path} is one document, also {count(n_tables, 'table')}. To read their rows, "
                f"give --format {next(each for each in _TABLES if each in different)}."
            )
    chosen = names
    if kind != "folder":
        chosen = [name for name in data if kinds[name] == kind] or ([] if kind == "parquet" else data)
        if n_others := len(data) - len(chosen):
            source.notes.append(f"Skipped {count(n_others, 'other file')} of {path}.")
    source.options = replace(options, kind=kind)
    source.files = {str(name): folder / name for name in chosen}
    return source


def kind_of_name(name: str) -> str | None:
    """Return the format that the suffix of a file shows, or None."""
    lower = name.lower()
    for packed in PACKED_SUFFIXES:
        lower = lower.removesuffix(packed)
    return FORMAT_OF_SUFFIX.get(Path(lower).suffix.removeprefix("."))


def _kind_of(file: Path) -> str:
    """Return the format of a file by its suffix, or by the suffix of the only file in a ZIP archive.

    Raise an error if the suffix shows no format.
    """
    kind = kind_of_name(file.name)
    if kind is None and zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            kind = kind_of_name(only_member(archive, file.name))
    if kind is None and (advice := database_advice(file)):
        raise DataError(f"{advice}.")
    if kind is None:
        raise InvalidValueError(
            f"Cannot guess the format of {file.name} from its suffix; give --format: {', '.join(KINDS)}. "
            f"Spreadsheets are read from {', '.join(f'.{each}' for each in spreadsheets.SUFFIXES)}."
        )
    return kind


def _kind_of_lines(lines: Lines, text: Collection[str], options: ReadOptions) -> str:
    """Return the format of a pipe by its first lines. It is CSV if a header has the given columns."""
    if json_rows.is_json(lines.first_line()):
        return "jsonl"
    if options.delimiter or not options.header:
        return "csv"
    header = separated.header_of(lines.ahead(), text or options.likely)
    if options.likely and set(options.likely) <= set(header):
        return "csv"
    # plain lines have only the column "text"; any other column must come from a header
    return "csv" if text and (TEXT in header or [*text] != [TEXT]) else "lines"


def _plain(lines: Lines, name: str, sizes: Iterator[int]) -> Iterator[Batch]:
    """Yield the lines in batches, each a document."""
    number = 1 + lines.n_skipped
    for taken in in_sizes(iter(lines), sizes, lines.is_waiting if lines.is_pipe else None):
        texts = [line.rstrip("\r\n") for line in taken]
        yield Batch({TEXT: texts}, range(number, number + len(texts)), name)
        number += len(taken)


def _partition(name: Path) -> dict[str, str | None]:
    """Return the columns in the names of folders, such as ``label=garden/``."""
    pairs = [part.partition("=") for part in name.parts[:-1] if "=" in part]
    return {unquote(key): None if value == _NO_VALUE else unquote(value) for key, _, value in pairs}


def _files_of_folder(folder: Path, notes: list[str]) -> list[Path]:
    """Return the visible files of a folder and its subfolders, sorted by path.

    Anybody may have made a link, and it may lead to any file of this machine. So links that leave the folder
    are skipped, with a note.
    """
    names = [file.relative_to(folder) for file in sorted(folder.rglob("*"))]
    visible = [name for name in names if not any(part.startswith(".") for part in name.parts)]
    root = folder.resolve()
    files = [
        name
        for name in visible
        if (path := folder / name).is_file() and (not path.is_symlink() or root in path.resolve().parents)
    ]
    others = [folder / name for name in set(visible).difference(files)]
    if n_pipes := sum(not (each.is_symlink() or each.is_dir()) for each in others):
        notes.append(f"Skipped {count(n_pipes, 'pipe or device', 'pipes and devices')} of {folder}.")
    if n_links := sum(map(Path.is_symlink, others)):
        notes.append(f"Skipped {count(n_links, 'link')} of {folder}: only links to files in it are read.")
    return files
