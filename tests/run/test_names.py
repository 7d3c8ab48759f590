import re
from pathlib import Path

import pytest

from adbench_text.errors import InvalidValueError, PluginError, listing
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DetectorChoice
from adbench_text.run.names import choices_of, expand, parse_seeds


def test_lists_patterns_and_all_stand_for_names_each_once():
    assert expand("detector", ["ocsvm, llr", "llr"]) == ["ocsvm", "llr"]
    assert expand("dataset", ["all"]) == registry.names("datasets")
    assert expand("detector", ["pyod-*f", "pyod-lof"]) == [
        name for name in registry.names("detectors") if name.startswith("pyod-") and name.endswith("f")
    ]
    assert expand("dataset", ["files:a,b*.csv"]) == ["files:a,b*.csv"]
    assert expand("inlier class", ["comp,*"], lambda: ["rec", "comp"]) == ["comp", "rec"]


def test_a_pattern_with_a_colon_stands_for_variants_of_a_dataset(monkeypatch):
    monkeypatch.delenv("ADBENCH_TEXT_OFFLINE", raising=False)
    assert expand("dataset", ["sib-200:arb_*, 20news"]) == [
        "sib-200:arb_Arab",
        "sib-200:arb_Latn",
        "20news",
    ]
    with pytest.raises(InvalidValueError, match=r"'20news:\*'"):
        expand("dataset", ["20news:*"])


def test_a_name_with_a_comma_or_a_bracket_is_found_first():
    names = ["tiny, 10% outliers", "other[1]"]
    assert expand("dataset", names, lambda: names) == names


def test_what_stands_for_nothing_is_an_error():
    with pytest.raises(InvalidValueError, match=r"detector .*commas .*, got 'llr,'"):
        expand("detector", ["llr,"])


def test_a_pattern_leaves_out_what_cannot_be_loaded_and_a_name_does_not(monkeypatch):
    def detector(name):
        if name != "pyod-knn":
            raise PluginError(f"{name} is broken")

    monkeypatch.setattr(registry, "detector", detector)
    notes = []
    assert [choice.name for choice in choices_of(["pyod-kn*,llr"], notes.append)] == ["pyod-knn", "llr"]
    assert notes == []
    (choice,) = choices_of(["pyod-k*(encoder=svd)"], notes.append)
    assert choice == DetectorChoice("pyod-knn", settings={"encoder": "svd"})
    (note,) = notes
    assert re.search(r"'pyod-k\*', .*: pyod-kde, pyod-kpca\. .*: pyod-kde is broken$", note)
    with pytest.raises(PluginError, match="pyod-loci is broken"):
        choices_of(["pyod-lo*"], notes.append)


def test_seeds_are_numbers_lists_and_ranges():
    assert parse_seeds("3") == [3]
    assert parse_seeds("0,2, 5-7") == [0, 2, 5, 6, 7]
    for wrong in ("-1", "0-", "one", "1.0"):
        with pytest.raises(InvalidValueError, match=f"seed, .*, got '{wrong}'"):
            parse_seeds(wrong)
    for wrong in ("0-4294967295", "4294967296"):
        with pytest.raises(InvalidValueError, match=f"range .* 4294967295, got '{wrong}'"):
            parse_seeds(wrong)


def test_a_file_that_is_given_as_a_dataset_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("posts.csv").touch()
    with pytest.raises(InvalidValueError, match=r"'posts\.csv' .*files:posts\.csv\."):
        expand("dataset", ["posts.csv"])
    assert expand("dataset", ["files:posts.csv"]) == ["files:posts.csv"]


def test_long_lists_in_messages_state_how_many_names_they_leave_out():
    assert listing("cab", most=2) == "a, b and 1 more"
    assert listing("cab") == "a, b, c"
    assert listing([]) == "none"
