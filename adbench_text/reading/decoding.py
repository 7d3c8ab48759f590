"""Decode the bytes of a file into lines: compression, encoding, line ends."""

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from adbench_text.errors import DataError, InvalidValueError
from adbench_text.escaping import one_line
from adbench_text.reading.batch import MOST_CHARACTERS, MOST_ROWS
from adbench_text.reading.options import Losses, ReadOptions

BUFFER = 2**18  # bytes to decode at a time
_LONGEST_LINE = 41_000_000  # characters; a row is longer than its document
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF8, _UTF16 = "utf-8", "utf-16"
# byte order marks; UTF-32 comes before UTF-16, because its mark begins with the mark of UTF-16
_MARKS = (
    (codecs.BOM_UTF8, _UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    *((mark, _UTF16) for mark in UTF16_MARKS),
)

# the first bytes of compressed files
_GZIP, _BZIP2, _XZ, _ZSTD, _ZIP = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"PK\3\4"
#: Suffixes of compressed files.
PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zip")


@contextmanager
def named_errors(file: Path | str) -> Iterator[None]:
    """Turn errors of the system and of decompression into DataError with the name of the file."""
    from pyarrow import ArrowException

    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise DataError(f"{file} cannot be unpacked, it is damaged: {one_line(str(error))}.") from error
    except (OSError, ArrowException) as error:
        reason = one_line(getattr(error, "strerror", None) or str(error)).rstrip(".")
        raise DataError(f"Cannot read {file}: {reason}.") from error


def unpacked(stream: BinaryIO, name: str) -> Any:
    """Return a buffered stream of the bytes of a file. A compressed file is unpacked, whatever its name.

    `name` is for messages.
    """
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
    start = buffered.peek(6)
    if start.startswith(_GZIP):
        return io.BufferedReader(gzip.GzipFile(fileobj=buffered), BUFFER)
    if start.startswith(_BZIP2):
        return bz2.BZ2File(buffered)
    if start.startswith(_XZ):
        return lzma.LZMAFile(buffered)
    if start.startswith(_ZSTD):
        from pyarrow import CompressedInputStream

        return io.BufferedReader(CompressedInputStream(buffered, "zstd"), BUFFER)
    if start.startswith(_ZIP):
        if not buffered.seekable():
            raise DataError(f"{name} is a ZIP archive, which cannot be read from a pipe; save it to a file.")
        archive = zipfile.ZipFile(buffered)
        try:
            return archive.open(only_member(archive, name))
        except RuntimeError as error:  # the archive has a password
            raise DataError(f"{name} cannot be unpacked: {error}.") from error
    return buffered


def only_member(archive: zipfile.ZipFile, name: str) -> str:
    """Return the name of the only file in a ZIP archive; raise DataError if there is not exactly one."""
    members = [
        member
        for member in archive.namelist()
        if not member.endswith("/")
        and not member.startswith("__MACOSX/")
        and not Path(member).name.startswith(".")
    ]
    if "[Content_Types].xml" in members:
        raise DataError(
            f"{name} is a file of Office. For a spreadsheet, give --format spreadsheet; export another "
            "document as text."
        )
    if len(members) != 1:
        raise DataError(f"{name} is a ZIP archive of {len(members):,} files; unpack it to a folder.")
    return members[0]


class Lines:
    """The lines of a text file, with their line ends.

    A line ends with a line feed. With `any_end`, or in a file without any line feed, it may also end with a
    carriage return. Bytes that are not in the encoding, and NUL, raise an error with the number of the line.

    Look at the first lines (`ahead`, `first_line`), and skip some of them, before the lines are taken: by an
    iteration, `groups` or `blocks`, once.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        options: ReadOptions,
        losses: Losses,
        *,
        any_end: bool = False,
    ) -> None:
        self.is_pipe = not stream.seekable()
        self._n_there = 0  # lines of a pipe that have come but are not taken yet
        self._stream, self._name, self._losses = unpacked(stream, name), name, losses
        self._goes_on = options.goes_on
        start = self._stream.peek(4)
        marked = next((encoding for mark, encoding in _MARKS if start.startswith(mark)), None)
        self.encoding = marked or options.encoding
        try:
            "".encode(self.encoding)  # refuses codecs that do not encode text, such as base64
            codec = codecs.lookup(self.encoding).name
            self._decoder = codecs.getincrementaldecoder("utf-8-sig" if codec == _UTF8 else codec)()
        except LookupError as error:
            raise InvalidValueError(
                f"There is no encoding {self.encoding!r}; try utf-8 or cp1252."
            ) from error
        self._n_ends = 0  # line ends decoded so far
        self.any_end = any_end
        self.n_skipped = 0  # lines skipped at the start; line numbers count them
        self.newline = ""  # the argument of `io.StringIO` that cuts the text; known after lines are taken
        self._decoded_blocks = self._decode()
        self._first = ""  # text that is decoded but not taken yet
        self._failure: DataError | None = None  # raised after the first lines
        self._n_to_skip = options.skip_lines or 0

    def skip(self, n: int) -> None:
        """Skip the next lines. Call it before any line is taken."""
        self._n_to_skip += n

    def _skip(self) -> None:
        """Drop the lines to skip from `_first`; decode more text where it is too short."""
        while self._n_to_skip:
            lines = list(io.StringIO(self._first, self._newline(self._first) or ""))
            n = min(max(len(lines) - 1, 0), self._n_to_skip)  # the last line may go on in the next block
            if n == self._n_to_skip:
                self._first = "".join(lines[n:])
            elif block := next(self._decoded_blocks, ""):
                self._first = self._first[-1:] + block  # two blocks may share a "\r\n"
            else:  # the file has fewer lines
                self._first, n = "", self._n_to_skip
            self.n_skipped += n
            self._n_to_skip -= n

    def _newline(self, text: str) -> str | None:
        """Return the argument ``newline`` of `io.StringIO` for a text; None if its line end is unknown yet.

        A carriage return at the very end does not count: its line feed may be in the next block.
        """
        if self.any_end:
            return ""
        if "\n" in text or "\r" in text[:-1]:
            return "\n" if "\n" in text else ""
        return None

    def ahead(self) -> list[str]:
        """Return the first lines of the file without taking them. A pipe is not waited for."""
        self._skip()
        while len(self._first) < BUFFER and not self._failure:
            if self.is_pipe and ("\n" in self._first or "\r" in self._first[:-1]):
                break
            try:
                block = next(self._decoded_blocks, "")
            except DataError as error:  # raise it after the rows before it
                self._failure = error
                break
            if not block:
                break
            self._first += block
        lines = list(io.StringIO(self._first, ""))
        return lines[:-1] if len(lines) > 1 and len(self._first) >= BUFFER // 4 else lines

    def first_line(self) -> str:
        """Return the first line that is not blank, or an empty string."""
        return next((line.strip() for line in self.ahead() if not line.isspace()), "")

    def sizes(self, *, grow: bool) -> Iterator[int]:
        """Yield the number of rows of each batch, without end.

        The first lines show how many rows fit into a batch. With `grow`, the first batch has one row, and
        each later batch up to twice as many, so that the first rows of a pipe do not wait for others.
        """
        lines = self.ahead()
        most = max(min(MOST_ROWS, MOST_CHARACTERS * len(lines) // max(sum(map(len, lines)), 1)), 1)
        size = 1 if grow else most
        while True:
            yield size
            size = min(2 * size, most)

    def blocks(self) -> Iterator[str]:
        """Yield the text of the file in blocks, as they come."""
        self._skip()
        if self._first:
            yield self._first
        if self._failure:
            raise self._failure
        yield from self._decoded_blocks

    def __iter__(self) -> Iterator[str]:
        return self._counted() if self.is_pipe else chain.from_iterable(self.groups())

    def _counted(self) -> Iterator[str]:
        """Yield the lines of a pipe, and count those that have come, for `is_waiting`."""
        for lines in self.groups():
            self._n_there = len(lines)
            for line in lines:
                self._n_there -= 1
                yield line

    def is_waiting(self) -> bool:
        """Return whether an iteration would wait for the next line of a pipe."""
        return self.is_pipe and not self._n_there

    def groups(self) -> Iterator[list[str]]:
        """Yield the lines in groups, as they come."""
        rest, newline = "", self._newline("")
        for block in self.blocks():
            text = rest + block
            if newline is None:
                newline = self._newline(text)
            self.newline = newline or ""
            end = text.rfind("\n") + 1
            if newline == "":  # a line feed may follow a carriage return at the end of a block
                end = max(end, text.rfind("\r", 0, len(text) - 1) + 1)
            rest = text[end:]
            if len(rest) > _LONGEST_LINE:
                raise DataError(
                    f"{self._name}, line {self._n_ends + 1:,} is longer than {_LONGEST_LINE / 1e6:g} million "
                    "characters; split the document."
                )
            if end:
                yield list(io.StringIO(text[:end], newline))
        if rest:
            yield list(io.StringIO(rest, newline or ""))

    def _decode(self) -> Iterator[str]:
        """Yield the text in blocks. An error is raised after the text before it is yielded."""
        is_end = False
        while not is_end:
            data = self._stream.read1(BUFFER)
            is_end = not data
            text, error = self._decoded(data, is_end)
            if not error and "\0" in text:
                text, error = self._without_nul(text)
            if text:
                yield text
                self._n_ends += text.count("\n")
            if error:
                raise error

    def _decoded(self, data: bytes, is_end: bool) -> tuple[str, DataError | None]:
        """Return the text of some bytes. If a byte is wrong, return the text before it and the error.

        With --errors replace, return the whole text, with U+FFFD for wrong bytes.
        """
        state = self._decoder.getstate()
        try:
            return self._decoder.decode(data, is_end), None
        except UnicodeDecodeError as error:
            # decode the same bytes again in two steps; a failed call may have changed the decoder
            self._decoder.setstate(state)
            n_of_earlier_blocks = len(error.object) - len(data)
            n_good = max(error.start - n_of_earlier_blocks, 0)
            before = self._decoder.decode(data[:n_good])
            place = self._place(before)
            if not self._goes_on:
                other = "utf-16-le" if b"\0" in error.object else "cp1252"
                return before, DataError(
                    f"{place} is not in {self.encoding}: byte 0x{error.object[error.start]:02x}, "
                    f"{error.reason}. Give another --encoding, such as {other}, or --errors replace to go on."
                )
            self._decoder.errors = "replace"
            text = before + self._decoder.decode(data[n_good:], is_end)
            self._decoder.errors = "strict"
            self._losses.add("bytes", place, sum("\ufffd" in each for each in text.split("\n")))
            return text, None
        except UnicodeError as error:  # the byte order mark is missing
            return "", DataError(
                f"{self._name} is not in {self.encoding}: {error}. Give another --encoding, such as "
                "utf-16-le."
            )

    def _without_nul(self, text: str) -> tuple[str, DataError | None]:
        """Return a text before its first NUL, and the error; with --errors replace, U+FFFD for each NUL."""
        before = text[: text.index("\0")]
        if not self._goes_on:
            return before, DataError(
                f"{self._place(before)} has a NUL byte: it is not text, or has another --encoding, such as "
                "utf-16-le. --errors replace goes on."
            )
        self._losses.add("bytes", self._place(before), sum("\0" in each for each in text.split("\n")))
        return text.replace("\0", "\ufffd"), None

    def _place(self, before: str) -> str:
        """Return the line where a text ends that follows the decoded text."""
        return f"{self._name}, line {self._n_ends + before.count(chr(10)) + 1:,}"
