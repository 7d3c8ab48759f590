"""What a report says under its tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from adbench_text.sweep import percent

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


def blocks(of_label: Sequence[tuple[str, str]]) -> str:
    """Say what the detectors know besides the training texts; pairs of label and block."""
    labels: dict[str, list[str]] = {}
    for label, block in of_label:
        labels.setdefault(block, []).append(label)
    listed = "; ".join(f"{block}: {', '.join(found)}" for block, found in labels.items())
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


def seeds(records: Sequence[Record]) -> list[str]:
    """Say where the figures of detectors come from different seeds."""
    of: dict[str, set[str]] = {}
    for record in records:
        of.setdefault(f"{record['detector']} {record['configuration']}".strip(), set()).add(record["seed"])
    if len({frozenset(found) for found in of.values()}) < 2:
        return []
    listed = "; ".join(f"{name}: {', '.join(sorted(found, key=int))}" for name, found in of.items())
    return [f"Not all figures are of the same seeds: {listed}."]


def versions(records: Sequence[Record], n_superseded: int) -> list[str]:
    """Say where results of different code stand together, and how many older ones are left out."""
    notes = []
    for kind, where in (("code_version", "apart, as (older code)"), ("resource.", "together here")):
        made_by: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for record in records:
            what = record["detector"], record["configuration"], record["dataset_digest"]
            version = tuple(str(value) for name, value in record.items() if name.startswith(kind))
            made_by.setdefault(what, set()).add(version)
        of = "code" if kind == "code_version" else "resources"
        for name in dict.fromkeys(
            f"{d} {c}".strip() for (d, c, _), found in made_by.items() if len(found) > 1
        ):
            notes.append(
                f"{name}: results of different versions of its {of} stand {where}; "
                "run the sweep again to renew the older ones."
            )
    if n_superseded:
        notes.append(f"Left out: {n_superseded} older results, made by other code or resources.")
    return notes


def _cell_name(record: Record) -> str:
    what = f"{record['detector']} {record['configuration']}".strip()
    level = percent(float(record["contamination"]))
    return f"{what} on {record['dataset']}/{record['inlier']} at {level}, seed {record['seed']}"
