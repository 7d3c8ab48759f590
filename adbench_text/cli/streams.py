"""Make the standard streams safe: they may be closed, lose their reader, or lack characters."""

import codecs
import io
import os
import sys
from typing import Any

_FALLBACK = "adbench_text.fallback"
_ALIKE = {"-": "─━═╌╍‐‑‒–—−", "|": "│┃║", "'": "‘’‚", '"': "“”„"}
_PLAIN = {character: plain for plain, characters in _ALIKE.items() for character in characters}


def prepare() -> None:
    """Make the standard streams of this process safe to write to.

    A stream that somebody has replaced before, such as a notebook or a test, does not change.

    A closed stream is connected to the null device. A character that a stream cannot show becomes a similar
    ASCII character, or a question mark. If the reader of a pipe stops, as ``head`` does, the command
    continues, and its output is lost.
    """
    codecs.register_error(_FALLBACK, _fallback)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed, as by >&-; the next open file would get its number
            null = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(null, mode, encoding="utf-8", errors=_FALLBACK))
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is getattr(sys, f"__{name}__"):
            if stream.isatty():  # a terminal does not stop reading; on Windows it is not a file
                stream.reconfigure(errors=_FALLBACK)
            else:
                stream.flush()
                setattr(sys, name, _Stream(stream))


def is_read() -> bool:
    """Return False if the reader of standard output is gone."""
    return not isinstance(sys.stdout, _Stream) or sys.stdout.file.is_read


def _fallback(error: UnicodeError) -> tuple[str, int]:
    """Return a replacement for characters that an encoding lacks, and where to continue."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    """Return a similar ASCII character, or a question mark."""
    is_corner = "\u2500" <= character <= "\u257f"  # any box-drawing character
    return _PLAIN.get(character, "+" if is_corner else "?")


class _Stream(io.TextIOWrapper):
    """A standard stream that is a file or a pipe."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self.file = _File(stream.fileno(), "wb", closefd=False)
        super().__init__(io.BufferedWriter(self.file), stream.encoding, _FALLBACK, line_buffering=True)


class _File(io.FileIO):
    """The file or the pipe of a stream."""

    is_read = True

    def write(self, data: Any) -> Any:
        """Write bytes. After an error, drop these and all later bytes.

        The error is raised once, unless the reader is gone.
        """
        try:
            return super().write(data)
        except OSError as error:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self.fileno())  # also catches buffered bytes and the output of libraries
            os.close(nothing)
            if not isinstance(error, BrokenPipeError):
                raise
            self.is_read = False
            return len(data)
