"""The facts that ``adbench-text info`` prints."""

import json

import pytest
from commands import adbench

from adbench_text import __version__
from adbench_text.plugins import registry
from adbench_text.plugins.detector import TextDetector
from adbench_text.plugins.documentation import documented, parameters

pytestmark = pytest.mark.usefixtures("toy_path", "here")


def test_a_detector_is_described():
    result = adbench("info ocsvm")
    assert result.exit_code == 0
    text = result.stdout
    assert text.startswith("ocsvm (detector): One-class SVM on document vectors (Schoelkopf et al., 2001).\n")
    assert "Regime:     word frequencies or vectors\n" in text
    assert f"Package:    adbench-text {__version__}, MIT\n" in text
    assert "Citation:   Schoelkopf et al., 2001\n" in text
    assert "Resources:  Word vectors glove-wiki-gigaword-50 are not in " in text
    assert "  default     the defaults below\n  paper-grid  16 configurations\n" in text
    assert "  kernel = rbf\n      Kernel; for rbf gamma is 1 / " in text
    assert "      Choices: rbf, linear.\n" in text
    assert "  nu = 0.1\n      Upper bound on the share of training errors, in (0, 1].\n" in text
    assert "  svd_components = 100\n" in text  # inherited
    assert "  normalize = true\n      Scale every vector to length 1.\n      Must be true or false.\n" in text


def test_a_detector_of_no_paper_cites_this_project():
    (citation,) = json.loads(adbench("info llr --json").stdout)["citations"]
    assert citation.startswith("adbench-text, see CITATION.cff; it builds on ")


def test_the_facts_of_a_detector_for_a_program():
    facts = json.loads(adbench("info pyod-knn --json").stdout)
    assert facts["kind"] == "detector"
    assert facts["package"]["name"] == "pyod"
    assert "BSD" in facts["package"]["licence"]
    named = {each["name"]: each for each in facts["parameters"]}
    assert named["algorithm"]["choices"] == ["auto", "ball_tree", "kd_tree", "brute"]
    assert named["n_neighbors"]["default"] == 5
    assert named["contamination"]["range"] == "in (0, 0.5]"
    assert named["contamination"]["meaning"].startswith("Share of the training documents above")  # ours
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


def test_each_hyper_parameter_of_ours_has_a_meaning():
    plugins = registry.plugins("detectors").values()
    ours = [plugin.name for plugin in plugins if not (plugin.is_family or plugin.is_foreign)]
    described = [(name, each) for name in ours for each in parameters(registry.detector(name))]
    assert [(name, each.name) for name, each in described if not each.meaning] == []
    assert described


class Base(TextDetector):
    """A base.

    Parameters
    ----------
    size : int
        Its size.
    """

    def __init__(self, *, size: int = 3, **shared):
        super().__init__(**shared)
        self.size = size

    def check_params(self):
        raise TypeError("checks in its own way")

    def _fit(self, texts): ...

    def _score(self, texts): ...


class Own(Base):
    """A detector with a colon: in its summary.

    Parameters
    ----------
    shape : {"round", 'flat'}, default "round"
        First line.

        - second line
    size, contamination
        See `Base`.

    Returns
    -------
    nothing : None
    """

    def __init__(self, *, shape: str = "round", **shared):
        super().__init__(**shared)
        self.shape = shape


def test_an_entry_that_refers_to_another_class_gives_way_to_that_class():
    entries = documented(Own)
    assert entries["size"].meaning == "Its size."
    assert entries["contamination"].meaning.startswith("Share of the training documents")
    assert "nothing" not in entries
    shape, size, *_ = parameters(Own)
    assert (shape.meaning, shape.choices, shape.range) == ("First line. - second line", ["round", "flat"], "")
    assert (size.type, size.default, size.range) == ("int", 3, "")
