"""The MLflow store: writes results, and reads them back.

One experiment per dataset (``adbench-text/20news``). In it a parent run per sweep, below it a
child run per cell that carries every identifying param itself. A summary run per detector and
contamination level holds means and spreads over splits and seeds; it is listed beside the sweeps, so
that MLflow's pages, which fold children away, open on the comparison. The kind of a run is in its
tag ``adbench_text.kind``: ``sweep``, ``cell`` or ``summary``.
"""

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adbench_text import interrupts
from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import TrackingError
from adbench_text.escaping import without_password
from adbench_text.provenance import command_line
from adbench_text.run.result import Result
from adbench_text.store.address import (
    check_reachable,
    checked_experiment,
    sqlite_file,
    tracking_uri,
)
from adbench_text.store.artifacts import local_folder
from adbench_text.store.client import StoreClient, pages
from adbench_text.store.experiments import experiment_id
from adbench_text.store.journal import Journal, folder_of
from adbench_text.store.links import comparison
from adbench_text.store.payload import LONGEST_TAG, Payload, payload, run_tags
from adbench_text.store.reading import Reader, State, reader
from adbench_text.store.record import TAG, Record, newest_of, record_of
from adbench_text.store.summaries import summary, summary_key, summary_name, summary_params_and_tags
from adbench_text.store.write import PARENT, write_run
from adbench_text.sweep.construct import cell_id

DEFAULT_EXPERIMENT = "adbench-text"
HOST = f"{TAG}host"
DESCRIPTION = "mlflow.note.content"
_PAGE = 5000  # runs asked for at once


