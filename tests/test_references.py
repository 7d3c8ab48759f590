"""references.bib cites this project and what its detectors, datasets and vectors state."""

import re
import tomllib
from pathlib import Path

import pytest

import adbench_text
from adbench_text.plugins import registry
from adbench_text.plugins.citations import citation_of
from adbench_text.text.sources import SOURCES

ROOT = Path(__file__).parents[1]
ENTRY = re.compile(r"^@(\w+)\{([^\s,{}]+),\n((?:  [a-z]+ = \{.*\},\n)+)\}$", re.MULTILINE)
TEXT = (ROOT / "references.bib").read_text(encoding="ascii")  # plain BibTeX knows no other characters
ENTRIES = {key: dict(re.findall(r"  ([a-z]+) = \{(.*)\},", fields)) for _, key, fields in ENTRY.findall(TEXT)}
TITLES = {key: entry["title"].strip("{}") for key, entry in ENTRIES.items()}
NEEDED = {
    "article": {"author", "title", "journal", "volume", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "misc": {"author", "title"},
}
STATED = {
    plugin.name: citation_of(plugin.name)
    for kind in registry.KINDS
    for plugin in registry.plugins(kind).values()
    if not plugin.is_member and not plugin.name.endswith("pydocs")  # which has no publication
}
STATED |= {"pyod-knn": citation_of("pyod-knn")} | {name: source.citation for name, source in SOURCES.items()}


def test_every_entry_is_complete_and_has_a_key_of_its_own():
    assert len(ENTRIES) == TEXT.count("@") > 30
    for kind, key, _ in ENTRY.findall(TEXT):
        assert NEEDED[kind] <= ENTRIES[key].keys(), key
    for key, entry in ENTRIES.items():
        assert all(value.count("{") == value.count("}") for value in entry.values()), key
        assert not re.search(r"(?<!\\)[&%$#]", "".join(entry.values())), key


def test_this_project_is_cited_as_in_its_citation_file():
    file, entry = (ROOT / "CITATION.cff").read_text(encoding="utf-8"), ENTRIES["adbench-text"]
    assert f"\ntitle: {TITLES['adbench-text']}\n" in file
    assert f"name: {entry['author'].strip('{}')}\n" in file
    assert entry["note"] == f"Version {adbench_text.__version__}"
    addresses = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    assert entry["url"] == addresses["Source"]
    assert f"\nrepository-code: {entry['url']}\n" in file


def test_a_release_has_a_date_and_the_year_of_its_citation():
    dates = re.findall(
        r"^date-released: (\d{4})-\d\d-\d\d$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE
    )
    newest = re.search("^## .+$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE).group()
    assert newest.startswith(f"## {adbench_text.__version__}")
    assert dates == ([] if newest.endswith("(unreleased)") else [ENTRIES["adbench-text"]["year"]])
    assert re.fullmatch("20\\d\\d", ENTRIES["adbench-text"]["year"])


@pytest.mark.parametrize("name", STATED)
def test_each_publication_that_a_part_states_has_an_entry(name):
    cited = [key for key, title in TITLES.items() if f": {title}" in STATED[name]]
    n_stated = len(re.findall(r"(?:19|20)\d\d(?:, arXiv [\d.]+)?\.(?!\S)", STATED[name]))
    assert n_stated > 0, f"{name} states no publication with a year and a full stop: {STATED[name]!r}"
    assert len(cited) == n_stated, f"add an entry to references.bib for each publication: {STATED[name]!r}"
    assert all(ENTRIES[key]["year"] in STATED[name] for key in cited)


def test_no_entry_is_left_over():
    stated = " ".join(STATED.values())
    left = [key for key, title in TITLES.items() if f": {title}" not in stated]
    assert left == ["adbench-text"], "remove the other entries from references.bib"
