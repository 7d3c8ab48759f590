"""Variants of a dataset, such as its languages: a row for each, the best first."""

from collections.abc import Iterator
from dataclasses import replace

from adbench_text.corpora.split_key import percent
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import Entry, Table


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield a table for each dataset with variants: means over the splits, at each contamination level.

    The first detector with figures of all variants decides the order.
    """
    levels = comparison.levels
    header = [f"{column.label}, {percent(level)}" for column in comparison.columns for level in levels]
    for dataset, variants in families(comparison).items():
        rows = [
            [Entry(variant), *_row(comparison, corpus)] for variant, corpus in ordered(comparison, variants)
        ]
        yield Table(
            f"{comparison.heading} of the variants of {dataset}, mean over the splits",
            ["variant", *header],
            rows,
            {0},
            notes=comparison.notes_on_labels(),
        )


def families(comparison: Comparison) -> dict[str, dict[str, Corpus]]:
    """Return the corpora of datasets with several variants, by dataset and name of the variant."""
    of_datasets: dict[str, dict[str, Corpus]] = {}
    for corpus in comparison.corpora:
        dataset, colon, _ = corpus.dataset.partition(":")
        if colon:
            # the label also tells versions of the data apart
            of_datasets.setdefault(dataset, {})[corpus.label.removeprefix(f"{dataset}:")] = corpus
    return {dataset: variants for dataset, variants in of_datasets.items() if len(variants) > 1}


def ordered(comparison: Comparison, variants: dict[str, Corpus]) -> list[tuple[str, Corpus]]:
    """Return the variants, sorted by the first complete detector, the best first.

    Without a complete detector, their order stays.
    """
    for column in comparison.columns:
        values = {name: corpus.entry(column).complete_value for name, corpus in variants.items()}
        known = {name: value for name, value in values.items() if value is not None}
        if len(known) == len(variants):
            sign = -1 if comparison.metric.higher_is_better else 1
            return sorted(variants.items(), key=lambda item: (sign * known[item[0]], item[0]))
    return list(variants.items())


def _row(comparison: Comparison, corpus: Corpus) -> list[Entry]:
    """Return the figures of all detectors at all levels, with the best of a level marked."""
    of_levels = [corpus.with_best(level=level) for level in comparison.levels]
    return [replace(entry, spread=None) for of_column in zip(*of_levels, strict=True) for entry in of_column]
