"""What training adds: networks beside their untrained twins and the plain methods beneath them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.corpora.split_key import percent
from adbench_text.plugins.configure import format_name, split_list
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.report import NONE, Entry, Kind, Table, figure
from adbench_text.reports.significance import paired

#: The settings that say how long a network is trained; 0 leaves it as it was drawn.
_LENGTHS = {"steps", "epochs", "epoch_num", "n_epochs", "stop_epochs"}
#: PyOD's LUNAR keeps the best of the states that it measures before each epoch: of one, the first.
_UNTRAINED_TOO = {"pyod-lunar": "n_epochs=1"}
KINDS = "trained", "untrained", "plain"
_COUNTS = "date:fast(prior=true, steps=0)", "counts of word pieces"
_TO_MEAN = "pyod-gmm(covariance_type=spherical)", "distance to the mean vector"
_PCA = "pyod-kpca(kernel=linear, n_components=32)", "reconstruction by PCA"
#: The plain method beneath a network: the label of its column, and what it is.
_PLAIN: Mapping[str, tuple[str, str]] = {
    "date": _COUNTS,
    "cvdd": (
        "pyod-gmm(covariance_type=spherical, encoder=mean, n_components=5)",
        "distance to the nearest of five centres",
    ),
    "pyod-deep-svdd": _TO_MEAN,
    "pyod-auto-encoder": _PCA,
    "pyod-vae": _PCA,
    "pyod-alad": _PCA,
    "pyod-anogan": _PCA,
    "pyod-so-gaal": _TO_MEAN,
    "pyod-mo-gaal": _TO_MEAN,
    "pyod-lunar": ("pyod-knn(method=mean)", "mean distance to neighbours"),
}


class Twins(NamedTuple):
    """A network, its untrained twin, and the plain method beneath it, if the comparison has it."""

    trained: Column
    untrained: Column
    plain: Column | None
    what: str  #: the plain method, for people


def twins_of(comparison: Comparison) -> list[Twins]:
    """Return the networks that a comparison has with and without training, in the order of its columns."""
    untrained = {_network(column): column for column in comparison.columns if _is_untrained(column)}
    labels = {column.label: column for column in comparison.columns}
    found = []
    for column in comparison.columns:
        twin = untrained.get(_network(column))
        if twin is not None and not _is_untrained(column):
            label, what = _PLAIN.get(column.detector, ("", ""))
            found.append(Twins(column, twin, labels.get(label), what))
    return found


def _settings(column: Column) -> tuple[str, list[str]]:
    """Return the name of a column without its settings, and these."""
    written = format_name(column.detector, column.preset, column.configuration or "")
    name, _, settings = written.partition("(")
    return name, split_list(settings.removesuffix(")"))


def _network(column: Column) -> tuple[str, frozenset[str], str, int]:
    """Return what a column shares with the same network that is trained for another time."""
    name, settings = _settings(column)
    others = frozenset(each for each in settings if each.partition("=")[0] not in _LENGTHS)
    return name, others, column.source, column.generation


def _is_untrained(column: Column) -> bool:
    _, settings = _settings(column)
    zeros = {f"{length}=0" for length in _LENGTHS} | {_UNTRAINED_TOO.get(column.detector, "")}
    return not zeros.isdisjoint(settings)


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield means over the splits of all corpora, a row for each network, at each contamination level."""
    for level in comparison.levels:
        if rows := [_row(*pair) for pair in measured(comparison, level)]:
            yield Table(
                f"{comparison.heading} of networks with and without training, "
                f"{percent(level)} of outliers in the training data",
                ["network", "plain method", *KINDS, "training adds", "over the plain method", "splits"],
                rows,
                notes=[
                    "In brackets are 95 % intervals of the mean over the splits, by Student's t. "
                    "Each split has the mean over its seeds."
                ],
            )


def measured(comparison: Comparison, level: float) -> Iterator[tuple[Twins, NDArray[np.float64]]]:
    """Yield the networks with the figures of the splits that all of `KINDS` have, (n_splits, 3).

    Those of a plain method that is not there are NaN.
    """
    splits = [(corpus, inlier) for corpus in comparison.corpora for inlier in corpus.inliers]
    for twins in twins_of(comparison):
        columns = [twins.trained, twins.untrained] + ([] if twins.plain is None else [twins.plain])
        figures = comparison.figures(columns, splits, level)
        figures = figures[np.isfinite(figures).all(axis=1)]
        if len(figures):
            yield twins, np.pad(figures, ((0, 0), (0, 3 - len(columns))), constant_values=np.nan)


def _row(twins: Twins, figures: NDArray[np.float64]) -> list[Entry]:
    n_splits = Entry(f"{len(figures)}", Kind.FIGURE, len(figures))
    means = [_mean(of_column) for of_column in figures.T]
    differences = [_difference(figures[:, 0] - other) for other in figures[:, 1:].T]
    return [Entry(twins.trained.label), Entry(twins.what), *means, *differences, n_splits]


def _mean(values: NDArray[np.float64]) -> Entry:
    return figure(float(values.mean())) if np.isfinite(values).any() else NONE


def _difference(values: NDArray[np.float64]) -> Entry:
    if not np.isfinite(values).any():
        return NONE
    if len(values) < 2:
        return figure(float(values.mean()), signed=True)
    estimate = paired(values)
    words = f"{estimate.value:+z.1f} ({estimate.low:+z.1f} to {estimate.high:+z.1f})"
    return Entry(words, Kind.FIGURE, estimate.value)
