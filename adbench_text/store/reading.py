"""Reads runs and artifacts: a database by a few queries of our own, a server by MLflow's search.

MLflow's search makes objects of every param, tag and metric. On a database that costs ten times as much.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from adbench_text.errors import TrackingError
from adbench_text.escaping import file_name, without_password
from adbench_text.store.address import artifact_root
from adbench_text.store.client import StoreClient, as_tracking_error, pages
from adbench_text.store.payload import Value
from adbench_text.store.record import CELL, KIND, MADE_BY, STATUS, TAG, Record, StoredRun

_ENDED = ("FINISHED", "FAILED")  # any other is being written, or the process that wrote it was killed
_PATIENCE = 30  # seconds to wait for another process that writes to a SQLite database
_PAGE = 1000  # runs asked for at once
_COLUMNS = {
    "alembic_version": "version_num",
    "experiments": "experiment_id name lifecycle_stage",
    "runs": "run_uuid name status start_time artifact_uri lifecycle_stage experiment_id",
    "tags": "run_uuid key value",
    "params": "run_uuid key value",
    "latest_metrics": "run_uuid key value is_nan",
    "metrics": "run_uuid key value timestamp step is_nan",
}
# where the server of a store may keep its artifacts
_BUCKETS = ("abfs", "abfss", "dbfs", "gs", "hdfs", "oss", "r2", "s3", "wasb", "wasbs")
_PORTS = {"http": 80, "https": 443}


class DatabaseReader:
    """Reads MLflow's tables, in short transactions."""

    def __init__(self, uri: str, file: Path | None) -> None:
        from sqlalchemy.engine import URL, make_url

        self._uri = uri
        self._url = URL.create("sqlite", database=str(file)) if file is not None else make_url(uri)

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        from sqlalchemy import create_engine
        from sqlalchemy.exc import SQLAlchemyError
        from sqlalchemy.pool import NullPool

        options = {"timeout": _PATIENCE} if self._url.get_backend_name() == "sqlite" else {}
        try:
            engine = create_engine(self._url, poolclass=NullPool, connect_args=options)
            with engine.connect() as connection:
                yield connection
        except (SQLAlchemyError, ImportError) as error:  # a driver may be missing
            raise as_tracking_error(error, self._uri) from error

    def _rows(self, query: str, **values: str) -> Iterator[Any]:
        """Yield the rows of a query, which is a transaction of its own."""
        from sqlalchemy import text

        with self._connection() as connection:
            yield from connection.execute(text(query), values)

    def _of_ended(self, columns: str, experiment: str, joined: str = "", also: str = "") -> Iterator[Any]:
        """Yield columns of the ended runs of an experiment."""
        return self._rows(
            f"SELECT {columns} FROM runs r JOIN experiments e ON e.experiment_id = r.experiment_id {joined} "
            f"WHERE e.name = :experiment AND r.lifecycle_stage = 'active' AND r.status IN {_ENDED} {also}",
            experiment=experiment,
        )

    def is_readable(self) -> bool:
        """Whether this is a complete database with the columns that are read here; MLflow may change them."""
        from sqlalchemy import inspect
        from sqlalchemy.exc import NoSuchTableError

        with self._connection() as connection:
            inspector = inspect(connection)
            try:
                has_columns = all(
                    {each["name"] for each in inspector.get_columns(table)} >= set(columns.split())
                    for table, columns in _COLUMNS.items()
                )
            except NoSuchTableError:
                return False
        # MLflow writes its version last
        return has_columns and bool(list(self._rows("SELECT version_num FROM alembic_version")))

    def experiments(self) -> dict[str, str]:
        """Return the ids of the experiments that are not deleted, by name."""
        query = "SELECT name, experiment_id FROM experiments WHERE lifecycle_stage = 'active'"
        return {name: str(experiment_id) for name, experiment_id in self._rows(query)}

    def runs(self, experiment: str, is_brief: bool = False) -> list[StoredRun]:
        """Return the ended runs of cells, newest first; in brief, with the tags of `ended` only."""
        rows = self._of_ended(
            "r.run_uuid, r.name, r.status, r.start_time, r.artifact_uri",
            experiment,
            also="ORDER BY r.start_time DESC, r.run_uuid",  # as MLflow's search
        )
        names = (KIND, CELL, STATUS) if is_brief else tuple(MADE_BY.values())
        ours = "" if is_brief else f" OR v.key LIKE '{TAG}%'"
        tags = self._values(experiment, "tags", f"AND (v.key IN {names}{ours})")
        params, metrics = (
            {} if is_brief else self._values(experiment, table) for table in ("params", "latest_metrics")
        )
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

    def points(self, run_id: str, metric: str | None = None) -> list[Value]:
        """Return all logged values of a metric, or of all metrics, oldest first."""
        values = {"run": run_id} | ({} if metric is None else {"metric": metric})
        rows = self._rows(
            "SELECT m.key, m.value, m.timestamp, m.step, m.is_nan FROM metrics m WHERE m.run_uuid = :run "
            f"{'AND m.key = :metric' if metric is not None else ''} ORDER BY m.timestamp, m.step, m.value",
            **values,
        )
        return [
            Value(name, math.nan if is_nan else value, time, step) for name, value, time, step, is_nan in rows
        ]


