"""The MLflow store: writes results, and reads them back.

One experiment per dataset (``adbench-text/20news``). In it a parent run per sweep, below it a
child run per cell that carries every identifying param itself. A summary run per detector and
contamination level holds means and spreads over splits and seeds; it is listed beside the sweeps, so
that MLflow's pages, which fold children away, open on the comparison. The kind of a run is in its
tag ``adbench_text.kind``: ``sweep``, ``merge``, ``cell`` or ``summary``.
"""

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, urlencode

from adbench_text import interrupts
from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import TrackingError
from adbench_text.escaping import without_password
from adbench_text.metrics import MAIN
from adbench_text.provenance import command_line
from adbench_text.run.result import Result
from adbench_text.store.address import check_reachable, checked_experiment, sqlite_file, tracking_uri
from adbench_text.store.client import StoreClient, pages
from adbench_text.store.journal import Journal, folder_of
from adbench_text.store.payload import (
    DESCRIPTION,
    LONGEST_TAG,
    PARENT,
    SUMMARY,
    Payload,
    payload,
    run_tags,
    summary_key,
    summary_payload,
    write_run,
)
from adbench_text.store.reading import Reader, local_folder, reader
from adbench_text.store.record import CELL, KIND, STATUS, TAG, Record, newest_of, record_of, tag_of
from adbench_text.sweep.construct import cell_id

DEFAULT_EXPERIMENT = "adbench-text"
HOST = f"{TAG}host"
_PAGE = 5000  # runs asked for at once


