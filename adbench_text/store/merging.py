"""Copies the finished cells of several stores into one.

The copies are below one parent run per dataset, whose tag ``adbench_text.kind`` is ``merge``. A copy counts
as finished only once everything is written, so a merge that was cut off can be repeated.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from adbench_text.errors import TrackingError
from adbench_text.store.payload import DESCRIPTION, LONGEST_TAG, PARENT, Input, Payload, Value
from adbench_text.store.record import TAG, Record, contradictions, newest_of
from adbench_text.store.store import Store


@dataclass(eq=False)
class Merged:
    """The finished cells of a source, counted."""

    source: Store
    copied: int = 0
    present: int = 0  # the target had finished them before
    repeated: int = 0  # taken from another source, whose result is newer or the same
    outdated: int = 0  # failed in the target after they ended well in the source
    without_artifacts: int = 0  # copied, but their artifacts could not be read
    refused: list[str] = field(default_factory=list)  # why artifacts were not read, if for their address


def merge(
    sources: Sequence[Store],
    target: Store,
    shown: Callable[[list[tuple[Merged, Record]]], Iterable[tuple[Merged, Record]]] = iter,
    wait: Callable[[], object] = lambda: None,
    note: Callable[[str], object] = lambda message: None,
) -> list[Merged]:
    """Copy the finished cells of several stores into one, each once; return what was copied from each.

    Of equal definitions the newest counts, as in a report. `shown` returns the cells to copy, and may show
    how many are done. `wait` is called if another merge of this machine into the same store is running.
    `note` receives a message on each run that somebody changed, which is not copied, and one on results that
    contradict each other. TrackingError is raised if a source is the target or has no results.
    """
    for source in sources:
        if is_same(source, target):
            raise TrackingError(f"{source.shown} is the store to merge into; give only the other stores.")
    merged = [Merged(source) for source in sources]
    with target.journal.held("merge", wait):
        finished = [(each, record) for each in merged for record in _finished(each.source, note)]
        cells = _chosen(finished, target, note)
        datasets = sorted({record.dataset for _, record in finished})
        target.close_abandoned(datasets, "merge")
        with target.parents("merge", _parents(cells)) as parents:
            for each, record in shown(cells):
                _copy(each, record, target, parents[record.dataset])
        # also those of cells that a merge has copied that was killed then
        target.summarise(record.definition for _, record in finished)
    return merged


def _parents(cells: Sequence[tuple[Merged, Record]]) -> dict[str, tuple[str, dict[str, str]]]:
    """Return title and tags of the parent run of each dataset."""
    numbers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for merged, record in cells:
        numbers[record.dataset][merged.source.shown] += 1
    parents = {}
    for dataset, of_source in numbers.items():
        lines = "".join(f"\n- `{source}`: {number} cells" for source, number in of_source.items())
        tags = {DESCRIPTION: f"Copied from:\n{lines}", f"{TAG}sources": "\n".join(of_source)[:LONGEST_TAG]}
        parents[dataset] = f"{of_source.total()} cells", tags
    return parents


def is_same(store: Store, other: Store) -> bool:
    """Return whether two stores are one, judging by their addresses, without user and password."""
    if store.file is None or other.file is None:
        store_at, other_at = (
            each.shown.replace("://***@", "://").rstrip("/").lower() for each in (store, other)
        )
        return store_at == other_at
    return store.file.resolve() == other.file.resolve()


def _finished(source: Store, note: Callable[[str], object]) -> list[Record]:
    datasets = source.datasets()
    if not datasets:
        raise TrackingError(f"There are no results of {source.experiment!r} in {source.shown}.")
    records = source.cells(datasets, lambda message: note(f"{message} It is not copied until then."))
    return [record for record in records if record.is_ok]


def _chosen(
    finished: Sequence[tuple[Merged, Record]], target: Store, note: Callable[[str], object]
) -> list[tuple[Merged, Record]]:
    """Return the cells to copy, oldest first; count the others."""
    held = {record.cell: record for record in target.cells(sorted({r.dataset for _, r in finished}))}
    newest = {record.cell: record for record in newest_of(record for _, record in finished)}
    for sentence in contradictions(newest_of([*newest.values(), *held.values()])):
        note(f"{sentence} The newest of the merged stores is copied; what {target.shown} has finished stays.")
    chosen = []
    for merged, record in sorted(finished, key=lambda pair: pair[1].started):
        other = held.get(record.cell)
        if other is not None and other.is_ok:
            merged.present += 1
        elif other is not None and other.started >= record.started:
            merged.outdated += 1
        elif record.cell in newest and newest[record.cell].started == record.started:
            chosen.append((merged, newest.pop(record.cell)))  # the first of equal ones
        else:
            merged.repeated += 1
    return chosen


def _copy(merged: Merged, record: Record, target: Store, parent: str) -> None:
    """Copy a cell below a parent run, and count it."""
    source = merged.source
    run, points = source.client.get_run(record.run_id), source.reader.points(record.run_id)
    with_history = {point.name for point in points}
    latest = record.metrics.items()  # of a metric that lost its history
    points += [Value(name, value, record.started) for name, value in latest if name not in with_history]
    inputs = [
        Input(each.tags[0].value if each.tags else "", used.name, used.digest, used.source, used.profile)
        for each in (run.inputs.dataset_inputs if run.inputs is not None else ())
        for used in (each.dataset,)
    ]
    own = {PARENT: parent, f"{TAG}merged_from": source.shown[:LONGEST_TAG]}
    tags = {name: value for name, value in run.data.tags.items() if name != "mlflow.runName"}
    copy = Payload(
        name=run.info.run_name,
        started=record.started,
        status=run.info.status,
        tags=tags | own,
        params=run.data.params,
        metrics=points,
        inputs=inputs,
    )
    with ExitStack() as stack:
        folder: Path | None = None
        try:
            folder = stack.enter_context(source.artifacts(record))
        except TrackingError as error:
            merged.refused.append(str(error))
        target.write(record.dataset, copy, folder=folder, ended=run.info.end_time)
    merged.copied += 1
    merged.without_artifacts += folder is None