class Store:
    """An MLflow store, reachable and ready.

    Parameters
    ----------
    uri : str, optional
        See `tracking_uri`.
    experiment : str, default "adbench-text"
        What the names of the experiments begin with; the dataset follows.
    create : bool, default True
        Make the database if it is not there. Without it an absent one is an error, and it is only read.

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
        check_reachable(self.uri, writes=create)
        file = sqlite_file(self.uri)
        self._file = file.absolute() if file else None  # here, even if a detector goes elsewhere
        if not create and self._file is not None and not (self._file.exists() and self._file.stat().st_size):
            raise TrackingError(f"There are no results in {self.shown} yet; begin with adbench-text run.")
        self._experiments: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._descriptions: dict[str, str] = {}  # of the parents
        self._tried: set[str] = set()  # cells that are not logged completely yet
        self._journal = Journal(folder_of(self.uri, self._file, self.experiment))

    @cached_property
    def _client(self) -> StoreClient:  # made at first use: a new database is written then
        return StoreClient(f"sqlite:///{self._file}" if self._file else self.uri)

    @cached_property
    def _reader(self) -> Reader:
        return reader(self.uri, self._file, lambda: self._client)

    # Writing

    def _experiment_id(self, dataset: str) -> str:
        if dataset not in self._experiments:
            name = f"{self.experiment}/{dataset}"
            self._experiments[dataset] = experiment_id(self._client, name, self.uri, self._file)
        return self._experiments[dataset]

    @contextmanager
    def sweep(self, corpora: Mapping[str, Corpus], title: str) -> Iterator[None]:
        """Open a parent run per dataset for the cells logged inside; how it ended is written too."""
        for dataset in corpora:
            self._experiment_id(dataset)  # all of them before anything is written
        status = "FAILED"
        try:
            for dataset, corpus in corpora.items():
                self._parents[dataset] = self._new_parent(dataset, corpus, title)
                self._journal.claim(self._parents[dataset])
            yield
            status = "FINISHED"
        except KeyboardInterrupt:
            status = "KILLED"
            raise
        finally:
            for dataset, run_id in self._parents.items():
                self._close(dataset, run_id, status)
                self._journal.release(run_id)
            self._parents.clear()

    def _new_parent(self, dataset: str, corpus: Corpus, title: str) -> str:
        description = f"`{command_line()}`\n\n{corpus.edition}: {corpus.counts()}."
        self._descriptions[dataset] = description
        tags = {
            DESCRIPTION: description,
            f"{TAG}kind": "sweep",
            HOST: host(),
            **run_tags(),
        }
        run = self._client.create_run(self._experiment_id(dataset), tags=tags, run_name=f"sweep: {title}")
        return str(run.info.run_id)

    def _close(self, dataset: str, parent: str, status: str) -> None:
        """End a parent run; delete the cell that was being logged when it was cut off."""
        if status != "FINISHED":
            half_written = f"tags.`{PARENT}` = '{parent}' and attributes.status = 'RUNNING'"
            for run in list(self._search(dataset, "cell", half_written)):
                self._client.delete_run(run.info.run_id)
        self._client.set_terminated(parent, status)

    def claim(self, cell: str) -> bool | None:
        """Claim a cell, by its id; see `Journal.claim`."""
        return self._journal.claim(cell)

    def keep(self, result: Result, definition: Mapping[str, str], corpus: Corpus) -> None:
        """Write the result of a cell to the journal; `log_kept` logs it."""
        dataset = result.cell.dataset
        entry = {
            "dataset": dataset,
            "parent": self._parents[dataset],
            "payload": payload(result, definition, corpus).to_json(),
        }
        try:
            self._journal.write(cell_id(definition), entry)
        except OSError as error:
            raise TrackingError(
                f"Cannot write to {self._journal.folder}: {error.strerror or error}. "
                "Make room, then run the same command again."
            ) from error

    def log_kept(self) -> None:
        """Log what the journal holds: results of this process, and of processes that have ended.

        Raises
        ------
        TrackingError
            If the store cannot be reached; the results stay in the journal.
        """
        self._client.try_again()
        for cell, entry in self._journal.entries():
            try:
                dataset, parent, kept = entry["dataset"], entry["parent"], Payload.from_json(entry["payload"])
            except (KeyError, TypeError):  # no entry of ours: the cell is run again
                pass
            else:
                self._log(cell, dataset, parent, kept)
            self._journal.remove(cell)

    def _log(self, cell: str, dataset: str, parent: str, kept: Payload) -> None:
        # a process was killed, perhaps after it had logged the cell; or logging it has failed in the middle
        if parent not in self._parents.values() or cell in self._tried:
            same = f"tags.`{TAG}cell` = '{cell}' and attributes.start_time = {kept.started}"
            runs = list(self._search(dataset, "cell", same))
            if any(run.info.status in ("FINISHED", "FAILED") for run in runs):
                return
            for run in runs:
                self._client.delete_run(run.info.run_id)
        self._tried.add(cell)
        write_run(self._client, self._experiment_id(dataset), kept, parent)
        self._tried.remove(cell)

    def close_abandoned(self, datasets: Iterable[str]) -> bool:
        """End the parent runs whose processes of this machine were killed; return whether there were any."""
        abandoned = False
        for dataset in datasets:
            mine = f"attributes.status = 'RUNNING' and tags.`{HOST}` = '{host()}'"
            for run in list(self._search(dataset, "sweep", mine)):
                if self._journal.is_abandoned(run.info.run_id):
                    self._close(dataset, run.info.run_id, "KILLED")
                    abandoned = True
        return abandoned

    def describe(self, dataset: str, text: str) -> None:
        """Add markdown to the description of the parent run of a dataset; only within a `sweep`."""
        description = f"{self._descriptions[dataset]}\n\n{text}"
        if len(description) > LONGEST_TAG:  # cut off at the end of a line, which may be that of a table
            description = description[:LONGEST_TAG].rpartition("\n")[0]
        self._client.set_tag(self._parents[dataset], DESCRIPTION, description)

    def log_folder(self, dataset: str, folder: Path) -> None:
        """Log the files of a folder to the parent run of a dataset; only within a `sweep`."""
        self._client.log_artifacts(self._parents[dataset], str(folder))

    def summarise(self, definitions: Iterable[Mapping[str, str]]) -> None:
        """Write or renew the summary runs of what these definitions belong to.

        Means and spreads are over all finished cells of the same detector, code and corpus that
        the store holds, not over those of one sweep alone.
        """
        with self._journal.held("summaries"):  # two sweeps that end at once would write each of them twice
            self._summarise(definitions)

    @interrupts.held_back()
    def _summarise(self, definitions: Iterable[Mapping[str, str]]) -> None:
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
                params, tags = summary_params_and_tags(key, definition)
                run_id = (
                    existing.get(key)
                    or self._client.create_run(
                        self._experiment_id(dataset),
                        tags=tags,
                        run_name=summary_name(definition, is_of_grid),
                    ).info.run_id
                )
                now = int(time.time() * 1000)
                self._client.log_batch(
                    run_id,
                    metrics=[Metric(name, value, now, 0) for name, value in summary(groups[key]).items()],
                    params=[Param(name, value) for name, value in params.items()],
                )
                self._client.set_terminated(run_id, "FINISHED")

    # Reading

    def datasets(self) -> list[str]:
        """Return the datasets that the store has an experiment for."""
        return sorted(self._experiments_held())

    def comparisons(self) -> dict[str, str]:
        """Return the link to the comparison in MLflow's pages, by dataset, without the server's address."""
        return {dataset: comparison(each) for dataset, each in sorted(self._experiments_held().items())}

    def _experiments_held(self) -> dict[str, str]:
        """Return the ids of the experiments, by dataset."""
        prefix = f"{self.experiment}/"
        held = self._reader.experiments().items()
        return {name.removeprefix(prefix): each for name, each in held if name.startswith(prefix)}

    def states(self, dataset: str) -> dict[str, State]:
        """Return the state of each cell of a dataset, that of the newest run, by the id of the cell."""
        return self._reader.states(f"{self.experiment}/{dataset}")

    def ended(self, datasets: Iterable[str]) -> dict[str, str]:
        """Return the status of all cells that have ended, by their ids."""
        return {cell: state.status for name in datasets for cell, state in self.states(name).items()}

    def cells(
        self, datasets: Iterable[str], leave_out: Callable[[str], object] = lambda message: None
    ) -> list[Record]:
        """Return all logged cells, oldest first; the newest of equal definitions only.

        Parameters
        ----------
        datasets : iterable of str
        leave_out : callable, optional
            Receives a message on each run that somebody changed; it is left out.
        """
        records = []
        for dataset in datasets:
            for run in self._reader.cells(f"{self.experiment}/{dataset}"):
                try:
                    record = record_of(run, self.shown)
                except TrackingError as error:
                    leave_out(str(error))
                    continue
                if not dataset.endswith(f"/{record.dataset}"):  # of an experiment within this one
                    records.append(record)
        return newest_of(records)

    def artifact(self, record: Record, name: str) -> str | None:
        """Return a text artifact of a cell, None if it has none of that name."""
        experiment = f"{self.experiment}/{record.dataset}"
        try:
            folder_here = local_folder(record, self.uri, self._file, experiment)
            if folder_here is not None:  # many times as fast as MLflow's copy of it
                return (folder_here / name).read_text(encoding="utf-8")
            with TemporaryDirectory() as folder:  # otherwise downloads from a server would remain
                path = self._client.download_artifacts(record.run_id, name, folder)
                return Path(path).read_text(encoding="utf-8")
        except (TrackingError, OSError, ValueError):  # never logged, deleted since, elsewhere, or no text
            return None

    def curve(self, record: Record, metric: str) -> list[tuple[int, float]]:
        """Return the steps and values of a metric of a cell; empty if it has none."""
        return [(point.step, point.value) for point in self._reader.points(record.run_id, metric)]

    def _search(self, dataset: str, kind: str, also: str = "") -> Iterator[Any]:
        experiment = self._client.get_experiment_by_name(f"{self.experiment}/{dataset}")
        if experiment is not None:
            yield from pages(
                self._client.search_runs,
                [experiment.experiment_id],
                " and ".join(filter(None, (f"tags.`{TAG}kind` = '{kind}'", also))),
                max_results=_PAGE,
            )


def host() -> str:
    """Return the name of this machine; MLflow's filters take no quotes."""
    return platform.node().replace("'", "")


