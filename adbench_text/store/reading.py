"""Reads the runs of cells: a SQLite file by a few queries of our own, a server by MLflow's search.

MLflow's search makes objects of every param, tag and metric. On a database that costs ten times as much.
"""

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sys import intern
from typing import Any

from adbench_text.store.client import StoreClient, as_tracking_error, pages
from adbench_text.store.record import KIND, MADE_BY, TAG, Run

_ENDED = ("FINISHED", "FAILED")  # any other is being written, or the process that wrote it was killed
_PAGE = 1000  # runs asked for at once
_NUMBER = "CASE WHEN v.is_nan THEN NULL ELSE v.value END"
_PATIENCE = 30  # seconds to wait for another process that writes to a SQLite database


class DatabaseReader:
    """Reads MLflow's tables in a SQLite file, in short transactions."""

    def __init__(self, uri: str, file: Path) -> None:
        self._uri, self._file = uri, file

    def _rows(self, query: str, **values: str) -> list[Any]:
        """Return the rows of a query, which is a transaction of its own."""
        try:
            with closing(sqlite3.connect(self._file, timeout=_PATIENCE)) as database:
                return database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise as_tracking_error(error, self._uri) from error

    def _of_ended(self, columns: str, experiment: str, joined: str = "", also: str = "") -> list[Any]:
        """Return columns of the ended runs of an experiment."""
        return self._rows(
            f"SELECT {columns} FROM runs r JOIN experiments e ON e.experiment_id = r.experiment_id {joined} "
            f"WHERE e.name = :experiment AND r.lifecycle_stage = 'active' AND r.status IN {_ENDED} {also}",
            experiment=experiment,
        )

    def experiments(self) -> list[str]:
        """Return the names of the experiments that are not deleted."""
        return [
            name for (name,) in self._rows("SELECT name FROM experiments WHERE lifecycle_stage = 'active'")
        ]

    def runs(self, experiment: str) -> list[Run]:
        """Return the ended runs of cells, newest first."""
        columns = "r.run_uuid, r.name, r.status, r.start_time"
        in_order = "ORDER BY r.start_time DESC, r.run_uuid"  # as MLflow's search
        rows = self._of_ended(columns, experiment, also=in_order)
        ours = f"AND (v.key LIKE '{TAG}%' OR v.key IN {tuple(MADE_BY.values())})"
        tags = self._values(experiment, "tags", also=ours)
        params = self._values(experiment, "params")
        metrics = self._values(experiment, "latest_metrics", _NUMBER)
        return [
            Run(name, status, started, tags[run_id], params[run_id], metrics[run_id], run_id=run_id)
            for run_id, name, status, started in rows
            if tags[run_id].get(KIND) == "cell"
        ]

    def _values(
        self, experiment: str, table: str, value: str = "v.value", also: str = ""
    ) -> defaultdict[str, dict[str, Any]]:
        """Return names and values of params, tags or metrics of all ended runs, by run."""
        values: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        joined = f"JOIN {table} v ON v.run_uuid = r.run_uuid"
        for run_id, name, found in self._of_ended(f"r.run_uuid, v.key, {value}", experiment, joined, also):
            # most names and texts are also in other runs
            found = math.nan if found is None else found
            values[run_id][intern(name)] = intern(found) if isinstance(found, str) else found
        return values


class ClientReader:
    """Reads a server through MLflow's client."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    def experiments(self) -> list[str]:
        """Return the names of the experiments that are not deleted."""
        return [each.name for each in pages(self._client.search_experiments)]

    def runs(self, experiment: str) -> Iterator[Run]:
        """Yield the ended runs of cells, newest first."""
        match = self._client.get_experiment_by_name(experiment)
        if match is None:
            return
        ended = f"tags.`{KIND}` = 'cell' and attributes.status != 'RUNNING'"
        for run in pages(self._client.search_runs, [match.experiment_id], ended, max_results=_PAGE):
            info, data = run.info, run.data
            if info.status in _ENDED:
                yield Run(
                    *(info.run_name, info.status, info.start_time, data.tags, data.params, data.metrics),
                    run_id=info.run_id,
                )


Reader = DatabaseReader | ClientReader
