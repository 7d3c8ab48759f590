"""The MLflow store: writes results, and reads them back.

One experiment per dataset (``adbench-text/20news``). In it a parent run per sweep, below it a
child run per cell that carries every identifying param itself. A summary run per detector and
contamination level holds means and spreads over splits and seeds; it is listed beside the sweeps, so
that MLflow's pages, which fold children away, open on the comparison. The kind of a run is in its
tag ``adbench_text.kind``: ``sweep``, ``cell`` or ``summary``.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adbench_text import interrupts
from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import NoResultsError, RefusedError, TrackingError
from adbench_text.escaping import file_name, markdown, without_password
from adbench_text.provenance import command_line
from adbench_text.run.result import Result
from adbench_text.store.cells import latest, row_of, table_of
from adbench_text.store.client import (
    StoreClient,
    artifact_root,
    check_reachable,
    checked_experiment,
    pages,
    sqlite_file,
    tracking_uri,
)
from adbench_text.store.journal import Journal, folder_of
from adbench_text.store.reading import ClientReader, DatabaseReader, Reader
from adbench_text.store.run import CELL, KIND, PARENT, STATUS, Run, definition_of, is_of_this_version, of_kind
from adbench_text.store.writing import (
    DESCRIPTION,
    SUMMARY,
    comparison_page,
    run_of_cell,
    run_of_summary,
    run_tags,
    summary_key,
    write_run,
)

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_EXPERIMENT = "adbench-text"
_PAGE = 5000  # runs asked for at once

Note = Callable[[str], object]


class Store:
    """An MLflow store, reachable and ready; otherwise TrackingError is raised.

    `experiment` is what the names of the experiments begin with; the dataset follows. With `create` the
    database is made if it is not there. Without it an absent one is an error, and it is only read.
    """

    def __init__(
        self, uri: str | None = None, experiment: str = DEFAULT_EXPERIMENT, create: bool = True
    ) -> None:
        self.uri, self.experiment = tracking_uri(uri), checked_experiment(experiment)
        check_reachable(self.uri, writes=create)
        file = sqlite_file(self.uri)
        self.file = file.absolute() if file else None  # here, even if a detector goes elsewhere
        if not create and self.file is not None and not (self.file.exists() and self.file.stat().st_size):
            raise NoResultsError(f"There are no results in {self.redacted} yet; begin with adbench-text run.")
        self._parents: dict[str, str] = {}
        self._tried: set[str] = set()  # cells that are not logged completely yet
        self.journal = Journal(folder_of(self.uri, self.file, self.experiment))

    @cached_property
    def client(self) -> StoreClient:
        """MLflow's client, made at first use: a new database is written then."""
        return StoreClient(f"sqlite:///{self.file}" if self.file else self.uri)

    @cached_property
    def reader(self) -> Reader:
        """What reads experiments and runs: the tables of a SQLite file, otherwise MLflow's client."""
        if self.file is None:
            return ClientReader(self.client)
        if not (self.file.exists() and self.file.stat().st_size):
            _ = self.client  # it makes the tables of a new database
        return DatabaseReader(self.uri, self.file)

    @property
    def redacted(self) -> str:
        """Its address for people, without a password."""
        return without_password(self.uri)

    def _experiment(self, dataset: str) -> str:
        return f"{self.experiment}/{dataset}"

    # Writing

    @contextmanager
    def sweep(self, corpora: Mapping[str, Corpus], title: str) -> Iterator[None]:
        """Open a parent run per dataset for the cells logged inside; how it ended is written too."""
        experiments = {name: self.client.experiment_id(self._experiment(name)) for name in corpora}
        for experiment_id in experiments.values():
            self._describe(experiment_id)
        status = "FAILED"
        try:
            for dataset, corpus in corpora.items():
                text = f"{markdown(command_line())}\n\n{markdown(f'{corpus.edition}: {corpus.counts()}.')}"
                tags = {DESCRIPTION: text, KIND: "sweep", **run_tags()}
                run = self.client.create_run(experiments[dataset], tags=tags, run_name=f"sweep: {title}")
                self._parents[dataset] = str(run.info.run_id)
            yield
            status = "FINISHED"
        except KeyboardInterrupt:
            status = "KILLED"
            raise
        finally:
            for run_id in self._parents.values():
                # the first error is the one to report
                with suppress(TrackingError) if status != "FINISHED" else nullcontext():
                    self.client.set_terminated(run_id, status)
            self._parents.clear()

    def _describe(self, experiment_id: str) -> None:
        """Link the comparison in the description of an experiment that has none."""
        if DESCRIPTION not in self.client.get_experiment(experiment_id).tags:
            link = f"[means over splits and seeds]({comparison_page(experiment_id)})"
            text = f"Compare the detectors: {link}, one run per detector and contamination level."
            self.client.set_experiment_tag(experiment_id, DESCRIPTION, text)

    def keep(self, result: Result, definition: Mapping[str, str], corpus: Corpus) -> None:
        """Write the result of a cell to the journal; `log_kept` logs it."""
        self.journal.write(run_of_cell(result, definition, corpus, self._parents[result.cell.split.dataset]))

    def log_kept(self) -> dict[str, str]:
        """Log what the journal holds, also results of other processes, which may have ended.

        They stay in the journal if the store cannot be reached; TrackingError is raised then. A result that
        the store refuses is set aside, so that it stops no other; the reasons are returned by cell.
        """
        self.client.try_again()
        refused = {}
        with self.journal.held():
            for path, run in self.journal.entries():
                try:
                    self._log(run)
                    path.unlink(missing_ok=True)
                except RefusedError as error:
                    refused[run.tags[CELL]] = f"{error} It was moved to {self.journal.set_aside(path)}."
        return refused

    def _log(self, run: Run) -> None:
        cell, dataset = run.tags[CELL], run.params["dataset"]
        # a process was killed, perhaps after it had logged the cell; or logging it has failed in the middle
        is_tried = run.tags[PARENT] not in self._parents.values() or cell in self._tried
        if is_tried and self._is_complete(dataset, run):
            return
        self._tried.add(cell)
        try:
            self._write(dataset, run)
        except RefusedError:
            self._is_complete(dataset, run)  # it is not: what is logged of it goes
            raise
        self._tried.remove(cell)

    def _is_complete(self, dataset: str, run: Run) -> bool:
        """Return whether the run of a cell is logged completely; delete what is logged of it otherwise."""
        began = f"attributes.start_time = {run.started}"
        found = self._search(dataset, "cell", f"tags.`{CELL}` = '{run.tags[CELL]}'", began)
        if any(each.info.status in ("FINISHED", "FAILED") for each in found):
            return True
        for each in found:
            self.client.delete_run(each.info.run_id)
        return False

    def _write(self, dataset: str, run: Run, run_id: str | None = None) -> None:
        """Log a run to the experiment of a dataset; see `write_run`."""
        write_run(self.client, self.client.experiment_id(self._experiment(dataset)), run, run_id)

    def log_page(self, dataset: str, page: str) -> None:
        """Log the page of a report to the parent run of a dataset; only within a `sweep`."""
        self.client.log_text(self._parents[dataset], page, "report.html")

    def summarise(self, definitions: Iterable[Mapping[str, str]]) -> None:
        """Update the summaries of these definitions whose numbers changed.

        Means and spreads are over all finished cells of the same detector, code and corpus that
        the store holds, not over those of one sweep alone.
        """
        wanted = {(each["dataset"], summary_key(each)) for each in definitions}
        # two sweeps that end at once would write each of them twice
        with self.journal.held(), interrupts.held_back():
            for dataset in {dataset for dataset, _ in wanted}:
                definitions_of: dict[str, dict[str, str]] = {}
                groups = defaultdict(list)
                for run, row in self._cells(dataset):
                    key = summary_key(definition_of(run))
                    definitions_of.setdefault(key, definition_of(run))  # the newest comes first
                    groups[key].append(row)
                existing = {run.data.tags[SUMMARY]: run for run in self._search(dataset, "summary")}
                for key, group in groups.items():
                    old, cells = existing.get(key), latest(table_of(reversed(group)))
                    made = run_of_summary(definitions_of[key], cells)
                    before = sorted(old.data.metrics.items()) if old else []
                    # as text: NaN does not equal itself
                    if (dataset, key) in wanted and str(before) != str(sorted(made.metrics.items())):
                        self._write(dataset, made, old and old.info.run_id)

    # Reading

    def datasets(self) -> list[str]:
        """Return the datasets that the store has an experiment for."""
        prefix = self._experiment("")
        return sorted(
            name.removeprefix(prefix) for name in self.reader.experiments() if name.startswith(prefix)
        )

    def comparisons(self) -> dict[str, str]:
        """Return the address of each comparison within MLflow's pages, by the name of its experiment.

        That are all experiments with summary runs, whatever `experiment` is.
        """
        addresses = {name: comparison_page(each) for each, name in self.reader.summarised().items()}
        return dict(sorted(addresses.items()))

    def ended(self, datasets: Iterable[str]) -> dict[str, str]:
        """Return the status of all cells that have ended, that of the newest run, by their ids."""
        statuses: dict[str, str] = {}
        for dataset in datasets:
            for run in self.reader.runs(self._experiment(dataset)):  # newest first
                if CELL in run.tags:
                    statuses.setdefault(run.tags[CELL], run.tags.get(STATUS, ""))
        return statuses

    def cells(self, datasets: Iterable[str], leave_out: Note = lambda message: None) -> "pd.DataFrame":
        """Return all logged cells, oldest first; the newest of equal definitions only.

        `leave_out` receives a message on each run that somebody changed; it is left out.
        """
        return latest(self.every_cell(datasets, leave_out))

    def every_cell(self, datasets: Iterable[str], leave_out: Note = lambda message: None) -> "pd.DataFrame":
        """Return the same with all results of equal definitions."""
        rows = [row for dataset in datasets for _, row in self._cells(dataset, leave_out)]
        return table_of(sorted(rows, key=lambda row: float(row["started"])))

    def _cells(
        self, dataset: str, leave_out: Note = lambda message: None
    ) -> Iterator[tuple[Run, dict[str, Any]]]:
        """Yield the run and the row of each cell of a dataset, newest first."""
        n_older = 0
        for run in self.reader.runs(self._experiment(dataset)):
            if not is_of_this_version(run):
                n_older += 1
                continue
            try:
                row = row_of(run, self.redacted)
            except TrackingError as error:
                leave_out(str(error))
                continue
            if not dataset.endswith(f"/{row['dataset']}"):  # of an experiment within this one
                yield run, row
        if n_older:
            leave_out(
                f"{n_older:,} results of {dataset} in {self.redacted} are those of an unreleased version of "
                "adbench-text; run them again."
            )

    def artifact(self, dataset: str, run_id: str, name: str) -> str | None:
        """Return a text artifact of the run of a cell, None if it has none of that name."""
        try:
            return self._read(dataset, run_id, name)
        except (TrackingError, OSError, ValueError):  # never logged, deleted since, elsewhere, or no text
            return None

    def _read(self, dataset: str, run_id: str, name: str) -> str:
        if self.file is not None:  # a store may be anybody's, so no address that it names is followed
            root = artifact_root(self.file, self._experiment(dataset))
            path = root / file_name(run_id) / "artifacts" / name
            if not path.is_file() or (self.file.parent / "mlruns").resolve() not in path.resolve().parents:
                raise FileNotFoundError(path)  # a pipe would wait for ever, and a link may lead anywhere
            return path.read_text(encoding="utf-8")
        with TemporaryDirectory() as folder:  # otherwise downloads from a server would remain
            path = self.client.download_artifacts(run_id, name, folder)
            return Path(path).read_text(encoding="utf-8")

    def _search(self, dataset: str, kind: str, *conditions: str) -> list[Any]:
        """Return the runs of a kind that meet all conditions, in MLflow's language of filters."""
        experiment = self.client.get_experiment_by_name(self._experiment(dataset))
        if experiment is None:
            return []
        wanted = " and ".join([of_kind(kind), *conditions])
        return list(pages(self.client.search_runs, [experiment.experiment_id], wanted, max_results=_PAGE))