class Stores:
    """The results of several stores: of equal definitions the newest counts, wherever it is.

    Parameters
    ----------
    stores : sequence of Store
        At least one, all with the same prefix of their experiments.

    Attributes
    ----------
    experiment : str
        What the names of the experiments begin with.
    shown : str
        Names all stores in messages.
    """

    def __init__(self, stores: Sequence[Store]) -> None:
        self._stores = stores
        self.experiment = stores[0].experiment
        names = [store.shown for store in stores]
        self.shown = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        self._store_of: dict[str, Store] = {}  # of each run

    def datasets(self) -> list[str]:
        """Return the datasets that a store has an experiment for."""
        return sorted({name for store in self._stores for name in store.datasets()})

    def cells(
        self, datasets: Iterable[str], leave_out: Callable[[str], object] = lambda message: None
    ) -> list[Record]:
        """Return all logged cells, oldest first; see `Store.cells`."""
        datasets = list(datasets)
        records = []
        for store in self._stores:
            of_store = store.cells(datasets, leave_out)
            self._store_of = {record.run_id: store for record in of_store} | self._store_of
            records += of_store
        return newest_of(records)

    def artifact(self, record: Record, name: str) -> str | None:
        """Return a text artifact of a cell, None if it has none of that name."""
        return self._store_of[record.run_id].artifact(record, name)

    def curve(self, record: Record, metric: str) -> list[tuple[int, float]]:
        """Return the steps and values of a metric of a cell; empty if it has none."""
        return self._store_of[record.run_id].curve(record, metric)


Results = Store | Stores  # what reports read


def opened(uris: Sequence[str], experiment: str = DEFAULT_EXPERIMENT) -> Results:
    """Return the results of one store, or of several; each must exist.

    Raises
    ------
    TrackingError
        If a store does not exist or cannot be used.
    """
    stores = [Store(uri, experiment, create=False) for uri in dict.fromkeys(uris)]
    return stores[0] if len(stores) == 1 else Stores(stores)
