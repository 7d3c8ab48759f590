"""The file of `odd --example`: what keep_example.py makes, with a licence for every text."""

import csv
import gzip
import io
import runpy
from pathlib import Path

import pytest

from adbench_text.documents import EXAMPLE

KEEP = runpy.run_path(str(Path(__file__).with_name("keep_example.py")))
LICENCES = EXAMPLE.with_name("example-licences.txt")


def content():
    return gzip.decompress(EXAMPLE.read_bytes())


def test_the_example_is_small_and_has_20_planted_texts_among_2000():
    rows = list(csv.DictReader(io.StringIO(content().decode(), newline="")))
    assert [row["id"] for row in rows] == [f"D{number}" for number in range(2000)]
    assert len({row["text"] for row in rows}) == 2000
    planted = [(row["planted"], row["text"]) for row in rows if row["planted"]]
    assert sorted(planted) == sorted(KEEP["PLANTED"])
    assert len(planted) == 20
    assert EXAMPLE.stat().st_size < 400_000


def test_the_docstrings_have_the_notices_of_their_libraries():
    note = LICENCES.read_text()
    assert all(notice in note for notice in KEEP["LIBRARIES"].values())
    assert "Redistributions in binary form must reproduce the above copyright notice" in note
    assert len(KEEP["LIBRARIES"]) == 4


@pytest.mark.slow
def test_the_example_is_made_of_the_versions_that_its_note_names():
    if KEEP["versions"]() not in LICENCES.read_text():
        pytest.skip("other versions of the libraries are installed")
    assert KEEP["content"]() == content()
    assert KEEP["licences"]() == LICENCES.read_text()
