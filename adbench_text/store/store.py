"""The MLflow store: what is written there, and how it is read back.

One experiment per dataset (``adbench-text/20news``). In it a parent run per sweep, below it a
child run per cell that carries every identifying param itself. A summary run per detector and
contamination level holds means and spreads over splits and seeds; it stands beside the sweeps, so
that MLflow's pages, which fold children away, open on the comparison. The kind of a run is in its
tag ``adbench_text.kind``: ``sweep``, ``cell`` or ``summary``.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from adbench_text import interrupts
from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import TrackingError
from adbench_text.metrics import METRICS
from adbench_text.provenance import command_line, environment, git_commit
from adbench_text.run.examples import to_json
from adbench_text.run.result import Result
from adbench_text.store.address import check_reachable, sqlite_file, tracking_uri, without_password
from adbench_text.store.client import StoreClient, pages
from adbench_text.store.summaries import summary, summary_key
from adbench_text.sweep.cell import DEFAULT, IDENTITY, percent
from adbench_text.sweep.definition import cell_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_EXPERIMENT = "adbench-text"
_TAG = "adbench_text."
_PAGE = 5000  # runs asked for at once
_NEEDED = (*IDENTITY, "dataset_digest", "code_version", "cell", "status", "edition", "documents")
_MEASURED = ("fit_seconds", "score_seconds", "n_test")
_BATCH = 1000  # metrics that MLflow takes at once

Record = dict[str, Any]


class Store:
    """An MLflow store, reachable and ready.

    Parameters
    ----------
    uri : str, optional
        See `tracking_uri`.
    experiment : str, default "adbench-text"
        What the names of the experiments begin with; the dataset follows.
    create : bool, default True
        Make the database if it is not there. Without it an absent one is an error.

    Raises
    ------
    TrackingError
        If the store cannot be reached or used.
    """

    def __init__(
        self, uri: str | None = None, experiment: str = DEFAULT_EXPERIMENT, create: bool = True
    ) -> None:
        self.uri, self.experiment = tracking_uri(uri), experiment
        self.shown = without_password(self.uri)
        check_reachable(self.uri)
        file = sqlite_file(self.uri)
        self._file = file.absolute() if file else None  # here, even if a detector goes elsewhere
        if not create and self._file is not None and not (self._file.exists() and self._file.stat().st_size):
            raise TrackingError(f"There are no results in {self.shown} yet; begin with adbench-text run.")
        self._experiments: dict[str, str] = {}
        self._parents: dict[str, str] = {}

    @cached_property
    def _client(self) -> StoreClient:  # made at first use: a new database is written then
        return StoreClient(f"sqlite:///{self._file}" if self._file else self.uri)

    # Writing

    def _experiment_id(self, dataset: str) -> str:
        if dataset not in self._experiments:
            name = f"{self.experiment}/{dataset}"
            known = self._client.get_experiment_by_name(name)
            if known is not None and known.lifecycle_stage == "deleted":
                raise TrackingError(
                    f"The experiment {name!r} was deleted from {self.shown}; restore it, or use --experiment."
                )
            self._experiments[dataset] = known.experiment_id if known else self._new_experiment(name)
        return self._experiments[dataset]

    def _new_experiment(self, name: str) -> str:
        # artifacts go beside a database file, not where the command happens to run
        artifacts = (self._file.parent / "mlruns" / name).as_uri() if self._file else None
        # without the tag MLflow's pages take it for an experiment on language models
        tags = {"mlflow.experimentKind": "custom_model_development"}
        return str(self._client.create_experiment(name, artifacts, tags))

    @contextmanager
    def sweep(self, corpora: Mapping[str, Corpus], title: str) -> Iterator[None]:
        """Open a parent run per dataset for the cells logged inside; how it ended is written too."""
        for dataset in corpora:
            self._experiment_id(dataset)  # all of them before anything is written
        status = "FAILED"
        try:
            for dataset, corpus in corpora.items():
                self._parents[dataset] = self._new_parent(dataset, corpus, title)
            yield
            status = "FINISHED"
        except KeyboardInterrupt:
            status = "KILLED"
            raise
        finally:
            for dataset, run_id in self._parents.items():
                if status != "FINISHED":
                    self._delete_half_written(dataset, run_id)
                self._client.set_terminated(run_id, status)
            self._parents.clear()

    def _new_parent(self, dataset: str, corpus: Corpus, title: str) -> str:
        tags = {
            "mlflow.note.content": (
                f"`{without_password(command_line())}`\n\n{corpus.edition}: {corpus.counts()}."
            ),
            f"{_TAG}kind": "sweep",
            **_run_tags(),
        }
        run = self._client.create_run(self._experiment_id(dataset), tags=tags, run_name=f"sweep: {title}")
        return str(run.info.run_id)

    def _delete_half_written(self, dataset: str, parent: str) -> None:
        """Delete the cell that was being logged when the sweep was cut off."""
        of_parent = f"tags.`mlflow.parentRunId` = '{parent}' and attributes.status = 'RUNNING'"
        for run in list(self._search(dataset, "cell", of_parent)):
            self._client.delete_run(run.info.run_id)

    def log(self, result: Result, definition: Mapping[str, str], corpus: Corpus) -> None:
        """Log one cell as a child run. It counts as finished only once everything is written."""
        from mlflow.entities import Metric, Param

        cell = result.cell
        tags = {
            f"{_TAG}kind": "cell",
            f"{_TAG}cell": cell_id(definition),
            f"{_TAG}status": result.status,
            f"{_TAG}edition": corpus.edition,
            f"{_TAG}documents": corpus.counts(),
            f"{_TAG}configurations": str(cell.n_configurations),
            "mlflow.parentRunId": self._parents[cell.dataset],
            "mlflow.note.content": _description(result, corpus),
            **_run_tags(),
            **{f"env.{name}": value for name, value in result.ran_on.items()},
        }
        if result.reason:
            tags[f"{_TAG}reason"] = result.reason[:5000]
        begin = int(result.started * 1000)
        what = f"{cell.detector} {cell.configuration}".strip()
        name = f"{what} | {cell.inlier} | {percent(cell.contamination)} | seed {cell.seed}"
        run_id = self._client.create_run(
            self._experiment_id(cell.dataset), start_time=begin, tags=tags, run_name=name
        ).info.run_id
        self._client.log_batch(
            run_id,
            metrics=[Metric(key, value, begin, 0) for key, value in result.metrics.items()],
            params=[Param(key, value) for key, value in definition.items()],
        )
        points = [
            Metric(name, point.value, int(point.time * 1000), point.step)
            for name, curve in result.curves.items()
            for point in curve
        ]
        for i in range(0, len(points), _BATCH):
            self._client.log_batch(run_id, metrics=points[i : i + _BATCH])
        self._log_inputs(run_id, result, corpus)
        if result.scores is not None:
            self._client.log_text(run_id, _scores_csv(result, corpus, result.scores), "scores.csv")
        if result.early is not None:
            places, early = result.early
            text = _scores_csv(result, corpus, early, places)
            self._client.log_text(run_id, text, "scores_before_training.csv")
        for name, table in result.tables.items():
            self._client.log_text(run_id, table.to_csv(index=False, lineterminator="\n"), f"{name}.csv")
        if result.examples:
            self._client.log_text(run_id, to_json(result.examples), "examples.json")
        if result.traceback:
            self._client.log_text(run_id, result.traceback, "traceback.txt")
        self._client.set_terminated(run_id, "FAILED" if result.reason else "FINISHED")

    def log_folder(self, dataset: str, folder: Path) -> None:
        """Log the files of a folder to the parent run of a dataset; only within a `sweep`."""
        self._client.log_artifacts(self._parents[dataset], str(folder))

    def _log_inputs(self, run_id: str, result: Result, corpus: Corpus) -> None:
        import json

        from mlflow.entities import Dataset, DatasetInput, InputTag

        cell = result.cell
        source = json.dumps({"dataset": corpus.name, "edition": corpus.edition})
        inputs = [
            DatasetInput(
                # MLflow's own digest would read the first rows only
                Dataset(name, corpus.digest, "adbench-text", source, profile=json.dumps(profile)),
                [InputTag("mlflow.data.context", context)],
            )
            for context, name, profile in (
                (
                    "training",
                    f"{corpus.name}/{cell.inlier} {percent(cell.contamination)}",
                    {"num_rows": result.metrics.get("n_train")},
                ),
                ("testing", f"{corpus.name} test", {"num_rows": len(corpus.test)}),
            )
        ]
        self._client.log_inputs(run_id, datasets=inputs)

    @interrupts.held_back()
    def summarise(self, definitions: Iterable[Mapping[str, str]]) -> None:
        """Write or renew the summary runs of what these definitions belong to.

        Means and spreads are over all finished cells of the same detector, code and corpus that
        the store holds, not over those of one sweep alone.
        """
        from mlflow.entities import Metric, Param

        keys = {(d["dataset"], summary_key(d)): d for d in definitions}
        for dataset in {dataset for dataset, _ in keys}:
            groups: dict[str, list[Record]] = {}
            for record in self.cells([dataset]):
                groups.setdefault(summary_key(record), []).append(record)
            existing = {
                run.data.tags[f"{_TAG}summary"]: run.info.run_id for run in self._search(dataset, "summary")
            }
            for (of, key), definition in keys.items():
                if of != dataset or key not in groups:
                    continue
                is_of_grid = any(int(record.get("configurations", 1)) > 1 for record in groups[key])
                run_id = existing.get(key) or self._new_summary(dataset, key, definition, is_of_grid)
                now = int(time.time() * 1000)
                params = {name: value for name, value in definition.items() if name not in ("inlier", "seed")}
                self._client.log_batch(
                    run_id,
                    metrics=[Metric(name, value, now, 0) for name, value in summary(groups[key]).items()],
                    params=[Param(name, value) for name, value in params.items()],
                )
                self._client.set_terminated(run_id, "FINISHED")

    def _new_summary(self, dataset: str, key: str, definition: Mapping[str, str], is_of_grid: bool) -> str:
        preset = definition.get("preset", DEFAULT)
        how = definition["configuration"] if preset == DEFAULT else preset
        if is_of_grid:
            how = f"{preset}: {definition['configuration']}"
        what = f"{definition['detector']} {how}".strip()
        name = f"{what} | {percent(float(definition['contamination']))} | mean"
        tags = {
            f"{_TAG}kind": "summary",
            f"{_TAG}summary": key,
            "mlflow.note.content": "Mean over splits and seeds; std is over splits, std_seeds over seeds.",
            **_run_tags(),
        }
        run = self._client.create_run(self._experiment_id(dataset), tags=tags, run_name=name)
        return str(run.info.run_id)

    # Reading

    def datasets(self) -> list[str]:
        """Return the datasets that the store has an experiment for."""
        prefix = f"{self.experiment}/"
        found = pages(self._client.search_experiments)
        return sorted(e.name.removeprefix(prefix) for e in found if e.name.startswith(prefix))

    def finished(self, datasets: Iterable[str]) -> set[str]:
        """Return the ids of all cells that ended well."""
        return {record["cell"] for record in self.cells(datasets) if record["status"] == "ok"}

    def cells(self, datasets: Iterable[str]) -> list[Record]:
        """Return all logged cells as flat records, the newest of equal definitions only.

        A record holds the params of the cell as text, its metrics as numbers, and ``cell``,
        ``status``, ``reason``, ``edition``, ``documents``, ``run_id``, ``artifact_uri`` and
        ``started`` (ms since the epoch).
        """
        newest: dict[str, Record] = {}
        for dataset in datasets:
            for run in self._search(dataset, "cell"):
                tags = {
                    name.removeprefix(_TAG): value
                    for name, value in run.data.tags.items()
                    if name.startswith(_TAG)
                }
                if run.info.status not in ("FINISHED", "FAILED"):
                    continue  # being written, or cut off while it was
                record = {
                    "reason": "",
                    **run.data.params,
                    **run.data.metrics,
                    **tags,
                    "started": run.info.start_time,
                    "run_id": run.info.run_id,
                    "artifact_uri": run.info.artifact_uri,
                }
                self._check(record, run.info.run_name)
                other = newest.get(record["cell"])
                if other is None or other["started"] < record["started"]:
                    newest[record["cell"]] = record
        return sorted(newest.values(), key=lambda record: record["started"])

    def _check(self, record: Record, name: str) -> None:
        """Raise if somebody took away from a run what a report needs."""
        needed = [*_NEEDED, *(_MEASURED if record.get("status") == "ok" else ())]
        absent = [key for key in needed if key not in record]
        if record.get("status") == "ok" and not any(name in record for name in METRICS):
            absent += METRICS  # that one is missing is no loss: the cell may be older than the metric
        if absent:
            raise TrackingError(
                f"The run {name!r} ({record['run_id']}) in {self.shown} has lost its {absent[0]!r}; "
                "delete the run, and run its cell again."
            )

    def artifact(self, record: Record, name: str) -> str | None:
        """Return a text artifact of a cell, None if it has none of that name."""
        folder_here = _local_folder(record.get("artifact_uri", ""))
        try:
            if folder_here is not None:  # many times as fast as MLflow's copy of it
                return (folder_here / name).read_text(encoding="utf-8")
            with TemporaryDirectory() as folder:  # else what comes from a server would stay
                path = self._client.download_artifacts(record["run_id"], name, folder)
                return Path(path).read_text(encoding="utf-8")
        except (TrackingError, OSError, ValueError):  # never logged, deleted since, or no text
            return None

    def curve(self, record: Record, metric: str) -> list[tuple[int, float]]:
        """Return the steps and values of a metric of a cell; empty if it has none."""
        history = self._client.get_metric_history(record["run_id"], metric)
        return [(point.step, point.value) for point in history]

    def _search(self, dataset: str, kind: str, also: str = "") -> Iterator[Any]:
        experiment = self._client.get_experiment_by_name(f"{self.experiment}/{dataset}")
        if experiment is not None:
            yield from pages(
                self._client.search_runs,
                [experiment.experiment_id],
                " and ".join(filter(None, (f"tags.`{_TAG}kind` = '{kind}'", also))),
                max_results=_PAGE,
            )


def _run_tags() -> dict[str, str]:
    tags = {f"env.{name}": value for name, value in environment().items()}
    tags["mlflow.source.name"] = without_password(command_line())
    commit = git_commit()
    return tags | ({"mlflow.source.git.commit": commit} if commit else {})


def _local_folder(uri: str) -> Path | None:
    parts = urlsplit(uri)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def _description(result: Result, corpus: Corpus) -> str:
    sizes = [
        f"{what} {int(result.metrics[f'n_{part}']):,} documents, "
        f"{int(result.metrics[f'n_{part}_outliers']):,} of them outliers"
        for what, part in (("trained on", "train"), ("tested on", "test"))
        if f"n_{part}_outliers" in result.metrics
    ]
    said = f"{result.cell}: {'; '.join([*sizes, corpus.edition])}."
    return f"Failed: {result.reason[:5000]}\n\n{said}" if result.reason else said


def _scores_csv(
    result: Result,
    corpus: Corpus,
    scores: "NDArray[np.float64]",
    places: "NDArray[np.int64] | slice" = slice(None),
) -> str:
    import pandas as pd

    labels = corpus.test.labels
    names = [corpus.classes[label] for label in labels[places].tolist()]
    table = pd.DataFrame({"class": names, "score": scores}, index=pd.RangeIndex(len(labels))[places])
    table.insert(1, "outlier", (table["class"] != result.cell.inlier).astype(int))
    return table.to_csv(index_label="document", float_format="%.9g", lineterminator="\n")
