import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import auc, precision_recall_curve, roc_auc_score, roc_curve

from adbench_text import metrics
from adbench_text.errors import InvalidValueError
from adbench_text.reports import significance
from adbench_text.reports.significance import Pair, cliques, friedman, mean_ranks, wilcoxon_holm
from adbench_text.run import intervals
from adbench_text.run.intervals import bootstrap_intervals


def ranking(n: int, seed: int = 0, decimals: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Texts of which a third are outliers, and scores that tell them apart somewhat."""
    rng = np.random.default_rng(seed)
    outlier = np.arange(n) % 3 == 0
    scores = rng.normal(size=n) + outlier
    return outlier, scores if decimals is None else np.round(scores, decimals)


def by_scikit_learn(outlier: np.ndarray, scores: np.ndarray, n_resamples: int) -> dict[str, np.ndarray]:
    """The metrics of the same resamples, each written out as a list of documents."""
    figures = []
    drawn = intervals._counts(int(outlier.sum()), int((~outlier).sum()), n_resamples, 0)
    for outliers, inliers in zip(*drawn, strict=True):
        of_outliers, of_inliers = np.repeat(scores[outlier], outliers), np.repeat(scores[~outlier], inliers)
        label = np.repeat([True, False], [len(of_outliers), len(of_inliers)])
        resampled = np.concatenate([of_outliers, of_inliers])
        areas = [roc_auc_score(label, resampled)]
        for positive, abnormality in ((~label, -resampled), (label, resampled)):
            precision, recall, _ = precision_recall_curve(positive, abnormality)
            areas.append(auc(recall, precision))
        false, true, _ = roc_curve(label, resampled, drop_intermediate=False)
        figures.append([*areas, false[true >= 0.95].min()])
    return dict(zip(("auroc", "aupr_in", "aupr_out", "fpr95"), np.array(figures).T, strict=True))


@pytest.mark.parametrize("decimals", [None, 2, 1, 0])
@pytest.mark.parametrize("n", [5, 40, 300])
def test_intervals_are_the_percentiles_of_what_scikit_learn_says_of_each_resample(n, decimals):
    outlier, scores = ranking(n, seed=n, decimals=decimals)
    intervals = bootstrap_intervals(outlier, scores, n_resamples=60, level=0.8)
    expected = by_scikit_learn(outlier, scores, 60)
    assert list(intervals) == list(metrics.METRICS)
    for name, interval in intervals.items():
        assert interval == pytest.approx(np.percentile(expected[name], [10, 90]), abs=1e-12)


def test_scores_that_are_all_equal_have_the_metrics_of_chance():
    outlier, _ = ranking(90)
    intervals = bootstrap_intervals(outlier, np.zeros(90), n_resamples=20)
    point = metrics.all_metrics(outlier, np.zeros(90))
    assert {name: pytest.approx((point[name],) * 2) for name in point} == intervals


def test_each_resample_has_as_many_of_each_kind_as_the_test_set():
    outliers, inliers = intervals._counts(7, 300, 50, 3)
    assert (outliers.shape, inliers.shape) == ((50, 7), (50, 300))
    assert (outliers.sum(axis=1) == 7).all()
    assert (inliers.sum(axis=1) == 300).all()


def test_documents_are_drawn_with_replacement():
    counts = intervals._counts(2000, 2, 100, 0)[0]
    assert np.mean(counts == 0) == pytest.approx(np.exp(-1), abs=0.005)
    assert counts.mean(axis=0) == pytest.approx(np.ones(2000), abs=0.5)


def test_the_seed_alone_decides():
    outlier, scores = ranking(100)
    first = bootstrap_intervals(outlier, scores, 100, seed=1)
    intervals._counts.cache_clear()
    assert bootstrap_intervals(outlier, scores, 100, seed=1) == first
    assert bootstrap_intervals(outlier, scores, 100, seed=2) != first


def test_the_order_of_the_scores_alone_decides():
    outlier, scores = ranking(100)
    assert bootstrap_intervals(outlier, np.exp(scores) * 5, 100) == bootstrap_intervals(outlier, scores, 100)


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_holds_the_figure_and_grows_with_the_level(seed):
    outlier, scores = ranking(600, seed)
    narrow, wide = (bootstrap_intervals(outlier, scores, 200, level) for level in (0.5, 0.95))
    for name, figure in metrics.all_metrics(outlier, scores).items():
        assert wide[name][0] < narrow[name][0] < figure < narrow[name][1] < wide[name][1]


def test_four_times_the_documents_halve_the_interval():
    widths = []
    for n in (600, 2400):
        intervals = bootstrap_intervals(*ranking(n), n_resamples=300)
        widths.append({name: upper - lower for name, (lower, upper) in intervals.items()})
    for name in metrics.METRICS:
        assert widths[0][name] / widths[1][name] == pytest.approx(2, rel=0.3)


def test_the_interval_of_auroc_covers_the_true_figure_as_often_as_it_says():
    truth = stats.norm.cdf(1 / np.sqrt(2))  # two normal distributions, one standard deviation apart
    hits = []
    for seed in range(200):
        lower, upper = bootstrap_intervals(*ranking(150, seed), n_resamples=200, level=0.8)["auroc"]
        hits.append(lower <= truth <= upper)
    assert np.mean(hits) == pytest.approx(0.8, abs=0.08)


@pytest.mark.parametrize("n", [2, 9, 5001])
def test_a_perfect_ranking_is_certain(n):
    outlier = np.arange(n) % 3 == 0
    intervals = bootstrap_intervals(outlier, outlier + np.arange(n) / (2 * n), n_resamples=50)
    areas = dict.fromkeys(("auroc", "aupr_in", "aupr_out"), (1.0, 1.0))
    assert intervals == {**areas, "fpr95": (0.0, 0.0)}


@pytest.mark.parametrize(
    ("outlier", "scores", "options", "message"),
    [
        ([True, True], [0.0, 1], {}, "2 outliers in 2"),
        ([False, False], [0.0, 1], {}, "0 outliers in 2"),
        ([], [], {}, "0 outliers in 0"),
        ([True, False], [0.0], {}, r"got \(1,\) for \(2,\)"),
        ([True, False], [0.0, np.nan], {}, "finite"),
        ([True, False], [0.0, 1], {"n_resamples": 0}, "n_resamples must be .* got 0"),
        ([True, False], [0.0, 1], {"seed": -1}, "seed must be .* got -1"),
        ([True, False], [0.0, 1], {"level": 1}, "level must be .* got 1"),
    ],
)
def test_what_has_no_interval_is_said(outlier, scores, options, message):
    with pytest.raises(InvalidValueError, match=message):
        bootstrap_intervals(np.array(outlier, dtype=bool), np.array(scores), **options)


# three detectors in four splits; the second and the third tie in the last
FIGURES = np.array([[0.9, 0.8, 0.7], [0.9, 0.7, 0.8], [0.6, 0.9, 0.8], [0.9, 0.5, 0.5]])


def test_mean_ranks_by_hand():
    # ranks 1 2 3, 1 3 2, 3 1 2, 1 2.5 2.5
    assert mean_ranks(FIGURES).tolist() == [6 / 4, 8.5 / 4, 9.5 / 4]


def test_friedman_by_hand():
    # deviations of the rank sums from 8: -2, 0.5, 1.5; with a tie of two the variance is
    # 4 * 3 * 4 / 12 * (1 - 6 / (4 * 24)) = 3.75; two degrees of freedom
    assert friedman(FIGURES) == pytest.approx(np.exp(-((4 + 0.25 + 2.25) / 3.75) / 2))


def test_friedman_is_that_of_scipy():
    figures = np.random.default_rng(0).random((12, 5))
    assert friedman(figures) == stats.friedmanchisquare(*figures.T).pvalue


def test_friedman_needs_three_detectors():
    assert np.isnan(friedman(FIGURES[:, :2]))


def test_equal_detectors_have_p_one_without_a_warning():
    figures = np.repeat([[0.5], [0.7], [0.9]], 3, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert friedman(figures) == 1
        assert [pair[2:] for pair in wilcoxon_holm(figures)] == [(0, 1, 1)] * 3
    assert mean_ranks(figures).tolist() == [2, 2, 2]


def test_wilcoxon_by_hand():
    # six differences of one sign: both tails of the 2**6 equally likely signs hold one each
    base = np.arange(6) / 10
    figures = np.stack([base + np.arange(1, 7) / 100, base], axis=1)
    [pair] = wilcoxon_holm(figures)
    assert pair == Pair(0, 1, pytest.approx(0.035), 2 / 64, 2 / 64)


def test_pairs_are_those_of_scipy_smallest_p_first():
    figures = np.random.default_rng(1).random((10, 4)) + np.array([0, 0.2, 0.4, 0.9])
    pairs = wilcoxon_holm(figures)
    assert sorted(pair[:2] for pair in pairs) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert [pair.p for pair in pairs] == sorted(pair.p for pair in pairs)
    for first, second, difference, p, _ in pairs:
        assert p == stats.wilcoxon(figures[:, first], figures[:, second]).pvalue
        assert difference == np.median(figures[:, first] - figures[:, second])


@pytest.mark.parametrize(
    ("p", "corrected"),
    [
        ([], []),
        ([0.5], [0.5]),
        ([0.01, 0.02, 0.03, 0.04], [0.04, 0.06, 0.06, 0.06]),
        ([0.01, 0.01, 0.5, 0.9], [0.04, 0.04, 1, 1]),
    ],
)
def test_holm_by_hand(p, corrected):
    assert significance._holm(p) == pytest.approx(corrected)


def test_pairs_carry_holms_correction():
    pairs = wilcoxon_holm(np.random.default_rng(2).random((8, 4)) + np.array([0, 0, 0.5, 1]))
    assert [pair.p_holm for pair in pairs] == significance._holm([pair.p for pair in pairs])
    assert len({pair.p_holm for pair in pairs}) > 1


def test_one_detector_has_no_pairs():
    assert wilcoxon_holm([[0.5], [0.7]]) == []
    assert mean_ranks([[0.5], [0.7]]).tolist() == [1]


@pytest.mark.parametrize("figures", [[[0.5, 0.6]], [0.5, 0.6], [[0.5, np.nan], [0.5, 0.6]], [[], []]])
def test_what_cannot_be_compared_is_said(figures):
    with pytest.raises(InvalidValueError, match="at least 2 splits, got an array of shape"):
        wilcoxon_holm(figures)


def test_ranks_need_finite_figures():
    for function in (mean_ranks, friedman):
        with pytest.raises(InvalidValueError, match="1 not finite"):
            function([[0.5, 0.6, np.nan]])


def differing(n: int, *different: tuple[int, int]) -> list[Pair]:
    return [
        Pair(i, j, 0.1, 0.01, 0.04 if (i, j) in different else 0.05)
        for i in range(n)
        for j in range(i + 1, n)
    ]


@pytest.mark.parametrize(
    ("ranks", "pairs", "groups"),
    [
        ([1, 2, 3], differing(3), [[0, 1, 2]]),
        ([3, 1, 2], differing(3), [[1, 2, 0]]),  # best first
        ([1, 2, 3], differing(3, (0, 2)), [[0, 1], [1, 2]]),  # they overlap
        ([1, 2, 3], differing(3, (0, 1), (0, 2), (1, 2)), []),
        ([1, 2, 3, 4], differing(4, (0, 3), (1, 3), (2, 3)), [[0, 1, 2]]),  # one is alone
        ([1, 2, 3, 4], differing(4, (0, 1), (0, 2), (0, 3)), [[1, 2, 3]]),
        # the outer two do not differ, but one between them differs from the first
        ([1, 2, 3], differing(3, (0, 1)), [[1, 2]]),
        ([1, 2, 3, 4, 5], differing(5, (0, 3), (0, 4), (1, 4)), [[0, 1, 2], [1, 2, 3], [2, 3, 4]]),
        ([1], [], []),
        ([], [], []),
    ],
)
def test_cliques_by_hand(ranks, pairs, groups):
    assert cliques(ranks, pairs) == groups


def test_cliques_follow_alpha():
    pairs = differing(2, (0, 1))
    assert cliques([1, 2], pairs, alpha=0.05) == []
    assert cliques([1, 2], pairs, alpha=0.04) == [[0, 1]]
    with pytest.raises(InvalidValueError, match=r"alpha must be .* got 2"):
        cliques([1, 2], pairs, alpha=2)


@pytest.mark.parametrize("seed", range(20))
def test_cliques_are_the_maximal_runs_of_neighbours(seed):
    rng = np.random.default_rng(seed)
    ranks = rng.permutation(7).astype(float)
    pairs = [Pair(i, j, 0, 0, rng.choice([0.01, 0.5], p=[0.2, 0.8])) for i in range(7) for j in range(i)]
    order = np.argsort(ranks).tolist()
    runs = [order[a:b] for a in range(7) for b in range(a + 2, 8)]
    alike = [r for r in runs if not any(p.p_holm < 0.05 and {p.first, p.second} <= set(r) for p in pairs)]
    maximal = [r for r in alike if not any(set(r) < set(other) for other in alike)]
    assert cliques(ranks, pairs) == maximal
