"""Copies the finished cells of several stores into one.

The copies are below one parent run per dataset, whose tag ``adbench_text.kind`` is ``merge``. A copy counts
as finished only once everything is written, so a merge that was cut off can be repeated.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from adbench_text.errors import TrackingError
from adbench_text.escaping import without_password
from adbench_text.provenance import command_line
from adbench_text.store.artifacts import files_below, local_folder
from adbench_text.store.payload import LONGEST_TAG, Value, run_tags
from adbench_text.store.reading import KIND
from adbench_text.store.record import TAG, Record, contradictions, newest_of
from adbench_text.store.store import DEFAULT_EXPERIMENT, HOST, Store, host
from adbench_text.store.write import PARENT, write_values

_KIND = "merge"


@dataclass
class Merged:
    """The finished cells of a source, counted.

    Attributes
    ----------
    store : str
        Names the source.
    copied, present : int
        Cells that were copied, and cells that the target had finished before.
    repeated : int
        Cells that are taken from another source, whose result is newer or the same.
    outdated : int
        Cells that failed in the target after they ended well in the source.
    without_artifacts : int
        Copied cells whose artifacts could not be read.
    refused : list of str
        Why artifacts of these cells were not read, where their addresses are the reason.
    """

    store: str
    copied: int = 0
    present: int = 0
    repeated: int = 0
    outdated: int = 0
    without_artifacts: int = 0
    refused: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """What is to be copied.

    Attributes
    ----------
    cells : list of (Source, Record)
        The cells to copy, oldest first.
    definitions : list of mapping
        The definitions of all finished cells of the sources.
    counts : dict of Source to Merged
        What is copied from each source; nothing yet.
    """

    cells: list[tuple["Source", Record]] = field(default_factory=list)
    definitions: list[Mapping[str, str]] = field(default_factory=list)
    counts: dict["Source", Merged] = field(default_factory=dict)


class Source(Store):
    """A store that cells are copied from; see `Store`."""

    def __init__(self, uri: str, experiment: str = DEFAULT_EXPERIMENT) -> None:
        super().__init__(uri, experiment, create=False)
        self.refused: list[str] = []

    def is_same(self, other: "Target") -> bool:
        """Whether both are one store, as far as their addresses tell."""
        if self._file is None or other._file is None:
            return _bare(self.uri) == _bare(other.uri)
        if self._file.exists() and other._file.exists():
            return self._file.samefile(other._file)
        return self._file.resolve() == other._file.resolve()

    def run_of(self, record: Record) -> Any:
        """Return the run of a cell as MLflow's entity, with its tags and inputs."""
        return self._client.get_run(record.run_id)

    def points(self, record: Record) -> list[Value]:
        """Return all values of all metrics of a cell."""
        return self._reader.points(record.run_id)

    @contextmanager
    def folder(self, record: Record) -> Iterator[Path | None]:
        """Yield a folder with the artifacts of a cell, None if there is none, or if it is refused."""
        experiment = f"{self.experiment}/{record.dataset}"
        try:
            folder_here = local_folder(record, self.uri, self._file, experiment)
        except TrackingError as error:
            self.refused.append(str(error))
            yield None
            return
        if folder_here is not None:
            yield folder_here if folder_here.is_dir() else None
        elif not self._client.list_artifacts(record.run_id):
            yield None
        else:
            with TemporaryDirectory() as folder:
                yield Path(self._client.download_artifacts(record.run_id, "", folder))


def _bare(uri: str) -> str:
    """Return an address as it is compared: without user and password."""
    return without_password(uri).replace("://***@", "://").rstrip("/").lower()


