"""The tables of the pages on datasets have the names, classes, sizes and licences of the code."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from adbench_text.contract.dataset import Dataset
from adbench_text.contract.protocols import ONE_VS_REST, PROTOCOLS
from adbench_text.plugins import registry
from adbench_text.text.sources import SOURCES

DOCS = Path(__file__).parents[2] / "docs"


class Row(NamedTuple):
    """What a page says of a dataset."""

    protocol: str
    documents: str
    normal: str
    licence: str


def table(page: str, header: str) -> list[list[str]]:
    """Return the cells of a table of a page, which begins with this header."""
    _, _, after = (DOCS / page).read_text(encoding="utf-8").partition(f"{header}\n")
    lines = re.match(r"(?:\|.*\n)+", after)
    assert lines, f"{page} has no table {header}"
    return [line.strip("|").split("|") for line in lines[0].splitlines()[1:]]


def rows() -> dict[str, Row]:
    """Return the rows of the table of all datasets, one for each name."""
    found = {}
    for named, *others in table(
        "datasets-reference.md",
        "| name | documents for training / for testing, odd ones | normal | licence |",
    ):
        protocol = re.search(r"\((.*)\)", named)
        row = Row(protocol[1] if protocol else ONE_VS_REST, *map(str.strip, others))
        found |= dict.fromkeys(re.findall(r"`(.*?)`", named), row)
    return found


ROWS = rows()
# One name of a row. pydocs has its own tests: other versions of the libraries have other documents.
COUNTED = {row: name for name, row in ROWS.items() if row.documents[0].isdigit() and "pydocs" not in name}


def test_the_table_has_all_datasets():
    named, found = {name for name in ROWS if ":" not in name}, {*registry.names("datasets")}
    table = "the table of all datasets in docs/datasets-reference.md"
    assert sorted(found - named) == [], f"add a row to {table}"
    assert sorted(named - found) == [], f"remove the row from {table}"


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_the_facts_of_the_dataset(name):
    dataset, row = registry.dataset(name), ROWS[name]
    assert row.protocol in PROTOCOLS
    assert row.protocol == dataset.protocol
    n, never = len(dataset.classes), len(dataset.outliers)
    in_turn = f"{n - never} of {n} classes in turn" if never else "each class in turn"
    assert row.normal == (", ".join(dataset.inliers) or in_turn)
    assert row.licence in dataset.licence


@pytest.mark.parametrize(("name", "n"), [("sib-200", 205), ("fast-detect", 12)])
def test_a_dataset_has_as_many_variants_as_the_pages_say(name, n):
    assert len(registry.dataset(name).variants) == n


def test_the_first_table_has_the_classes_and_sizes():
    header = "| name | classes | documents for training / for testing | from |"
    for named, classes, documents, _ in table("datasets.md", header):
        name = named.strip(" `")
        assert classes.strip() == ", ".join(registry.dataset(name).classes)
        assert documents.strip() == ROWS[name].documents


def test_the_vectors_have_the_licences_of_the_code():
    listed = table("datasets-reference.md", "| name | made of | source | licence |")
    licences = {re.findall(r"`(.*?)`", named)[0]: licence.strip() for named, *_, licence in listed}
    assert {re.sub(r"-\d+$", "", name) for name in licences} == {
        re.sub(r"-\d+$", "", each) for each in SOURCES
    }
    for name, licence in licences.items():
        words = re.findall(r"[\w.-]+", SOURCES[name].licence)
        assert set(re.findall(r"[\w.-]+", licence)) <= {*words}


def documents(dataset: Dataset) -> str:
    """Return how many documents a dataset has, as the table says it."""
    train, test = dataset.read()
    normal = [dataset.classes.index(name) for name in dataset.inliers or dataset.classes]
    assert set(train.labels) <= set(normal)
    n_normal = int(np.isin(test.labels, normal).sum())
    n_odd = len(test) - n_normal
    if dataset.redraw and dataset.redraw.n_of_class:
        n_odd = dataset.redraw.n_of_class * (len(dataset.classes) - len(normal))
    of_train = f"{len(train):,} / " if len(train) else ""
    return f"{of_train}{n_normal + n_odd:,}{f', {n_odd:,}' if n_odd else ''}"


@pytest.mark.parametrize("name", COUNTED.values())
def test_a_row_has_the_documents_of_the_files(name, real_dataset):
    dataset = real_dataset(name)
    counted, said, edition = documents(dataset), ROWS[name].documents, dataset.edition()
    assert edition.is_published or name.endswith(("reuters", "agnews"))
    if name.endswith("agnews") and not edition.is_published:  # a sample of the training documents
        counted, said = (each.partition(" / ")[2] for each in (counted, said))
    assert counted == said
