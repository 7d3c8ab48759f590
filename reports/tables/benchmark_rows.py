"""All published figures of other benchmarks."""

from collections.abc import Iterator
from itertools import groupby

from adbench_text.reports import benchmarks
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import Entry, Table, figure

ORDER = 100
NEEDS = "corpora with figures of other benchmarks, and results at 0% of outliers"


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield all published figures of the corpora, in the order of their sources."""
    published = [row for corpus in comparison.corpora for row in corpus.benchmark_rows]
    if published:
        yield comparison.table(
            f"{comparison.metric.title} (%): all published figures of other benchmarks",
            ["method", "source", "published", "embeddings", "lowest", "knowledge"],
            _groups,
            notes=benchmarks.notes(published),
        )


def _groups(corpus: Corpus) -> Iterator[list[list[Entry]]]:
    for source, rows in groupby(corpus.benchmark_rows, key=lambda row: row.source):
        yield [
            [
                Entry(row.method),
                Entry(source),
                figure(row.figure),
                figure(None if row.lowest is None else row.n_embeddings, 0),
                figure(row.lowest),
                Entry(row.knowledge),
            ]
            for row in rows
        ]
