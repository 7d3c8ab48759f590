"""What MLflow keeps of a run, and how it is written."""

import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, pstdev, stdev
from typing import TYPE_CHECKING, NamedTuple

from adbench_text import escaping
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split import splits
from adbench_text.errors import TrackingError
from adbench_text.escaping import encodable, file_name, printable
from adbench_text.metrics import COSTS, METRICS
from adbench_text.provenance import command_line, environment, git_commit
from adbench_text.run.examples import to_json
from adbench_text.run.result import Result
from adbench_text.store.client import StoreClient, local_path
from adbench_text.store.record import KIND, TAG, Record, params_and_tags
from adbench_text.sweep.cell import of_splits, percent
from adbench_text.sweep.construct import cell_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PARENT = "mlflow.parentRunId"
DESCRIPTION = "mlflow.note.content"
SUMMARY = f"{TAG}summary"
LONGEST_TAG = 5000  # characters; MLflow refuses longer ones
_LONGEST_NAME = 200  # likewise
_NOT_IN_NAMES = re.compile(r"[^\w\-. :/]", re.ASCII)  # likewise, other characters
_MOST_METRICS, _MOST_PARAMS = 1000, 100  # that MLflow takes at once


class Value(NamedTuple):
    """A value of a metric, `time` in milliseconds since the epoch."""

    name: str
    value: float
    time: int
    step: int = 0


class Input(NamedTuple):
    """A dataset that a run used: ``"training"`` or ``"testing"``, its name, digest, source and profile."""

    context: str
    name: str
    digest: str
    source: str
    profile: str


@dataclass(frozen=True)
class Payload:
    """Everything that is logged of a run."""

    name: str
    started: int  # milliseconds since the epoch
    status: str  # "FINISHED" or "FAILED", as MLflow calls it
    tags: Mapping[str, str]
    params: Mapping[str, str]
    metrics: Sequence[Value]  # with the steps of trainings; JSON has lists for these tuples
    inputs: Sequence[Input] = ()
    files: Mapping[str, str] = field(default_factory=dict)  # text of each artifact, by file name


