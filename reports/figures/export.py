"""Figures with their names and captions, as images of a page and as files."""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from adbench_text.reports.figures.style import styled
from adbench_text.storage import atomic_path

_WIDTH = re.compile(rb'<svg[^<>]* width="([\d.]+)pt"')


@dataclass(frozen=True)
class Drawing:
    """A figure of a report."""

    name: str  #: the name of its file without a suffix
    title: str
    caption: str  #: a description, also for people who cannot see the figure
    figure: Figure
    is_first: bool = False  #: shown next to the leaders

    @property
    @styled
    def image(self) -> tuple[str, float]:
        """The source of an ``<img>``, an SVG without a background, and its width in inches."""
        drawn = BytesIO()
        self.figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
        (points,) = _WIDTH.findall(drawn.getvalue())
        source = f"data:image/svg+xml;base64,{b64encode(drawn.getvalue()).decode()}"
        return source, float(points) / 72


def stem(name: str) -> str:
    """Return a name as a part of a file's name."""
    return "-".join("".join(c if c.isalnum() else " " for c in name).split()).lower()


@styled
def write(figure: Figure, stem: Path, kinds: Sequence[str] = ("svg", "pdf", "png")) -> list[Path]:
    """Write a figure as SVG, PDF and PNG (200 dpi), and return the files."""
    # a date would change the file each time
    metadata: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    stem.parent.mkdir(parents=True, exist_ok=True)
    files = []
    for kind in kinds:
        files.append(stem.with_name(f"{stem.name}.{kind}"))
        with atomic_path(files[-1]) as temporary:
            figure.savefig(temporary, format=kind, metadata=metadata[kind], dpi=200)
    return files
