"""Reads runs and artifacts: a SQLite file by a few queries of our own, a server by MLflow's search.

MLflow's search makes objects of every param, tag and metric. On a database that costs ten times as much.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from adbench_text.errors import TrackingError
from adbench_text.escaping import file_name, without_password
from adbench_text.store.client import StoreClient, artifact_root, as_tracking_error, local_path, pages
from adbench_text.store.payload import Value
from adbench_text.store.record import KIND, MADE_BY, TAG, Record, StoredRun

_ENDED = ("FINISHED", "FAILED")  # any other is being written, or the process that wrote it was killed
_PAGE = 1000  # runs asked for at once
_PATIENCE = 30  # seconds to wait for another process that writes to a SQLite database
# where the server of a store may keep its artifacts
_BUCKETS = ("abfs", "abfss", "dbfs", "gs", "hdfs", "oss", "r2", "s3", "wasb", "wasbs")
_PORTS = {"http": 80, "https": 443}


class DatabaseReader:
    """Reads MLflow's tables in a SQLite file, in short transactions."""

    def __init__(self, uri: str, file: Path) -> None:
        from sqlalchemy.engine import URL

        self._uri = uri
        self._url = URL.create("sqlite", database=str(file))

    def _rows(self, query: str, **values: str) -> list[Any]:
        """Return the rows of a query, which is a transaction of its own."""
        from sqlalchemy import create_engine, text
        from sqlalchemy.exc import SQLAlchemyError
        from sqlalchemy.pool import NullPool

        try:
            engine = create_engine(self._url, poolclass=NullPool, connect_args={"timeout": _PATIENCE})
            with engine.connect() as connection:
                return list(connection.execute(text(query), values))
        except SQLAlchemyError as error:
            raise as_tracking_error(error, self._uri) from error

    def _of_ended(self, columns: str, experiment: str, joined: str = "", also: str = "") -> list[Any]:
        """Return columns of the ended runs of an experiment."""
        return self._rows(
            f"SELECT {columns} FROM runs r JOIN experiments e ON e.experiment_id = r.experiment_id {joined} "
            f"WHERE e.name = :experiment AND r.lifecycle_stage = 'active' AND r.status IN {_ENDED} {also}",
            experiment=experiment,
        )

    def experiments(self) -> dict[str, str]:
        """Return the ids of the experiments that are not deleted, by name."""
        query = "SELECT name, experiment_id FROM experiments WHERE lifecycle_stage = 'active'"
        return {name: str(experiment_id) for name, experiment_id in self._rows(query)}

    def runs(self, experiment: str) -> list[StoredRun]:
        """Return the ended runs of cells, newest first."""
        rows = self._of_ended(
            "r.run_uuid, r.name, r.status, r.start_time, r.artifact_uri",
            experiment,
            also="ORDER BY r.start_time DESC, r.run_uuid",  # as MLflow's search
        )
        ours = f"AND (v.key LIKE '{TAG}%' OR v.key IN {tuple(MADE_BY.values())})"
        tags = self._values(experiment, "tags", ours)
        params, metrics = (self._values(experiment, table) for table in ("params", "latest_metrics"))
        return [
            StoredRun._make((*row, params.get(row[0], {}), metrics.get(row[0], {}), tags[row[0]]))
            for row in rows
            if tags.get(row[0], {}).get(KIND) == "cell"
        ]

    def _values(self, experiment: str, table: str, also: str = "") -> dict[str, dict[str, Any]]:
        """Return names and values of params, tags or metrics of all ended runs, by run."""
        columns = f"r.run_uuid, v.key, v.value{', v.is_nan' if table == 'latest_metrics' else ''}"
        values: dict[str, dict[str, Any]] = {}
        shared: dict[str, str] = {}  # most names and texts are those of other runs too
        joined = f"JOIN {table} v ON v.run_uuid = r.run_uuid"
        for run_id, name, value, *is_nan in self._of_ended(columns, experiment, joined, also):
            of_run = values.setdefault(run_id, {})
            number = math.nan if any(is_nan) else value
            of_run[shared.setdefault(name, name)] = number if is_nan else shared.setdefault(value, value)
        return values

    def points(self, run_id: str, metric: str) -> list[Value]:
        """Return all logged values of a metric, oldest first."""
        rows = self._rows(
            "SELECT m.key, m.value, m.timestamp, m.step, m.is_nan FROM metrics m WHERE m.run_uuid = :run "
            "AND m.key = :metric ORDER BY m.timestamp, m.step, m.value",
            run=run_id,
            metric=metric,
        )
        return [Value(name, math.nan if is_nan else number, *place) for name, number, *place, is_nan in rows]


class ClientReader:
    """Reads a server through MLflow's client."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    def experiments(self) -> dict[str, str]:
        """Return the ids of the experiments that are not deleted, by name."""
        return {each.name: str(each.experiment_id) for each in pages(self._client.search_experiments)}

    def runs(self, experiment: str) -> Iterator[StoredRun]:
        """Yield the ended runs of cells, newest first."""
        match = self._client.get_experiment_by_name(experiment)
        if match is None:
            return
        ended = f"tags.`{KIND}` = 'cell' and attributes.status != 'RUNNING'"
        for run in pages(self._client.search_runs, [match.experiment_id], ended, max_results=_PAGE):
            info, data = run.info, run.data
            if info.status in _ENDED:
                yield StoredRun(
                    *(info.run_id, info.run_name, info.status, info.start_time, info.artifact_uri),
                    *(data.params, data.metrics, data.tags),
                )

    def points(self, run_id: str, metric: str) -> list[Value]:
        """Return all logged values of a metric, oldest first."""
        return [
            Value(point.key, point.value, point.timestamp, point.step)
            for point in self._client.get_metric_history(run_id, metric)
        ]


Reader = DatabaseReader | ClientReader


def local_folder(record: Record, uri: str, database: Path | None, experiment: str) -> Path | None:
    """Return the folder of the artifacts of a cell, which may be absent; None if a server has them.

    A store may be anybody's, and name any folder of this machine and any host. So only the folder beside the
    database file, which may have been moved with it, or the server of the store, is read. TrackingError is
    raised if the artifacts are anywhere else.
    """
    address, of_run = record.artifact_uri, (record.run_id, "artifacts")
    try:
        folder = local_path(address)
        if database is not None:
            beside = artifact_root(database, experiment).joinpath(file_name(record.run_id), "artifacts")
            folder = beside if beside.is_dir() or folder == beside else None
        elif folder is None and _is_on_server(address, uri):
            return None
        if folder is not None and record.run_id.isalnum() and folder.resolve().parts[-2:] == of_run:
            return folder
    except (ValueError, OSError, RuntimeError):  # no address at all, or a path that links to itself
        pass
    raise TrackingError(
        f"The artifacts of the run {record.run_id} are not read: {without_password(address)!r} "
        f"is neither in the folder of {without_password(uri)} nor on its server."
    )


def _is_on_server(address: str, uri: str) -> bool:
    """Return whether artifacts are on the server of a store, or in a bucket of its."""
    parts, store = urlsplit(address), urlsplit(uri)
    if parts.scheme in _BUCKETS or (parts.scheme == "mlflow-artifacts" and not parts.netloc):
        return True
    ports = [each.port or _PORTS.get(each.scheme) for each in (parts, store)]
    is_same = parts.hostname == store.hostname and (ports[0] == ports[1] or parts.port == store.port)
    return parts.scheme in ("mlflow-artifacts", "http", "https") and is_same