class Target(Store):
    """A store that cells are copied to; see `Store`."""

    def alone(self, notify: Callable[[], object]) -> AbstractContextManager[None]:
        """Wait for other merges of this machine into this store; `notify` is called if there is one."""
        return self._journal.held("merge", notify)

    def copy(self, plan: Plan, notify: Callable[[], object]) -> None:
        """Copy the cells of a plan, and count them; `notify` is called after each."""
        datasets = sorted({record.dataset for _, record in plan.cells})
        for dataset in sorted({each["dataset"] for each in plan.definitions}):
            self._experiment_id(dataset)  # all of them before anything is written
            mine = f"attributes.status = 'RUNNING' and tags.`{HOST}` = '{host()}'"
            for run in list(self._search(dataset, _KIND, mine)):
                self._close(dataset, run.info.run_id, "KILLED")  # a merge that was killed
        for dataset in datasets:
            cells = [(source, record) for source, record in plan.cells if record.dataset == dataset]
            parent, status = self._new_merge(dataset, cells), "FAILED"
            try:
                for source, record in cells:
                    with source.folder(record) as folder:
                        self._copy(source, record, folder, parent)
                    plan.counts[source].copied += 1
                    plan.counts[source].without_artifacts += folder is None
                    notify()
                status = "FINISHED"
            except KeyboardInterrupt:
                status = "KILLED"
                raise
            finally:
                with suppress(TrackingError):  # the first error is the one to report
                    self._close(dataset, parent, status)
        self.summarise(plan.definitions)  # a merge that was killed may not have come so far

    def _new_merge(self, dataset: str, cells: Sequence[tuple[Source, Record]]) -> str:
        of_source: dict[str, int] = {}
        for source, _ in cells:
            of_source[source.shown] = of_source.get(source.shown, 0) + 1
        numbers = "".join(f"\n- `{name}`: {number} cells" for name, number in of_source.items())
        tags = {
            KIND: _KIND,
            HOST: host(),
            f"{TAG}sources": "\n".join(of_source)[:LONGEST_TAG],
            "mlflow.note.content": f"`{command_line()}`\n\nCopied from:\n{numbers}",
            **run_tags(),
        }
        name = f"merge: {len(cells)} cells"
        run = self._client.create_run(self._experiment_id(dataset), tags=tags, run_name=name)
        return str(run.info.run_id)

    def _copy(self, source: Source, record: Record, folder: Path | None, parent: str) -> None:
        """Copy a cell below a parent run. It counts as finished only once everything is written."""
        run, points = source.run_of(record), source.points(record)
        with_history = {point.name for point in points}
        latest = record.metrics.items()  # of a metric that lost its history
        points += [Value(name, value, record.started) for name, value in latest if name not in with_history]
        own = {PARENT: parent, f"{TAG}merged_from": source.shown[:LONGEST_TAG]}
        tags = {name: value for name, value in run.data.tags.items() if name != "mlflow.runName"}
        run_id = self._client.create_run(
            self._experiment_id(record.dataset),
            start_time=record.started,
            tags=tags | own,
            run_name=run.info.run_name,
        ).info.run_id
        write_values(self._client, run_id, run.data.params, points)
        if run.inputs is not None and run.inputs.dataset_inputs:
            self._client.log_inputs(run_id, datasets=run.inputs.dataset_inputs)
        if folder is not None:
            for path in files_below(folder):
                subfolder = path.parent.as_posix() if path.parent != Path() else None
                self._client.log_artifact(run_id, str(folder / path), subfolder)
        self._client.set_terminated(run_id, run.info.status, run.info.end_time)


def merge(
    sources: Sequence[Source],
    target: Target,
    begin: Callable[[int], Callable[[], object]],
    wait: Callable[[], object] = lambda: None,
    note: Callable[[str], object] = lambda message: None,
) -> list[Merged]:
    """Copy the finished cells of several stores into one, each once; return what was copied from each.

    Of equal definitions the newest counts, as in a report. Failed cells are not copied.

    Parameters
    ----------
    sources : sequence of Source
    target : Target
    begin : callable
        Receives the number of cells to copy; returns what is called after each.
    wait : callable
        Called if this merge has to wait for another one of this machine into the same store.
    note : callable
        Receives a message on each run of a source that somebody changed, which is not copied, and one on
        results that contradict each other.

    Raises
    ------
    TrackingError
        If a source is the target or has no results, or a store cannot be used.
    """
    for source in sources:
        if source.is_same(target):
            raise TrackingError(f"{source.shown} is the store to merge into; give only the other stores.")
    with target.alone(wait):
        plan = plan_of(sources, target, note)
        target.copy(plan, begin(len(plan.cells)))
    return list(plan.counts.values())


def plan_of(sources: Sequence[Source], target: Target, note: Callable[[str], object]) -> Plan:
    """Return what is to be copied; nothing is written. `note` as in `merge`."""
    plan = Plan(counts={source: Merged(source.shown, refused=source.refused) for source in sources})
    finished: list[tuple[Source, Record]] = []
    for source in sources:
        datasets = source.datasets()
        if not datasets:
            raise TrackingError(f"There are no results of {source.experiment!r} in {source.shown}.")
        for record in source.cells(datasets, lambda message: note(f"{message} It is not copied until then.")):
            if ".." in PurePath(record.dataset).parts or PurePath(record.dataset).is_absolute():
                raise TrackingError(  # it becomes part of a path
                    f"The run {record.run_id} in {source.shown} has no usable name of a dataset, "
                    f"got {record.dataset!r}; delete the run."
                )
            if record.is_ok:
                finished.append((source, record))
    held = {record.cell: record for record in target.cells(sorted({r.dataset for _, r in finished}))}
    newest = {record.cell: record for record in newest_of(record for _, record in finished)}
    for sentence in contradictions(newest_of([*newest.values(), *held.values()])):
        note(f"{sentence} The newest of the merged stores is copied; what {target.shown} has finished stays.")
    plan.definitions.extend(record.definition for record in newest.values())
    for source, record in sorted(finished, key=lambda pair: pair[1].started):
        other = held.get(record.cell)
        if other is not None and other.is_ok:
            plan.counts[source].present += 1
        elif other is not None and other.started >= record.started:
            plan.counts[source].outdated += 1
        elif record.cell in newest and newest[record.cell].started == record.started:
            plan.cells.append((source, newest.pop(record.cell)))  # the first of equal ones
        else:
            plan.counts[source].repeated += 1
    return plan
