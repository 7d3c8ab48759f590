"""What a report says under its tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from adbench_text.metrics import Metric
from adbench_text.sweep.cell import Cell, identity_of, percent

Record = dict[str, Any]

INCOMPLETE = "(n of m): of m cells, only n are finished; the figure is of those alone."
SPREAD = "±: standard deviation over the seeds."
ORACLE = "(oracle): the best per split, chosen on the test labels; never in bold."
PUBLISHED = (
    "(paper): published by Manolache et al., NAACL 2021, on the published editions; "
    "†: the best configuration per split, chosen on the test labels."
)


def corpora(records: Sequence[Record], labels: Mapping[str, str]) -> list[str]:
    """Name the edition and count the documents of each corpus; `labels` are by its digest."""
    first = {record["dataset_digest"]: record for record in reversed(records)}
    return [
        f"{label}: edition {first[digest]['edition']}; {first[digest]['documents']}."
        for digest, label in labels.items()
    ]


def regimes(of_label: Sequence[tuple[str, str]]) -> str:
    """Say what the detectors know besides the training texts; pairs of label and regime."""
    labels: dict[str, list[str]] = {}
    for label, regime in of_label:
        labels.setdefault(regime, []).append(label)
    listed = "; ".join(f"{regime}: {', '.join(found)}" for regime, found in labels.items())
    return f"What they know besides the training texts: {listed}."


def failures(records: Sequence[Record]) -> list[str]:
    """Name a failed cell for each reason, and say how many others of its detector failed for it."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        if record["status"] != "ok":
            key = record["detector"], record["configuration"], record["dataset"], record["reason"]
            groups.setdefault(key, []).append(record)
    notes = []
    for (*_, reason), group in groups.items():
        others = f" and {len(group) - 1} more like it" if len(group) > 1 else ""
        notes.append(f"failed: {_cell_name(group[0])}{others}: {reason}")
    return notes


def unmeasured(records: Sequence[Record], metrics: Iterable[Metric]) -> list[str]:
    """Name each metric that finished cells lack, and how many: they were run before it was measured."""
    finished = [record for record in records if record["status"] == "ok"]
    n_lacking = {metric.title: sum(metric.name not in record for record in finished) for metric in metrics}
    return [
        f"{title} is missing from {n:,} of {len(finished):,} finished cells, which were run before it was "
        "measured; adbench-text run --rerun measures it."
        for title, n in n_lacking.items()
        if n
    ]


def direction(metrics: Iterable[Metric]) -> list[str]:
    """Name each metric of which lower values are better."""
    return [f"{metric.title}: lower is better." for metric in metrics if not metric.higher_is_better]


def seeds(of: Mapping[str, Mapping[str, frozenset[str]]]) -> list[str]:
    """Say where the figures of detectors that stand side by side come from different seeds.

    Parameters
    ----------
    of : mapping of str to mapping of str to frozenset of str
        For each place, a corpus at a level say: the seeds of each column.
    """
    places: dict[str, list[str]] = {}
    for place, of_column in of.items():
        labels: dict[frozenset[str], list[str]] = {}
        for label, found in of_column.items():
            labels.setdefault(found, []).append(label)
        if len(labels) > 1:
            listed = "; ".join(
                f"{', '.join(names)}: {', '.join(sorted(found, key=int))}" for found, names in labels.items()
            )
            places.setdefault(listed, []).append(place)
    everywhere = sum(map(len, places.values())) == len(of)
    return [
        "Not all figures are of the same seeds"
        + ("" if everywhere else f" ({', '.join(where)})")
        + f": {listed}."
        for listed, where in places.items()
    ]


def versions(
    records: Sequence[Record], n_superseded: int, label_of: Callable[[Record], str], stand_apart: bool
) -> list[str]:
    """Say where results of different code stand together, and how many older ones are left out."""
    notes = []
    kinds = {
        "code": (("code_version", "protocol"), "(older code)"),
        "libraries": (("libraries",), "(other libraries)"),
        "resources": (("resource.",), ""),
    }
    for kind, (prefixes, mark) in kinds.items():
        made_by: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for record in records:
            # one configuration may need other resources on another corpus
            corpus = record["dataset_digest"] if kind == "resources" else ""
            version = tuple(str(value) for name, value in record.items() if name.startswith(prefixes))
            made_by.setdefault((label_of(record), corpus), set()).add(version)
        where = f"apart, as {mark}" if mark and stand_apart else "together here"
        for name in dict.fromkeys(label for (label, _), found in made_by.items() if len(found) > 1):
            notes.append(
                f"{name}: results of different versions of its {kind} stand {where}; "
                "run the sweep again to renew the older ones."
            )
    if n_superseded:
        notes.append(f"Left out: {n_superseded} older results, made by other code, libraries or resources.")
    return notes


def unfinished(records: Sequence[Record], cells: Sequence[Cell]) -> list[str]:
    """Say how many cells of a sweep there is no result of, and name the first."""
    held = set(map(identity_of, records))
    absent = [cell for cell in cells if cell.identity not in held]
    if not absent:
        return []
    return [f"Of the {len(cells):,} cells of the sweep {len(absent):,} were not run, the first: {absent[0]}."]


def _cell_name(record: Record) -> str:
    what = f"{record['detector']} {record['configuration']}".strip()
    level = percent(float(record["contamination"]))
    return f"{what} on {record['dataset']}/{record['inlier']} at {level}, seed {record['seed']}"
