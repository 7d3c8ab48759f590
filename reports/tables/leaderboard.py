"""Detectors by datasets, and published figures below."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import compress, pairwise
from statistics import fmean

import numpy as np

from adbench_text.contract.scores import FROM_SCRATCH, PRE_TRAINED, TEST_BATCH, WORDS
from adbench_text.corpora.split_key import percent
from adbench_text.reports import benchmarks
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.ranking import shared_by_most
from adbench_text.reports.report import NONE, Entry, Kind, Table, figure

_BEST = "best published"
_SHORT = {
    FROM_SCRATCH: benchmarks.NONE,
    WORDS: "words",
    PRE_TRAINED: benchmarks.ENCODER,
    TEST_BATCH: "test batch",
}


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield means over the splits, a row for each detector and a column for each corpus.

    Below are the best published figures for each corpus and kind of knowledge, and the published figures of
    methods that are also detectors of ours. The last column has the mean over the corpora that most rows
    share, if all have the same protocol.
    """
    if len({corpus.dataset for corpus in _with_figures(comparison)}) > 1:
        yield _board(comparison, comparison.columns, lambda column: column.block)


def leaders(comparison: Comparison) -> dict[str, Table]:
    """Return the table at the beginning of a page, by level of contamination, the lowest first.

    The best detector comes first, and the mean before the corpora. Detectors that are not ranked are below.
    A report on one corpus has this table, too.
    """
    of_levels = {
        # None is the lowest level of each corpus: some corpora have no 0 %
        percent(level): _leaders(comparison, None if level == comparison.lowest else level)
        for level in comparison.levels
    }
    return {name: table for name, table in of_levels.items() if table}


def _leaders(comparison: Comparison, level: float | None) -> Table | None:
    """Return the leaders at a level, None if no corpus has figures; the level None is the lowest."""
    corpora, of_mean = leading(comparison, level), shared(comparison, level)
    if not corpora:
        return None
    ranked = [column for column, _ in comparison.best_first(*corpora, level=level)]

    def group(column: Column) -> tuple[bool, bool]:
        return column.is_oracle, column.uses_test_batch

    order = [*ranked, *(column for column in comparison.columns if column not in ranked)]
    board = _board(comparison, sorted(order, key=group), group, level).without_empty()
    label, knowledge, *figures = range(len(board.header))  # the columns of the board
    if of_mean:  # the mean, which is the last figure, comes first
        figures = [figures[-1], *figures[:-1]]
    is_roc = comparison.metric.curve == "ROC"
    rows = [  # the best published method also says in its label what it knows: the column is far to the right
        [Entry(f"{_BEST} (knows: {row[1].words})") if row[0].words == _BEST else row[0], *row[1:]]
        for row in board.rows
    ]
    return replace(board, rows=rows, n_labels=1, bars_from=50 if is_roc else 0).with_columns(
        [label, *figures, knowledge]
    )


def leading(comparison: Comparison, level: float | None = None) -> list[Corpus]:
    """Return the corpora that order the leaders: the corpora of the mean, otherwise the first, if any."""
    return shared(comparison, level) or _with_figures(comparison, level)[:1]


def _with_figures(comparison: Comparison, level: float | None = None) -> list[Corpus]:
    """Return the corpora with a figure at a level (by default the lowest); corpora for ranking come first."""
    return [
        corpus
        for corpus in sorted(comparison.corpora, key=lambda corpus: corpus.is_unranked)
        if any(entry.kind is not Kind.NONE for entry in corpus.entries(level=level))
    ]


