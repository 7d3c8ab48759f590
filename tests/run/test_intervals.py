import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import auc, precision_recall_curve, roc_auc_score, roc_curve

from adbench_text import metrics
from adbench_text.errors import InvalidValueError
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
def test_intervals_are_the_percentiles_of_the_metrics_of_scikit_learn_on_each_resample(n, decimals):
    outlier, scores = ranking(n, seed=n, decimals=decimals)
    intervals = bootstrap_intervals(outlier, scores, n_resamples=60, level=0.8)
    expected = by_scikit_learn(outlier, scores, 60)
    assert list(intervals) == list(metrics.METRICS)
    for name, interval in intervals.items():
        assert interval == pytest.approx(np.percentile(expected[name], [10, 90]), abs=1e-12)


@pytest.mark.parametrize("size", [1, 100, 10**9])
def test_the_size_of_a_block_does_not_matter(size, monkeypatch):
    outlier, scores = ranking(40, decimals=1)
    expected = bootstrap_intervals(outlier, scores, 30)
    monkeypatch.setattr(intervals, "_SIZE", size)
    assert bootstrap_intervals(outlier, scores, 30) == expected


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


def test_the_interval_of_auroc_covers_the_true_figure_as_often_as_its_level():
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
def test_what_has_no_interval_is_an_error(outlier, scores, options, message):
    with pytest.raises(InvalidValueError, match=message):
        bootstrap_intervals(np.array(outlier, dtype=bool), np.array(scores), **options)
