"""The notes of a report, and their places under its tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from adbench_text.metrics import Metric
from adbench_text.plugins.scores import BANK, TEST_BATCH
from adbench_text.reports import benchmarks, published
from adbench_text.reports.cells import Cells
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.report import Mark, Table
from adbench_text.store import record as stored
from adbench_text.store.record import Record
from adbench_text.sweep.cell import percent

_MOST_RUNS = 3  # that were changed are named
_OF_THE_PAPER = (
    "(paper): published by Manolache et al., NAACL 2021, on the published editions; "
    "†: the best configuration per split, chosen on the test labels."
)
_OF_MARKS = {
    Mark.INCOMPLETE: "(n of m): only n of m cells are finished; the figure is of those.",
    Mark.SPREAD: "±: standard deviation over the seeds.",
    Mark.ORACLE: "(oracle): the best per split, chosen on the test labels; never in bold.",
    Mark.PUBLISHED: _OF_THE_PAPER,
    Mark.UNEQUAL: _OF_THE_PAPER,
}


def under_tables(tables: Sequence[Table], general: Sequence[str]) -> list[Table]:
    """Return the tables, each note and the meaning of each sign under the first that has it.

    The `general` notes are under the first table.
    """
    placed: list[Table] = []
    explained: set[Mark | str] = set()
    for table in tables:
        of_table = [note for mark, note in _OF_MARKS.items() if mark in table.marks - explained]
        of_table += [note for note in table.notes if note not in explained]
        explained.update(table.marks, table.notes)
        of_table += general if not placed else []
        placed.append(replace(table, notes=list(dict.fromkeys(of_table))))
    return placed


def of_comparison(comparison: Comparison, notes: Sequence[str]) -> list[str]:
    """Return what a reader of the figures must know, whatever table they are in; failures last."""
    cells = comparison.cells
    return [
        *notes,
        *_other_editions(comparison),
        *_relations(comparison),
        *_ranked(comparison),
        *_hidden(comparison),
        *_regimes(comparison),
        *_apart(comparison),
        *_other_levels(comparison),
        *_seeds(comparison),
        *contradictions(cells.records, [comparison.metric]),
        *versions(cells, are_apart=True),
        *_unfinished(cells),
        *failures(cells.records),
    ]


def of_metric(comparison: Comparison) -> list[str]:
    """Return what a reader of figures of its metric must know."""
    metric = comparison.metric
    notes = [] if metric.higher_is_better else [f"{metric.title}: lower is better."]
    return notes + unmeasured(comparison.cells.records, [metric])


_PROTOCOLS = {
    "leave-one-out": "the outliers are one class in turn, all others are normal",
    "unlabelled": "the documents are ranked without others for training; above 0% their outliers are thinned "
    "to this share, drawn with the seed of the cell",
    "redrawn": "each seed draws the documents for training and testing anew",
}


def corpora(records: Sequence[Record], labels: Mapping[str, str]) -> dict[str, str]:
    """Return the edition and the number of documents of each corpus by its label; `labels` are by digest."""
    first = {record.corpus: record for record in reversed(records)}
    facts = {}
    for digest, label in labels.items():
        record = first[digest]
        known = f"edition {record.edition}", record.documents, _PROTOCOLS.get(record.protocol)
        facts[label] = "; ".join(filter(None, known))
        if record.test_outliers is not None:
            facts[label] += (
                f"; the outliers of each test set are thinned to {percent(record.test_outliers)} of it, "
                "drawn with the seed of the cell, and compared with no published figure"
            )
    return facts


def _other_editions(comparison: Comparison) -> list[str]:
    """Explain `Mark.OTHER_EDITION`, with the numbers of training documents."""
    corpora = sorted(comparison.corpora, key=lambda corpus: corpus.digest)
    return [_other_edition(corpus) for corpus in corpora if corpus.is_other_edition]


def _other_edition(corpus: Corpus) -> str:
    note = f"{corpus.label}: ours and the published figures are not of the same documents."
    n_ours = {
        r.inlier: r.metrics["n_train"]
        for r in corpus.records
        if not r.contamination and "n_train" in r.metrics
    }
    n_published = published.n_training_documents(corpus.dataset)
    if shared := n_ours.keys() & n_published.keys():
        ours, theirs = (round(fmean(sizes[name] for name in shared)) for sizes in (n_ours, n_published))
        note += f" Ours were trained on {ours:,} per split on average, the published ones on {theirs:,}."
    return f"{note} Our edition: {corpus.records[-1].edition}."


def _relations(comparison: Comparison) -> list[str]:
    """Explain the words beside corpora of other benchmarks."""
    if not any(corpus.relation for corpus in comparison.corpora):
        return []
    meanings = "; ".join(f"({word}): {meaning}" for word, meaning in benchmarks.RELATIONS.items())
    return [f"Corpora of other benchmarks: {meanings}."]


def _ranked(comparison: Comparison) -> list[str]:
    """Name the corpora whose contamination is that of the documents that are ranked."""
    ranked = [corpus for corpus in comparison.corpora if corpus.is_ranked]
    labels = [f"{corpus.label} at {percent(corpus.lowest)}" for corpus in ranked]
    if not labels:
        return []
    return [
        "Detectors are fitted on the documents that they rank, whose share of outliers is the contamination "
        f"(0%: that of the corpus). In tables of one level: {', '.join(labels)}."
    ]


def left_out(messages: Sequence[str]) -> list[str]:
    """Name the first runs that are left out because somebody changed them, and the number of the others."""
    notes = [f"{message} It is left out until then." for message in messages[:_MOST_RUNS]]
    n_more = len(messages) - len(notes)
    return notes + ([f"Runs that were changed and are left out, too: {n_more:,}."] if n_more else [])


def contradictions(records: Sequence[Record], metrics: Iterable[Metric]) -> list[str]:
    """Return how many cells have older results that contradict the newest, and which one counts."""
    sentences = stored.contradictions(records, metrics)
    return [f"{sentence} The newest of each cell counts." for sentence in sentences]


def _hidden(comparison: Comparison) -> list[str]:
    columns = {column.label: column.hidden for column in comparison.columns if column.hidden}
    return [f"{label}: with {settings}." for label, settings in columns.items()]


def _regimes(comparison: Comparison) -> list[str]:
    if not comparison.blocks():
        return []
    labels: dict[str, list[str]] = {}
    for column in comparison.columns:
        labels.setdefault(column.regime_title, []).append(column.label)
    listed = "; ".join(f"{regime}: {', '.join(of_regime)}" for regime, of_regime in labels.items())
    return [f"What they know besides the training texts: {listed}."]


def _apart(comparison: Comparison) -> list[str]:
    reasons = {
        TEST_BATCH: "the score of a test document depends on the other test documents",
        BANK: "a bank of other texts was given by the user",
    }
    notes = []
    for regime, reason in reasons.items():
        labels = [column.label for column in comparison.fair if column.apart == regime]
        note = f"{reason}; the best of these detectors is marked apart from the best of the others."
        notes += [f"{', '.join(labels)}: {note}"] if labels else []
    return notes


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


def _other_levels(comparison: Comparison) -> list[str]:
    """Return what has no results at the lowest contamination level, and the levels that it has."""
    levels: dict[str, list[float]] = {}
    for corpus in comparison.corpora:
        if corpus.lowest not in corpus.levels:
            levels[corpus.label] = corpus.levels
            continue
        for column in comparison.columns:
            of_column = [x for x in corpus.levels if comparison.cells.records_of(column, corpus.digest, x)]
            if of_column and corpus.lowest not in of_column:
                levels[f"{column.label} on {corpus.label}"] = of_column
    if not levels:
        return []
    listed = ", ".join(f"{name} ({', '.join(map(percent, of_name))})" for name, of_name in levels.items())
    return [f"Not run at {percent(comparison.lowest)} of outliers, so only in the table 'levels': {listed}."]


def _seeds(comparison: Comparison) -> list[str]:
    """Return where neighbouring figures come from different seeds, whatever made them."""
    corpora = {corpus.digest: corpus.label for corpus in comparison.corpora}
    facts = comparison.cells.table[["column", "corpus", "level", "seed"]].drop_duplicates()
    used: dict[str, dict[str, set[int]]] = {}
    for column, corpus, level, seed in facts.sort_values("column", kind="stable").itertuples(index=False):
        of_place = used.setdefault(f"{corpora[corpus]} at {percent(level)}", {})
        of_place.setdefault(replace(comparison.columns[column], generation=0).label, set()).add(seed)
    places: dict[str, list[str]] = {}
    for place, of_columns in used.items():
        labels: dict[str, list[str]] = {}
        for label, seeds in of_columns.items():
            labels.setdefault(", ".join(map(str, sorted(seeds))), []).append(label)
        if len(labels) > 1:
            listed = "; ".join(f"{', '.join(names)}: {seeds}" for seeds, names in labels.items())
            places.setdefault(listed, []).append(place)
    return [
        "Not all figures are of the same seeds"
        + ("" if len(where) == len(used) else f" ({', '.join(where)})")
        + f": {listed}."
        for listed, where in places.items()
    ]


def versions(cells: Cells, are_apart: bool) -> list[str]:
    """Return where results of different code are compared, and the number of older ones left out.

    `are_apart` is True where they have columns of their own.
    """
    notes = []
    marks_of = {"code": "(older code)", "libraries": "(other libraries)"}
    for part in ("code", "libraries", "resources"):
        made_by: dict[tuple[str, str], list[object]] = {}
        for record in cells.records:
            # one configuration may need other resources on another corpus
            corpus = record.dataset_digest if part == "resources" else ""
            made_by.setdefault((record.name, corpus), []).append(getattr(record, part))
        is_apart = are_apart and part in marks_of
        where = f"in a column of their own, {marks_of[part]}" if is_apart else "together"
        differing = (name for (name, _), made in made_by.items() if any(each != made[0] for each in made))
        notes += [
            f"{name}: results of different versions of its {part} are shown {where}; "
            "run the sweep again to renew the older ones."
            for name in dict.fromkeys(differing)
        ]
    if cells.n_superseded:
        results = f"{cells.n_superseded} older result{'' if cells.n_superseded == 1 else 's'}"
        notes.append(f"Left out: {results}, made by other code, libraries or resources.")
    return notes


def _unfinished(cells: Cells) -> list[str]:
    """Return the number of cells of a sweep that have no result, with the first of them."""
    identities = {record.identity for record in cells.records}
    absent = [cell for cell in cells.promised if cell.identity not in identities]
    n_promised = len(cells.promised)
    return [
        f"{len(absent):,} of the {n_promised:,} cells of the sweep were not run, the first: {cell}."
        for cell in absent[:1]
    ]