class Store:
    """An MLflow store, reachable and ready; otherwise TrackingError is raised.

    `experiment` is what the names of the experiments begin with; the dataset follows. With `create` the
    database is made if it is not there. Without it an absent one is an error, and it is only read.
    """

    def __init__(
        self, uri: str | None = None, experiment: str = DEFAULT_EXPERIMENT, create: bool = True
    ) -> None:
        self.uri, self.experiment = tracking_uri(uri), checked_experiment(experiment)
        self.shown = without_password(self.uri)
        check_reachable(self.uri, writes=create)
        file = sqlite_file(self.uri)
        self.file = file.absolute() if file else None  # here, even if a detector goes elsewhere
        if not create and self.file is not None and not (self.file.exists() and self.file.stat().st_size):
            raise TrackingError(f"There are no results in {self.shown} yet; begin with adbench-text run.")
        self._parents: dict[str, str] = {}
        self._descriptions: dict[str, str] = {}  # of the parents
        self._tried: set[str] = set()  # cells that are not logged completely yet
        self.journal = Journal(folder_of(self.uri, self.file, self.experiment))

    @cached_property
    def client(self) -> StoreClient:
        """MLflow's client, made at first use: a new database is written then."""
        return StoreClient(f"sqlite:///{self.file}" if self.file else self.uri)

    @cached_property
    def reader(self) -> Reader:
        """What reads experiments and runs."""
        return reader(self.uri, self.file, lambda: self.client)

    def _experiment(self, dataset: str) -> str:
        return f"{self.experiment}/{dataset}"

    # Writing

    @contextmanager
    def sweep(self, corpora: Mapping[str, Corpus], title: str) -> Iterator[None]:
        """Open a parent run per dataset for the cells logged inside; how it ended is written too."""
        with self.parents(
            "sweep", {name: (title, f"{each.edition}: {each.counts()}.") for name, each in corpora.items()}
        ):
            yield

    @contextmanager
    def parents(
        self,
        kind: str,
        descriptions: Mapping[str, tuple[str, str]],
        tags: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Iterator[Mapping[str, str]]:
        """Open a parent run for each dataset, with title, description and tags; yield their ids."""
        experiments = {name: self.client.experiment_id(self._experiment(name)) for name in descriptions}
        status = "FAILED"
        try:
            for dataset, (title, text) in descriptions.items():
                self._descriptions[dataset] = f"`{command_line()}`\n\n{text}"
                own = {DESCRIPTION: self._descriptions[dataset], KIND: kind, HOST: host()}
                of_run = {**(tags or {}).get(dataset, {}), **own, **run_tags()}
                run = self.client.create_run(experiments[dataset], tags=of_run, run_name=f"{kind}: {title}")
                self._parents[dataset] = str(run.info.run_id)
                self.journal.claim(self._parents[dataset])
            yield self._parents
            status = "FINISHED"
        except KeyboardInterrupt:
            status = "KILLED"
            raise
        finally:
            for dataset, run_id in self._parents.items():
                # the first error is the one to report
                with suppress(TrackingError) if status != "FINISHED" else nullcontext():
                    self._close(dataset, run_id, status)
                self.journal.release(run_id)
            self._parents.clear()

    def _close(self, dataset: str, parent: str, status: str) -> None:
        """End a parent run; delete the cell that was being logged when it was cut off."""
        if status != "FINISHED":
            half_written = f"tags.`{PARENT}` = '{parent}' and attributes.status = 'RUNNING'"
            for run in list(self._search(dataset, "cell", half_written)):
                self.client.delete_run(run.info.run_id)
        self.client.set_terminated(parent, status)

    def claim(self, cell: str) -> bool | None:
        """Claim a cell, by its id; see `Journal.claim`."""
        return self.journal.claim(cell)

    def keep(self, result: Result, definition: Mapping[str, str], corpus: Corpus) -> None:
        """Write the result of a cell to the journal; `log_kept` logs it."""
        dataset = result.cell.dataset
        entry = {
            "dataset": dataset,
            "parent": self._parents[dataset],
            "payload": asdict(payload(result, definition, corpus)),
        }
        self.journal.write(cell_id(definition), entry)

    def log_kept(self) -> None:
        """Log what the journal holds: results of this process, and of processes that have ended.

        They stay in the journal if the store cannot be reached; TrackingError is raised then.
        """
        self.client.try_again()
        for cell, entry in self.journal.entries():
            try:
                dataset, parent, kept = entry["dataset"], entry["parent"], Payload.from_json(entry["payload"])
            except (KeyError, TypeError):  # no entry of ours: the cell is run again
                pass
            else:
                self._log(cell, dataset, parent, kept)
            self.journal.remove(cell)

    def _log(self, cell: str, dataset: str, parent: str, kept: Payload) -> None:
        # a process was killed, perhaps after it had logged the cell; or logging it has failed in the middle
        if parent not in self._parents.values() or cell in self._tried:
            same = f"tags.`{CELL}` = '{cell}' and attributes.start_time = {kept.started}"
            runs = list(self._search(dataset, "cell", same))
            if any(run.info.status in ("FINISHED", "FAILED") for run in runs):
                return
            for run in runs:
                self.client.delete_run(run.info.run_id)
        self._tried.add(cell)
        self.write(dataset, replace(kept, tags={**kept.tags, PARENT: parent}))
        self._tried.remove(cell)

    def write(self, dataset: str, run: Payload, **options: Any) -> None:
        """Log a run to the experiment of a dataset; see `write_run`."""
        write_run(self.client, self.client.experiment_id(self._experiment(dataset)), run, **options)

    def close_abandoned(self, datasets: Iterable[str], kind: str = "sweep") -> bool:
        """End the parent runs whose processes of this machine were killed; return whether there were any."""
        abandoned = False
        for dataset in datasets:
            mine = f"attributes.status = 'RUNNING' and tags.`{HOST}` = '{host()}'"
            for run in list(self._search(dataset, kind, mine)):
                if self.journal.is_abandoned(run.info.run_id):
                    self._close(dataset, run.info.run_id, "KILLED")
                    abandoned = True
        return abandoned

    def describe(self, dataset: str, text: str) -> None:
        """Add markdown to the description of the parent run of a dataset; only within a `sweep`."""
        description = f"{self._descriptions[dataset]}\n\n{text}"
        if len(description) > LONGEST_TAG:  # cut off at the end of a line, which may be that of a table
            description = description[:LONGEST_TAG].rpartition("\n")[0]
        self.client.set_tag(self._parents[dataset], DESCRIPTION, description)

    def log_folder(self, dataset: str, folder: Path) -> None:
        """Log the files of a folder to the parent run of a dataset; only within a `sweep`."""
        self.client.log_artifacts(self._parents[dataset], str(folder))

    def summarise(self, definitions: Iterable[Mapping[str, str]]) -> None:
        """Write or renew the summary runs of what these definitions belong to.

        Means and spreads are over all finished cells of the same detector, code and corpus that
        the store holds, not over those of one sweep alone.
        """
        # two sweeps that end at once would write each of them twice
        with self.journal.held("summaries"), interrupts.held_back():
            keys = {(each["dataset"], summary_key(each)): each for each in definitions}
            for dataset in {dataset for dataset, _ in keys}:
                groups: dict[str, list[Record]] = {}
                for record in self.cells([dataset]):
                    groups.setdefault(summary_key(record.definition), []).append(record)
                found = self._search(dataset, "summary")
                existing = {run.data.tags[SUMMARY]: run.info.run_id for run in found}
                for (of, key), definition in keys.items():
                    if of == dataset and key in groups:
                        summary = summary_payload(groups[key], definition)
                        self.write(dataset, summary, run_id=existing.get(key))

    # Reading

    def datasets(self) -> list[str]:
        """Return the datasets that the store has an experiment for."""
        return sorted(self._experiments_held())

    def comparisons(self) -> dict[str, str]:
        """Return the link to the charts of the summaries, by dataset, without the server's address.

        Without `workflowType` MLflow 3 opens a page for language models, which is empty. The best runs come
        first, as MLflow draws ten.
        """
        parameters = {
            "workflowType": "machine_learning",
            "compareRunsMode": "CHART",
            "searchFilter": f"tags.`{KIND}` = 'summary'",
            "orderByKey": f"metrics.`{MAIN.name}`",
            "orderByAsc": "false" if MAIN.higher_is_better else "true",
        }
        query = urlencode(parameters, quote_via=quote, safe="")
        held = sorted(self._experiments_held().items())
        return {dataset: f"/#/experiments/{quote(each)}/runs?{query}" for dataset, each in held}

    def _experiments_held(self) -> dict[str, str]:
        """Return the ids of the experiments, by dataset."""
        prefix = self._experiment("")
        held = self.reader.experiments().items()
        return {name.removeprefix(prefix): each for name, each in held if name.startswith(prefix)}

    def ended(self, datasets: Iterable[str]) -> dict[str, str]:
        """Return the status of all cells that have ended, that of the newest run, by their ids."""
        statuses: dict[str, str] = {}
        for dataset in datasets:
            for run in self.reader.runs(self._experiment(dataset), is_brief=True):  # newest first
                cell, status = (tag_of(run, tag, self.shown) for tag in (CELL, STATUS))
                statuses.setdefault(cell, status)
        return statuses

    def cells(
        self, datasets: Iterable[str], leave_out: Callable[[str], object] = lambda message: None
    ) -> list[Record]:
        """Return all logged cells, oldest first; the newest of equal definitions only.

        `leave_out` receives a message on each run that somebody changed; it is left out.
        """
        records = []
        for dataset in datasets:
            for run in self.reader.runs(self._experiment(dataset)):
                try:
                    record = record_of(run, self.shown)
                except TrackingError as error:
                    leave_out(str(error))
                    continue
                if not dataset.endswith(f"/{record.dataset}"):  # of an experiment within this one
                    records.append(record)
        return newest_of(records)

    def _local_folder(self, record: Record) -> Path | None:
        return local_folder(record, self.uri, self.file, self._experiment(record.dataset))

    def artifact(self, record: Record, name: str) -> str | None:
        """Return a text artifact of a cell, None if it has none of that name."""
        try:
            folder_here = self._local_folder(record)
            if folder_here is not None:  # many times as fast as MLflow's copy of it
                return (folder_here / name).read_text(encoding="utf-8")
            with TemporaryDirectory() as folder:  # otherwise downloads from a server would remain
                path = self.client.download_artifacts(record.run_id, name, folder)
                return Path(path).read_text(encoding="utf-8")
        except (TrackingError, OSError, ValueError):  # never logged, deleted since, elsewhere, or no text
            return None

    @contextmanager
    def artifacts(self, record: Record) -> Iterator[Path | None]:
        """Yield a folder with all artifacts of a cell, None if there is none; errors as `local_folder`."""
        folder_here = self._local_folder(record)
        if folder_here is not None:
            yield folder_here if folder_here.is_dir() else None
        elif not self.client.list_artifacts(record.run_id):
            yield None
        else:
            with TemporaryDirectory() as folder:
                yield Path(self.client.download_artifacts(record.run_id, "", folder))

    def curve(self, record: Record, metric: str) -> list[tuple[int, float]]:
        """Return the steps and values of a metric of a cell; empty if it has none."""
        return [(point.step, point.value) for point in self.reader.points(record.run_id, metric)]

    def _search(self, dataset: str, kind: str, also: str = "") -> Iterator[Any]:
        experiment = self.client.get_experiment_by_name(self._experiment(dataset))
        if experiment is not None:
            yield from pages(
                self.client.search_runs,
                [experiment.experiment_id],
                " and ".join(filter(None, (f"tags.`{KIND}` = '{kind}'", also))),
                max_results=_PAGE,
            )


def host() -> str:
    """Return the name of this machine; MLflow's filters take no quotes."""
    return platform.node().replace("'", "")


class Stores:
    """The results of several stores: of equal definitions the newest counts, wherever it is."""

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
    """Return the results of one store, or of several; raise TrackingError if one does not exist."""
    stores = [Store(uri, experiment, create=False) for uri in dict.fromkeys(uris)]
    return stores[0] if len(stores) == 1 else Stores(stores)
