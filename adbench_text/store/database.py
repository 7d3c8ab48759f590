"""Reads the runs of a database by a few queries over MLflow's tables, in short transactions."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Select, column, create_engine, inspect, or_, select, table
from sqlalchemy.engine import URL, Connection
from sqlalchemy.exc import NoSuchTableError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from adbench_text.errors import TrackingError
from adbench_text.store.address import first_line
from adbench_text.store.payload import Value
from adbench_text.store.reading import CELL, ENDED, KIND, STATUS, State, states_of
from adbench_text.store.record import MADE_BY, TAG, StoredRun

_PATIENCE = 30  # seconds to wait for another process that writes to a SQLite database


def _table(name: str, *columns: str) -> Any:
    return table(name, *(column(each) for each in columns))


_VERSION = _table("alembic_version", "version_num")
_EXPERIMENTS = _table("experiments", "experiment_id", "name", "lifecycle_stage")
_RUNS = _table(
    "runs", "run_uuid", "name", "status", "start_time", "artifact_uri", "lifecycle_stage", "experiment_id"
)
_TAGS = _table("tags", "run_uuid", "key", "value")
_PARAMS = _table("params", "run_uuid", "key", "value")
_LATEST = _table("latest_metrics", "run_uuid", "key", "value", "is_nan")
_METRICS = _table("metrics", "run_uuid", "key", "value", "timestamp", "step", "is_nan")
_NEWEST_FIRST = (_RUNS.c.start_time.desc(), _RUNS.c.run_uuid)  # as MLflow's search sorts them


class DatabaseReader:
    """Reads MLflow's tables.

    Parameters
    ----------
    url : sqlalchemy.engine.URL
    name : str
        Name of the store in messages.
    """

    def __init__(self, url: URL, name: str) -> None:
        self._url, self._name = url, name

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        options = {"timeout": _PATIENCE} if self._url.get_backend_name() == "sqlite" else {}
        try:
            engine = create_engine(self._url, poolclass=NullPool, connect_args=options)
            with engine.connect() as connection:
                yield connection
        except (SQLAlchemyError, ImportError) as error:  # a driver may be missing
            if "database is locked" in str(error):
                message = f"Another process has locked {self._name}; try again when it is done."
            else:
                message = f"The store {self._name} cannot be used: {first_line(error)}"
            raise TrackingError(message) from error

    def _rows(self, query: Select[Any]) -> list[Any]:
        """Return the rows of a query, which is a transaction of its own."""
        with self._connection() as connection:
            return list(connection.execute(query).all())

    def is_readable(self) -> bool:
        """Whether this is a complete database with the columns that are read here; MLflow may change them."""
        tables = (_VERSION, _EXPERIMENTS, _RUNS, _TAGS, _PARAMS, _LATEST, _METRICS)
        with self._connection() as connection:
            inspector = inspect(connection)
            try:
                has_columns = all(
                    {each["name"] for each in inspector.get_columns(table.name)} >= set(table.c.keys())
                    for table in tables
                )
            except NoSuchTableError:
                return False
            # MLflow writes its version last
            return has_columns and connection.execute(select(_VERSION.c.version_num)).first() is not None

    def experiments(self) -> dict[str, str]:
        """Return the ids of the experiments that are not deleted, by name."""
        columns = _EXPERIMENTS.c.name, _EXPERIMENTS.c.experiment_id
        query = select(*columns).where(_EXPERIMENTS.c.lifecycle_stage == "active")
        return {name: str(experiment_id) for name, experiment_id in self._rows(query)}

    def cells(self, experiment: str) -> list[StoredRun]:
        """Return the ended runs of cells, newest first."""
        columns = [_RUNS.c[name] for name in ("run_uuid", "name", "status", "start_time", "artifact_uri")]
        runs = self._rows(_of_ended(experiment, *columns).order_by(*_NEWEST_FIRST))
        is_needed = or_(_TAGS.c.key.startswith(TAG, autoescape=True), _TAGS.c.key.in_(MADE_BY.values()))
        tags = self._values(experiment, _TAGS, is_needed)
        params = self._values(experiment, _PARAMS)
        metrics = self._values(experiment, _LATEST)
        return [
            StoredRun(
                run_id,
                name,
                status,
                started,
                artifact_uri,
                params.get(run_id, {}),
                metrics.get(run_id, {}),
                tags[run_id],
            )
            for run_id, name, status, started, artifact_uri in runs
            if tags.get(run_id, {}).get(KIND) == "cell"
        ]

    def _values(self, experiment: str, table: Any, *conditions: Any) -> dict[str, dict[str, Any]]:
        """Return names and values of params, tags or metrics of all ended runs, by run."""
        query = _of_ended(experiment, *table.c).join(table, table.c.run_uuid == _RUNS.c.run_uuid)
        values: dict[str, dict[str, Any]] = {}
        shared: dict[str, str] = {}  # most names and texts are those of other runs too
        with self._connection() as connection:
            for run_id, name, value, *is_nan in connection.execute(query.where(*conditions)):
                of_run = values.setdefault(run_id, {})
                number = math.nan if any(is_nan) else value
                of_run[shared.setdefault(name, name)] = number if is_nan else shared.setdefault(value, value)
        return values

    def states(self, experiment: str) -> dict[str, State]:
        """Return the state of each cell by its id; only three tags of each run are read."""
        columns = (_RUNS.c.run_uuid, _RUNS.c.name, _RUNS.c.status, _RUNS.c.start_time)
        query = _of_ended(experiment, *columns, _TAGS.c.key, _TAGS.c.value)
        query = query.join(_TAGS, _TAGS.c.run_uuid == _RUNS.c.run_uuid)
        query = query.where(_TAGS.c.key.in_((KIND, CELL, STATUS))).order_by(*_NEWEST_FIRST)
        runs: dict[str, StoredRun] = {}
        for *columns_of_run, name, value in self._rows(query):
            run = runs.setdefault(columns_of_run[0], StoredRun(*columns_of_run))
            run.tags[name] = value
        return states_of((run for run in runs.values() if run.tags.get(KIND) == "cell"), self._name)

    def points(self, run_id: str, metric: str | None = None) -> list[Value]:
        """Return all logged values of a metric, or of all metrics, oldest first."""
        columns = [_METRICS.c[name] for name in ("key", "value", "timestamp", "step", "is_nan")]
        query = select(*columns).where(_METRICS.c.run_uuid == run_id)
        if metric is not None:
            query = query.where(_METRICS.c.key == metric)
        rows = self._rows(query.order_by(_METRICS.c.timestamp, _METRICS.c.step, _METRICS.c.value))
        return [
            Value(key, math.nan if is_nan else value, time, step) for key, value, time, step, is_nan in rows
        ]


def _of_ended(experiment: str, *columns: Any) -> Select[Any]:
    """Return a query for columns of the ended runs of an experiment."""
    ids = select(_EXPERIMENTS.c.experiment_id).where(_EXPERIMENTS.c.name == experiment)
    return (
        select(*columns)
        .select_from(_RUNS)
        .where(
            _RUNS.c.experiment_id.in_(ids),
            _RUNS.c.lifecycle_stage == "active",
            _RUNS.c.status.in_(ENDED),
        )
    )
