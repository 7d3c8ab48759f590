"""The pictures and heat maps of a report: what of the store they show, and what is said below them."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from io import StringIO
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from adbench_text.metrics import METRICS
from adbench_text.reports import published
from adbench_text.reports import significance as statistics
from adbench_text.reports.comparison import MEAN, Column, Comparison, Record
from adbench_text.reports.figures import curves as figures
from adbench_text.reports.figures.style import MOST_POINTS
from adbench_text.reports.report import Heatmap, Picture
from adbench_text.reports.tables.ranks import Ranking, ablated
from adbench_text.run import examples
from adbench_text.store.store import Store
from adbench_text.sweep.cell import Cell, percent

_MOST_CURVES = 8  # in one ROC figure: more cannot be told apart
_LONGEST_STEM = 80  # of a part of a file's name: file systems have a limit of 255
_SCORES = "scores.csv"
_LOSS, _TRACE = "loss_total", "diagnostic_test_auroc"

Scored = tuple[NDArray[np.bool_], NDArray[np.float64]]


class Drawing(NamedTuple):
    """A figure, the name of its files, and what is said about it."""

    name: str
    title: str
    caption: str
    figure: Figure


class Illustrations:
    """Pictures and heat maps of records, each drawn when it is asked for, and once.

    Parameters
    ----------
    records : sequence of dict
        From `Store.cells`, oldest first; not empty.
    metric : str
        What the pictures of a metric show.
    store : Store
        Where to look for scores, curves and examples.
    cells : sequence of Cell
        See `Comparison`.
    """

    def __init__(
        self, records: Sequence[Record], metric: str, store: Store, cells: Sequence[Cell] = ()
    ) -> None:
        self._comparison, self._store = Comparison(records, metric, cells), store

    @cached_property
    def _drawn(self) -> tuple[list[Drawing], list[Record]]:
        """All drawings, and the cells whose scores cannot be read."""
        lost: list[Record] = []
        return list(drawings(self._comparison, Ranking(self._comparison), self._store, lost)), lost

    @cached_property
    def _mapped(self) -> tuple[list[Heatmap], list[Record]]:
        """All heat maps, and the cells whose examples cannot be read."""
        lost: list[Record] = []
        return list(heatmaps(self._comparison, self._store, lost)), lost

    @property
    def notes(self) -> list[str]:
        """What could not be drawn, and why."""
        of_each = {"scores": self._drawn[1], "examples": self._mapped[1]}
        return [_note_on_lost(what, lost) for what, lost in of_each.items() if lost]

    @property
    def pictures(self) -> list[Picture]:
        """All pictures, as SVG."""
        return [
            Picture(d.name, d.title, d.caption, figures.svg(d.figure, d.title, f"figure-{number}"))
            for number, d in enumerate(self._drawn[0], start=1)
        ]

    def write(self, folder: Path) -> list[Path]:
        """Write all pictures as SVG, PDF and PNG; return the files."""
        return [path for d in self._drawn[0] for path in figures.write(d.figure, folder / d.name)]

    @property
    def heatmaps(self) -> list[Heatmap]:
        """The examples of each detector and split."""
        return self._mapped[0]


def drawings(comparison: Comparison, ranking: Ranking, store: Store, lost: list[Record]) -> Iterator[Drawing]:
    """Yield all figures for which the store holds something; `lost` takes the cells without scores."""
    yield from _summaries(comparison, ranking)
    for digest, label in comparison.corpora.items():
        yield from _of_corpus(comparison, store, digest, label, lost)
    if any(column.detector == "date" for column in comparison.columns):
        yield _overlap_bound()


def _summaries(comparison: Comparison, ranking: Ranking) -> Iterator[Drawing]:
    title, labels = METRICS[comparison.metric].title, comparison.labels
    if ranking.is_possible and len(ranking.columns) > 2:
        groups = statistics.cliques(ranking.mean_ranks, ranking.pairs)
        names = [column.label for column in ranking.columns]
        yield Drawing(
            "critical-differences",
            f"Mean ranks over {len(ranking.splits)} splits",
            "Rank 1 is best. A bar joins detectors of which no two differ significantly "
            "(Wilcoxon signed-rank test, Holm's correction, level 0.05).",
            figures.critical_differences(names, ranking.mean_ranks.tolist(), groups, len(ranking.splits)),
        )
    for digest, label in comparison.corpora.items():
        if len(comparison.levels) > 1:
            curves = {}
            for column in comparison.columns:
                found = [
                    (level, comparison.value(column, digest, MEAN, level)) for level in comparison.levels
                ]
                points = [(level, v.whole, v.spread) for level, v in found if v.whole is not None]
                if points:
                    curves[column.label] = points
            if curves:
                yield Drawing(
                    f"contamination-{_stem(label)}",
                    f"{title} against contamination, {label}",
                    "Mean over the splits, by the share of outliers in the training data; "
                    "the spread is the standard deviation over the seeds.",
                    figures.contamination(curves, title, labels),
                )
        costs = {}
        for column in comparison.columns:
            records = _good(comparison, column, digest)
            value = comparison.value(column, digest, MEAN, comparison.levels[0])
            if value.whole is not None and not column.is_oracle:
                seconds = mean(r["fit_seconds"] + r["score_seconds"] for r in records)
                costs[column.label] = (seconds, value.whole)
        if costs:
            yield Drawing(
                f"cost-{_stem(label)}",
                f"{title} against cost, {label}",
                "Seconds of fitting and scoring a split, and the metric, each the mean over the splits.",
                figures.cost(costs, title, labels),
            )
    for detector, columns in ablated(comparison).items():
        groups_of = {}
        for digest, label in comparison.corpora.items():
            values = [(c.label, comparison.value(c, digest, MEAN, comparison.levels[0])) for c in columns]
            points_of = [(name, v.whole, v.spread) for name, v in values if v.whole is not None]
            if points_of:
                groups_of[label] = points_of
        if groups_of:
            yield Drawing(
                f"ablations-{_stem(detector)}",
                f"Configurations of {detector}",
                "Mean over the splits; the axis does not begin at zero.",
                figures.ablation_bars(groups_of, title),
            )


def _of_corpus(
    comparison: Comparison, store: Store, digest: str, label: str, lost: list[Record]
) -> Iterator[Drawing]:
    level = percent(comparison.levels[0])
    scored: dict[str, dict[str, Scored]] = {}  # by split, then by detector
    for column in comparison.columns:
        if column.is_oracle:
            continue
        records = {r["inlier"]: r for r in reversed(_good(comparison, column, digest))}  # the lowest seed
        records = {name: records[name] for name in comparison.inliers(digest) if name in records}
        name = f"{_stem(label)}-{_stem(column.label)}"
        at_end = _scores(store, records, _SCORES, lost)
        lost += [r for inlier, r in records.items() if inlier not in at_end and r not in lost]
        for inlier, of_split in at_end.items():
            scored.setdefault(inlier, {})[column.label] = of_split
        before = _scores(store, records, "scores_before_training.csv", lost) if _is_trained(records) else {}
        for panels, when in ((before, "before training"), (at_end, "")):
            if panels:
                of = f"{column.label} on {label}" + (f", {when}" if when else "")
                yield Drawing(
                    f"scores-{name}" + (f"-{_stem(when)}" if when else ""),
                    f"Scores of {of}",
                    f"Test documents of each split, {level} of outliers in the training data; "
                    "higher is more abnormal. The outermost 0.5% count into the edge bins.",
                    figures.histograms(panels),
                )
        for metric, quantity, unit in ((_LOSS, "loss", 1), (_TRACE, "test AUROC (%), a diagnostic", 100)):
            found = {
                inlier: [(step, unit * value) for step, value in store.curve(r, metric)]
                for inlier, r in records.items()
                if metric in r
            }
            if found:
                n_points = max(map(len, found.values()))
                yield Drawing(
                    f"{quantity.split()[0]}-{name}",
                    f"Training of {column.label} on {label}: {quantity}",
                    "One line for each split; nothing is chosen by it."
                    + (" Means of neighbouring steps." if n_points > MOST_POINTS else ""),
                    figures.training_curves(found, quantity),
                )
    for inlier in filter(scored.__contains__, comparison.inliers(digest)):
        of_detector = scored[inlier]
        curves = dict(list(of_detector.items())[:_MOST_CURVES])
        more = len(of_detector) - len(curves)
        yield Drawing(
            f"roc-{_stem(label)}-{_stem(inlier)}",
            f"ROC and precision-recall curves, {label} / {inlier}",
            f"{level} of outliers in the training data, lowest seed. The areas under the curves are listed "
            "below them." + (f" {more} more detectors are not drawn." if more else ""),
            figures.roc_and_pr(curves, comparison.labels),
        )


def _overlap_bound() -> Drawing:
    S, M = 128, 19  # 15 % of 128 positions, to which the paper's figures fit
    bounds = {n: [(p, published.overlap_bound(n, S, M, p)) for p in range(4, M + 1)] for n in (10, 50, 100)}
    return Drawing(
        "overlap-bound",
        "How unlikely it is that mask patterns look alike",
        f"Upper bound of the chance that two of N random patterns, each masking {M} of {S} positions, share "
        "at least p of them (Manolache et al., NAACL 2021, Appendix A).",
        figures.overlap_bound(bounds),
    )


def heatmaps(comparison: Comparison, store: Store, lost: list[Record]) -> Iterator[Heatmap]:
    """Yield the examples of each detector and split at the lowest level and seed.

    `lost` takes the cells whose examples are damaged.
    """
    for digest, label in comparison.corpora.items():
        for column in comparison.columns:
            records = {r["inlier"]: r for r in reversed(_good(comparison, column, digest))}
            for inlier in comparison.inliers(digest):
                text = store.artifact(records[inlier], "examples.json") if inlier in records else None
                if text is None or column.is_oracle:
                    continue
                try:
                    yield Heatmap(f"{column.label} on {label} / {inlier}", examples.from_json(text))
                except ValueError:
                    lost.append(records[inlier])


def _good(comparison: Comparison, column: Column, digest: str) -> list[Record]:
    """Return the finished cells of a column at the lowest level, the lowest seed first."""
    records = comparison.records_of(column, digest, comparison.levels[0])
    return sorted((r for r in records if r["status"] == "ok"), key=lambda r: int(r["seed"]))


def _scores(store: Store, records: dict[str, Record], file: str, lost: list[Record]) -> dict[str, Scored]:
    """Return outliers and scores of each split whose run has this file; `lost` takes the damaged ones."""
    found = {}
    for inlier, record in records.items():
        text = store.artifact(record, file)
        if text is not None:
            try:
                found[inlier] = _scored(text, int(record["n_test"]), file == _SCORES)
            except Exception:  # it is damaged in whatever way
                lost.append(record)
    return found


def _scored(text: str, n_test: int, is_of_all: bool) -> Scored:
    """Read scores of test documents from CSV; raise an error of some kind if they are not that."""
    kinds = {"document": np.int64, "outlier": np.int64, "score": np.float64}
    table = pd.read_csv(StringIO(text), usecols=list(kinds), dtype=kinds)
    places, outlier, scores = (table[name].to_numpy() for name in kinds)
    if not (np.diff(places, prepend=-1, append=n_test) > 0).all() or (is_of_all and len(places) != n_test):
        raise ValueError("the documents are not those of the test set")
    if not (len(scores) and np.isin(outlier, (0, 1)).all() and np.isfinite(scores).all()):
        raise ValueError("these are no labels and scores")
    return outlier == 1, scores


def _note_on_lost(what: str, lost: Sequence[Record]) -> str:
    cells = list(dict.fromkeys(f"{r['detector']} on {r['dataset']}/{r['inlier']}" for r in lost))
    names = ", ".join(cells[:3]) + (", ..." if len(cells) > 3 else "")
    return (
        f"The {what} of {len(lost)} finished cells cannot be read, so "
        f"{'figures' if what == 'scores' else 'heat maps'} are missing ({names}): "
        "the artifacts of the store were moved, deleted or damaged."
    )


def _is_trained(records: dict[str, Record]) -> bool:
    return any(_LOSS in record for record in records.values())


def _stem(name: str) -> str:
    """Return a name as a part of a file's name."""
    stem = "-".join("".join(c if c.isalnum() else " " for c in name).split()).lower()
    if len(stem) <= _LONGEST_STEM:
        return stem
    return f"{stem[:_LONGEST_STEM]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