def _board(
    comparison: Comparison,
    columns: Sequence[Column],
    block_of: Callable[[Column], object],
    level: float | None = None,
) -> Table:
    """Return a row for each column, in groups by `block_of`, and published figures at the lowest level."""
    corpora, of_mean = _with_figures(comparison, level), shared(comparison, level)
    of_corpora = [corpus.with_best(level=level) for corpus in corpora]
    if of_mean:
        values = [
            [corpus.entry(column, level=level).complete_value for corpus in of_mean]
            for column in comparison.columns
        ]
        of_corpora.append(comparison.marked([_mean(of_column) for of_column in values]))
    entries = dict(zip(comparison.columns, zip(*of_corpora, strict=True), strict=True))
    rows = [[Entry(column.label), Entry(knows(column)), *entries[column]] for column in columns]
    blocks = [block_of(column) for column in columns]
    starts = {0} | {place for place, (one, other) in enumerate(pairwise(blocks), start=1) if one != other}
    compared = corpora if level is None else []  # published figures are of clean training data
    for group in _published(comparison, compared):
        starts.add(len(rows))
        for label, knowledge, entries_of in group:
            theirs = [entries_of.get(corpus.digest, NONE) for corpus in corpora]
            means = [entries_of.get(corpus.digest, NONE).value for corpus in of_mean]
            theirs += [_mean(means)] if of_mean else []
            rows.append([Entry(label), Entry(knowledge), *theirs])
    sources = {row.source for corpus in compared for row in corpus.published_rows}
    is_part = of_mean and len(of_mean) < len(corpora)
    notes = [f"mean: over {', '.join(corpus.label for corpus in of_mean)}."] if is_part else []
    of_each = " of each dataset" if len(corpora) > 1 else ""
    return Table(
        f"{comparison.heading}{of_each}, mean over the splits, "
        f"{percent(comparison.lowest if level is None else level)} of outliers in the training data",
        ["detector", "knows", *(corpus.label for corpus in corpora), *(["mean"] if of_mean else [])],
        rows,
        starts,
        notes=comparison.notes_on_labels(sources) + notes,
    )


def knows(column: Column) -> str:
    """Return the outside knowledge of a detector in a word or two."""
    return _SHORT.get(column.regime or "", column.regime_title)


def shared(comparison: Comparison, level: float | None = None) -> list[Corpus]:
    """Return the corpora for the means; none if there is only one, or if protocols differ."""
    corpora = _with_figures(comparison, level)
    if len({corpus.splits for corpus in corpora}) > 1:
        return []
    figures = comparison.figures(comparison.columns, [(corpus, None) for corpus in corpora], level)
    is_one = len(comparison.columns) == 1
    is_shared = np.isfinite(figures[:, 0]) if is_one else shared_by_most(figures)
    return list(compress(corpora, is_shared)) if is_shared.sum() > 1 else []


def _mean(values: Sequence[float | None]) -> Entry:
    """Return the mean of values, or `NONE` if a value is missing."""
    present = [value for value in values if value is not None]
    return figure(fmean(present)) if present and len(present) == len(values) else NONE


def _published(
    comparison: Comparison, corpora: Sequence[Corpus]
) -> Iterator[list[tuple[str, str, dict[str, Entry]]]]:
    """Yield groups of rows: label, knowledge, and figures by the digest of a corpus."""
    is_higher = comparison.metric.higher_is_better
    best = {c.digest: benchmarks.best_of_each(c.published_rows, is_higher) for c in corpora}
    of_kinds = {
        kind: {digest: rows[kind].entry for digest, rows in best.items() if kind in rows}
        for kind in benchmarks.KNOWLEDGE
    }
    of_methods: dict[tuple[str, str], dict[str, Entry]] = {}
    theirs = [(row, corpus.digest) for corpus in corpora for row in corpus.published_rows]
    # the published figures of methods that we also have as detectors
    ours = [(row, digest) for method in benchmarks.OURS for row, digest in theirs if row.method == method]
    others = [
        (row, digest) for row, digest in theirs if row.compares_few_methods and (row, digest) not in ours
    ]
    for row, digest in [*ours, *others]:
        of_methods.setdefault((row.label, row.knowledge), {})[digest] = row.entry
    if of_methods or any(of_kinds.values()):
        yield [(_BEST, kind, entries) for kind, entries in of_kinds.items() if entries]
        yield [(label, kind, entries) for (label, kind), entries in of_methods.items()]
