"""The first sentence of a report, and the origin of its results."""

from collections.abc import Sequence

import pandas as pd

from adbench_text.contract.protocols import ONE_VS_REST
from adbench_text.corpora.split_key import percent
from adbench_text.escaping import count
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.tables.leaderboard import knows, leading
from adbench_text.store.cells import MADE_BY_COLUMNS

_MOST = 3  # listed values of one kind


def headline(comparison: Comparison) -> str:
    """Return the result in a sentence; empty if no detector has all splits.

    It is about the datasets that sort the list of detectors at the top of the page.
    """
    corpora = leading(comparison)
    ranked = [item for item in comparison.best_first(*corpora) if not item[0].uses_test_batch]
    if not ranked or corpora[0].is_unranked:
        return ""
    (best, value), *others = ranked
    mean = "mean " if len(corpora) > 1 or not corpora[0].has_one_split else ""
    article = "the best" if others else "a"
    measured = f"{article} {mean}{comparison.metric.title}, {value:.1f}%{_at(corpora[0])}"
    return f"{_listed_labels(corpora)}: {_named(best)} has {measured}."


def _listed_labels(corpora: Sequence[Corpus]) -> str:
    """Return the beginning of the sentence: the name of the only corpus, or what the mean is over."""
    labels = [corpus.label for corpus in corpora]
    if len(labels) == 1:
        return labels[0]
    few = f"{', '.join(labels[:-1])} and {labels[-1]}"
    return f"Over {few if len(labels) <= _MOST else f'{len(labels)} datasets'}"


def _named(column: Column) -> str:
    """Return the name of a detector with its knowledge, as in the leaders."""
    return f"{column.label} (knows: {knows(column)})" if column.regime else column.label


def _at(corpus: Corpus) -> str:
    """Return the level of a corpus in words; a corpus for ranking has no training part."""
    level = f" at {percent(corpus.lowest)} of outliers"
    return f"{level} in the training data" if not corpus.is_ranking else level if corpus.lowest else ""


def provenance(comparison: Comparison, store_name: str = "") -> list[tuple[str, str]]:
    """Return names and values in order, without empty ones; the versions of the data are last."""
    cells = comparison.cells.counted
    days = cells["started"].dropna().dt.strftime("%Y-%m-%d").sort_values().tolist()
    n_ok = int(cells["is_ok"].sum())
    failed = f", {len(cells) - n_ok:,} failed" if n_ok < len(cells) else ""
    facts = [
        ("results", f"{count(n_ok)}{failed}"),
        ("date", " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""),
        *((name, _listed(cells[name])) for name in MADE_BY_COLUMNS),
        ("store", store_name),
        ("others", _listed(cells["source"])),
        ("seeds", ", ".join(map(str, sorted(set(cells["seed"]))))),
    ]
    for corpus in comparison.corpora:
        first = corpus.first
        protocol = "" if first["protocol"] == ONE_VS_REST else f"protocol {first['protocol']}"
        edition = "; ".join(filter(None, (f"edition {first['edition']}", first["documents"], protocol)))
        facts.append((corpus.label, edition))
    return [(name, value) for name, value in facts if value]


def _listed(texts: "pd.Series[str]") -> str:
    """Return the last different texts of a column, the newest first."""
    values = list(dict.fromkeys(text for text in texts.tolist()[::-1] if text))
    rest = len(values) - _MOST
    return "; ".join(values[:_MOST]) + (f"; {rest} more" if rest > 0 else "")
