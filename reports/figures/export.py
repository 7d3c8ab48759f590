"""Figures with their names and captions, written as SVG for a page and as files."""

import hashlib
import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from matplotlib.figure import Figure

from adbench_text.reports.figures.style import plain, styled
from adbench_text.storage import atomic_path

_AROUND_COMMANDS = re.compile(r"\s*([A-Za-z])\s*")
_DECIMALS = re.compile(r"-?\d+\.\d{3,}")
_LONGEST_STEM = 80  # of a part of a file's name: file systems have a limit of 255


class Drawing(NamedTuple):
    """A figure with the name of its files, its title and its caption."""

    name: str
    title: str
    caption: str
    figure: Figure
    is_first: bool = False  #: as in `Picture`


def stem(name: str) -> str:
    """Return a name as a part of a file's name."""
    result = "-".join("".join(c if c.isalnum() else " " for c in name).split()).lower()
    if len(result) <= _LONGEST_STEM:
        return result
    return f"{result[:_LONGEST_STEM]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


@styled
def svg(figure: Figure, title: str, prefix: str) -> str:
    """Return a figure as an ``<svg>`` element for an HTML page.

    It has no background, its black is the text colour of the page, and its text can be selected. It fills the
    width of the page, up to 1.4 times its size in print. The same figure gives the same SVG. Its ids begin
    with the prefix, and must be unique in a page.
    """
    drawn = BytesIO()
    figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    parsed = ElementTree.fromstring(drawn.getvalue())
    view = parsed.attrib["viewBox"]
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": view,
            "width": "100%",
            "style": f"max-width: {1.4 * float(view.split()[2]) * 96 / 72:.0f}px",
            "role": "img",
            "aria-labelledby": f"{prefix}-title",
            "fill": "currentColor",
            # matplotlib sets these in a <style> for *, which would change the rest of the page
            "stroke-linejoin": "round",
            "stroke-linecap": "butt",
        },
    )
    root.extend(part for part in parsed if not part.tag.endswith("metadata"))
    _adapt(root, prefix)
    named = ElementTree.Element("title", {"id": f"{prefix}-title"})
    named.text = plain(title)
    root.insert(0, named)
    return ElementTree.tostring(root, encoding="unicode")


def _adapt(root: ElementTree.Element, prefix: str) -> None:
    """Make the elements under an inlined figure's root the page's own."""
    for parent in root.iter():
        for child in list(parent):
            if child.tag.endswith("}style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {
            name.rpartition("}")[2]: _adapted(name.rpartition("}")[2], value, prefix)
            for name, value in element.attrib.items()
        }


def _adapted(name: str, value: str, prefix: str) -> str:
    if name == "id":
        return f"{prefix}-{value}"
    if name == "href":
        return value.replace("#", f"#{prefix}-", 1)
    if name in ("d", "x", "y"):  # a hundredth of a point cannot be seen
        return _AROUND_COMMANDS.sub(r"\1", _DECIMALS.sub(_rounded, value)).strip()
    value = value.replace("url(#", f"url(#{prefix}-")
    return re.sub("'DejaVu Sans'[^;]*", "sans-serif", value).replace("#000000", "currentColor")


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


@styled
def write(figure: Figure, stem: Path, kinds: Sequence[str] = ("svg", "pdf", "png")) -> list[Path]:
    """Write a figure as SVG, PDF and PNG (200 dpi), and return the files."""
    # a date would make each file different
    metadata: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    stem.parent.mkdir(parents=True, exist_ok=True)
    files = []
    for kind in kinds:
        files.append(stem.with_name(f"{stem.name}.{kind}"))
        with atomic_path(files[-1]) as temporary:
            figure.savefig(temporary, format=kind, metadata=metadata[kind], dpi=200)
    return files
