import warnings

import numpy as np
import pandas as pd
import pytest
from cells import compare, only_table, stored, texts
from scipy import stats

from adbench_text.metrics import METRICS, all_metrics
from adbench_text.reports.cells import Cells
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.significance import (
    contributions,
    estimate,
    friedman,
    holm,
    mean_ranks,
    paired,
    placements,
    wilcoxon,
)
from adbench_text.reports.tables import ranks, significance
from adbench_text.store.cells import table_of

# three detectors in four splits; the second and the third tie in the last
FIGURES = np.array([[0.9, 0.8, 0.7], [0.9, 0.7, 0.8], [0.6, 0.9, 0.8], [0.9, 0.5, 0.5]])


def test_mean_ranks_by_hand():
    # ranks 1 2 3, 1 3 2, 3 1 2, 1 2.5 2.5
    assert mean_ranks(FIGURES).tolist() == [6 / 4, 8.5 / 4, 9.5 / 4]


def test_friedman_by_hand():
    # deviations of the rank sums from 8: -2, 0.5, 1.5; with a tie of two the variance is
    # 4 * 3 * 4 / 12 * (1 - 6 / (4 * 24)) = 3.75; two degrees of freedom
    assert friedman(FIGURES) == pytest.approx(np.exp(-((4 + 0.25 + 2.25) / 3.75) / 2))


def test_friedman_needs_three_detectors():
    assert np.isnan(friedman(FIGURES[:, :2]))


def test_equal_detectors_have_p_one_without_a_warning():
    figures = np.repeat([[0.5], [0.7], [0.9]], 3, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert friedman(figures) == 1
        assert wilcoxon(figures[:, 0] - figures[:, 1]) == 1
    assert mean_ranks(figures).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("p", "corrected"),
    [
        ([], []),
        ([0.5], [0.5]),
        ([0.01, 0.02, 0.03, 0.04], [0.04, 0.06, 0.06, 0.06]),
        ([0.5, 0.01, 0.9, 0.01], [1, 0.04, 1, 0.04]),
    ],
)
def test_holm_by_hand(p, corrected):
    assert holm(p) == pytest.approx(corrected)


def test_pairs_are_those_of_scipy_with_holms_correction():
    figures = np.random.default_rng(2).random((10, 4)) / 2 + np.array([0, 0.05, 0.2, 0.5])
    of_pairs = [
        stored(name, f"c{i}", row[n]) for i, row in enumerate(figures) for n, name in enumerate("abcd")
    ]
    rows = texts(only_table(significance, compare(of_pairs)))
    pairs = [["abcd".index(name) for name in row[:2]] for row in rows]
    assert sorted(map(sorted, pairs)) == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    p_values = [stats.wilcoxon(figures[:, first], figures[:, second]).pvalue for first, second in pairs]
    assert len(set(p_values)) > 1
    assert [float(row[6]) for row in rows] == pytest.approx(holm(p_values), rel=0.05)
    differences = [figures[:, first] - figures[:, second] for first, second in pairs]
    assert [wilcoxon(each) for each in differences] == p_values


def test_the_mean_rank_of_one_detector_is_one():
    assert mean_ranks([[0.5], [0.7]]).tolist() == [1]


# Test documents

CLASSES = ("a", "b", "c")
LABELS = np.repeat(np.arange(3), 40)
ABILITY = {"good": 3.0, "fair": 2.0, "twin": 2.0, "blind": 0.0}


class Scores:
    """A store whose detectors score the same documents, each with noise of its own."""

    experiment, redacted = "adbench-text", "a store"

    def __init__(self):
        self.n_read = 0

    def scores(self, run_id):
        """Outliers and scores of a run, whose id has the detector and the inlier class."""
        name, inlier = run_id.split()
        outlier = CLASSES.index(inlier) != LABELS
        detector = "fair" if name == "twin" else name
        rng = np.random.default_rng([CLASSES.index(inlier), list(ABILITY).index(detector)])
        return outlier, ABILITY[detector] * outlier + rng.normal(size=len(LABELS))

    def artifact(self, dataset, run_id, name):
        if name != "scores.csv" or run_id.startswith("lost"):
            return None
        self.n_read += 1
        outlier, scores = self.scores(run_id)
        rows = [
            f"{place},{CLASSES[label]},{int(is_outlier)},{score!r}\n"
            for place, (label, is_outlier, score) in enumerate(
                zip(LABELS, outlier.tolist(), scores.tolist(), strict=True)
            )
        ]
        return "document,class,outlier,score\n" + "".join(rows)


