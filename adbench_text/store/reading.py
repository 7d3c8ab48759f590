"""Reads the runs of a store: a database by queries of our own, a server by MLflow's search.

MLflow's search makes objects of every param, tag and metric of every run. On a database that costs ten
times as much as the queries of `adbench_text.store.database`.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from adbench_text.escaping import without_password
from adbench_text.store.client import StoreClient, pages
from adbench_text.store.payload import Value
from adbench_text.store.record import TAG, StoredRun, lost

ENDED = ("FINISHED", "FAILED")  # any other is being written, or the process that wrote it was killed
KIND, CELL, STATUS = (f"{TAG}{name}" for name in ("kind", "cell", "status"))
_PAGE = 5000  # runs asked for at once
_PAGE_OF_STATES = 1000  # a server sends complete runs, and most of that is thrown away


class State(NamedTuple):
    """The status of the newest run of a cell, and when it began, in milliseconds since the epoch."""

    status: str
    started: int

    @property
    def is_ok(self) -> bool:
        """Whether the cell has a result."""
        return self.status == "ok"


class Reader(Protocol):
    """Reads experiments and the runs of cells; runs come newest first."""

    def experiments(self) -> dict[str, str]:
        """Return the ids of the experiments that are not deleted, by name."""

    def cells(self, experiment: str) -> Iterable[StoredRun]:
        """Return the ended runs of cells."""

    def states(self, experiment: str) -> dict[str, State]:
        """Return the state of each cell by its id."""

    def points(self, run_id: str, metric: str | None = None) -> list[Value]:
        """Return all logged values of a metric, or of all metrics, oldest first."""


def reader(uri: str, file: Path | None, client: Callable[[], StoreClient]) -> Reader:
    """Return what reads a store.

    Parameters
    ----------
    uri : str
        Address of the store.
    file : path, optional
        The file of a SQLite store.
    client : callable
        Returns MLflow's client of the store, and creates a database that does not exist.
    """
    name = without_password(uri)
    if file is not None and not (file.exists() and file.stat().st_size):
        client()
    if file is not None or uri.partition(":")[0].partition("+")[0] in ("postgresql", "mysql"):
        from sqlalchemy.engine import URL, make_url

        from adbench_text.store.database import DatabaseReader

        url = URL.create("sqlite", database=str(file)) if file is not None else make_url(uri)
        database = DatabaseReader(url, name)
        if database.is_readable():
            return database
        client()  # creates the tables of an empty database
        if database.is_readable():
            return database
    return ClientReader(client(), name)


class ClientReader:
    """Reads a store through MLflow's client: a server, or a database whose tables are unknown.

    Parameters
    ----------
    client : StoreClient
    name : str
        Name of the store in messages.
    """

    def __init__(self, client: StoreClient, name: str) -> None:
        self._client, self._name = client, name

    def experiments(self) -> dict[str, str]:
        """Return the ids of the experiments that are not deleted, by name."""
        return {each.name: str(each.experiment_id) for each in pages(self._client.search_experiments)}

    def cells(self, experiment: str) -> Iterator[StoredRun]:
        """Yield the ended runs of cells, newest first."""
        return self._search(experiment, _PAGE)

    def states(self, experiment: str) -> dict[str, State]:
        """Return the state of each cell by its id."""
        return states_of(self._search(experiment, _PAGE_OF_STATES), self._name)

    def points(self, run_id: str, metric: str | None = None) -> list[Value]:
        """Return all logged values of a metric, or of all metrics, each oldest first."""
        names = [metric] if metric is not None else self._client.get_run(run_id).data.metrics
        return [
            Value(point.key, point.value, point.timestamp, point.step)
            for name in names
            for point in self._client.get_metric_history(run_id, name)
        ]

    def _search(self, experiment: str, page: int) -> Iterator[StoredRun]:
        match = self._client.get_experiment_by_name(experiment)
        if match is None:
            return
        ended = f"tags.`{KIND}` = 'cell' and attributes.status != 'RUNNING'"
        for run in pages(self._client.search_runs, [match.experiment_id], ended, max_results=page):
            if run.info.status in ENDED:
                yield StoredRun(
                    run.info.run_id,
                    run.info.run_name,
                    run.info.status,
                    run.info.start_time,
                    run.info.artifact_uri,
                    run.data.params,
                    run.data.metrics,
                    run.data.tags,
                )


def states_of(runs: Iterable[StoredRun], store_name: str) -> dict[str, State]:
    """Return the state of each cell: that of its newest run. `store_name` is for messages."""
    states: dict[str, State] = {}
    for run in runs:
        for tag in (CELL, STATUS):
            if tag not in run.tags:
                raise lost(run, tag.removeprefix(TAG), store_name)
        cell, state = run.tags[CELL], State(run.tags[STATUS], run.started)
        if cell not in states or states[cell].started < state.started:
            states[cell] = state
    return states
