"""The effect of training: networks, their untrained copies, and the plain methods that they are built on."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from adbench_text.corpora.split_key import percent
from adbench_text.plugins.configure import format_name, split_list
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.report import NONE, Entry, Kind, Table, figure
from adbench_text.reports.significance import paired

#: Settings for the length of a training; with 0 the network keeps its random weights.
_LENGTHS = {"steps", "epochs", "epoch_num", "n_epochs", "stop_epochs"}
#: PyOD's LUNAR measures its state before each epoch, and keeps the best: after one epoch, the untrained one.
_UNTRAINED_TOO = {"pyod-lunar": "n_epochs=1"}
#: With this setting, which the preset ``prior`` has, DATE without training counts word pieces.
_CLOSED_FORM = "prior=true", "counts of word pieces"
_HAVE_CLOSED_FORM = {"date", "date:paper", "date:electra", "date:fast", "date:english"}
_HAS_NO_CLOSED_FORM = {"prior=true", "score=pl_rmd", "generator=small", "generator=large"}
_TO_MEAN = "pyod-gmm(covariance_type=spherical)", "distance to the mean vector"
_PCA = "pyod-kpca(kernel=linear, n_components=32)", "reconstruction by PCA"
#: For a network, the plain method that it is built on: the label of its column, and a description.
_PLAIN: Mapping[str, tuple[str, str]] = {
    "cvdd": (
        "pyod-gmm(covariance_type=spherical, encoder=mean, n_components=5)",
        "a mixture of five Gaussians",
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
_SPLIT = ["corpus", "inlier"]
KINDS = "trained", "untrained", "plain"


class Twins(NamedTuple):
    """A network, its untrained copy, and the plain method that it is built on.

    `figures` has a row for each common split, with means over the common seeds, and the columns `KINDS`; the
    last one is NaN if the comparison lacks the plain method.
    """

    network: Column
    plain_name: str  #: description of the plain method; empty if none is known
    lacking: str  #: the label of the plain method if the comparison lacks it
    figures: pd.DataFrame
    n_splits: int  #: number of splits of the network


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield a table for each level: means over the splits of all corpora, with a row for each network."""
    for level in comparison.levels:
        if networks := list(measured(comparison, level)):
            yield Table(
                f"{comparison.heading} of networks with and without training, "
                f"{percent(level)} of outliers in the training data",
                ["network", "plain method", *KINDS, "trained - untrained", "trained - plain", "splits"],
                [_row(twins) for twins in networks],
                notes=_notes(networks),
            )


def measured(comparison: Comparison, level: float) -> Iterator[Twins]:
    """Yield the networks with results with and without training, in the order of the columns.

    Of several untrained copies, the one with most common splits counts.
    """
    values = _values(comparison, level)
    for column in comparison.fair:
        if _is_untrained(column) or column not in values:
            continue
        twins = [other for other in comparison.fair if other in values and _are_twins(column, other)]
        pair = max((values[[column, twin]].dropna() for twin in twins), key=len, default=values.iloc[:0])
        if pair.empty:
            continue
        label, name = _plain_of(column)
        known = [other for other in comparison.columns if other in values]
        plain = [values[other] for other in known if replace(other, source="").label == label][:1]
        rows = pair.join([*plain]).dropna()
        if rows.empty:  # the plain method has other splits
            plain, rows = [], pair
        figures = (
            rows.set_axis(KINDS[: 2 + len(plain)], axis=1).groupby(_SPLIT).mean().reindex(columns=[*KINDS])
        )
        n_splits = len(values[column].dropna().groupby(_SPLIT).size())
        yield Twins(
            network=column,
            plain_name=name,
            lacking="" if plain else label,
            figures=figures,
            n_splits=n_splits,
        )


def _values(comparison: Comparison, level: float) -> pd.DataFrame:
    """Return the figures at a level in percent: a row for each split and seed, a column for each `Column`."""
    cells = comparison.cells.table
    rows = cells[cells["is_ok"] & (cells["contamination"] == level)]
    values = 100 * rows.pivot_table(comparison.metric.name, [*_SPLIT, "seed"], "column")
    # the columns of a pivot table are in order
    present = [column for number, column in enumerate(comparison.columns) if number in values]
    return values.set_axis(present, axis=1)


def _plain_of(column: Column) -> tuple[str, str]:
    """Return the label and description of the plain method of a network; empty if none is known."""
    name, settings = _settings(column)
    setting, description = _CLOSED_FORM
    if name not in _HAVE_CLOSED_FORM or not _HAS_NO_CLOSED_FORM.isdisjoint(settings):
        return _PLAIN.get(column.detector, ("", ""))
    others = sorted([*(each for each in settings if not _is_length(each)), setting, "steps=0"])
    return f"{name}({', '.join(others)})", description


def _settings(column: Column) -> tuple[str, list[str]]:
    """Return the name of a column without its settings, and the settings."""
    written = format_name(column.detector, column.preset, column.configuration)
    name, _, settings = written.partition("(")
    return name, split_list(settings.removesuffix(")"))


def _is_length(setting: str) -> bool:
    """Return whether a setting such as ``"steps=0"`` is the length of a training."""
    return setting.partition("=")[0] in _LENGTHS


def _network(column: Column) -> tuple[str, frozenset[str], int]:
    """Return the identity of a network without the length of its training."""
    name, settings = _settings(column)
    others = frozenset(each for each in settings if not _is_length(each))
    return name, others, column.generation


def _are_twins(column: Column, other: Column) -> bool:
    """Return whether `other` is the untrained copy of a network."""
    return _is_untrained(other) and _network(other) == _network(column)


def _is_untrained(column: Column) -> bool:
    """Return whether the settings of a column leave a network untrained."""
    _, settings = _settings(column)
    zeros = {f"{length}=0" for length in _LENGTHS} | {_UNTRAINED_TOO.get(column.detector, "")}
    return not zeros.isdisjoint(settings)


def _notes(networks: list[Twins]) -> list[str]:
    """Return the notes under the table: on the intervals, and on plain methods without cells."""
    notes = []
    if any(len(twins.figures) > 1 for twins in networks):
        notes.append(
            "In brackets are 95 % intervals of the mean over the splits, by Student's t. "
            "Each split has the mean over the seeds that all have."
        )
    if lacking := dict.fromkeys(twins.lacking for twins in networks if twins.lacking):
        notes.append(f"Plain methods without cells on these splits in this report: {', '.join(lacking)}.")
    return notes


def _row(twins: Twins) -> list[Entry]:
    """Return the row of a network; a mean is NaN if the comparison lacks the plain method."""
    n = len(twins.figures)
    n_splits = Entry(f"{n} of {twins.n_splits}" if n < twins.n_splits else f"{n}", Kind.FIGURE, n)
    means = [figure(value) if value == value else NONE for value in twins.figures.mean()]
    differences = [_difference(twins.figures["trained"] - twins.figures[kind]) for kind in KINDS[1:]]
    return [Entry(twins.network.label), Entry(twins.plain_name), *means, *differences, n_splits]


def _difference(values: "pd.Series[float]") -> Entry:
    """Return the mean of differences, with its interval if there are several splits."""
    if values.isna().any():
        return NONE
    if len(values) < 2:
        return figure(float(values.iloc[0]), signed=True)
    estimate = paired(values.to_numpy(dtype=np.float64))
    words = f"{estimate.value:+z.1f} ({estimate.low:+z.1f} to {estimate.high:+z.1f})"
    return Entry(words, Kind.FIGURE, estimate.value)
