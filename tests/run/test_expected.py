"""Which cells run first: the longest, by what the store remembers."""

from dataclasses import dataclass

import numpy as np
import pytest

from adbench_text.corpora.corpus import Corpus
from adbench_text.plugins.dataset import Documents
from adbench_text.run.engine import Work
from adbench_text.run.expected import expected_seconds
from adbench_text.sweep.cell import Cell


@dataclass
class Stored:
    detector: str
    configuration: str
    dataset: str
    metrics: dict


def stored(detector, seconds, configuration="", dataset="small", n_documents=30):
    metrics = {"fit_seconds": seconds - 1, "score_seconds": 1, "n_train": 10, "n_test": n_documents - 10}
    return Stored(detector, configuration, dataset, metrics)


def cell(detector, dataset="small", inlier="a", seed=0, **settings):
    return Cell(detector, "default", settings, dataset, inlier, 0.0, seed)


def corpus(name, n_a, n_b):
    documents = Documents([f"text {i}" for i in range(n_a + n_b)], np.repeat([0, 1], [n_a, n_b]))
    return Corpus(name, ("a", "b"), documents, documents, "made up")


CORPORA = {"small": corpus("small", 10, 20), "large": corpus("large", 100, 200)}


def seconds(cell, *remembered):
    return round(expected_seconds([cell], CORPORA, remembered)[cell].total, 9)


def test_a_cell_takes_as_long_as_before_for_the_number_of_its_documents():
    before = stored("ocsvm", 6, n_documents=30)
    assert seconds(cell("ocsvm"), before) == 40 * 6 / 30  # 10 for training, 30 for the test
    assert seconds(cell("ocsvm", inlier="b"), before) == 50 * 6 / 30
    assert seconds(cell("ocsvm", "large"), before) == 400 * 6 / 30


def test_the_nearest_cells_count_and_their_median():
    before = [stored("ocsvm", 3), stored("ocsvm", 6), stored("ocsvm", 600)]
    before += [stored("ocsvm", 9, "nu=0.2"), stored("ocsvm", 12, dataset="large"), stored("llr", 90)]
    assert seconds(cell("ocsvm"), *before) == 40 * 6 / 30
    assert seconds(cell("ocsvm", nu=0.2), *before) == 40 * 9 / 30
    assert seconds(cell("ocsvm", "large"), *before) == 400 * 12 / 30
    assert seconds(cell("ocsvm", "large", nu=0.2), *before) == 400 * 9 / 30  # the same settings, elsewhere
    assert seconds(cell("ocsvm", nu=0.5), *before) == 40 * 9 / 30  # the same detector


def test_training_and_scoring_are_expected_in_their_shares():
    metrics = {"fit_seconds": 4.0, "score_seconds": 2.0, "n_train": 10.0, "n_test": 20.0}
    expected = expected_seconds([cell("date")], CORPORA, [Stored("date", "", "small", metrics)])
    fit, score, is_remembered = expected[cell("date")]
    assert (fit, score) == pytest.approx((40 * 4 / 30, 40 * 2 / 30))
    assert is_remembered
    assert not expected_seconds([cell("llr")], CORPORA, [])[cell("llr")].is_remembered


def test_without_any_memory_the_size_counts():
    failed = Stored("ocsvm", "", "small", {"n_train": 10})
    assert seconds(cell("ocsvm", "large"), failed) == pytest.approx(10 * seconds(cell("ocsvm"), failed))


def test_long_cells_come_first_and_the_others_stay_with_their_split():
    times = {
        cell("llr", inlier="a"): 1,
        cell("date", inlier="a"): 60,
        cell("ocsvm", inlier="a"): 2,
        cell("llr", inlier="b"): 1,
        cell("date", inlier="b"): 90,
        cell("ocsvm", inlier="b"): 3,
    }
    order = Work(list(times), CORPORA, seconds=lambda: times).longest_first()
    assert [(each.detector, each.inlier) for each in order] == [
        *(("date", "b"), ("date", "a")),
        *(("llr", "b"), ("ocsvm", "b"), ("llr", "a"), ("ocsvm", "a")),
    ]


def test_without_expectations_the_order_is_kept():
    cells = [cell("llr", inlier="b"), cell("llr", inlier="a"), cell("date", inlier="a")]
    assert Work(cells, CORPORA).longest_first() == cells
