"""Runs a sweep from names to logged results."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol

from adbench_text.corpora import corpus
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split import contaminate, one_vs_rest
from adbench_text.isolation import preserved
from adbench_text.plugins import registry
from adbench_text.run import engine
from adbench_text.run.result import Result
from adbench_text.store.store import Store
from adbench_text.sweep.cell import Cell, identity_of, percent
from adbench_text.sweep.construct import build_detector
from adbench_text.sweep.definition import cell_id, definition
from adbench_text.sweep.sweep import Sweep


class Watcher(Protocol):
    """Is told how a sweep goes."""

    def say(self, message: str) -> None:
        """Show what is being done before the first cell."""

    def begin(self, todo: int, finished: int) -> None:
        """Take note of the number of cells to run, and of those that are finished already."""

    def started(self, cell: Cell) -> None:
        """Take note of a cell that begins."""

    def step(self, cell: Cell, step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Take note of how the training of a cell goes."""

    def done(self, result: Result) -> None:
        """Take note of a cell that has ended."""


def run_sweep(
    sweep: Sweep,
    cells: Sequence[Cell],
    store: Store,
    watcher: Watcher,
    jobs: int = 1,
    rerun: bool = False,
    trace_every: int = 0,
    report: bool = False,
) -> list[Result]:
    """Run the cells of a sweep that are not finished yet, and log each as soon as it is.

    Parameters
    ----------
    sweep : Sweep
    cells : sequence of Cell
        ``sweep.expand()``.
    store : Store
    watcher : Watcher
    jobs : int
        Number of processes.
    rerun : bool
        Run finished cells again.
    trace_every : int
        See `adbench_text.run.evaluate.evaluate`.
    report : bool
        Log tables, figures and page to the parent runs.

    Returns
    -------
    list of Result
        Of the cells that were run, as they came.
    """
    corpora = load_corpora(sweep, watcher)
    check_contamination(cells, corpora)
    prepare(cells, corpora)
    definitions = {cell: definition(cell, corpora[cell.dataset]) for cell in cells}
    finished = set() if rerun else store.finished(corpora)
    todo = [cell for cell in cells if cell_id(definitions[cell]) not in finished]
    watcher.begin(len(todo), len(cells) - len(todo))
    results: list[Result] = []
    if not todo:
        return results
    with store.sweep({cell.dataset: corpora[cell.dataset] for cell in todo}, _title(sweep)):
        try:
            cells_run = engine.run(todo, corpora, jobs, watcher.started, watcher.step, trace_every)
            with closing(cells_run) as running:
                for result in running:
                    store.log(result, definitions[result.cell], corpora[result.cell.dataset])
                    results.append(result)
                    watcher.done(result)
            if report:
                log_reports(store, {cell.dataset: corpora[cell.dataset] for cell in todo}, cells, watcher)
        finally:
            store.summarise(definitions[result.cell] for result in results)
    return results


def log_reports(store: Store, corpora: dict[str, Corpus], cells: Sequence[Cell], watcher: Watcher) -> None:
    """Log tables, figures and page of a sweep's cells to the parent runs of these datasets.

    What goes wrong here is said, and costs no result: a report can be made again.
    """
    import tempfile

    from adbench_text.reports.build import write_all

    known = {cell.identity for cell in cells}
    for dataset in sorted(corpora):
        digest = corpora[dataset].digest
        records = [
            record
            for record in store.cells([dataset])
            if identity_of(record) in known and record["dataset_digest"] == digest
        ]
        if not any(record["status"] == "ok" for record in records):
            continue
        watcher.say(f"writing the report on {dataset}")
        with tempfile.TemporaryDirectory() as folder:
            try:
                of_dataset = [cell for cell in cells if cell.dataset == dataset]
                write_all(records, store, Path(folder), of_dataset)
                store.log_folder(dataset, Path(folder))
            except Exception as error:  # whatever it is, the results are safe
                watcher.say(f"No report on {dataset}: {error}; make it by adbench-text report.")


def check_contamination(cells: Sequence[Cell], corpora: dict[str, Corpus]) -> None:
    """Raise InvalidValueError if a split has too few other documents for a level that is asked for."""
    for (dataset, inlier), levels in _levels(cells).items():
        contaminate(one_vs_rest(corpora[dataset], inlier), max(levels), seed=0)


def _levels(cells: Sequence[Cell]) -> dict[tuple[str, str], set[float]]:
    levels: dict[tuple[str, str], set[float]] = {}
    for cell in cells:
        levels.setdefault((cell.dataset, cell.inlier), set()).add(cell.contamination)
    return levels


def load_corpora(sweep: Sweep, watcher: Watcher) -> dict[str, Corpus]:
    """Load the corpus of each dataset of a sweep."""
    corpora = {}
    for name in sweep.datasets:
        watcher.say(f"loading {name}")
        corpora[name] = corpus.load(registry.dataset(name), sweep.limit)
        watcher.say(f"{name}: {corpora[name].edition}; {corpora[name].counts()}")
    return corpora


@preserved()
def prepare(cells: Sequence[Cell], corpora: dict[str, Corpus]) -> None:
    """Let each configuration look up vectors or word pieces of the whole corpus, before anything is run."""
    for cell in {(c.detector, c.configuration, c.dataset): c for c in cells}.values():
        detector = build_detector(cell)
        if hasattr(detector, "prepare"):
            whole = corpora[cell.dataset]
            detector.prepare(whole.train.texts + whole.test.texts)


def _title(sweep: Sweep) -> str:
    names = ", ".join(dict.fromkeys(choice.name for choice in sweep.detectors))
    levels = ", ".join(percent(level) for level in sweep.contamination)
    return f"{names} at {levels}"
