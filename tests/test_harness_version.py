"""A small sweep has the results that it always had; otherwise the protocol has another version."""

import numpy as np
import pytest

from adbench_text.code_version import HARNESS_VERSION
from adbench_text.contract.dataset import Documents
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split_key import SplitKey
from adbench_text.run.cell import Cell
from adbench_text.run.evaluate import evaluate
from adbench_text.text.cleaning import clean

TOPICS = {
    "sea": "The ship, harbours, sailing; tide's anchor (crew) storm 12 waves",
    "law": "A judge: courts; statute? appeals - verdict of 1999, jury's oath",
    "sky": "Clouds & storms, WIND thunder rain's sun; the moon at 7 stars",
}
COMMON = "people said café another time today we're going home señor naïve morning".split()


def documents(n: int, seed: int) -> Documents:
    """Documents of eight words, about one of them of the topic."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % len(TOPICS)
    words = [[*topic.split(), *COMMON] for topic in TOPICS.values()]
    ranks = rng.random((n, 8)) ** 0.4
    return Documents(
        [
            " ".join(words[i][int(r * len(words[i]))] for r in row)
            for i, row in zip(labels, ranks, strict=True)
        ],
        labels,
    )


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    train, test = documents(240, seed=0), documents(120, seed=1)
    cleaned = (Documents(map(clean, part.texts), part.labels) for part in (train, test))
    return Corpus("topics", tuple(TOPICS), *cleaned, "made for tests")


MEASURES = ("auroc", "aupr_in", "aupr_out", "fpr95", "n_train_outliers")
EXPECTED = {
    "llr": [0.77963, 0.814971, 0.719717, 0.775, 8],
    "llr 0": [0.792593, 0.821849, 0.740656, 0.75, 0],
    "knn-words": [0.714815, 0.737668, 0.751283, 0.9, 8],
    "ocsvm": [0.562037, 0.67174, 0.475146, 0.85, 8],
    "iforest": [0.536111, 0.645034, 0.460614, 0.925, 8],
    "pyod-knn": [0.473148, 0.578789, 0.379154, 0.95, 8],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_results_are_those_of_this_version_of_the_protocol(name, corpus, home):
    detector, _, share = name.partition(" ")
    found = measured(detector, float(share or 0.1), corpus)
    assert found == pytest.approx(EXPECTED[name], abs=2e-4), (
        f"The results of {detector} have changed. If the reason is the harness (cleaning, words, vectors, "
        "splits, contamination, metrics, evaluation), raise HARNESS_VERSION in adbench_text/code_version.py "
        f"to {HARNESS_VERSION + 1}, because stored results are outdated. Then put the new values here."
    )


def measured(detector: str, contamination: float, corpus: Corpus) -> list[float]:
    settings = {"encoder": "svd", "svd_components": 8} if detector in ("ocsvm", "iforest", "pyod-knn") else {}
    cell = Cell(detector, "default", settings, SplitKey("topics", "law", contamination, 3, test_outliers=0.4))
    metrics = evaluate(cell, corpus).metrics
    return [round(metrics[name], 6) for name in MEASURES]
