"""The notes of a report, and their places under its tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from adbench_text.metrics import Metric
from adbench_text.reports.report import Mark, Table
from adbench_text.store import record as stored
from adbench_text.store.record import Record
from adbench_text.sweep.cell import Cell, percent

_MOST_RUNS = 3  # that were changed are named
_OF_MARKS = {
    Mark.INCOMPLETE: "(n of m): only n of m cells are finished; the figure is of those.",
    Mark.SPREAD: "±: standard deviation over the seeds.",
    Mark.ORACLE: "(oracle): the best per split, chosen on the test labels; never in bold.",
    Mark.PUBLISHED: (
        "(paper): published by Manolache et al., NAACL 2021, on the published editions; "
        "†: the best configuration per split, chosen on the test labels."
    ),
}


def under_tables(
    tables: Sequence[Table], general: Sequence[str], of_ranking: Sequence[str], records: Sequence[Record]
) -> list[Table]:
    """Return the tables with their notes, each sign explained under the first that has it."""
    placed: list[Table] = []
    explained: set[Mark] = set()
    metrics: set[str] = set()
    for table in tables:
        # the signs of published figures are explained together
        present = table.marks - explained
        present |= {Mark.PUBLISHED} if Mark.UNEQUAL in present else set()
        notes = [note for mark, note in _OF_MARKS.items() if mark in present]
        explained |= table.marks
        if table.metric is not None and table.metric.name not in metrics:
            metrics.add(table.metric.name)
            notes += [] if table.metric.higher_is_better else [f"{table.metric.title}: lower is better."]
            notes += unmeasured(records, [table.metric])
        if table.is_ranked:
            notes += of_ranking
            of_ranking = ()
        if not placed:
            notes += general
        placed.append(replace(table, notes=[*table.notes, *notes]))
    return placed


def corpora(records: Sequence[Record], labels: Mapping[str, str]) -> dict[str, str]:
    """Return the edition and the number of documents of each corpus by its label; `labels` are by digest."""
    first = {record.corpus: record for record in reversed(records)}
    facts = {}
    for digest, label in labels.items():
        record = first[digest]
        facts[label] = "; ".join(filter(None, (f"edition {record.edition}", record.documents)))
        if record.test_outliers is not None:
            facts[label] += (
                f"; the outliers of each test set are thinned to {percent(record.test_outliers)} of it, "
                "drawn with the seed of the cell, and compared with no published figure"
            )
    return facts


def other_edition(label: str, records: Sequence[Record], n_published: Mapping[str, int]) -> str:
    """Explain `Mark.OTHER_EDITION` beside the label of a corpus, with the numbers of training documents.

    `records` are those of the corpus; `n_published` is the number of each inlier class in the paper.
    """
    note = f"{label}: ours and the published figures are not of the same documents."
    n_ours = {
        r.inlier: r.metrics["n_train"] for r in records if not r.contamination and "n_train" in r.metrics
    }
    if shared := n_ours.keys() & n_published.keys():
        ours, theirs = (round(fmean(sizes[name] for name in shared)) for sizes in (n_ours, n_published))
        note += f" Ours were trained on {ours:,} per split on average, the published ones on {theirs:,}."
    return f"{note} Our edition: {records[-1].edition}."


def left_out(messages: Sequence[str]) -> list[str]:
    """Name the first runs that are left out because somebody changed them, and the number of the others."""
    notes = [f"{message} It is left out until then." for message in messages[:_MOST_RUNS]]
    n_more = len(messages) - len(notes)
    return notes + ([f"Runs that were changed and are left out, too: {n_more:,}."] if n_more else [])


def contradictions(records: Sequence[Record], metrics: Iterable[Metric]) -> list[str]:
    """Return how many cells have older results that contradict the newest, and which one counts."""
    sentences = stored.contradictions(records, metrics)
    return [f"{sentence} The newest of each cell counts." for sentence in sentences]


def regimes(labelled: Sequence[tuple[str, str]]) -> str:
    """Return what the detectors know besides the training texts, from pairs of label and regime."""
    labels: dict[str, list[str]] = {}
    for label, regime in labelled:
        labels.setdefault(regime, []).append(label)
    listed = "; ".join(f"{regime}: {', '.join(of_regime)}" for regime, of_regime in labels.items())
    return f"What they know besides the training texts: {listed}."


def test_batch(labels: Sequence[str]) -> list[str]:
    """Explain the detectors that use the test batch, if there are any."""
    note = "the score of a test document depends on the other test documents; the best of these detectors is "
    note += "marked apart from the best of the others."
    return [f"{', '.join(labels)}: {note}"] if labels else []


def failures(records: Sequence[Record]) -> list[str]:
    """Name one failed cell for each reason, and the number of others of its detector that share it."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        if not record.is_ok:
            key = record.detector, record.configuration, record.dataset, record.reason
            groups.setdefault(key, []).append(record)
    notes = []
    for (*_, reason), group in groups.items():
        others = f" and {len(group) - 1} more like it" if len(group) > 1 else ""
        notes.append(f"failed: {group[0]}{others}: {reason}")
    return notes


