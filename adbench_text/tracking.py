"""The MLflow store: what is written there, and how it is read back. Nothing else imports mlflow.

One experiment per dataset (``adbench-text/20news``). In it a parent run per sweep, below it a
child run per cell that carries every identifying param itself, and a summary run per detector
and contamination level with means and spreads over splits and seeds. The kind of a run is in its
tag ``adbench_text.kind``: ``sweep``, ``cell`` or ``summary``.
"""

import logging
import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, pstdev
from typing import Any
from urllib.parse import urlsplit

from adbench_text.corpus import Corpus
from adbench_text.errors import TrackingError
from adbench_text.evaluate import Result
from adbench_text.metrics import NAMES
from adbench_text.provenance import command_line, environment, git_commit
from adbench_text.sweep import cell_id

DEFAULT_URI = "sqlite:///mlflow.db"
DEFAULT_EXPERIMENT = "adbench-text"
_TAG = "adbench_text."

Record = dict[str, Any]


def tracking_uri(given: str | None = None) -> str:
    """Return the store to use: the one given, else ``MLFLOW_TRACKING_URI``, else ``mlflow.db`` here."""
    return given or os.environ.get("MLFLOW_TRACKING_URI") or DEFAULT_URI


def check_reachable(uri: str) -> None:
    """Raise TrackingError if the store cannot be used.

    MLflow itself would retry for many minutes before it says so.
    """
    scheme = urlsplit(uri).scheme.partition("+")[0]
    if scheme in ("http", "https"):
        _check_server(uri)
    elif scheme == "sqlite":
        _check_sqlite(uri)
    elif scheme in ("postgresql", "mysql", "mssql"):
        _check_database(uri)
    elif scheme in ("file", "") or len(scheme) == 1:  # a path; one letter is a drive
        raise TrackingError(
            f"MLflow keeps no runs in plain folders any more, got {uri!r}; use {DEFAULT_URI}."
        )


def _check_server(uri: str) -> None:
    import requests

    try:
        answer = requests.get(f"{uri.rstrip('/')}/health", timeout=5)
        answer.raise_for_status()
    except requests.RequestException as error:
        raise TrackingError(
            f"No MLflow server answers at {uri} ({type(error).__name__}). "
            f"Start it, or use --tracking-uri {DEFAULT_URI}."
        ) from error


def _check_database(uri: str) -> None:
    from sqlalchemy.engine import make_url

    url = make_url(uri)
    port = url.port or {"postgresql": 5432, "mysql": 3306, "mssql": 1433}[url.get_backend_name()]
    try:
        socket.create_connection((url.host or "localhost", port), timeout=5).close()
    except OSError as error:
        raise TrackingError(
            f"No database answers at {url.host or 'localhost'}:{port} ({error}). "
            f"Start it, or use --tracking-uri {DEFAULT_URI}."
        ) from error


def sqlite_file(uri: str) -> Path | None:
    """Return the file of a SQLite store, None for any other store."""
    prefix = "sqlite:///"
    return Path(uri.removeprefix(prefix)) if uri.startswith(prefix) else None


