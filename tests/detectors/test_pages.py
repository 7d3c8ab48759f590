"""The pages on detectors name all of them, and their presets."""

import re
from pathlib import Path

import pytest

from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT, presets

DOCS = Path(__file__).parents[2] / "docs"
NAMES = [name for name in registry.names("detectors") if not name.startswith("pyod-")]


def test_each_detector_has_a_section():
    titles = re.findall(r"^## (.*)", (DOCS / "detectors.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = {name for title in titles for name in re.findall(r"`(.*?)`", title)}
    assert sorted({*NAMES} - named) == [], "add a section to docs/detectors.md"
    assert sorted(named - {*NAMES}) == [], "remove the section from docs/detectors.md"


@pytest.mark.parametrize("name", NAMES)
def test_each_preset_has_a_row_and_the_one_that_the_plain_name_means_says_so(name):
    text = (DOCS / "detectors-reference.md").read_text(encoding="utf-8")
    table, _, _ = text.partition("| preset | for |")[2].partition("\n\n")
    found = registry.detector(name)
    missing = presets(found, "").keys() - {DEFAULT, *re.findall(rf"`{name}:(.*?)`", table)}
    assert missing == set(), "add a row to the table of presets in docs/detectors-reference.md"
    plain = re.findall(rf"`{name}:(.*?)` \(plain `{name}`\)", table)
    assert plain == ([] if found.default_preset == DEFAULT else [found.default_preset])
