"""The notes of a report, which a reader of its figures needs. docs/reports.md explains all tables."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from adbench_text.corpora.split_key import percent
from adbench_text.escaping import count
from adbench_text.metrics import ROUNDING, TIED, Metric, note_on_ties
from adbench_text.reports.cells import Cells, text_of
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.report import Table
from adbench_text.store.cells import SPLIT, identities_of, latest

_MOST_RUNS = 3  # changed runs to name
_OF_INCOMPLETE = "(n of m): only n of m cells are finished; the figure covers these n."


def under_tables(tables: Sequence[Table], general: Sequence[str]) -> list[Table]:
    """Return the tables with each note under the first table that has it; `general` notes under the first."""
    placed: list[Table] = []
    explained: set[str] = set()
    for table in tables:
        is_incomplete = any(entry.is_incomplete for row in table.rows for entry in row)
        of_table = [*([_OF_INCOMPLETE] if is_incomplete else []), *table.notes]
        new = [note for note in of_table if note not in explained] + ([] if placed else [*general])
        explained.update(of_table)
        placed.append(replace(table, notes=list(dict.fromkeys(new))))
    return placed


def of_comparison(comparison: Comparison, notes: Sequence[str]) -> list[str]:
    """Return the notes for the figures of all tables; failures last."""
    cells = comparison.cells
    return [
        *notes,
        *(
            f"{corpus.label}: ours and the published figures are not of the same documents. "
            f"Our edition: {corpus.cells.iloc[-1].edition}."
            for corpus in comparison.corpora
            if corpus.is_other_edition
        ),
        *_of_sources(comparison),
        *_levels(comparison),
        *_seeds(comparison),
        *_ties(comparison),
        *_of_versions(cells, comparison.metric),
        *_unfinished(cells),
        *failures(cells.counted),
    ]


def _of_sources(comparison: Comparison) -> list[str]:
    """Return notes on cells of files that are not shown, and on cells that files add to a column."""
    cells = comparison.cells
    labels = {corpus.digest: corpus.label for corpus in comparison.corpora}
    notes = []
    left_out = cells.every[~cells.every["is_first"]]
    for _, of_source in left_out.groupby(["source", "home"], sort=False):
        source, home, names = of_source["source"].iloc[0], _home(of_source), _names(of_source)
        difference = _difference(cells, of_source, comparison.metric)
        notes.append(f"Not shown from {source}, because {home} has it: {names}.{difference}")
    added = cells.counted[cells.counted["source"] != cells.counted["home"]]
    for _, of_corpus in added.groupby(["source", "home", "corpus"], sort=False):
        source, home, names = of_corpus["source"].iloc[0], _home(of_corpus), _names(of_corpus)
        levels = ", ".join(map(percent, sorted(of_corpus["contamination"].unique())))
        place = f"{labels[of_corpus['corpus'].iloc[0]]} at {levels}"
        notes.append(f"Shown from {source}, because {home} lacks it: {names} on {place}.")
    return notes


def _home(cells: pd.DataFrame) -> str:
    """Return the source of the column of these cells, which all have the same."""
    return str(cells["home"].iloc[0] or "the store")


def _names(cells: pd.DataFrame) -> str:
    """Return the names of the detectors of these cells."""
    return ", ".join(cells["name"].unique())


def _difference(cells: Cells, left_out: pd.DataFrame, metric: Metric) -> str:
    """Return the largest difference between a figure that is left out and the figure that counts."""
    both = left_out.merge(cells.counted, on=["corpus", "home", "name", *SPLIT], suffixes=("", "_counts"))
    points = 100 * (both[metric.name] - both[f"{metric.name}_counts"]).abs().max()
    return f" Figures differ by up to {points:.3g} points." if points > 100 * ROUNDING else ""


def _of_versions(cells: Cells, metric: Metric) -> list[str]:
    """Return notes on contradictions, different versions, and older results that are left out."""
    notes = contradictions(cells.stored, metric)
    is_stored = cells.counted["source"] == ""
    table, of_files = cells.counted[is_stored], cells.counted[~is_stored]
    # other code and libraries of a file have columns of their own
    by_corpus = of_files.groupby(["source", "column", "dataset_digest"])["resources"].transform("nunique")
    if len(mixed := of_files[by_corpus > 1]):
        files = ", ".join(mixed["source"].unique())
        notes.append(f"Results of different resources in {files}: {_names(mixed)}.")
    parts = {
        "code": (table["code_version"] + table["harness_version"], ["name"]),
        "libraries": (table["libraries"], ["name"]),
        # a configuration may need different resources on another corpus
        "resources": (table["resources"], ["name", "dataset_digest"]),
    }
    for part, (versions, by) in parts.items():
        n_versions = versions.groupby([table[name] for name in by], sort=False).transform("nunique")
        names = table["name"][n_versions > 1].unique()
        if len(names):
            listed = ", ".join(names)
            notes.append(f"Results of different {part}: {listed}; run the sweep again to renew them.")
    if cells.n_superseded:
        results = count(cells.n_superseded, "older result")
        notes.append(f"Left out: {results}, made by other code, libraries or resources.")
    return notes


def _levels(comparison: Comparison) -> list[str]:
    """Return notes on corpora and detectors that tables of one level show at another level, or lack."""
    at_other_levels = [corpus for corpus in comparison.corpora if corpus.lowest != comparison.lowest]
    levels = {
        corpus.label: corpus.levels for corpus in comparison.corpora if corpus.lowest not in corpus.levels
    }
    of_corpora = comparison.cells.table.groupby(["corpus", "column"])["contamination"].unique()
    for corpus in comparison.corpora:
        for column, of_column in of_corpora[corpus.digest].items() if corpus.label not in levels else ():
            if corpus.lowest not in of_column:
                levels[f"{comparison.columns[column].label} on {corpus.label}"] = sorted(of_column)
    notes = []
    if at_other_levels:
        listed = ", ".join(f"{corpus.label} at {percent(corpus.lowest)}" for corpus in at_other_levels)
        notes.append(f"Tables of one level show these corpora at their lowest share of outliers: {listed}.")
    if levels:
        listed = ", ".join(f"{name} ({', '.join(map(percent, each))})" for name, each in levels.items())
        where = f"Not run at {percent(comparison.lowest)} of outliers"
        notes.append(f"{where}, so only in the table 'levels': {listed}.")
    return notes


def _seeds(comparison: Comparison) -> list[str]:
    """Return a note on the seeds, if figures of one dataset and level come from different seeds."""
    # all versions of the code of a detector have one label
    labels = dict(enumerate(replace(column, generation=0).label for column in comparison.columns))
    cells = comparison.cells.table
    by = [cells["corpus"], cells["contamination"], cells["column"].map(labels).rename("label")]
    seeds = cells["seed"].groupby(by, sort=False).agg(lambda each: ", ".join(map(str, sorted(set(each)))))
    # all labels of a corpus and level where not all labels have the same seeds
    unequal = seeds[seeds.groupby(["corpus", "contamination"], sort=False).transform("nunique") > 1]
    of_labels = unequal.groupby("label", sort=False).agg(lambda each: " or ".join(dict.fromkeys(each)))
    by_seeds = of_labels.groupby(of_labels, sort=False)
    listed = "; ".join(f"{', '.join(alike.index)}: {numbers}" for numbers, alike in by_seeds)
    return [f"Not all figures are of the same seeds: {listed}."] if listed else []


def _ties(comparison: Comparison) -> list[str]:
    """Return a note on the detectors with many ties on a corpus."""
    cells = comparison.cells.table
    of_corpora = cells.groupby(["corpus", "column"], sort=False)[TIED].mean()
    note = note_on_ties(
        {
            f"{comparison.labels[number]} on {corpus.label}": share
            for corpus in comparison.corpora
            for number, share in of_corpora[corpus.digest].items()
        }
    )
    return [note] if note else []


def left_out(messages: Sequence[str]) -> list[str]:
    """Return notes on changed runs, which are left out: the first ones, and the number of the others."""
    notes = [f"{message} Left out until then." for message in messages[:_MOST_RUNS]]
    n_more = len(messages) - len(notes)
    return notes + ([f"Also left out, because they were changed: {n_more:,} more runs."] if n_more else [])


def contradictions(stored: pd.DataFrame, metric: Metric) -> list[str]:
    """Return a note on the number of cells with different results, and on the largest difference.

    Results of equal definitions differ by less than `ROUNDING`. Larger differences come from other machines,
    from code that is not deterministic, or from somebody who changed results. Without such cells the list is
    empty.
    """
    newest = latest(stored).set_index(["cell", "source"])[metric.name].rename("newest")
    older = stored.join(newest, on=["cell", "source"])
    difference = (older["newest"] - older[metric.name]).abs()
    is_apart = difference > ROUNDING
    if not is_apart.any():
        return []
    row = older[difference == difference.max()].iloc[0]
    number = older.loc[is_apart, "cell"].nunique()
    cells = "1 cell has" if number == 1 else f"{number:,} cells have"
    return [
        f"{cells} several results that differ, though their definitions are equal: by up to "
        f"{100 * difference.max():.3g} points of {metric.title} ({text_of(row)}: newest "
        f"{100 * row['newest']:.1f}, older {100 * row[metric.name]:.1f}). The newest of each cell "
        "counts."
    ]


def without_scores(stored: pd.DataFrame, metric: Metric) -> list[str]:
    """Return a note on cells of files without a metric that is computed from scores."""
    lacking = stored[(stored["source"] != "") & (stored["status"] == "ok") & stored[metric.name].isna()]
    files = ", ".join(dict.fromkeys(lacking["source"]))
    return [f"No {metric.title} of {count(len(lacking))} of {files}: a file has no scores."] if files else []


def failures(cells: pd.DataFrame) -> list[str]:
    """Return a note for each reason of failure: one cell, and the number of others of its detector."""
    failed = cells[cells["status"] != "ok"]
    notes = []
    for _, group in failed.groupby(["detector", "configuration", "dataset", "reason"], sort=False):
        first, n_others = group.iloc[0], len(group) - 1
        others = f" and {n_others} more like it" if n_others else ""
        notes.append(f"failed: {text_of(first)}{others}: {first['reason']}")
    return notes


def _unfinished(cells: Cells) -> list[str]:
    """Return a note on the cells of a sweep without a result: their number and the first one."""
    identities = set(identities_of(cells.counted))
    absent = [cell for cell in cells.promised if cell.identity not in identities]
    n_promised = len(cells.promised)
    return [
        f"{len(absent):,} of the {n_promised:,} cells of the sweep were not run, the first: {cell}."
        for cell in absent[:1]
    ]
