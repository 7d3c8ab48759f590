"""The most abnormal test documents, with their odd words."""

import math
from collections.abc import Sequence

from adbench_text.plugins.scores import odd_words
from adbench_text.reports.columns import Column
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import Entry, Table, figure
from adbench_text.run.result import Example
from adbench_text.sweep.cell import percent

ORDER = 90
NEEDS = "a detector with scores of words, and the examples in the store"
_N_DOCUMENTS, _N_WORDS = 3, 6


def tables(comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return three documents of each corpus, found by the best complete detector that has scores of words.

    They are of the split on which it is best. Their words with the highest scores follow.
    """
    if ranking.evidence is None:
        return []
    rows: list[list[Entry]] = []
    starts: set[int] = set()
    for digest, label in comparison.corpora.items():
        starts.add(len(rows))
        for column in _best_first(comparison, digest):
            if oddest := _oddest(ranking.evidence, column, digest):
                inlier, examples = oddest
                rows += [[Entry(label), Entry(column.label), Entry(inlier), *_row(e)] for e in examples]
                break
    title = (
        f"The {_N_DOCUMENTS} most abnormal test documents of the best detector with scores of words, on the "
        f"split where it is best, {percent(comparison.lowest)} of outliers in the training data"
    )
    header = ["dataset", "detector", "inlier", "class", "most abnormal words", "abnormality"]
    return [Table(title, header, rows, starts, 5)]


def _best_first(comparison: Comparison, digest: str) -> list[Column]:
    means = {
        column: comparison.mean(column, digest, comparison.lowest)
        for column in comparison.columns
        if not column.is_oracle
    }
    complete = {column: entry.value for column, entry in means.items() if entry.is_complete}
    return sorted(
        complete, key=lambda column: complete[column] or 0.0, reverse=comparison.metric.higher_is_better
    )


def _oddest(evidence: Evidence, column: Column, digest: str) -> tuple[str, list[Example]] | None:
    """Return the inlier class and the most abnormal examples of the first split that has any."""
    for record in evidence.best_first(column, digest):
        if examples := evidence.examples(record):
            return record.inlier, sorted(examples, key=lambda e: e.score, reverse=True)[:_N_DOCUMENTS]
    return None


def _row(example: Example) -> Sequence[Entry]:
    words = ", ".join(odd_words(example.tokens, -math.inf, _N_WORDS))
    return Entry(example.label), Entry(words), figure(example.score, ".3g")
