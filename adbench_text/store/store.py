"""The MLflow store: write results, and read them back.

A dataset has one experiment (``adbench-text/20news``). It has a parent run for each sweep, with a child run
for each cell, which has every identifying param. It also has a summary run for each detector and
contamination level, with means and spreads over splits and seeds. A summary run has no parent: MLflow's pages
hide child runs, so they open on the comparison. The tag ``adbench_text.kind`` of a run is ``sweep``, ``cell``
or ``summary``.
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
_PAGE = 5000  # runs in a request

Note = Callable[[str], object]


class Store:
    """An MLflow store. TrackingError is raised if the store does not answer.

    The name of an experiment is made of `experiment` and the name of the dataset. With `create`, a missing
    database is created. Without it, a missing database is an error, and the database is only read.
    """

    def __init__(
        self, uri: str | None = None, experiment: str = DEFAULT_EXPERIMENT, create: bool = True
    ) -> None:
        self.uri, self.experiment = tracking_uri(uri), checked_experiment(experiment)
        check_reachable(self.uri, writes=create)
        file = sqlite_file(self.uri)
        self.file = file.absolute() if file else None  # absolute, because a detector may change the folder
        if not create and self.file is not None and not (self.file.exists() and self.file.stat().st_size):
            raise NoResultsError(f"There are no results in {self.redacted} yet; begin with adbench-text run.")
        self._parents: dict[str, str] = {}  # ids of the parent runs of a `sweep`, by dataset
        self._tried: set[str] = set()  # cells that may be logged in part
        self.journal = Journal(folder_of(self.uri, self.file, self.experiment))

    @cached_property
    def client(self) -> StoreClient:
        """MLflow's client; its first use creates a new database."""
        return StoreClient(f"sqlite:///{self.file}" if self.file else self.uri)

    @cached_property
    def reader(self) -> Reader:
        """Reads experiments and runs: from the tables of a SQLite file, or with MLflow's client."""
        if self.file is None:
            return ClientReader(self.client)
        if not (self.file.exists() and self.file.stat().st_size):
            _ = self.client  # creates the tables of a new database
        return DatabaseReader(self.uri, self.file)

    @property
    def redacted(self) -> str:
        """The address for people, without a password."""
        return without_password(self.uri)

    def _experiment(self, dataset: str) -> str:
        """Return the name of the experiment of a dataset."""
        return f"{self.experiment}/{dataset}"

    # Writing

    @contextmanager
    def sweep(self, corpora: Mapping[str, Corpus], title: str) -> Iterator[None]:
        """Open a parent run for each dataset, for cells that are logged in the block; write how it ended."""
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
                # report the first error
                with suppress(TrackingError) if status != "FINISHED" else nullcontext():
                    self.client.set_terminated(run_id, status)
            self._parents.clear()

    def _describe(self, experiment_id: str) -> None:
        """Write a link to the comparison into the description of an experiment without one."""
        link = f"[means over splits and seeds]({comparison_page(experiment_id)})"
        text = f"Compare the detectors: {link}, one run per detector and contamination level."
        try:
            if not self._is_described(experiment_id):
                self.client.set_experiment_tag(experiment_id, DESCRIPTION, text)
        except RefusedError:  # another process may have written it meanwhile
            if not self._is_described(experiment_id):
                raise

    def _is_described(self, experiment_id: str) -> bool:
        """Return whether an experiment has a description."""
        return DESCRIPTION in self.client.get_experiment(experiment_id).tags

    def keep(self, result: Result, definition: Mapping[str, str], corpus: Corpus) -> None:
        """Write the result of a cell to the journal; `log_kept` logs it. Use it only within a `sweep`."""
        self.journal.write(run_of_cell(result, definition, corpus, self._parents[result.cell.split.dataset]))

    def log_kept(self) -> dict[str, str]:
        """Log the results in the journal, also of other processes, which may have ended.

        If the store does not answer, keep them in the journal, and raise TrackingError. If the store refuses
        a result, move it to another folder, and go on; return the reasons by cell.
        """
        self.client.try_again()
        refused = {}
        with self.journal.held():
            for path, run in self.journal.entries():
                try:
                    self._log(run)
                    path.unlink(missing_ok=True)
                except RefusedError as error:
                    refused[run.tags[CELL]] = (
                        f"{error} The result was moved to {self.journal.set_aside(path)}."
                    )
        return refused

    def _log(self, run: Run) -> None:
        """Log the run of a cell, unless it is logged already; raise RefusedError if the store refuses it."""
        cell, dataset = run.tags[CELL], run.params["dataset"]
        # a process was killed, perhaps after it had logged the cell; or logging has failed in the middle
        is_tried = run.tags[PARENT] not in self._parents.values() or cell in self._tried
        if is_tried and self._is_complete(dataset, run):
            return
        self._tried.add(cell)
        try:
            self._write(dataset, run)
        except RefusedError:
            self._is_complete(dataset, run)  # this deletes the parts that are logged
            raise
        self._tried.remove(cell)

    def _is_complete(self, dataset: str, run: Run) -> bool:
        """Return whether the run of a cell is completely logged; otherwise delete its parts."""
        began = f"attributes.start_time = {run.started}"
        logged = self._search(dataset, "cell", f"tags.`{CELL}` = '{run.tags[CELL]}'", began)
        if any(other.info.status in ("FINISHED", "FAILED") for other in logged):
            return True
        for other in logged:
            self.client.delete_run(other.info.run_id)
        return False

    def _write(self, dataset: str, run: Run, run_id: str | None = None) -> None:
        """Log a run to the experiment of a dataset: a new one, or `run_id` again; see `write_run`."""
        write_run(self.client, self.client.experiment_id(self._experiment(dataset)), run, run_id)

    def log_page(self, dataset: str, page: str) -> None:
        """Log the page of a report to the parent run of a dataset; use it only within a `sweep`."""
        self.client.log_text(self._parents[dataset], page, "report.html")

    def summarise(self, definitions: Iterable[Mapping[str, str]]) -> None:
        """Update the summaries of these definitions if their numbers changed.

        Means and spreads are over all finished cells in the store with the same detector, code, corpus and
        level, not only over the cells of one sweep.
        """
        wanted = {(each["dataset"], summary_key(each)) for each in definitions}
        # two sweeps that end at once would write a summary twice, and an interrupt would write half of one
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
                    if (dataset, key) not in wanted:
                        continue
                    old, oldest_first = existing.get(key), reversed(group)
                    new = run_of_summary(definitions_of[key], latest(table_of(oldest_first)))
                    before = sorted(old.data.metrics.items()) if old else []
                    # as text, because NaN does not equal itself
                    if str(before) != str(sorted(new.metrics.items())):
                        self._write(dataset, new, old and old.info.run_id)

    # Reading

    def datasets(self) -> list[str]:
        """Return the datasets with an experiment in the store."""
        prefix = self._experiment("")
        return sorted(
            name.removeprefix(prefix) for name in self.reader.experiments() if name.startswith(prefix)
        )

    def comparisons(self) -> dict[str, str]:
        """Return the addresses of comparisons in MLflow's pages, by name of the experiment.

        Every experiment with summary runs has one, also with another prefix than `experiment`.
        """
        summarised = self.reader.summarised().items()
        addresses = {name: comparison_page(experiment_id) for experiment_id, name in summarised}
        return dict(sorted(addresses.items()))

    def ended(self, datasets: Iterable[str]) -> dict[str, str]:
        """Return the status of all cells that have ended, by id; the newest run counts."""
        statuses: dict[str, str] = {}
        for dataset in datasets:
            for run in self.reader.runs(self._experiment(dataset)):  # newest first
                if CELL in run.tags:
                    statuses.setdefault(run.tags[CELL], run.tags.get(STATUS, ""))
        return statuses

    def cells(self, datasets: Iterable[str], leave_out: Note = lambda message: None) -> "pd.DataFrame":
        """Return all logged cells, oldest first; if definitions are equal, only the newest.

        Runs that somebody changed are left out, and `leave_out` receives a message on each.
        """
        return latest(self.every_cell(datasets, leave_out))

    def every_cell(self, datasets: Iterable[str], leave_out: Note = lambda message: None) -> "pd.DataFrame":
        """Return all logged cells as `cells` does, but with all results if definitions are equal."""
        rows = [row for dataset in datasets for _, row in self._cells(dataset, leave_out)]
        return table_of(sorted(rows, key=lambda row: float(row["started"])))

    def _cells(
        self, dataset: str, leave_out: Note = lambda message: None
    ) -> Iterator[tuple[Run, dict[str, Any]]]:
        """Yield the run and the row of each cell of a dataset, newest first.

        `leave_out` receives a message on each run that is left out.
        """
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
            if not dataset.endswith(f"/{row['dataset']}"):  # of an experiment with a longer prefix
                yield run, row
        if n_older:
            leave_out(
                f"{n_older:,} results of {dataset} in {self.redacted} come from an unreleased version of "
                "adbench-text; run them again."
            )

    def artifact(self, dataset: str, run_id: str, name: str) -> str | None:
        """Return a text artifact of the run of a cell; None if the artifact does not exist."""
        try:
            return self._read(dataset, run_id, name)
        except (TrackingError, OSError, ValueError):  # not logged, deleted, elsewhere, or not text
            return None

    def _read(self, dataset: str, run_id: str, name: str) -> str:
        """Return a text artifact of a run; raise an error if it cannot be read."""
        if self.file is not None:  # somebody else may have made the store, so do not follow its addresses
            root = artifact_root(self.file, self._experiment(dataset))
            path = root / file_name(run_id) / "artifacts" / name
            if not path.is_file() or (self.file.parent / "mlruns").resolve() not in path.resolve().parents:
                raise FileNotFoundError(path)  # a pipe would block, and a link may lead anywhere
            return path.read_text(encoding="utf-8")
        with TemporaryDirectory() as folder:  # otherwise downloaded files would remain
            path = self.client.download_artifacts(run_id, name, folder)
            return Path(path).read_text(encoding="utf-8")

    def _search(self, dataset: str, kind: str, *conditions: str) -> list[Any]:
        """Return the runs of a kind that meet all conditions, written as filters of MLflow."""
        experiment = self.client.get_experiment_by_name(self._experiment(dataset))
        if experiment is None:
            return []
        wanted = " and ".join([of_kind(kind), *conditions])
        return list(pages(self.client.search_runs, [experiment.experiment_id], wanted, max_results=_PAGE))