class ClientReader:
    """Reads a store through MLflow's client: a server, or a database whose tables are unknown."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    def experiments(self) -> dict[str, str]:
        """Return the ids of the experiments that are not deleted, by name."""
        return {each.name: str(each.experiment_id) for each in pages(self._client.search_experiments)}

    def runs(self, experiment: str, is_brief: bool = False) -> Iterator[StoredRun]:
        """Yield the ended runs of cells, newest first; a server sends complete ones."""
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

    def points(self, run_id: str, metric: str | None = None) -> list[Value]:
        """Return all logged values of a metric, or of all metrics, each oldest first."""
        names = [metric] if metric is not None else self._client.get_run(run_id).data.metrics
        return [
            Value(point.key, point.value, point.timestamp, point.step)
            for name in names
            for point in self._client.get_metric_history(run_id, name)
        ]


Reader = DatabaseReader | ClientReader


def reader(uri: str, file: Path | None, client: Callable[[], StoreClient]) -> Reader:
    """Return what reads a store, whose file is given if it is of SQLite.

    `client` returns MLflow's client of the store, and creates a database that does not exist.
    """
    if file is not None or uri.partition(":")[0].partition("+")[0] in ("postgresql", "mysql"):
        if file is not None and not (file.exists() and file.stat().st_size):
            client()
        database = DatabaseReader(uri, file)
        # an empty database gets its tables from the client
        if database.is_readable() or (client() and database.is_readable()):
            return database
    return ClientReader(client())


def local_folder(record: Record, uri: str, database: Path | None, experiment: str) -> Path | None:
    """Return the folder of the artifacts of a cell, which may be absent; None if a server has them.

    A store may be anybody's, and name any folder of this machine and any host. So only the folder of the
    database file, or the server of the store, is read. MLflow stores complete paths: if a database was moved
    together with its artifacts, they are beside it.
    If the artifacts are anywhere else, TrackingError is raised.
    """
    if database is not None:
        beside = artifact_root(database, experiment) / file_name(record.run_id) / "artifacts"
        if beside.is_dir() and _is_of_run(beside, record):
            return beside
    try:
        named = _path(record.artifact_uri)
        if named is None and database is None and _is_on_server(record.artifact_uri, uri):
            return None
        is_within = named is not None and (database is None or _is_below(named, database.parent))
        if named is not None and is_within and _is_of_run(named, record):
            return named
    except (ValueError, OSError, RuntimeError):  # no address at all, or a path that links to itself
        pass
    raise TrackingError(
        f"The artifacts of the run {record.run_id} are not read: {without_password(record.artifact_uri)!r} "
        f"is neither in the folder of {without_password(uri)} nor on its server."
    )


def _path(address: str) -> Path | None:
    """Return the path of an address on this machine; None of any other address."""
    parts = urlsplit(address)
    if parts.scheme not in ("file", "") or parts.netloc or not parts.path.startswith("/"):
        return None
    return Path(url2pathname(parts.path) if parts.scheme else address)


def _is_on_server(address: str, uri: str) -> bool:
    """Return whether artifacts are on the server of a store, or in a bucket of its."""
    parts, store = urlsplit(address), urlsplit(uri)
    if parts.scheme in _BUCKETS:
        return True
    ports = [each.port or _PORTS.get(each.scheme) for each in (parts, store)]
    is_same = parts.hostname == store.hostname and (ports[0] == ports[1] or parts.port == store.port)
    return (parts.scheme == "mlflow-artifacts" and not parts.netloc) or (
        parts.scheme in ("mlflow-artifacts", "http", "https") and is_same
    )


def _is_below(path: Path, folder: Path) -> bool:
    """Return whether a path is below a folder: as it is written, or where its links lead."""
    return folder.resolve() in path.resolve().parents or (folder in path.parents and ".." not in path.parts)


def _is_of_run(folder: Path, record: Record) -> bool:
    """Return whether a folder is one that MLflow makes for the artifacts of a run."""
    return record.run_id.isalnum() and folder.resolve().parts[-2:] == (record.run_id, "artifacts")
