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
    assert result.exit_code == 0
    text = result.stdout
    assert text.startswith("ocsvm (detector): One-class SVM on document vectors (Schoelkopf et al., 2001).\n")
    assert "Regime:     word frequencies or vectors\n" in text
    assert f"Package:    adbench-text {__version__}, MIT\n" in text
    assert "Resources:  Word vectors glove-wiki-gigaword-50 are not in " in text
    assert "  default     the defaults below\n  paper-grid  16 configurations\n" in text
    assert re.search(r"^  kernel +rbf +rbf, linear$", text, re.MULTILINE)
    assert re.search(r"^  nu +0.1 +in \(0, 1\]$", text, re.MULTILINE)
    assert re.search(r"^  svd_components +100 ", text, re.MULTILINE)  # inherited
    assert re.search(r"^  random_state +null +in 0 ... 4294967295 or null$", text, re.MULTILINE)
    assert "\nnu : float, default 0.1\n    Upper bound on the share of training errors, in (0, 1].\n" in text


def test_a_detector_of_no_paper_cites_this_project():
    citation = json.loads(adbench("info llr --json").stdout)["citation"]
    assert citation.startswith("adbench-text, see CITATION.cff; it builds on ")


def test_the_facts_of_a_detector_for_a_program():
    facts = json.loads(adbench("info pyod-knn --json").stdout)
    assert facts["kind"] == "detector"
    assert facts["package"]["name"] == "pyod"
    assert "BSD" in facts["package"]["licence"]
    named = {each["name"]: each for each in facts["parameters"]}
    assert named["n_neighbors"]["default"] == 5
    assert named["contamination"]["range"] == "in (0, 0.5]"
    assert facts["documentation"].startswith("kNN class for outlier detection.")
    assert named.keys() == registry.detector("pyod-knn").default_params().keys()


def test_a_preset_that_differs_between_datasets_is_listed_for_each():
    presets = json.loads(adbench("info date --json").stdout)["presets"]
    papers = [preset for preset in presets if preset["name"] == "paper"]
    others = [name for name in registry.names("datasets") if name != "20news"]
    assert [preset["datasets"] for preset in papers] == [["20news"], others]
    assert papers[0]["settings"][0]["max_length"] == 498


def test_a_dataset_is_described_and_counted_if_it_is_downloaded():
    text = adbench("info tiny").stdout
    assert "  class  training  test\n  sea          20    10\n" in text
    facts = json.loads(adbench("info tiny --json").stdout)
    assert facts["documents"]["law"] == {"training": 20, "test": 10}
    assert facts["edition"]["name"] == "published"
    missing = adbench("info agnews")
    assert missing.exit_code == 0
    assert "Citation:  " in missing.stdout
    assert "Edition:   not downloaded; run: adbench-text fetch agnews\n" in missing.stdout
    assert "Classes:   " in missing.stdout
    assert json.loads(adbench("info agnews --json").stdout)["edition"] is None


def test_an_unknown_name_is_one_line():
    result = adbench("info ocsmv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "No detector or dataset named 'ocsmv'. Did you mean 'ocsvm'?" in result.stderr
