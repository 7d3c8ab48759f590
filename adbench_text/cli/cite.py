"""``adbench-text cite``: Print the publications to cite, as BibTeX."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

import click

from adbench_text import __version__
from adbench_text.cli.info import citation_of, stated_by
from adbench_text.cli.list import names_of
from adbench_text.cli.options import Name
from adbench_text.errors import UnknownNameError, listing
from adbench_text.escaping import one_line
from adbench_text.isolation import preserved
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DetectorChoice, build
from adbench_text.reports.formats.latex import escape
from adbench_text.run.names import expand

_AUTHOR = r"\b[^\W\d_]\.(?:[ -]?[^\W\d_]\.)* [^\W\d_][^,.:;]*"
#: ``A. Author, B.-C. Author: Title. Journal 1, 2020.``; a venue without a volume is a conference.
_CITATION = re.compile(
    rf"(?P<authors>{_AUTHOR}(?:, {_AUTHOR})*): (?P<title>.+?)(?:\.|(?<=[?!])) "
    r"(?P<venue>(?:[^.]|\.(?=\d))*?)(?: (?P<volume>\d+))?,? ?\b"
    r"(?P<year>\d{4})(?:, (?P<note>arXiv [\d.]+))?\.(?!\S)"
)
_SHORT = {"a", "an", "are", "for", "in", "on", "the", "to"}  # words that are in no key
_FIELDS = ("author", "title", "journal", "booktitle", "howpublished", "volume", "year", "note")

_BRACES = str.maketrans("{}", "()")  # BibTeX counts escaped ones too


@click.command("cite")
@click.argument("names", nargs=-1, type=Name("checkable", several=True))
def command(names: Sequence[str]) -> None:
    """Print the publications of this project, and of detectors and datasets, as BibTeX.

    NAMES are detectors as --detector takes them, datasets as --dataset takes them, lists or patterns:

    adbench-text cite date:paper 'pyod-*' 20news
    """
    names = [registry.with_files(text) for text in names]
    known, note = names_of("checkable"), f"Version {__version__}"
    author, title = "{The adbench-text developers}", "{adbench-text}"
    blocks = [_entry("misc", "adbench-text", author=author, title=title, note=note)[1]]
    found: dict[str, tuple[str, list[str]]] = {}  # entry and headings of each key
    with preserved():
        for text in expand("detector or dataset", names, lambda: known):
            for heading, name, stated in _stated(text, known):
                for key, entry in _entries(name, stated or "no publication is stated"):
                    found.setdefault(key, (entry, []))[1].append(heading)
    for entry, headings in found.values():
        heading = one_line(listing(headings, 10)).replace("@", "")  # BibTeX begins an entry at each
        blocks.append(f"% {heading}\n{entry}")
    click.echo("\n\n".join(blocks))


def _stated(text: str, known: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield heading, name and publications of a detector or dataset, and of the members of a detector."""
    choice = DetectorChoice(text) if text in known else DetectorChoice.parse(text)
    if choice.name not in known:
        raise UnknownNameError("detector or dataset", choice.name, known)
    yield text, choice.name, citation_of(choice.name)
    plugin = registry.plugins("detectors").get(choice.name)
    detector = registry.load("detectors", choice.name) if plugin and not plugin.is_member else None
    for settings in choice.configurations("") if hasattr(detector, "build_members") else ():
        for member in build(choice.name, settings).build_members():
            name = registry.name_of(type(member))
            yield f"{name} in {text}", name, stated_by(member.implementation)


def _entries(name: str, stated: str) -> Iterator[tuple[str, str]]:
    """Yield key and entry of each publication in a text; a text of another form becomes a note."""
    name, stated = (text.translate(_BRACES) for text in (name, stated))
    matches = list(_CITATION.finditer(stated))
    if not matches:
        yield _entry("misc", name, title=f"{{{escape(name)}}}", note=escape(stated))
    for match in matches:
        of = {field: escape(value or "") for field, value in match.groupdict().items()}
        authors, venue = of["authors"].split(", "), of.pop("venue")
        first = next((word for word in re.findall(r"\w+", match["title"].lower()) if word not in _SHORT), "")
        key = authors[0].rpartition(". ")[2] + of["year"] + first
        kind, place = ("article", "journal") if of["volume"] else ("inproceedings", "booktitle")
        if not venue or venue.startswith("arXiv"):
            kind, place = "misc", "howpublished"
        of |= {"author": " and ".join(authors), "title": f"{{{of['title']}}}", place: venue}
        yield _entry(kind, key, **of)


def _entry(kind: str, key: str, **fields: str) -> tuple[str, str]:
    """Return key and text of an entry; the key loses accents, spaces and what else it must not have."""
    key = re.sub(r"[^\w-]", "", unicodedata.normalize("NFKD", key).lower())
    lines = [f"  {name} = {{{fields[name]}}}," for name in _FIELDS if fields.get(name)]
    return key, "\n".join([f"@{kind}{{{key},", *lines, "}"])
