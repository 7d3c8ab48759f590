"""The MLflow store: writes results, and reads them back.

One experiment per dataset (``adbench-text/20news``). In it a parent run per sweep, below it a
child run per cell that carries every identifying param itself. A summary run per detector and
contamination level holds means and spreads over splits and seeds; it is listed beside the sweeps, so
that MLflow's pages, which fold children away, open on the comparison. The kind of a run is in its
tag ``adbench_text.kind``: ``sweep``, ``cell`` or ``summary``.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from adbench_text import interrupts
from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import InvalidValueError, TrackingError
from adbench_text.escaping import file_name
from adbench_text.provenance import command_line
from adbench_text.run.result import Result
from adbench_text.store.address import check_reachable, sqlite_file, tracking_uri, without_password
from adbench_text.store.client import StoreClient, pages
from adbench_text.store.payload import payload, run_tags
from adbench_text.store.record import TAG, Record, record_of
from adbench_text.store.summaries import summary, summary_key
from adbench_text.sweep.cell import DEFAULT, TEST_OUTLIERS, of_test_set, percent

DEFAULT_EXPERIMENT = "adbench-text"
_PAGE = 5000  # runs asked for at once
_LONGEST = 100  # characters of the prefix of an experiment
_BATCH = 1000  # metrics that MLflow takes at once


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
        self.uri, self.experiment = tracking_uri(uri), checked_experiment(experiment)
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
        parts = [file_name(part) for part in name.split("/")]
        artifacts = self._file.parent.joinpath("mlruns", *parts).as_uri() if self._file else None
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
            f"{TAG}kind": "sweep",
            **run_tags(),
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
        from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param

        logged = payload(result, definition, corpus)
        dataset = result.cell.dataset
        run_id = self._client.create_run(
            self._experiment_id(dataset),
            start_time=logged.started,
            tags={**logged.tags, "mlflow.parentRunId": self._parents[dataset]},
            run_name=logged.name,
        ).info.run_id
        self._client.log_batch(
            run_id,
            metrics=[Metric(*value) for value in logged.metrics],
            params=[Param(name, value) for name, value in logged.params.items()],
        )
        points = [Metric(*value) for value in logged.curves]
        for i in range(0, len(points), _BATCH):
            self._client.log_batch(run_id, metrics=points[i : i + _BATCH])
        inputs = [
            DatasetInput(
                Dataset(used.name, used.digest, "adbench-text", used.source, profile=used.profile),
                [InputTag("mlflow.data.context", used.context)],
            )
            for used in logged.inputs
        ]
        self._client.log_inputs(run_id, datasets=inputs)
        for name, text in logged.files.items():
            self._client.log_text(run_id, text, name)
        self._client.set_terminated(run_id, logged.status)

    def log_folder(self, dataset: str, folder: Path) -> None:
        """Log the files of a folder to the parent run of a dataset; only within a `sweep`."""
        self._client.log_artifacts(self._parents[dataset], str(folder))

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
                groups.setdefault(summary_key(record.definition), []).append(record)
            existing = {
                run.data.tags[f"{TAG}summary"]: run.info.run_id for run in self._search(dataset, "summary")
            }
            for (of, key), definition in keys.items():
                if of != dataset or key not in groups:
                    continue
                is_of_grid = any(record.n_configurations > 1 for record in groups[key])
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
        suffix = definition["configuration"] if preset == DEFAULT else preset
        if is_of_grid:
            suffix = f"{preset}: {definition['configuration']}"
        what = f"{definition['detector']} {suffix}".strip()
        share = definition.get(TEST_OUTLIERS)
        name = f"{what} | {percent(float(definition['contamination']))} | mean"
        name += of_test_set(float(share) if share else None)
        tags = {
            f"{TAG}kind": "summary",
            f"{TAG}summary": key,
            "mlflow.note.content": "Mean over splits and seeds; std is over splits, std_seeds over seeds.",
            **run_tags(),
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
        return {record.cell for record in self.cells(datasets) if record.is_ok}

    def cells(self, datasets: Iterable[str]) -> list[Record]:
        """Return all logged cells, oldest first; the newest of equal definitions only.

        Raises
        ------
        TrackingError
            If somebody removed from a run what a report needs.
        """
        newest: dict[str, Record] = {}
        for dataset in datasets:
            for run in self._search(dataset, "cell"):
                if run.info.status not in ("FINISHED", "FAILED"):
                    continue  # it is being written, or the process that wrote it was killed
                record = record_of(run, self.shown)
                other = newest.get(record.cell)
                if other is None or other.started < record.started:
                    newest[record.cell] = record
        return sorted(newest.values(), key=lambda record: record.started)

    def artifact(self, record: Record, name: str) -> str | None:
        """Return a text artifact of a cell, None if it has none of that name."""
        folder_here = _local_folder(record.artifact_uri)
        try:
            if folder_here is not None:  # many times as fast as MLflow's copy of it
                return (folder_here / name).read_text(encoding="utf-8")
            with TemporaryDirectory() as folder:  # otherwise downloads from a server would remain
                path = self._client.download_artifacts(record.run_id, name, folder)
                return Path(path).read_text(encoding="utf-8")
        except (TrackingError, OSError, ValueError):  # never logged, deleted since, or no text
            return None

    def curve(self, record: Record, metric: str) -> list[tuple[int, float]]:
        """Return the steps and values of a metric of a cell; empty if it has none."""
        history = self._client.get_metric_history(record.run_id, metric)
        return [(point.step, point.value) for point in history]

    def _search(self, dataset: str, kind: str, also: str = "") -> Iterator[Any]:
        experiment = self._client.get_experiment_by_name(f"{self.experiment}/{dataset}")
        if experiment is not None:
            yield from pages(
                self._client.search_runs,
                [experiment.experiment_id],
                " and ".join(filter(None, (f"tags.`{TAG}kind` = '{kind}'", also))),
                max_results=_PAGE,
            )


def checked_experiment(name: str) -> str:
    """Return the prefix of the names of experiments; raise InvalidValueError if it cannot be one."""
    parts = name.split("/")
    if not name.isprintable() or "\\" in name or len(name) > _LONGEST or {"", ".", ".."}.intersection(parts):
        raise InvalidValueError(
            f"--experiment must be a name of at most {_LONGEST} printable characters, perhaps with / within "
            f"it, got {name!r:.80}."
        )
    return name


def _local_folder(uri: str) -> Path | None:
    parts = urlsplit(uri)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None
