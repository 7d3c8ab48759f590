"""BibTeX of this project, of detectors and of datasets."""

import re
from pathlib import Path

import pytest
from commands import adbench, complete

from adbench_text.cli.info import citation_of
from adbench_text.plugins import registry

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"(?:% ([^@\n]+)\n)?@(\w+)\{([^\s,{}]+),\n((?:  [a-z]+ = \{.*\},\n)+)\}")
OURS = [
    plugin.name
    for kind in registry.KINDS
    for plugin in registry.plugins(kind).values()
    if not plugin.is_member
]
NEEDED = {
    "article": {"author", "title", "journal", "volume", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "misc": {"title"},
}
pytestmark = pytest.mark.usefixtures("here", "own_files")


def entries(*names: str) -> dict[str, dict[str, str]]:
    """The entries that a command prints, by their keys; whatever it prints belongs to one."""
    result = adbench("cite", *names)
    assert (result.exit_code, result.stderr) == (0, "")
    found = {}
    for block in result.stdout.removesuffix("\n").split("\n\n"):
        heading, kind, key, fields = ENTRY.fullmatch(block).groups()
        assert key not in found
        assert (heading is None) == (key == "adbench-text")
        found[key] = {"heading": heading, "kind": kind} | dict(re.findall(r"  ([a-z]+) = \{(.*)\},", fields))
        assert NEEDED[kind] <= found[key].keys()
        assert block.count("{") == block.count("}")  # BibTeX counts escaped ones too
        assert not re.search(r"(?<!\\)[&%$#]", fields)
    return found


def test_without_names_this_project_is_cited_as_in_its_citation_file():
    (key, entry), *others = entries().items()
    file = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert (key, others) == ("adbench-text", [])
    assert f"\ntitle: {entry['title'][1:-1]}\n" in file
    assert f"name: {entry['author'][1:-1]}\n" in file
    assert f"\nversion: {entry['note'].removeprefix('Version ')}\n" in file


@pytest.mark.parametrize("name", OURS)
def test_every_detector_and_dataset_of_ours_has_an_entry_of_a_publication(name):
    ours, *others = entries(name)
    assert ours == "adbench-text"
    assert (
        others == ["pydocs"]
        if name == "pydocs"
        else all(re.search(r"[a-z](19|20)\d\d[a-z]", key) for key in others)
    )
    assert others


def test_several_names_have_each_publication_once():
    assert list(entries("llr date:paper", "20*")) == [
        "adbench-text",
        "manolache2021date",
        "speer2022wordfreq",
        "pennington2014glove",
        "lang1995newsweeder",
    ]
    assert list(entries("pyod-k*", "pytextad-sik", "pydocs")) == [
        "adbench-text",
        "zhao2019pyod",
        "cao2026pytextad",
        "pydocs",
    ]


def test_all_have_entries_with_different_keys():
    stated = " ".join(map(citation_of, [*OURS, "pyod-knn"]))
    found = entries("all")
    assert len({(entry.get("author"), entry["title"]) for entry in found.values()}) == len(found) > 25
    assert all(entry["title"][1:-1] in stated for entry in found.values() if entry["kind"] != "misc")


@pytest.mark.parametrize(
    ("name", "key", "expected"),
    [
        (
            "date",
            "manolache2021date",
            {
                "kind": "inproceedings",
                "author": "A. Manolache and F. Brad and E. Burceanu",
                "title": "{DATE: Detecting Anomalies in Text via Self-Supervision of Transformers}",
                "booktitle": "NAACL",
                "year": "2021",
            },
        ),
        ("form", "speer2022wordfreq", {"title": "{wordfreq 3.0}", "author": "R. Speer"}),
        ("ensemble", "miller2024wordllama", {"author": "D. L. Miller", "year": "2024"}),
        ("iforest", "pennington2014glove", {"booktitle": "EMNLP", "year": "2014"}),
        ("ocsvm", "scholkopf2001estimating", {"journal": "Neural Computation", "volume": "13"}),
        (
            "banking-near",
            "zhang2022pre",
            {"title": "{Are Pre-trained Transformers Robust in Intent Classification?}"},
        ),
        ("tad-covid", "cao2025tad", {"kind": "misc", "howpublished": "arXiv 2501.11960", "year": "2025"}),
        ("tad-liar2", "xu2024enhanced", {"kind": "article", "author": "C. Xu and M.-T. Kechadi"}),
        ("nlpad-bbc", "li2025nlp", {"booktitle": "EMNLP Findings", "note": "arXiv 2412.04784"}),
        ("reuters", "lewis1997reuters", {"kind": "misc", "author": "D. D. Lewis", "year": "1997"}),
    ],
)
def test_the_form_of_a_citation_becomes_fields(name, key, expected):
    assert expected.items() <= entries(name)[key].items()


@pytest.mark.parametrize(
    ("stated", "note"),
    [
        (
            "see 100% of }our{ R&D page: https://example.org/a_b#c",
            r"see 100\% of )our( R\&D page: https://example.org/a\_b\#c",
        ),
        ("M. Müller, Title without a year", "M. Müller, Title without a year"),
        ("", "no publication is stated"),
        (None, "None"),
    ],
)
def test_a_citation_in_another_form_is_a_note(toy_path, monkeypatch, stated, note):
    monkeypatch.setattr(type(registry.dataset("tiny")), "citation", stated)
    expected = {"heading": "tiny", "kind": "misc", "title": "{tiny}", "note": note}
    assert entries("tiny")["tiny"] == expected


def test_a_foreign_detector_without_a_citation_has_an_entry(toy_path):
    name = next(p.name for p in registry.plugins("detectors").values() if p.is_foreign and not p.problem)
    assert entries(name)[name]["note"] == "no publication is stated"


def test_pydocs_asks_for_the_versions_of_its_libraries():
    note = entries("pydocs")["pydocs"]["note"]
    assert note == "name the versions of the libraries, which are the edition"


def test_an_entry_is_headed_by_the_names_that_state_it():
    ensemble = "ensemble(members=date,pyod-knn,encoder=svd)"
    found = entries("llr date:paper", ensemble)
    assert {key: entry["heading"] for key, entry in found.items()} == {
        "adbench-text": None,
        "manolache2021date": f"date in {ensemble}, date:paper, llr",
        "speer2022wordfreq": "llr",
        "pennington2014glove": "llr",
        "aggarwal2015theoretical": ensemble,
        "miller2024wordllama": ensemble,
        "zhao2019pyod": f"KNN in {ensemble}",
    }
    assert entries("pyod-*")["zhao2019pyod"]["heading"].endswith(" more")


def test_the_members_of_a_preset_are_cited():
    def headings(name):
        return list(dict.fromkeys(entry["heading"] for entry in entries(name).values()))[1:]

    assert headings("ensemble:clean") == [
        "ensemble:clean",
        "llr in ensemble:clean",
        "knn-vectors in ensemble:clean, llr in ensemble:clean",
        "ngrams in ensemble:clean",
        "knn-vectors in ensemble:clean",
    ]
    assert headings("ensemble") == [each.replace(":robust", "") for each in headings("ensemble:robust")]


def test_a_detector_in_a_file_has_an_entry():
    Path("mine.py").write_text(
        '"""Mine.\n\nReferences\n----------\nA. Me: On {@} docs. Journal 3, 2024.\n"""\n'
        "class Mine:\n    fit = decision_function = print\n"
    )
    assert entries("./mine.py:Mine(k=1)")["me2024docs"]["heading"] == "mine.py:Mine(k=1)"


@pytest.mark.parametrize(
    ("name", "code", "line"),
    [
        ("./none.py:Mine", 1, "There is no file .*none.py on this machine."),
        ("files:a.csv", 2, "No detector or dataset named 'files'. Known: .*"),
        ("ensemble:robst", 2, "No preset of ensemble named 'robst'. Did you mean 'robust'."),
        ("ensemble(members=none)", 2, "No detector named 'none'. Known: .*"),
    ],
)
def test_a_detector_that_cannot_be_found_is_one_line(name, code, line):
    result = adbench("cite", name)
    assert (result.exit_code, result.stdout) == (code, "")
    assert re.fullmatch(f"Error: {line}\n", result.stderr)


def test_wrong_names_are_one_line():
    result = adbench("cite ocsmv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: No detector or dataset named 'ocsmv'. Did you mean 'ocsvm'?\n"
    assert "No detector or dataset matches 'zz*'." in adbench("cite zz*").stderr


def test_a_shell_completes_detectors_and_datasets():
    assert complete("cite", "kn") == ["knn-vectors", "knn-words"]
    assert complete("cite", "20") == ["20news"]
