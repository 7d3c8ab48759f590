"""Every split at the lowest contamination level."""

from collections.abc import Iterator

from adbench_text.reports import published
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import Entry, Mark, Table, figure
from adbench_text.sweep.cell import percent


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield one row per dataset and inlier class, and means, beside the published figures.

    A table of areas under precision-recall curves has the level of chance too: it depends on the split.
    """
    has_chance = comparison.metric.curve == "precision-recall"

    def rows(corpus: Corpus) -> list[list[Entry]]:
        shares = _shares_of_positives(comparison, corpus)

        def row(inlier: str | None) -> list[Entry]:
            chance = [figure(corpus.mean_of(shares, inlier))] if has_chance else []
            return [*corpus.with_best(inlier), *corpus.published_entries(inlier), *chance]

        return corpus.rows(row)

    labels = [published.label(detector) for detector in comparison.published]
    yield comparison.table(
        f"{comparison.heading}, {percent(comparison.lowest)} of outliers in the training data",
        ["inlier", *comparison.labels, *labels, *(["chance"] if has_chance else [])],
        lambda corpus: [rows(corpus)],
        has_means=True,
        blocks=comparison.blocks(len(labels)),
        header_marks=comparison.marks.union([Mark.PUBLISHED] if labels else []),
    )


def _shares_of_positives(comparison: Comparison, corpus: Corpus) -> dict[str, float]:
    """Return the precision of scores by chance in percent, by inlier class."""
    shares = {
        record.inlier: record.metrics["n_test_outliers"] / record.metrics["n_test"]
        for column in comparison.columns
        for record in corpus.finished(column)
        if "n_test_outliers" in record.metrics
    }
    is_of_outliers = comparison.metric.positive == "outliers"
    return {inlier: 100 * (share if is_of_outliers else 1 - share) for inlier, share in shares.items()}
