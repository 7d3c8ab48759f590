"""The standard streams of a command: they may be closed, lose their reader, or lack characters."""

import codecs
import io
import os
import sys
from typing import Any

_FALLBACK = "adbench_text.fallback"
_ALIKE = {"-": "─━═╌╍‐‑‒–—−", "|": "│┃║", "'": "‘’‚", '"': "“”„"}
_PLAIN = {character: plain for plain, characters in _ALIKE.items() for character in characters}


def prepare() -> None:
    """Make the standard streams of this process safe to write to; streams that replace them stay as they are.

    A closed stream is opened on nothing. A character that a stream cannot show becomes a plain one that looks
    alike, or else a question mark. Once the reader of a pipe has left, as ``head`` does, the command goes on,
    and what it prints is lost.
    """
    codecs.register_error(_FALLBACK, _fallback)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # it was closed, as by >&-; another file would take its place
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is getattr(sys, f"__{name}__") and not isinstance(stream, _Stream):
            if stream.isatty():  # it has no reader that leaves; on Windows it is no file
                stream.reconfigure(errors=_FALLBACK)
            else:
                stream.flush()
                setattr(sys, name, _Stream(stream))


def is_read() -> bool:
    """Return whether what is printed may have a reader."""
    return not isinstance(sys.stdout, _Stream) or sys.stdout.file.is_read


def _fallback(error: UnicodeError) -> tuple[str, int]:
    """Return what to write for characters that an encoding lacks, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    is_corner = "\u2500" <= character <= "\u257f"  # or another line of a table
    return _PLAIN.get(character, "+" if is_corner else "?")


class _Stream(io.TextIOWrapper):
    """A standard stream that is a file or a pipe."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self.file = _File(stream.fileno(), "wb", closefd=False)
        super().__init__(io.BufferedWriter(self.file), stream.encoding, _FALLBACK, line_buffering=True)


class _File(io.FileIO):
    """The file of a stream, or the end of a pipe."""

    is_read = True

    def write(self, data: Any) -> Any:
        """Write bytes; after an error, lose this and all that follows: it is raised once, or nobody reads."""
        try:
            return super().write(data)
        except OSError as error:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self.fileno())  # also for what is buffered, and for what libraries write
            os.close(nothing)
            if not isinstance(error, BrokenPipeError):
                raise
            self.is_read = False
            return len(data)
