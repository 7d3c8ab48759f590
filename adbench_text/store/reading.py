"""Read the runs of cells: from a SQLite file with our queries, from a server with MLflow's search.

MLflow's search makes an object for every param, tag and metric. On a database it takes ten times as long.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from adbench_text.store.client import StoreClient, as_tracking_error, pages
from adbench_text.store.run import KIND, MADE_BY, TAG, Run, of_kind

_ENDED = ("FINISHED", "FAILED")  # a run with another status is being written, or its process was killed
_PAGE = 1000  # runs in an answer of a server
_PATIENCE = 30  # seconds to wait for another process that writes to a SQLite database
# The ended runs of the cells of an experiment, newest first as in MLflow's search. Their metrics are texts in
# JSON, because JSON has no NaN, and SQLite writes JSON numbers with 15 digits.
_RUNS = f"""
    SELECT r.run_uuid, r.name, r.status, r.start_time,
        (SELECT json_group_object(key, value) FROM tags v WHERE v.run_uuid = r.run_uuid
            AND (key LIKE '{TAG}%' OR key IN {tuple(MADE_BY.values())})),
        (SELECT json_group_object(key, value) FROM params v WHERE v.run_uuid = r.run_uuid),
        (SELECT json_group_object(key, CASE WHEN is_nan THEN 'nan' ELSE printf('%!.17g', value) END)
            FROM latest_metrics v WHERE v.run_uuid = r.run_uuid)
    FROM runs r
        JOIN experiments e ON e.experiment_id = r.experiment_id
        JOIN tags k ON k.run_uuid = r.run_uuid AND k.key = '{KIND}' AND k.value = 'cell'
    WHERE e.name = ? AND r.lifecycle_stage = 'active' AND r.status IN {_ENDED}
    ORDER BY r.start_time DESC, r.run_uuid
"""
# The experiments with a summary run.
_WITH_SUMMARY = f"""
    SELECT DISTINCT e.experiment_id, e.name
    FROM runs r
        JOIN experiments e ON e.experiment_id = r.experiment_id
        JOIN tags k ON k.run_uuid = r.run_uuid AND k.key = '{KIND}' AND k.value = 'summary'
    WHERE e.lifecycle_stage = 'active' AND r.lifecycle_stage = 'active'
"""


class DatabaseReader:
    """Reads MLflow's tables in a SQLite file, in short transactions."""

    def __init__(self, uri: str, file: Path) -> None:
        self._uri, self._file = uri, file

    def _rows(self, query: str, *values: str) -> list[Any]:
        """Return the rows of a query.

        Each query has its own connection, so that a run can be stored between two of them.
        """
        try:
            with closing(sqlite3.connect(self._file, timeout=_PATIENCE)) as database:
                return database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise as_tracking_error(error, self._uri) from error

    def experiments(self) -> list[str]:
        """Return the names of the experiments that are not deleted."""
        return [
            name for (name,) in self._rows("SELECT name FROM experiments WHERE lifecycle_stage = 'active'")
        ]

    def summarised(self) -> dict[str, str]:
        """Return the names of the experiments with a summary run, by their ids."""
        return {str(experiment_id): name for experiment_id, name in self._rows(_WITH_SUMMARY)}

    def runs(self, experiment: str) -> Iterator[Run]:
        """Yield the ended runs of cells, newest first."""
        for run_id, name, status, started, *values in self._rows(_RUNS, experiment):
            tags, params, metrics = map(json.loads, values)
            yield Run(
                name=name,
                status=status,
                started=started,
                tags=tags,
                params=params,
                metrics={name: float(value) for name, value in metrics.items()},
                run_id=run_id,
            )


class ClientReader:
    """Reads a server through MLflow's client."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    def experiments(self) -> list[str]:
        """Return the names of the experiments that are not deleted."""
        return [experiment.name for experiment in pages(self._client.search_experiments)]

    def summarised(self) -> dict[str, str]:
        """Return the names of the experiments with a summary run, by their ids."""
        names = {found.experiment_id: found.name for found in pages(self._client.search_experiments)}
        if not names:
            return {}
        summaries = pages(self._client.search_runs, list(names), of_kind("summary"), max_results=_PAGE)
        return {run.info.experiment_id: names[run.info.experiment_id] for run in summaries}

    def runs(self, experiment: str) -> Iterator[Run]:
        """Yield the ended runs of cells, newest first."""
        match = self._client.get_experiment_by_name(experiment)
        if match is None:
            return
        not_running = f"{of_kind('cell')} and attributes.status != 'RUNNING'"
        # by default, MLflow's search returns the newest run first
        for run in pages(self._client.search_runs, [match.experiment_id], not_running, max_results=_PAGE):
            info, data = run.info, run.data
            if info.status in _ENDED:  # killed runs are not running, but have no result
                yield Run(
                    name=info.run_name,
                    status=info.status,
                    started=info.start_time,
                    tags=data.tags,
                    params=data.params,
                    metrics=data.metrics,
                    run_id=info.run_id,
                )


Reader = DatabaseReader | ClientReader