def _check_sqlite(uri: str) -> None:
    path = sqlite_file(uri)
    if path is None:
        raise TrackingError(f"A SQLite store is written sqlite:///path/to/mlflow.db, got {uri!r}.")
    if not path.parent.is_dir():
        raise TrackingError(f"There is no folder {path.parent.absolute()} for the store {uri}.")
    if path.is_dir():
        raise TrackingError(f"{path.absolute()} is a folder; name a file in it for the store.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise TrackingError(f"Cannot write the store {path.absolute()}; choose another with --tracking-uri.")
    if path.exists() and path.stat().st_size:
        with path.open("rb") as stream:
            if stream.read(15) != b"SQLite format 3":
                raise TrackingError(
                    f"{path.absolute()} is no SQLite database; choose another with --tracking-uri."
                )


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
        check_reachable(self.uri)
        path = sqlite_file(self.uri)
        if not create and path is not None and not path.exists():
            raise TrackingError(f"There are no results in {self.uri} yet; begin with adbench-text run.")
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        for name in ("mlflow", "alembic"):  # the migrations of a new database, line by line
            logging.getLogger(name).setLevel(logging.WARNING)
        try:
            self._client = MlflowClient(self.uri)
            self._client.search_experiments(max_results=1)
        except (MlflowException, OSError, ImportError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise TrackingError(f"The store {self.uri} cannot be used: {reason}") from error
        self._experiments: dict[str, str] = {}
        self._parents: dict[str, str] = {}

    # Writing

    def _experiment_id(self, dataset: str) -> str:
        if dataset not in self._experiments:
            name = f"{self.experiment}/{dataset}"
            known = self._client.get_experiment_by_name(name)
            if known is not None and known.lifecycle_stage == "deleted":
                raise TrackingError(
                    f"The experiment {name!r} was deleted from {self.uri}; restore it, or use --experiment."
                )
            self._experiments[dataset] = (
                known.experiment_id if known else self._client.create_experiment(name)
            )
        return self._experiments[dataset]

    @contextmanager
    def sweep(self, corpora: Mapping[str, Corpus], title: str) -> Iterator[None]:
        """Open a parent run per dataset for the cells logged inside; how it ended is written too."""
        for dataset, corpus in corpora.items():
            tags = {
                "mlflow.note.content": f"`{command_line()}`\n\n{corpus.edition}: {corpus.counts()}.",
                f"{_TAG}kind": "sweep",
                **_run_tags(),
            }
            experiment = self._experiment_id(dataset)
            run = self._client.create_run(experiment, tags=tags, run_name=f"sweep: {title}")
            self._parents[dataset] = run.info.run_id
        status = "FAILED"
        try:
            yield
            status = "FINISHED"
        except KeyboardInterrupt:
            status = "KILLED"
            raise
        finally:
            for run_id in self._parents.values():
                self._client.set_terminated(run_id, status)
            self._parents.clear()

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
            "mlflow.parentRunId": self._parents[cell.dataset],
            **_run_tags(),
        }
        if result.reason:
            tags[f"{_TAG}reason"] = result.reason[:5000]
            tags["mlflow.note.content"] = f"Failed: {result.reason[:5000]}"
        begin = int(result.started * 1000)
        what = f"{cell.detector} {cell.configuration}".strip()
        name = f"{what} | {cell.inlier} | {cell.contamination:.0%} | seed {cell.seed}"
        run_id = self._client.create_run(
            self._experiment_id(cell.dataset), start_time=begin, tags=tags, run_name=name
        ).info.run_id
        try:
            self._client.log_batch(
                run_id,
                metrics=[Metric(key, value, begin, 0) for key, value in result.metrics.items()],
                params=[Param(key, value) for key, value in definition.items()],
            )
            self._log_inputs(run_id, result, corpus)
            if result.scores is not None:
                self._client.log_text(run_id, _scores_csv(result, corpus), "scores.csv")
            if result.traceback:
                self._client.log_text(run_id, result.traceback, "traceback.txt")
            self._client.set_terminated(run_id, "FAILED" if result.reason else "FINISHED")
        except BaseException:  # interrupted half-way: leave no half-written cell
            self._client.delete_run(run_id)
            raise

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
                    f"{corpus.name}/{cell.inlier} {cell.contamination:.0%}",
                    {"num_rows": result.metrics.get("n_train")},
                ),
                ("testing", f"{corpus.name} test", {"num_rows": len(corpus.test)}),
            )
        ]
        self._client.log_inputs(run_id, datasets=inputs)

    def summarise(self, definitions: Iterable[Mapping[str, str]]) -> None:
        """Write or renew the summary runs of what these definitions belong to.

        Means and spreads are over all finished cells of the same detector, code and corpus that
        the store holds, not over those of one sweep alone.
        """
        from mlflow.entities import Metric, Param

        keys = {(d["dataset"], _summary_key(d)): d for d in definitions}
        for dataset in {dataset for dataset, _ in keys}:
            records = self.cells([dataset])
            existing = {
                run.data.tags[f"{_TAG}summary"]: run.info.run_id for run in self._search(dataset, "summary")
            }
            for (of, key), definition in keys.items():
                group = [record for record in records if of == dataset and _summary_key(record) == key]
                if not group:
                    continue
                run_id = existing.get(key) or self._new_summary(dataset, key, definition)
                self._client.set_tag(run_id, "mlflow.parentRunId", self._parents[dataset])
                now = int(time.time() * 1000)
                params = {name: value for name, value in definition.items() if name not in ("inlier", "seed")}
                self._client.log_batch(
                    run_id,
                    metrics=[Metric(name, value, now, 0) for name, value in _summary(group).items()],
                    params=[Param(name, value) for name, value in params.items()],
                )
                self._client.set_terminated(run_id, "FINISHED")

    def _new_summary(self, dataset: str, key: str, definition: Mapping[str, str]) -> str:
        what = " ".join(filter(None, (definition["detector"], definition["configuration"])))
        name = f"summary: {what} | {float(definition['contamination']):.0%}"
        tags = {
            f"{_TAG}kind": "summary",
            f"{_TAG}summary": key,
            "mlflow.note.content": "Mean over splits and seeds; the spread (std) is over splits.",
            **_run_tags(),
        }
        run = self._client.create_run(self._experiment_id(dataset), tags=tags, run_name=name)
        return str(run.info.run_id)

    # Reading

    def datasets(self) -> list[str]:
        """Return the datasets that the store has an experiment for."""
        prefix = f"{self.experiment}/"
        found = self._client.search_experiments()
        return sorted(e.name.removeprefix(prefix) for e in found if e.name.startswith(prefix))

    def finished(self, datasets: Iterable[str]) -> set[str]:
        """Return the ids of all cells that ended well."""
        return {record["cell"] for record in self.cells(datasets) if record["status"] == "ok"}

    def cells(self, datasets: Iterable[str]) -> list[Record]:
        """Return all logged cells as flat records, the newest of equal definitions only.

        A record holds the params of the cell as text, its metrics as numbers, and ``cell``,
        ``status``, ``reason``, ``edition``, ``documents`` and ``started`` (ms since the epoch).
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
                }
                other = newest.get(record["cell"])
                if other is None or other["started"] < record["started"]:
                    newest[record["cell"]] = record
        return sorted(newest.values(), key=lambda record: record["started"])

    def _search(self, dataset: str, kind: str) -> Iterator[Any]:
        experiment = self._client.get_experiment_by_name(f"{self.experiment}/{dataset}")
        token: str | None = ""
        while experiment is not None and token is not None:
            page = self._client.search_runs(
                [experiment.experiment_id],
                f"tags.`{_TAG}kind` = '{kind}'",
                max_results=5000,
                page_token=token or None,
            )
            yield from page
            token = page.token or None


def _run_tags() -> dict[str, str]:
    tags = {f"env.{name}": value for name, value in environment().items()}
    tags["mlflow.source.name"] = command_line()
    commit = git_commit()
    return tags | ({"mlflow.source.git.commit": commit} if commit else {})


def _scores_csv(result: Result, corpus: Corpus) -> str:
    import pandas as pd

    names = [corpus.classes[label] for label in corpus.test.labels.tolist()]
    table = pd.DataFrame({"class": names, "score": result.scores})
    table.insert(1, "outlier", (table["class"] != result.cell.inlier).astype(int))
    return table.to_csv(index_label="document", float_format="%.9g", lineterminator="\n")


def _summary_key(definition: Mapping[str, Any]) -> str:
    """Return what cells share whose results are averaged."""
    ignored = ("inlier", "seed")
    params = {
        name: value for name, value in definition.items() if isinstance(value, str) and name not in ignored
    }
    own = ("cell", "status", "reason", "edition", "documents", "kind")  # tags of a record, no params
    return cell_id({name: value for name, value in params.items() if name not in own})


def _summary(group: list[Record]) -> dict[str, float]:
    """Average cells: seeds within each split first, then the splits; std over the splits."""
    good = [record for record in group if record["status"] == "ok"]
    summary = {"cells": float(len(good)), "failed_cells": float(len(group) - len(good))}
    splits = sorted({record["inlier"] for record in good})
    for metric in (*NAMES, "fit_seconds", "score_seconds"):
        of_split = [mean(r[metric] for r in good if r["inlier"] == split) for split in splits]
        if of_split:
            summary |= {metric: mean(of_split), f"{metric}_std": pstdev(of_split)}
    return summary
