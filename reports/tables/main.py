"""Every split at the lowest contamination level."""

from collections.abc import Iterator

from adbench_text.corpora.split_key import percent
from adbench_text.reports import published
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import Entry, Table, figure


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield one table: a row for each dataset and inlier class, and means, with the published figures.

    Surpassed methods are left out. For areas under precision-recall curves the table also has the level of
    chance, because it depends on the split.
    """
    has_chance = comparison.metric.curve == "precision-recall"
    methods = [name for name in comparison.published if name not in published.SURPASSED]

    def rows(corpus: Corpus) -> list[list[Entry]]:
        cells = corpus.finished_cells.set_index("inlier")
        # random scores have an area equal to the share of positives
        percent_odd = 100 * (cells["n_test_outliers"] / cells["n_test"]).dropna()
        is_odd_positive = comparison.metric.positive == "outliers"
        chances = {str(name): odd if is_odd_positive else 100 - odd for name, odd in percent_odd.items()}

        def entries(inlier: str | None) -> list[Entry]:
            chance = [figure(corpus.mean_of(chances, inlier))] if has_chance else []
            return [*corpus.with_best(inlier), *corpus.published_entries(inlier, methods), *chance]

        return corpus.rows(entries)

    labels = [published.label(method) for method in methods]
    yield comparison.table(
        f"{comparison.heading}, {percent(comparison.lowest)} of outliers in the training data",
        ["inlier", *comparison.labels, *labels, *(["chance"] if has_chance else [])],
        lambda corpus: [rows(corpus)],
        blocks=comparison.blocks(len(labels)),
        notes=comparison.notes_on_labels({*map(published.source, methods)}),
    )
