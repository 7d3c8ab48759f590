"""Detectors by corpora, and the best published figures below."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from adbench_text.plugins.scores import BANK, FROM_SCRATCH, PRE_TRAINED, TEST_BATCH, WORDS
from adbench_text.reports import benchmarks
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.notes import of_metric
from adbench_text.reports.ranking import shared_by_most
from adbench_text.reports.report import NONE, Entry, Kind, Table, figure
from adbench_text.sweep.cell import percent

ORDER = 5
IS_BRIEF = True
NEEDS = "results on two datasets"

_SHORT = {
    FROM_SCRATCH: benchmarks.NONE,
    WORDS: "words",
    PRE_TRAINED: benchmarks.ENCODER,
    BANK: "bank",
    TEST_BATCH: "test batch",
}
_MEANINGS = {
    "words": WORDS,
    benchmarks.ENCODER: "a pre-trained model",
    "bank": "a bank of other texts, and what its encoder knows",
    "test batch": "the other texts of the test set",
    benchmarks.COMMERCIAL: "a pre-trained model of a paid service",
    benchmarks.LABELS: "labelled outliers",
}
_BEST = "In bold or with *: the best complete result of ours in the column, none chosen on the test labels."


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield means over the splits, a row for each detector and a column for each corpus.

    Below are the best published figure of each corpus and kind of knowledge, and the published figures of
    methods that are detectors of ours. The last column has the mean over the corpora that most rows share, if
    all are of one protocol.
    """
    corpora = [
        corpus
        for corpus in comparison.corpora
        if any(entry.kind is not Kind.NONE for entry in corpus.entries())
    ]
    if len({corpus.dataset for corpus in corpora}) < 2:
        return
    of_corpora = [corpus.with_best() for corpus in corpora]
    if shared := _shared(comparison, corpora):
        values = [[corpus.entry(column).complete_value for corpus in shared] for column in comparison.columns]
        of_corpora.append(comparison.marked([_mean(of_column) for of_column in values]))
    rows = [
        [Entry(column.label), Entry(_knows(column)), *entries]
        for column, *entries in zip(comparison.columns, *of_corpora, strict=True)
    ]
    blocks = [column.block for column in comparison.columns]
    starts = {0} | {place for place, (one, other) in enumerate(pairwise(blocks), start=1) if one != other}
    for group in _published(corpora):
        starts.add(len(rows))
        for label, knowledge, figures in group:
            entries = [figure(figures.get(corpus.digest)) for corpus in corpora]
            entries += [_mean([figures.get(corpus.digest) for corpus in shared])] if shared else []
            rows.append([Entry(label), Entry(knowledge), *entries])
    yield Table(
        f"{comparison.metric.title} (%) of each dataset, mean over the splits, "
        f"{percent(comparison.lowest)} of outliers in the training data",
        ["detector", "knows", *(corpus.label for corpus in corpora), *(["mean"] if shared else [])],
        rows,
        starts,
        header_marks=comparison.marks,
        notes=_notes(comparison, corpora, shared, {row[1].text for row in rows}),
        best_in_columns=True,
    )


def _knows(column: Column) -> str:
    return _SHORT.get(column.regime or "", column.regime_title)


def _shared(comparison: Comparison, corpora: Sequence[Corpus]) -> list[Corpus]:
    """Return the corpora that the means are of; none if they would be of one, or of several protocols."""
    if len({corpus.splits for corpus in corpora}) > 1:
        return []
    figures = {
        column: {
            corpus.digest: value
            for corpus in corpora
            if (value := corpus.entry(column).complete_value) is not None
        }
        for column in comparison.columns
    }
    of_one = next(iter(figures.values())) if len(figures) == 1 else {}
    digests = shared_by_most(figures) or frozenset(of_one)
    return [corpus for corpus in corpora if corpus.digest in digests] if len(digests) > 1 else []


def _mean(values: Sequence[float | None]) -> Entry:
    """Return the mean of values; none if one is missing."""
    present = [value for value in values if value is not None]
    return figure(fmean(present)) if present and len(present) == len(values) else NONE


def _published(corpora: Sequence[Corpus]) -> Iterator[list[tuple[str, str, dict[str, float]]]]:
    """Yield groups of rows: label, knowledge, and figures by the digest of the corpus."""
    best = {corpus.digest: benchmarks.best_of_each(corpus.benchmark_rows) for corpus in corpora}
    of_kinds = {
        kind: {digest: rows[kind].figure for digest, rows in best.items() if kind in rows}
        for kind in benchmarks.KNOWLEDGE
    }
    of_methods: dict[tuple[str, str], dict[str, float]] = {}
    for method in benchmarks.OURS:
        for corpus in corpora:
            for row in (row for row in corpus.benchmark_rows if row.method == method):
                label = f"{method} ({row.source})"
                of_methods.setdefault((label, row.knowledge), {})[corpus.digest] = row.figure
    if of_methods or any(of_kinds.values()):
        yield [("best published", kind, figures) for kind, figures in of_kinds.items() if figures]
        yield [(label, kind, figures) for (label, kind), figures in of_methods.items()]


def _notes(
    comparison: Comparison, corpora: Sequence[Corpus], shared: Sequence[Corpus], known: set[str]
) -> list[str]:
    meanings = "; ".join(f"{word}: {meaning}" for word, meaning in _MEANINGS.items() if word in known)
    notes = [_BEST, *([f"knows: what it knows besides the training texts; {meanings}."] if meanings else [])]
    if shared and len(shared) < len(corpora):
        notes.append(f"mean: over {', '.join(corpus.label for corpus in shared)}.")
    return [*notes, *_of_sources(corpora), *of_metric(comparison)]


def _of_sources(corpora: Sequence[Corpus]) -> list[str]:
    published = [row for corpus in corpora for row in corpus.benchmark_rows]
    if not published:
        return []
    best = "best published: the highest figure by the test labels; the table 'benchmarks' has its method."
    return [best, *benchmarks.notes(published)]
