"""The facts that ``adbench-text info`` prints."""

import re
from pathlib import Path

import pytest
from commands import adbench, assert_refused

from adbench_text import __version__
from adbench_text.plugins import registry
from adbench_text.text.encoders import METHODS
from adbench_text.text.sources import SOURCES
from adbench_text.text.vectors import DOWNLOADS

DOCS = Path(__file__).parents[2] / "docs"

pytestmark = pytest.mark.usefixtures("toy_path", "here")


def facts_of(name: str) -> dict[str, str]:
    """The facts about a detector or dataset, with its presets and parameters, by their names."""
    result = adbench(f"info {name}")
    assert (result.exit_code, result.stderr) == (0, "")
    return dict(re.findall(r"^ {0,2}(\w+(?:[ -]\w+)*) {2,}(\S.*)$", result.stdout, re.MULTILINE))


def test_a_detector_is_described():
    facts = facts_of("ocsvm")
    assert facts["name"] == "ocsvm"
    assert facts["summary"] == "One-class SVM on document vectors (Schoelkopf et al., 2001)."
    assert facts["regime"] == "word frequencies or vectors"
    assert facts["package"] == f"adbench-text {__version__}, MIT AND BSD-3-Clause"
    assert "glove-wiki-gigaword-50" in facts["resources"]
    assert facts["paper-grid"].startswith("encoder=mean, kernel=rbf, nu=0.05; encoder=tfidf, kernel=rbf, nu")
    assert re.fullmatch(r"rbf +rbf, linear", facts["kernel"])
    assert re.fullmatch(r"0.1 +in \(0, 1\]", facts["nu"])
    assert facts["svd_components"].startswith("100 ")  # inherited
    assert re.fullmatch(r"null +in 0 ... 4294967295 or null", facts["random_state"])
    assert re.search(r"\nnu : float, default 0\.1\n    \S.* in \(0, 1\]\.\n", adbench("info ocsvm").stdout)


def test_a_detector_of_no_paper_cites_this_project():
    citation = facts_of("llr")["citation"]
    assert citation.startswith("adbench-text, ")
    assert " CITATION.cff; " in citation


def test_a_detector_of_another_package_is_described():
    facts = facts_of("pyod-knn")
    assert re.match(r"pyod [\d.]+, BSD", facts["package"])
    assert facts["n_neighbors"] == "5"
    assert re.fullmatch(r"0.1 +in \(0, 0.5\]", facts["contamination"])
    assert "\n\nkNN class for outlier detection.\n" in adbench("info pyod-knn").stdout
    assert facts.keys() >= registry.detector("pyod-knn").default_params().keys()


def test_a_dataset_is_described_and_counted_if_it_is_downloaded():
    facts = facts_of("tiny")
    assert facts["documents"] == "60 training / 30 test documents (sea 20/10, law 20/10, sky 20/10)"
    assert facts["edition"] == "published"
    missing = facts_of("agnews")
    assert missing["citation"]
    assert missing["edition"].endswith("adbench-text fetch agnews")
    assert missing["classes"].startswith("world, ")
    assert "problem" not in missing  # downloads are not off: fetch can get it
    by_hand = facts_of("textad-sms")
    assert "sms/SMSSpamCollection is missing" in by_hand["problem"]


def test_an_unknown_name_is_one_line():
    result = adbench("info ocsmv")
    assert_refused(result, 2, "'ocsmv'", "'ocsvm'")
    assert result.stderr.count("\n") == 1


def test_the_regime_of_each_preset_is_named_where_it_differs():
    expected = "word frequencies or vectors; pre-trained: ensemble:clean, ensemble:robust"
    assert facts_of("ensemble")["regime"] == expected
    assert facts_of("knn-words")["regime"] == "from scratch"


def test_a_detector_with_a_preset_of_wrong_settings_is_described(monkeypatch):
    kind = registry.detector("knn-words")
    monkeypatch.setattr(kind, "presets", classmethod(lambda cls, dataset: {"wrong": [{"k": -1}]}))
    assert facts_of("knn-words")["wrong"] == "k=-1"


def test_a_detector_names_the_licence_of_what_it_reads_in_each_preset(monkeypatch):
    monkeypatch.setattr("adbench_text.text.vectors.digest", lambda name: "d1")
    monkeypatch.setattr("adbench_text.text.wheels.Wheel.locate", lambda self, what: None)
    facts = facts_of("ensemble")
    assert "LLaMA 2 70B" in facts["wordllama"]
    assert "MIT" in facts["wordllama"]
    assert "CC BY-SA 4.0" in facts["wordfreq"]
    assert "PDDL" in facts["glove-wiki-gigaword-50"]
    assert "wordfreq" not in facts_of("knn-words")


@pytest.mark.parametrize("name", [*DOWNLOADS, "wordllama", "minilm"])
def test_vectors_have_a_licence_a_source_and_a_publication(name):
    facts = facts_of(name)
    assert facts["name"] == name
    assert facts["licence"]
    assert facts["source"].startswith("https://")
    assert re.search(r" (19|20)\d\d\.$", facts["citation"])
    known = name if name == "fasttext-wiki-news-subwords-300" else re.sub(r"-\d+$", "", name)
    assert f"`{known}" in (DOCS / "datasets-reference.md").read_text(encoding="utf-8")


def test_every_pre_trained_encoder_that_has_a_name_has_a_source():
    named = {name for name, method in METHODS.items() if method.is_pretrained}
    assert named <= SOURCES.keys()


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", ["llr", "ngrams", "pyod-vae"])
def test_a_terminal_shows_whole_words(name, width, monkeypatch):
    def below_the_facts():  # which may have a long path
        return adbench(f"info {name}").stdout.partition("\n\n")[2]

    whole = set(below_the_facts().split())
    monkeypatch.setenv("COLUMNS", str(width))
    shown = below_the_facts()
    code = re.compile(r"^ *(>>>|\.\.\.) .*\n", re.MULTILINE)
    lines = code.sub("", shown).splitlines()
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)  # such as an address
    assert [word for word in shown.split() if not {word, word.removesuffix(";")} & whole] == []


def test_a_preset_has_its_own_values():
    result = adbench("info llr:robust")
    assert result.exit_code == 0, result.stderr
    assert re.search(r"^  em_rounds +5 ", result.stdout, re.M)
    assert not re.search(r"^  topics +topics=", result.stdout, re.M)  # the other preset


@pytest.mark.parametrize(
    "name", ["pydocs:robust", "wordllama:robust", "llr(topics=3)", "llr:robust(topics=3)"]
)
def test_what_has_no_preset_or_is_no_name_is_quoted(name):
    result = adbench(f"info {name}")
    assert_refused(result, 2, repr(name))


@pytest.mark.parametrize("name", ["llr:robst", "nothing:robust"])
def test_an_unknown_preset_is_an_error_with_the_name(name):
    result = adbench(f"info {name}")
    assert_refused(result, 2, repr(name.rpartition(":")[2 if name.startswith("llr") else 0]))


def test_a_preset_of_the_default_detector_is_described_without_its_name():
    assert adbench("info robust").stdout == adbench("info ensemble:robust").stdout != ""
    assert_refused(adbench("info rubust"), 2, "rubust")
