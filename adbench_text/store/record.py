"""Runs of MLflow, and the records of the cells among them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from adbench_text.errors import TrackingError
from adbench_text.metrics import COSTS, METRICS, OF_WORDS, ROUNDING, Metric, is_possible
from adbench_text.plugins.configure import written
from adbench_text.run.cell import (
    IDENTITY,
    LABELLED,
    LABELLED_FROM,
    ONE_VS_REST,
    PLANTED,
    SPLITS,
    TEST_OUTLIERS,
    choice_of,
    identity_of,
    of_splits,
    split_text,
)
from adbench_text.run.definition import cell_id

TAG = "adbench_text."  # what the names of our tags begin with
KIND, CELL, STATUS = (f"{TAG}{name}" for name in ("kind", "cell", "status"))
PARENT = "mlflow.parentRunId"
DEFINITION = f"{TAG}definition."  # likewise, of those that are part of the definition of a cell
LONGEST_TAG = 5000  # characters; MLflow cuts tags at 8,000 and params at 6,000

#: What made a run -> its tag, see `adbench_text.store.writing.run_tags`.
MADE_BY = {
    "version": "env.adbench-text",
    "commit": "mlflow.source.git.commit",
    "command": "mlflow.source.name",
    "machine": "env.platform",
}

_NEEDED = (*IDENTITY, "dataset_digest", "code_version", "cell", "status", "edition", "documents")
_MEASURED = ("n_test",)
_RESOURCE = "resource."
_VERSIONS = ("dataset_digest", "code_version", "protocol", "libraries")


def of_kind(kind: str) -> str:
    """Return the filter of MLflow's search that finds the runs of a kind: sweep, cell or summary."""
    return f"tags.`{KIND}` = '{kind}'"