def unmeasured(records: Sequence[Record], metrics: Iterable[Metric]) -> list[str]:
    """Name each metric that finished cells lack because they were run before it was measured."""
    finished = [record for record in records if record.is_ok]
    n_lacking = {m.title: sum(m.name not in record.metrics for record in finished) for m in metrics}
    return [
        f"{title} is missing from {n:,} of {len(finished):,} finished cells, which were run before it was "
        "measured; adbench-text run --rerun measures it."
        for title, n in n_lacking.items()
        if n
    ]


def other_levels(lowest: float, levels: Mapping[str, Sequence[float]]) -> list[str]:
    """Return what has no results at the lowest contamination level; `levels` are those that it has."""
    if not levels:
        return []
    listed = ", ".join(f"{name} ({', '.join(map(percent, of_name))})" for name, of_name in levels.items())
    return [f"Not run at {percent(lowest)} of outliers, so only in the table 'levels': {listed}."]


def seeds(used: Mapping[str, Mapping[str, frozenset[int]]]) -> list[str]:
    """Return where neighbouring figures come from different seeds."""
    places: dict[str, list[str]] = {}
    for place, of_columns in used.items():
        labels: dict[frozenset[int], list[str]] = {}
        for label, of_column in of_columns.items():
            labels.setdefault(of_column, []).append(label)
        if len(labels) > 1:
            listed = "; ".join(
                f"{', '.join(names)}: {', '.join(map(str, sorted(numbers)))}"
                for numbers, names in labels.items()
            )
            places.setdefault(listed, []).append(place)
    return [
        "Not all figures are of the same seeds"
        + ("" if len(where) == len(used) else f" ({', '.join(where)})")
        + f": {listed}."
        for listed, where in places.items()
    ]


def versions(records: Sequence[Record], n_superseded: int, are_apart: bool) -> list[str]:
    """Return where results of different code are compared, and the number of older ones left out.

    `are_apart` is True where they have columns of their own.
    """
    notes = []
    marks_of = {"code": "(older code)", "libraries": "(other libraries)"}
    for part in ("code", "libraries", "resources"):
        made_by: dict[tuple[str, str], set[object]] = {}
        for record in records:
            # one configuration may need other resources on another corpus
            corpus = record.dataset_digest if part == "resources" else ""
            version = getattr(record, part)
            version = frozenset(version.items()) if part == "resources" else version
            made_by.setdefault((record.name, corpus), set()).add(version)
        is_apart = are_apart and part in marks_of
        where = f"in a column of their own, {marks_of[part]}" if is_apart else "together"
        for name in dict.fromkeys(name for (name, _), made in made_by.items() if len(made) > 1):
            notes.append(
                f"{name}: results of different versions of its {part} are shown {where}; "
                "run the sweep again to renew the older ones."
            )
    if n_superseded:
        results = f"{n_superseded} older result{'' if n_superseded == 1 else 's'}"
        notes.append(f"Left out: {results}, made by other code, libraries or resources.")
    return notes


def unfinished(records: Sequence[Record], cells: Sequence[Cell]) -> list[str]:
    """Return the number of cells of a sweep that have no result, with the first of them."""
    identities = {record.identity for record in records}
    absent = [cell for cell in cells if cell.identity not in identities]
    if not absent:
        return []
    return [f"{len(absent):,} of the {len(cells):,} cells of the sweep were not run, the first: {absent[0]}."]
