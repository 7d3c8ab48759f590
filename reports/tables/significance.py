"""Paired tests between detectors."""

import numpy as np

from adbench_text.reports.comparison import Comparison
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import NONE, Entry, Kind, Table, figure, significant
from adbench_text.reports.significance import ALPHA, N_RESAMPLES, holm, lowest_possible_p

ORDER = 60
NEEDS = "two detectors that have two splits in common"

_LEAST_P = 1e-4  # smaller ones are not told apart


def tables(comparison: Comparison, ranking: Ranking) -> list[Table]:
    """Return each pair of detectors, the largest difference first, tested over documents and over splits."""
    if not ranking.is_possible:
        return []
    n_splits = len(ranking.splits)
    pairs = []
    for pair in ranking.pairs:
        merits = ranking.merits[:, pair.first] - ranking.merits[:, pair.second]
        # the mean decides, the median where there is none
        is_first = (float(merits.mean()), pair.difference) >= (0.0, 0.0)
        better, worse = (pair.first, pair.second) if is_first else (pair.second, pair.first)
        pairs.append((better, worse, pair.p_holm))
    differences = [float((ranking.figures[:, a] - ranking.figures[:, b]).mean()) for a, b, _ in pairs]
    estimates = [ranking.difference(better, worse) for better, worse, _ in pairs]
    p_values = iter(holm([each.p for each in estimates if each is not None]))
    corrected = [None if each is None else next(p_values) for each in estimates]
    rows = []
    for place in np.argsort(-np.abs(differences), kind="stable"):
        better, worse, p_holm = pairs[place]
        over_documents, p = estimates[place], corrected[place]
        n_wins = int((ranking.merits[:, better] > ranking.merits[:, worse]).sum())
        interval = NONE
        if over_documents is not None:
            interval = Entry(f"{over_documents.low:z.1f} to {over_documents.high:z.1f}", Kind.FIGURE)
        rows.append(
            [
                *(Entry(ranking.columns[column].label) for column in (better, worse)),
                figure(differences[place]),
                interval,
                NONE if p is None else _p_value(p),
                Entry(f"{n_wins} of {n_splits}", Kind.FIGURE, n_wins),
                _p_value(p_holm),
                Entry(_significant(p, p_holm)),
            ]
        )
    title = f"{ranking.metric.title}: paired differences over {n_splits} splits, the largest first"
    header = [
        "better",
        "worse",
        "mean difference",
        "95% interval over documents",
        "p over documents",
        "better on",
        "p over splits",
        "significant over",
    ]
    notes = _notes(n_splits, len(pairs), any(each is not None for each in estimates))
    return [Table(title, header, rows, notes=notes, metric=ranking.metric, is_ranked=True)]


def _p_value(p: float) -> Entry:
    return Entry(f"< {_LEAST_P:.4f}", Kind.FIGURE, p) if p < _LEAST_P else significant(p, 2)


def _significant(over_documents: float | None, over_splits: float) -> str:
    is_significant = {"documents": over_documents is not None and over_documents < ALPHA}
    is_significant["splits"] = over_splits < ALPHA
    return " and ".join(name for name, holds in is_significant.items() if holds) or "neither"


def _notes(n_splits: int, n_pairs: int, has_documents: bool) -> list[str]:
    notes = []
    if has_documents:
        notes.append(
            f"Over documents: paired bootstrap of {N_RESAMPLES} resamples of the test documents. One "
            "resample is used for all splits of a dataset and all detectors. It asks whether other test "
            "documents of the same splits would give the same order; the randomness of the "
            "training is not part of it."
        )
    splits = (
        "Over splits: Wilcoxon's signed-rank test. It asks whether other splits would give the same order."
    )
    lowest = lowest_possible_p(n_splits, n_pairs)
    if lowest >= ALPHA:
        splits += (
            f" With {n_splits} splits and {n_pairs} pair{'s' if n_pairs > 1 else ''} no p can fall below "
            f"{lowest:.2g}, whatever the differences are."
        )
    return [
        *notes,
        splits,
        f"p: with Holm's correction for {n_pairs} pair{'s' if n_pairs > 1 else ''}; "
        f"significant: below {ALPHA:g}.",
    ]