@dataclass(frozen=True)
class Run:
    """A run of MLflow: it is logged, waits in the journal, and is read back, in this one shape.

    What is read back has no curves and files.
    """

    name: str
    status: str  # "FINISHED" or "FAILED", as MLflow calls it
    started: int  # milliseconds since the epoch
    tags: Mapping[str, str]
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    # (step, value, milliseconds since the epoch) of each step of a training, by name
    curves: Mapping[str, Sequence[tuple[int, float, int]]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # text of each artifact, by file name
    run_id: str = ""  # of one that is read back


@dataclass(frozen=True)
class Record:
    """A finished or failed cell; `of` makes it from a definition."""

    # everything that decides the result, as text; see `adbench_text.run.definition.definition`
    definition: Mapping[str, str] = field(repr=False)
    metrics: Mapping[str, float] = field(repr=False)  # of `Result`; the last value of a curve as well
    detector: str
    preset: str  # with the settings on top of it
    configuration: str  # settings that differ from the defaults, in one line
    dataset: str
    dataset_digest: str
    inlier: str
    contamination: float
    seed: int
    test_outliers: float | None  # share that the outliers of the test set were thinned to; None for all
    protocol: str  # how the splits are made, see `adbench_text.corpora.split.PROTOCOLS`
    labelled: int  # known outliers that the detector could learn from
    labelled_from: str  # their class; empty for all other classes
    planted: str  # kind and number of words planted in the test documents
    regime: str | None  # what the detector knows besides the training texts; None if it does not declare it
    is_oracle: bool  # whether the scores were chosen by the test labels
    code: tuple[str, str]  # versions of the detector's code and of the protocol
    libraries: str  # that the detector computes with, and their versions
    cell: str = ""  # digest of the definition
    status: str = "ok"  # or "failed", or how its process was ended
    reason: str = ""  # why the cell failed
    edition: str = ""  # of the corpus, for people
    documents: str = ""  # their numbers, for people
    is_published: bool = False  # whether the corpus is the complete published one
    classes: tuple[str, ...] = ()  # names of all splits of the corpus, in its order; empty in older runs
    limit: int | None = None  # maximum number of documents per class
    n_configurations: int = 1  # that the preset has on the dataset
    started: int = 0  # milliseconds since the epoch
    run_id: str = ""
    made_by: Mapping[str, str] = field(default_factory=dict, repr=False)  # see `MADE_BY`
    older: tuple["Record", ...] = field(default=(), repr=False)  # see `newest_of`

    @classmethod
    def of(cls, definition: Mapping[str, str], metrics: Mapping[str, float], **facts: Any) -> Self:
        """Return the record of a cell; ValueError means that a number of its definition is no number."""
        share = definition.get(TEST_OUTLIERS)
        return cls(
            definition=definition,
            metrics=metrics,
            detector=definition["detector"],
            preset=definition["preset"],
            configuration=definition["configuration"],
            dataset=definition["dataset"],
            dataset_digest=definition["dataset_digest"],
            inlier=definition["inlier"],
            contamination=float(definition["contamination"]),
            seed=int(definition["seed"]),
            test_outliers=None if share is None else float(share),
            protocol=definition.get(SPLITS, ONE_VS_REST),
            labelled=int(definition.get(LABELLED, 0)),
            labelled_from=definition.get(LABELLED_FROM, ""),
            planted=definition.get(PLANTED, ""),
            regime=definition.get("regime"),
            is_oracle="oracle" in definition,
            code=(definition["code_version"], definition.get("protocol", "")),
            libraries=definition.get("libraries", ""),
            **facts,
        )

    @property
    def edition_key(self) -> tuple[str, str]:
        """Name and digest of the dataset; two datasets may have the same documents."""
        return self.dataset, self.dataset_digest

    @cached_property
    def corpus(self) -> str:
        """Digest and name of the corpus, and how its splits are made if that is not the default."""
        return f"{self.dataset_digest} {self.dataset}{of_splits(self)}"

    @property
    def resources(self) -> Mapping[str, str]:
        """Digests of what the scores depend on besides code, by name."""
        return _part(self.definition, _RESOURCE)

    @property
    def is_ok(self) -> bool:
        """Whether the cell has a result."""
        return self.status == "ok"

    @property
    def identity(self) -> tuple[str, ...]:
        """The `adbench_text.run.cell.Cell.identity` of the cell."""
        return identity_of(self.definition)

    @property
    def configured(self) -> str:
        """Name of the detector with its configuration."""
        return written(self.detector, settings=self.configuration)

    @property
    def name(self) -> str:
        """Name of the detector with its preset or configuration."""
        return choice_of(self)

    def __str__(self) -> str:
        return f"{self.configured} on {split_text(self)}"


def _part(definition: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in definition.items() if name.startswith(prefix)}


def params_and_tags(definition: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the parts of a definition that are logged as params and as tags.

    Digests and versions are tags: MLflow's pages compare runs by their params, and begin with these.
    """
    params, tags = {}, {}
    for name, value in definition.items():
        if (name in _VERSIONS or name.startswith(_RESOURCE)) and len(value) <= LONGEST_TAG:
            tags[f"{DEFINITION}{name}"] = value
        else:
            params[name] = value
    return params, tags


def record_of(run: Run, store_name: str) -> Record:
    """Return the record of the run of a cell; raise TrackingError if somebody changed the run."""
    definition, tags = {**run.params, **_part(run.tags, DEFINITION)}, _part(run.tags, TAG)
    try:
        if reason := _changed(definition, tags, run.metrics):
            raise ValueError(reason)
        return Record.of(
            definition,
            run.metrics,
            cell=tags["cell"],
            status=tags["status"],
            reason=tags.get("reason", ""),
            edition=tags["edition"],
            documents=tags["documents"],
            is_published=tags.get("published") == "true",
            classes=tuple(tags.get("classes", "").splitlines()),
            limit=int(tags["limit"]) if "limit" in tags else None,
            n_configurations=int(tags.get("configurations", 1)),
            started=run.started,
            run_id=run.run_id,
            made_by={name: run.tags[tag] for name, tag in MADE_BY.items() if tag in run.tags},
        )
    except ValueError as error:
        raise TrackingError(
            f"The run {run.name!r} ({run.run_id}) in {store_name} was changed: {error}; "
            "delete the run, and run its cell again."
        ) from error


def _changed(definition: Mapping[str, str], tags: Mapping[str, str], metrics: Mapping[str, float]) -> str:
    """Return what somebody changed in the run of a cell; empty if nothing was changed."""
    is_ok = tags.get("status") == "ok"
    known = definition.keys() | tags.keys() | metrics.keys()
    absent = [name for name in (*_NEEDED, *(_MEASURED if is_ok else ())) if name not in known]
    if is_ok and known.isdisjoint(METRICS):  # one may be missing: an older cell lacks it
        absent += METRICS
    if absent:
        return f"it has lost its {absent[0]!r}"
    if cell_id(definition) != tags["cell"]:
        return "its params are not those that it was logged with"
    for name, value in metrics.items():
        kind = name.removesuffix("_low").removesuffix("_high")
        if (kind in METRICS or kind in OF_WORDS) and not is_possible(value):
            return f"it has {value:g} as its {name!r}, which is not in [0, 1]"
        if name in COSTS and value < 0:
            return f"it has {value:g} as its {name!r}, which is negative"
    return ""


def newest_of(records: Iterable[Record]) -> list[Record]:
    """Return the newest of equal definitions, oldest first; each holds the others as `Record.older`."""
    of_cell: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda record: -record.started):
        of_cell.setdefault(record.cell, []).append(record)
    newest = [replace(first, older=tuple(older)) for first, *older in of_cell.values()]
    return sorted(newest, key=lambda record: record.started)


def contradictions(records: Sequence[Record], metrics: Iterable[Metric]) -> list[str]:
    """Return in one sentence how many records contradict their older results, and by how much at most.

    Results of equal definitions differ by less than `ROUNDING`, unless their machines compute differently,
    what produced them is not deterministic, or somebody changed them. The list is empty if there are none.
    """
    apart = [
        (difference, record, older, metric)
        for metric in metrics
        for record in records
        for older in record.older
        if metric.name in record.metrics.keys() & older.metrics.keys()
        and (difference := abs(record.metrics[metric.name] - older.metrics[metric.name])) > ROUNDING
    ]
    if not apart:
        return []
    difference, record, older, metric = max(apart, key=lambda each: each[0])
    now, before = (100 * each.metrics[metric.name] for each in (record, older))
    number = len({id(each) for _, each, _, _ in apart})
    cells = "1 cell has" if number == 1 else f"{number:,} cells have"
    return [
        f"{cells} several results that differ, though their definitions are equal: by up to "
        f"{100 * difference:.3g} points of {metric.title} ({record}: newest {now:.1f}, older "
        f"{before:.1f})."
    ]
