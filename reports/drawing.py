"""A drawing: a figure, its caption, and the name of its files."""

import hashlib
from typing import NamedTuple

from matplotlib.figure import Figure

_LONGEST_STEM = 80  # of a part of a file's name: file systems have a limit of 255


class Drawing(NamedTuple):
    """A figure with the name of its files, its title and its caption."""

    name: str
    title: str
    caption: str
    figure: Figure


def stem(name: str) -> str:
    """Return a name as a part of a file's name."""
    result = "-".join("".join(c if c.isalnum() else " " for c in name).split()).lower()
    if len(result) <= _LONGEST_STEM:
        return result
    return f"{result[:_LONGEST_STEM]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