STORE = Scores()


def cells(*detectors, **changes):
    made = []
    for name in detectors:
        for inlier in CLASSES:
            cell = stored(name, inlier, 0.5, n_test=float(len(LABELS)), run_id=f"{name} {inlier}", **changes)
            if name in ABILITY:
                cell |= all_metrics(*STORE.scores(cell["run_id"]))
            made.append(cell)
    return made


def comparison_of(*detectors) -> Comparison:
    return compare(cells(*detectors), store=STORE)


def test_the_placements_add_up_to_the_auroc():
    outlier, scores = STORE.scores("fair a")
    rounded = scores.round()  # with ties
    for each in (scores, rounded):
        area = METRICS["auroc"].function(outlier, each)
        shares = placements(outlier, each)
        assert shares[outlier].mean() == pytest.approx(area)
        assert shares[~outlier].mean() == pytest.approx(area)


@pytest.mark.slow
def test_the_deviation_is_that_of_resamples_of_the_documents():
    outlier, fair = STORE.scores("fair a")
    _, blind = STORE.scores("blind a")
    auroc, rng = METRICS["auroc"].function, np.random.default_rng(0)
    differences = []
    for _ in range(2000):
        drawn = np.concatenate([rng.choice(np.flatnonzero(label == LABELS), 40) for label in range(3)])
        differences.append(100 * (auroc(outlier[drawn], fair[drawn]) - auroc(outlier[drawn], blind[drawn])))
    ours = [
        contributions(Cells(table_of(cells(name)[:1])).counted, Evidence(STORE)) for name in ("fair", "blind")
    ]
    _, low, high, _ = estimate(0.0, ours[0] - ours[1])
    assert (high - low) / 2 / 1.96 == pytest.approx(np.std(differences), rel=0.1)


def test_the_splits_of_a_corpus_and_all_detectors_share_their_documents():
    ranked = Ranking(comparison_of("fair", "twin", "blind"))
    assert ranked.difference(0, 1) == (0, 0, 0, 1)  # equal scores on equal documents
    value, low, high, p = ranked.difference(0, 2)
    assert low < value < high
    assert value == pytest.approx((ranked.figures[:, 0] - ranked.figures[:, 2]).mean())
    assert p < 1e-6


def test_rounding_is_no_difference():
    of_documents = pd.Series(
        1e-16,
        pd.MultiIndex.from_product([["c"], ["a", "b"], range(5)], names=["corpus", "class", "document"]),
    )
    assert estimate(3e-15, of_documents) == (3e-15, 3e-15, 3e-15, 1)
    assert paired(np.array([1e-15, 2e-15, -1e-15])).p == 1
    value = 0.71
    thrice = [stored("x", inlier, value, seed=seed) for inlier in CLASSES for seed in range(3)]
    once = [stored("y", inlier, value) for inlier in CLASSES]
    assert mean_ranks(Ranking(compare([*thrice, *once])).merits).tolist() == [1.5, 1.5]


def test_scores_are_read_only_for_the_tables_that_need_them():
    STORE.n_read = 0
    comparison = comparison_of("good", "fair")
    only_table(ranks, comparison)
    assert STORE.n_read == 0
    only_table(significance, comparison)
    assert STORE.n_read == 6  # each cell once


def test_pairs_are_tested_over_documents_beside_splits():
    table = only_table(significance, comparison_of("blind", "good", "fair"))
    rows = texts(table)
    assert [row[:2] for row in rows] == [["good", "blind"], ["fair", "blind"], ["good", "fair"]]
    assert [row[4] for row in rows][:2] == ["< 0.0001", "< 0.0001"]
    assert rows[0][-1] == "documents"  # three splits cannot give a low p


def test_a_detector_without_scores_has_no_test_over_documents():
    table = only_table(significance, comparison_of("good", "lost"))
    (row,) = texts(table)
    assert row[3:5] == ["–", "–"]


def test_other_metrics_than_auroc_have_no_test_over_documents():
    (row,) = texts(only_table(significance, compare(cells("good", "fair"), "aupr_in", store=STORE)))
    assert row[3:5] == ["–", "–"]


def test_thinned_test_sets_have_intervals_too():
    thinned = cells("good", test_outliers=0.1)
    assert len(contributions(Cells(table_of(thinned)).counted, Evidence(STORE))) == len(LABELS)
