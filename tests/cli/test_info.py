"""The facts that ``adbench-text info`` prints."""

import json
import re

import pytest
from commands import adbench

from adbench_text import __version__
from adbench_text.plugins import registry

pytestmark = pytest.mark.usefixtures("toy_path", "here")


def test_a_detector_is_described():
    result = adbench("info ocsvm")
    assert (result.exit_code, result.stderr) == (0, "")
    text = result.stdout
    lines = dict(re.findall(r"^(\w+): +(\S.*)$", text, re.MULTILINE))
    assert lines["name"] == "ocsvm"
    assert lines["summary"] == "One-class SVM on document vectors (Schoelkopf et al., 2001)."
    assert lines["regime"] == "word frequencies or vectors"
    assert lines["package"] == f"adbench-text {__version__}, MIT"
    assert lines["resources"].startswith("Word vectors glove-wiki-gigaword-50 are not in ")
    assert re.search(r"^  paper-grid +all +kernel=.*nu=.*; ", text, re.MULTILINE)
    assert re.search(r"^  kernel +rbf +rbf, linear$", text, re.MULTILINE)
    assert re.search(r"^  nu +0.1 +in \(0, 1\]$", text, re.MULTILINE)
    assert re.search(r"^  svd_components +100 ", text, re.MULTILINE)  # inherited
    assert re.search(r"^  random_state +null +in 0 ... 4294967295 or null$", text, re.MULTILINE)
    assert (
        "\n  nu : float, default 0.1\n      Upper bound on the share of training errors, in (0, 1].\n" in text
    )


def test_a_detector_of_no_paper_cites_this_project():
    citation = json.loads(adbench("info llr --json").stdout)["citation"]
    assert citation.startswith("adbench-text, see CITATION.cff; it builds on ")


def test_the_facts_of_a_detector_for_a_program():
    facts = json.loads(adbench("info pyod-knn --json").stdout)
    assert facts["kind"] == "detector"
    assert re.match(r"pyod [\d.]+, BSD", facts["package"])
    named = {each["name"]: each for each in facts["parameters"]}
    assert named["n_neighbors"]["default"] == 5
    assert named["contamination"]["range"] == "in (0, 0.5]"
    assert facts["documentation"][0].startswith("kNN class for outlier detection.")
    assert named.keys() == registry.detector("pyod-knn").default_params().keys()


def test_a_preset_that_differs_between_datasets_is_listed_for_each():
    presets = json.loads(adbench("info date --json").stdout)["presets"]
    papers = [preset for preset in presets if preset["name"] == "paper"]
    others = [name for name in registry.names("datasets") if name != "20news"]
    assert [preset["datasets"] for preset in papers] == [["20news"], others]
    assert papers[0]["settings"][0]["max_length"] == 498


def test_a_dataset_is_described_and_counted_if_it_is_downloaded():
    assert "documents: " in adbench("info tiny").stdout
    facts = json.loads(adbench("info tiny --json").stdout)
    assert facts["documents"] == "60 training / 30 test documents (sea 20/10, law 20/10, sky 20/10)"
    assert facts["edition"] == "published"
    missing = adbench("info agnews")
    assert missing.exit_code == 0
    assert "citation: " in missing.stdout
    assert "edition:   not downloaded; run: adbench-text fetch agnews\n" in missing.stdout
    assert "\nclasses:\n  world\n" in missing.stdout


def test_an_unknown_name_is_one_line():
    result = adbench("info ocsmv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "No detector or dataset named 'ocsmv'. Did you mean 'ocsvm'?" in result.stderr
