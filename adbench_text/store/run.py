"""Runs of MLflow: one value for logging, for the journal and for reading."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from adbench_text.errors import TrackingError
from adbench_text.metrics import COSTS, METRICS, OF_KNOWN, OF_WORDS, TIED, is_possible
from adbench_text.run.definition import cell_id

TAG = "adbench_text."  # prefix of our tags
KIND, CELL, STATUS = (f"{TAG}{name}" for name in ("kind", "cell", "status"))
PARENT = "mlflow.parentRunId"
DEFINITION = f"{TAG}definition."  # prefix of tags that belong to the definition of a cell
LONGEST_TAG = 5000  # characters; older MLflow servers keep no more, and newer ones keep 8,000

#: The tags for the origin of a run, by column; see `adbench_text.store.writing.run_tags`.
MADE_BY = {
    "version": "env.adbench-text",
    "commit": "mlflow.source.git.commit",
    "command": "mlflow.source.name",
    "machine": "env.platform",
}

_NEEDED = (
    *("detector", "preset", "configuration", "dataset", "inlier", "contamination", "seed"),
    *("dataset_digest", "code_version", "cell", "status", "edition", "documents"),
)
_MEASURED = ("n_test",)
RESOURCE = "resource."  # prefix of resources in a definition
_VERSIONS = ("dataset_digest", "code_version", "harness_version", "libraries")


def of_kind(kind: str) -> str:
    """Return the filter for MLflow's search that finds runs of a kind: sweep, cell or summary."""
    return f"tags.`{KIND}` = '{kind}'"


@dataclass(frozen=True)
class Run:
    """A run of MLflow: it is logged, waits in the journal, and is read back, in this one shape.

    A run that was read back has no curves and no files.
    """

    name: str
    status: str  # "FINISHED" or "FAILED", as MLflow calls it
    started: int  # milliseconds since the epoch
    tags: Mapping[str, str]
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    # (step, value, milliseconds since the epoch) for each step of a training, by name
    curves: Mapping[str, Sequence[tuple[int, float, int]]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # text of each artifact, by file name
    run_id: str = ""  # of a run that was read


def _part(definition: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the values whose names have a prefix, by their names without it."""
    return {name.removeprefix(prefix): value for name, value in definition.items() if name.startswith(prefix)}


def params_and_tags(definition: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the parts of a definition that become params and tags.

    Digests and versions are tags, because MLflow's pages compare runs by their params, and show these first.
    A value that is too long for a tag of an older server stays a param, which has up to 6,000 characters.
    """
    params, tags = {}, {}
    for name, value in definition.items():
        if (name in _VERSIONS or name.startswith(RESOURCE)) and len(value) <= LONGEST_TAG:
            tags[f"{DEFINITION}{name}"] = value
        else:
            params[name] = value
    return params, tags


def definition_of(run: Run) -> dict[str, str]:
    """Return the definition of the cell of a run; see `adbench_text.run.definition`."""
    return {**run.params, **_part(run.tags, DEFINITION)}


def check_unchanged(run: Run, store_name: str) -> None:
    """Raise TrackingError if somebody changed the run of a cell."""
    if reason := _changed(definition_of(run), own_tags(run), run.metrics):
        raise changed_error(run, store_name, reason)


def changed_error(run: Run, store_name: str, reason: object) -> TrackingError:
    """Return the error for a run that somebody changed."""
    return TrackingError(
        f"The run {run.name!r} ({run.run_id}) in {store_name} was changed: {reason}; "
        "delete the run, and run its cell again."
    )


def is_of_this_version(run: Run) -> bool:
    """Return whether the run of a cell has the parts that this version reads."""
    return f"{DEFINITION}harness_version" in run.tags


def own_tags(run: Run) -> dict[str, str]:
    """Return the tags of this package, without their prefix."""
    return _part(run.tags, TAG)


def _changed(definition: Mapping[str, str], tags: Mapping[str, str], metrics: Mapping[str, float]) -> str:
    """Say how the stored run of a cell was edited; empty if it was not."""
    is_ok = tags.get("status") == "ok"
    known = definition.keys() | tags.keys() | metrics.keys()
    absent = [name for name in (*_NEEDED, *(_MEASURED if is_ok else ())) if name not in known]
    if is_ok and known.isdisjoint(METRICS):  # an older cell may lack a metric
        absent += METRICS
    if absent:
        return f"it has lost its {absent[0]!r}"
    if cell_id(definition) != tags["cell"]:
        return "its params differ from the logged ones"
    return impossible(metrics)


def impossible(metrics: Mapping[str, float]) -> str:
    """Return the first impossible metric or cost of a cell, in words; empty if all are possible."""
    for name, value in metrics.items():
        kind = name.removesuffix("_low").removesuffix("_high")
        if kind in (*METRICS, *OF_KNOWN, *OF_WORDS, TIED) and not is_possible(value):
            return f"it has {value:g} as its {name!r}, which is not in [0, 1]"
        if name in COSTS and (value < 0 or value == inf):
            return f"it has {value:g} as its {name!r}, which is negative or infinite"
    return ""
