"""The tables of one metric: every split beside the published figures, levels, intervals, single cells."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

from adbench_text.metrics import METRICS
from adbench_text.reports import notes as notes_on
from adbench_text.reports import published
from adbench_text.reports.comparison import (
    MEAN,
    Column,
    Comparison,
    Record,
    Value,
    corpora_of,
    current,
    name_of,
)
from adbench_text.reports.report import Entry, Report, Table
from adbench_text.sweep.cell import percent

_BEFORE_METRICS = ("detector", "preset", "dataset", "inlier", "contamination", "seed")
_AFTER_METRICS = (
    "fit_seconds",
    "score_seconds",
    "n_train",
    "n_test",
    "status",
    "oracle",
    "code_version",
)
NONE = "–"


def main_table(comparison: Comparison) -> Table:
    """One row per dataset and inlier class, and means, at the lowest contamination level."""
    level = comparison.levels[0]
    extra = list(comparison.published) if comparison.has_published else []

    def row(digest: str, inlier: str) -> list[Entry]:
        ours = [comparison.value(column, digest, inlier, level) for column in comparison.columns]
        return [*_marked(comparison, ours), *map(Entry, _published(comparison, extra, digest, inlier))]

    title = f"{METRICS[comparison.metric].title} (%), {percent(level)} of outliers in the training data"
    return _by_split(comparison, title, [*comparison.labels, *extra], row, comparison.blocks(len(extra)))


def published_table(comparison: Comparison) -> Table | None:
    """How far each split is from the published figure of the same method; None where there is none.

    A dagger marks the difference of one configuration from a figure that was chosen on the test labels.
    """
    columns = _compared(comparison)
    if not columns:
        return None
    title = (
        f"{METRICS[comparison.metric].title}: difference from the published figure of the same method, "
        "in points"
    )

    def row(digest: str, inlier: str) -> list[Entry]:
        return [Entry(_difference(comparison, column, digest, inlier)) for column in columns]

    return _by_split(comparison, title, [column.label for column in columns], row)


def levels_table(comparison: Comparison) -> Table:
    """Means over the splits, one row per dataset and contamination level."""
    title = (
        f"{METRICS[comparison.metric].title} (%) by contamination of the training data, mean over the splits"
    )
    rows: list[list[Entry]] = []
    starts: set[int] = set()
    for digest, label in comparison.corpora.items():
        starts.add(len(rows))
        for level in comparison.levels:
            values = [comparison.value(column, digest, MEAN, level) for column in comparison.columns]
            rows.append([Entry(label), Entry(percent(level)), *_marked(comparison, values)])
    return Table(title, ["dataset", "outliers", *comparison.labels], rows, starts, blocks=comparison.blocks())


def intervals_table(comparison: Comparison) -> Table:
    """The 95 % bootstrap interval of each split at the lowest level, of one seed.

    It is the seed that most cells are of, the lowest of several.
    """
    level = comparison.levels[0]
    seeds = Counter(r["seed"] for r in comparison.records if float(r["contamination"]) == level)
    seed = min(seeds, key=lambda seed: (-seeds[seed], int(seed)))
    title = (
        f"{METRICS[comparison.metric].title} (%) of seed {seed} with 95% bootstrap intervals over the test "
        f"documents, {percent(level)} of outliers in the training data"
    )

    def row(digest: str, inlier: str) -> list[Entry]:
        return [Entry(_interval(comparison, column, digest, inlier, seed)) for column in comparison.columns]

    return _by_split(comparison, title, comparison.labels, row, comparison.blocks(), has_means=False)


def wide_table(comparison: Comparison) -> Table:
    """Every split and mean at every level, with the published figures and the differences from them."""
    extra = list(comparison.published) if comparison.has_published else []
    compared = _compared(comparison)
    rows: list[list[Entry]] = []
    starts: set[int] = set()
    for digest, label in comparison.corpora.items():
        for level in comparison.levels:
            starts.add(len(rows))
            for inlier in [*comparison.inliers(digest), MEAN]:
                texts = [comparison.value(c, digest, inlier, level).text for c in comparison.columns]
                if level == 0:
                    texts += _published(comparison, extra, digest, inlier)
                    texts += [_difference(comparison, column, digest, inlier) for column in compared]
                else:
                    texts += [NONE] * (len(extra) + len(compared))
                rows.append([Entry(text) for text in (label, f"{level:g}", inlier, *texts)])
    differences = [f"{column.label}: difference from the paper" for column in compared]
    header = ["dataset", "contamination", "inlier", *comparison.labels, *extra, *differences]
    title = f"{METRICS[comparison.metric].title} (%) of every split at every contamination level"
    return Table(title, header, rows, starts, n_labels=3, summaries=_means(rows, 2))


def cells_report(records: Sequence[Record]) -> Report:
    """Return one row per cell; metrics as fractions, to six digits."""
    header = [*_BEFORE_METRICS, *METRICS, *_AFTER_METRICS]
    newest = current(records)
    corpora = corpora_of(newest)
    rows = []
    for record in newest:
        shown = {
            **record,
            "detector": f"{record['detector']} {record['configuration']}".strip(),
            "dataset": corpora[record["dataset_digest"]],
            "oracle": "yes" if "oracle" in record else "no",
        }
        rows.append([Entry(_plain(shown.get(name, ""))) for name in header])
    table = Table("", header, rows, n_labels=len(_BEFORE_METRICS))
    notes = notes_on.corpora(newest, corpora) + notes_on.failures(newest)
    notes += notes_on.unmeasured(newest, METRICS.values())
    n_superseded = len(records) - len(newest)
    return Report([table], table, notes + notes_on.versions(newest, n_superseded, name_of, stand_apart=False))


def _by_split(
    comparison: Comparison,
    title: str,
    columns: Sequence[str],
    row: Callable[[str, str], list[Entry]],
    blocks: Sequence[tuple[str, int]] = (),
    has_means: bool = True,
) -> Table:
    rows: list[list[Entry]] = []
    starts: set[int] = set()
    for digest, label in comparison.corpora.items():
        starts.add(len(rows))
        for inlier in [*comparison.inliers(digest), *([MEAN] if has_means else [])]:
            rows.append([Entry(label), Entry(inlier), *row(digest, inlier)])
    header = ["dataset", "inlier", *columns]
    return Table(title, header, rows, starts, blocks=list(blocks), summaries=_means(rows, 1))


def _means(rows: Sequence[Sequence[Entry]], place: int) -> set[int]:
    return {number for number, row in enumerate(rows) if row[place].text == MEAN}


def _marked(comparison: Comparison, values: Sequence[Value]) -> list[Entry]:
    """Mark the best of a row: of what is whole, and not chosen on the test labels."""
    fair = [
        f"{value.whole:.1f}" if value.whole is not None and not column.is_oracle else ""
        for column, value in zip(comparison.columns, values, strict=True)
    ]
    figures = [float(text) for text in fair if text]
    best = f"{METRICS[comparison.metric].best(figures):.1f}" if len(figures) > 1 else None
    return [Entry(value.text, text == best) for value, text in zip(values, fair, strict=True)]


def _published(comparison: Comparison, columns: Sequence[str], digest: str, inlier: str) -> list[str]:
    found = [_published_figure(comparison, column, digest, inlier) for column in columns]
    return [NONE if figure is None else f"{figure:.1f}" for figure in found]


def _published_figure(comparison: Comparison, column: str, digest: str, inlier: str) -> float | None:
    """Return a published figure, or the mean of all of a dataset."""
    figures = comparison.published.get(column, {}).get(comparison.dataset(digest), {})
    found = [figures.get(name) for name in (comparison.inliers(digest) if inlier == MEAN else [inlier])]
    known = [figure for figure in found if figure is not None]
    return mean(known) if known and len(known) == len(found) else None


def _compared(comparison: Comparison) -> list[Column]:
    """Return the columns that have a published figure of the same method beside some figure."""
    if not comparison.has_published:
        return []
    datasets = {comparison.dataset(digest) for digest in comparison.corpora}
    return [
        column
        for column in comparison.columns
        if datasets & comparison.published.get(published.COUNTERPARTS.get(column.detector, ""), {}).keys()
    ]


def _difference(comparison: Comparison, column: Column, digest: str, inlier: str) -> str:
    theirs = published.COUNTERPARTS[column.detector]
    figure = _published_figure(comparison, theirs, digest, inlier)
    ours = comparison.value(column, digest, inlier, comparison.levels[0]).whole
    if figure is None or ours is None:
        return NONE
    is_unequal = published.ORACLE_MARK in theirs and not column.is_oracle
    return f"{ours - figure:+z.1f}" + (published.ORACLE_MARK if is_unequal else "")


def _interval(comparison: Comparison, column: Column, digest: str, inlier: str, seed: str) -> str:
    names = [f"{comparison.metric}{end}" for end in ("", "_low", "_high")]
    for record in comparison.records_of(column, digest, comparison.levels[0]):
        is_asked_for = (record["inlier"], record["seed"]) == (inlier, seed) and not column.is_oracle
        if is_asked_for and all(name in record for name in names):
            figure, low, high = (f"{100 * record[name]:.1f}" for name in names)
            return f"{figure} ({low} to {high})"
    return NONE


def _plain(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return str(int(value)) if value.is_integer() else f"{value:.6g}"