def write_run(client: StoreClient, experiment_id: str, payload: Payload, run_id: str | None = None) -> str:
    """Log a run, or log to one; return its id. It is finished only once everything is written."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    artifacts = ""
    if run_id is None:
        run = client.create_run(
            experiment_id, start_time=payload.started, tags=payload.tags, run_name=payload.name
        ).info
        run_id, artifacts = str(run.run_id), str(run.artifact_uri)
    _write_values(client, run_id, payload)
    inputs = [
        DatasetInput(
            Dataset(name, digest, "adbench-text", source, profile=profile),
            [InputTag("mlflow.data.context", context)],
        )
        for context, name, digest, source, profile in payload.inputs
    ]
    if inputs:
        try:
            client.log_inputs(run_id, datasets=inputs)
        except TrackingError:  # two processes that log the same dataset for the first time: one of them fails
            client.log_inputs(run_id, datasets=inputs)
    for name, text in payload.files.items():
        _write_text(client, run_id, artifacts, name, text)
    client.set_terminated(run_id, payload.status)
    return run_id


def _write_values(client: StoreClient, run_id: str, payload: Payload) -> None:
    """Log params and metrics, as many at once as MLflow takes."""
    from mlflow.entities import Metric, Param

    params = [Param(name, value) for name, value in payload.params.items()]
    metrics = [Metric(*value) for value in payload.metrics]
    for i in range(0, len(params), _MOST_PARAMS):
        client.log_batch(run_id, params=params[i : i + _MOST_PARAMS])
    for i in range(0, len(metrics), _MOST_METRICS):
        client.log_batch(run_id, metrics=metrics[i : i + _MOST_METRICS])


def _write_text(client: StoreClient, run_id: str, artifacts: str, name: str, text: str) -> None:
    """Write an artifact; into a folder of this machine directly, which MLflow would look up each time."""
    folder = local_path(artifacts)
    if folder is None:
        client.log_text(run_id, text, name)
        return
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TrackingError(f"Cannot write {path}: {error.strerror or error}.") from error


def run_tags() -> dict[str, str]:
    """Return the tags of every run: environment, command line, commit."""
    tags = {f"env.{name}": value for name, value in environment().items()}
    tags["mlflow.source.name"] = command_line()
    return tags | {"mlflow.source.git.commit": git_commit()}


# A cell


def payload(result: Result, definition: Mapping[str, str], corpus: Corpus) -> Payload:
    """Return everything that is logged of the result of a cell."""
    cell = result.cell
    started = int(result.started * 1000)
    params, versions = params_and_tags(definition)
    tags = {_accepted(name): printable(tag) for name, tag in _tags(result, definition, corpus).items()}
    steps = [
        Value(_accepted(name), point.value, int(point.time * 1000), point.step)
        for name, curve in result.curves.items()
        for point in curve
    ]
    return Payload(
        name=f"{cell.name} | {cell.inlier} | {percent(cell.contamination)} | seed {cell.seed}"
        + of_splits(cell),
        started=started,
        status="FAILED" if result.reason else "FINISHED",
        tags=tags | versions,
        params=params,
        metrics=[*(Value(name, value, started) for name, value in result.metrics.items()), *steps],
        inputs=_inputs(result, corpus),
        files={name: encodable(text) for name, text in _files(result, corpus).items()},
    )


def _accepted(name: str) -> str:
    """Return a name that MLflow accepts for a tag or a metric."""
    return _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME]


def _tags(result: Result, definition: Mapping[str, str], corpus: Corpus) -> dict[str, str]:
    classes = "\n".join(splits(corpus, result.cell.protocol))
    failed = f"Failed: {result.reason[:LONGEST_TAG]}\n\n" if result.reason else ""
    ours = {
        "kind": "cell",
        "cell": cell_id(definition),
        "status": result.status,
        "edition": corpus.edition,
        "documents": corpus.counts(),
        "configurations": str(result.cell.n_configurations),
        # without them a report knows only those that have results
        "classes": classes if len(classes) <= LONGEST_TAG else "",
        "published": "true" if corpus.is_published else "",
        "limit": "" if corpus.limit is None else str(corpus.limit),
        "reason": result.reason[:LONGEST_TAG],
    }
    return {
        **{f"{TAG}{name}": text for name, text in ours.items() if text},
        DESCRIPTION: f"{failed}{result.cell}: {corpus.edition}.",
        **run_tags(),
        **{f"env.{name}": value for name, value in result.ran_on.items()},
    }


def _inputs(result: Result, corpus: Corpus) -> list[Input]:
    cell = result.cell
    source = json.dumps({"dataset": corpus.name, "edition": corpus.edition})
    parts = (
        ("training", f"{corpus.name}/{cell.inlier} {percent(cell.contamination)}", "n_train"),
        ("testing", f"{corpus.name} test{of_splits(cell)}", "n_test"),
    )
    return [
        # MLflow's own digest would read the first rows only
        Input(context, name, corpus.digest, source, json.dumps({"num_rows": result.metrics.get(size)}))
        for context, name, size in parts
    ]


def _files(result: Result, corpus: Corpus) -> dict[str, str]:
    files = {}
    if result.scores is not None:
        files["scores.csv"] = _scores_csv(result, corpus, result.scores)
    if result.early is not None:
        rows, early = result.early
        files["scores_before_training.csv"] = _scores_csv(result, corpus, early, rows)
    for name, table in result.tables.items():
        safe = table.map(escaping.no_formula).rename(columns=escaping.no_formula)  # words of the documents
        files[f"{file_name(name)}.csv"] = safe.to_csv(index=False, lineterminator="\n")
    if result.examples:
        files["examples.json"] = to_json(result.examples)
    if result.traceback:
        files["traceback.txt"] = result.traceback
    return files


def _scores_csv(
    result: Result,
    corpus: Corpus,
    scores: "NDArray[np.float64]",
    rows: "NDArray[np.int64] | slice" = slice(None),
) -> str:
    """Return the scores of all test documents, or of some rows, in the order of the corpus."""
    import numpy as np
    import pandas as pd

    documents, outlier = np.asarray(result.places)[rows], np.asarray(result.outlier)[rows]
    escaped = [escaping.no_formula(name) for name in corpus.classes]
    names = [escaped[label] for label in corpus.test.labels[documents].tolist()]
    table = pd.DataFrame({"class": names, "outlier": outlier.astype(int), "score": scores}, index=documents)
    table = table.sort_index()
    return table.to_csv(index_label="document", float_format="%.9g", lineterminator="\n")


# The summary of cells


def summary_key(definition: Mapping[str, str]) -> str:
    """Return a digest of what the cells of one summary share: all but inlier class and seed."""
    return cell_id(_shared(definition))


def _shared(definition: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in definition.items() if name not in ("inlier", "seed")}


def summary_payload(group: Sequence[Record]) -> Payload:
    """Return what is logged of the cells of one summary."""
    first = group[0]
    is_grid = any(record.n_configurations > 1 for record in group)
    name = f"{first.detector} {first.preset}: {first.configuration}" if is_grid else first.name
    params, versions = params_and_tags(_shared(first.definition))
    tags = {
        KIND: "summary",
        SUMMARY: summary_key(first.definition),
        DESCRIPTION: "Mean over splits and seeds; std is over splits, std_seeds over seeds.",
        **run_tags(),
    }
    now = int(time.time() * 1000)
    source = json.dumps({"dataset": first.dataset, "edition": first.edition})
    size = json.dumps({"documents": first.documents})
    return Payload(
        name=f"{name} | {percent(first.contamination)}{of_splits(first)}",
        started=now,
        status="FINISHED",
        tags=tags | versions,
        params=params,
        metrics=[Value(*each, now) for each in summary(group).items()],
        inputs=[Input("testing", first.dataset, first.dataset_digest, source, size)],
    )


def summary(group: Sequence[Record]) -> dict[str, float]:
    """Average cells: seeds within each split first, then the splits.

    ``..._std`` is the spread of all splits, ``..._std_seeds`` that of the seeds' means (as a sample).
    """
    good = [record for record in group if record.is_ok]
    splits, seeds = sorted({record.inlier for record in good}), sorted({record.seed for record in good})
    is_complete = len(seeds) > 1 and len(good) == len(seeds) * len(splits)
    means: dict[str, float] = {}
    for metric in (*METRICS, *COSTS):
        if len({record.seed for record in group}) > 1:
            means[f"{metric}_std_seeds"] = math.nan  # unless each seed has every split
        # NaN where no cell is left that is finished: a number would be that of an earlier summary.
        # And where a cell was run before the metric was measured: the mean would be of fewer cells.
        means |= {metric: math.nan, f"{metric}_std": math.nan}
        if good and all(metric in record.metrics for record in good):
            of_split = [mean(r.metrics[metric] for r in good if r.inlier == split) for split in splits]
            means |= {metric: mean(of_split), f"{metric}_std": pstdev(of_split)}
            if is_complete:
                of_seed = [mean(r.metrics[metric] for r in good if r.seed == seed) for seed in seeds]
                means[f"{metric}_std_seeds"] = stdev(of_seed)
    # last: MLflow's comparison of selected runs opens on the first
    return means | {"cells": float(len(good)), "failed_cells": float(len(group) - len(good))}
