"""``adbench-text cite``: Print the publications to cite, as BibTeX."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

import click

from adbench_text import __version__
from adbench_text.cli.info import citation_of
from adbench_text.cli.list import names_of
from adbench_text.cli.options import Name
from adbench_text.errors import UnknownNameError
from adbench_text.isolation import preserved
from adbench_text.plugins.configure import DetectorChoice
from adbench_text.reports.formats.latex import escape
from adbench_text.sweep.names import expand

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

    NAMES are detectors as --detector takes them, datasets, lists or patterns:

    adbench-text cite date:paper 'pyod-*' 20news
    """
    known, note = names_of("checkable"), f"Version {__version__}"
    author, title = "{The adbench-text developers}", "{adbench-text}"
    entries = dict([_entry("misc", "adbench-text", author=author, title=title, note=note)])
    for text in expand("detector or dataset", names, lambda: known):
        name = text if text in known else DetectorChoice.parse(text).name
        if name not in known:
            raise UnknownNameError("detector or dataset", name, known)
        with preserved():
            entries |= _entries(name, citation_of(name) or "no publication is stated")
    click.echo("\n\n".join(entries.values()))


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
