"""The most abnormal test documents, with their odd words."""

import math
from collections.abc import Iterator

from adbench_text.plugins.scores import odd_words
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.report import Entry, Table, significant
from adbench_text.run.result import Example
from adbench_text.sweep.cell import percent

_N_DOCUMENTS, _N_WORDS = 3, 6


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the oddest documents of each corpus and their words, by the best detector that scores words."""
    evidence = comparison.evidence
    if evidence is None:
        return
    title = (
        f"The {_N_DOCUMENTS} most abnormal test documents of the best detector with scores of words, on the "
        f"split where it is best, {percent(comparison.lowest)} of outliers in the training data"
    )
    header = ["detector", "inlier", "class", "most abnormal words", "abnormality"]
    yield comparison.table(title, header, lambda corpus: [_rows(comparison, evidence, corpus)], n_labels=5)


def _rows(comparison: Comparison, evidence: Evidence, corpus: Corpus) -> list[list[Entry]]:
    """Return the most abnormal examples of the best detector that has any, of its best split."""
    for column, _ in comparison.best_first(corpus):
        for record in corpus.best_first(column):
            if examples := evidence.examples(record):
                oddest = sorted(examples, key=lambda example: example.score, reverse=True)[:_N_DOCUMENTS]
                return [[Entry(column.label), Entry(record.inlier), *_entries(example)] for example in oddest]
    return []


def _entries(example: Example) -> list[Entry]:
    words = ", ".join(odd_words(example.tokens, -math.inf, _N_WORDS))
    return [Entry(example.label), Entry(words), significant(example.score)]
