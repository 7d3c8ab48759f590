"""CSV as a spreadsheet saves it: with any separator, and in the encodings that it has."""

import codecs
import re
from pathlib import Path

_SEPARATORS = ",;\t"
_UTF16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE


def decoded(path: Path, errors: str = "strict") -> str:
    """Return the text of a file in UTF-8 or UTF-16; `errors` are those of `bytes.decode`."""
    content = path.read_bytes()
    return content.decode("utf-16" if content.startswith(_UTF16) else "utf-8-sig", errors)


def separator(text: str) -> str:
    """Return what separates the columns of a CSV, by its first line; a comma if there is one column.

    >>> separator('id;"size, in mm";text'), separator("id,text"), separator("text")
    (';', ',', ',')
    """
    header = re.sub('"[^"]*"', "", text.partition("\n")[0])
    return max(_SEPARATORS, key=header.count)
