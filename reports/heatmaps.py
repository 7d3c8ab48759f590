"""The heat maps of a report: test documents with words coloured by the scores of a detector."""

from itertools import zip_longest

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.report import Heatmap


def heatmaps(comparison: Comparison) -> list[Heatmap]:
    """Return the examples of each detector and split, for all detectors and datasets in turn.

    First come the first splits of all, then the second ones. So a page that cannot hold all heat maps shows
    some of every detector and dataset.
    """
    queues = [
        [(column, corpus.label, row) for _, row in corpus.of_splits(column).iterrows()]
        for column in comparison.fair
        for corpus in comparison.corpora
    ]
    return [
        Heatmap(f"{column.label} on {label} / {row['inlier']}", of_cell, is_first=number == 0)
        for number, turn in enumerate(zip_longest(*queues))
        for column, label, row in filter(None, turn)
        if (of_cell := comparison.evidence.examples(row)) is not None
    ]
