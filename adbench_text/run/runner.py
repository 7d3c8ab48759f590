"""Runs the cells of a sweep that are not finished yet."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from threading import Timer
from typing import Protocol

from adbench_text.corpora.corpus import Corpus, load
from adbench_text.corpora.split import contaminate, one_vs_rest, thinned
from adbench_text.errors import PluginError
from adbench_text.isolation import preserved
from adbench_text.places import as_plugin_error
from adbench_text.plugins import registry
from adbench_text.run import engine
from adbench_text.run.result import Result
from adbench_text.sweep.cell import Cell, of_test_set, percent
from adbench_text.sweep.construct import build_detector
from adbench_text.sweep.definition import cell_id, definition
from adbench_text.sweep.sweep import Sweep

_PATIENCE = 2.0  # seconds until a user gets a notice of a slow preparation


class Watcher(Protocol):
    """Receives progress events of a sweep."""

    def message(self, text: str) -> None:
        """Print a line."""

    def begin(self, todo: int, finished: int) -> None:
        """Receive the number of cells to run, and of those that are finished already."""

    def started(self, cell: Cell) -> None:
        """Receive a cell that begins."""

    def step(self, cell: Cell, step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Receive the state of the training of a cell."""

    def done(self, result: Result) -> None:
        """Receive a cell that has ended."""


class ResultStore(Protocol):
    """Keeps results; `adbench_text.store.store.Store` is one."""

    def finished(self, datasets: Iterable[str]) -> set[str]:
        """Return the ids of all cells of these datasets that have a result."""

    def sweep(self, corpora: Mapping[str, Corpus], title: str) -> AbstractContextManager[None]:
        """Open a sweep; `log` works inside."""

    def log(self, result: Result, definition: Mapping[str, str], corpus: Corpus) -> None:
        """Keep the result of a cell."""

    def summarise(self, definitions: Iterable[Mapping[str, str]]) -> None:
        """Renew the means of the cells with these definitions."""


def run_sweep(
    sweep: Sweep,
    cells: Sequence[Cell],
    store: ResultStore,
    watcher: Watcher,
    jobs: int = 1,
    rerun: bool = False,
    trace_every: int = 0,
    report: Callable[[Mapping[str, Corpus]], object] = lambda corpora: None,
) -> list[Result]:
    """Run the cells of a sweep that are not finished yet, and log each as soon as it is.

    Parameters
    ----------
    sweep : Sweep
    cells : sequence of Cell
        ``sweep.expand()``.
    store : ResultStore
    watcher : Watcher
    jobs : int
        Number of processes.
    rerun : bool
        Run finished cells again.
    trace_every : int
        See `adbench_text.run.evaluate.evaluate`.
    report : callable
        Called once all cells are logged, within the sweep, with the corpora of the datasets that were run.

    Returns
    -------
    list of Result
        Of the cells that were run, in the order in which they ended.
    """
    corpora = load_corpora(sweep, watcher)
    check_contamination(cells, corpora)
    prepare(cells, corpora, watcher)
    definitions, unusable = define(cells, corpora, watcher)
    cells = list(definitions)
    finished = set() if rerun else store.finished(corpora)
    todo = [cell for cell in cells if cell_id(definitions[cell]) not in finished]
    watcher.begin(len(todo), len(cells) - len(todo))
    results: list[Result] = []
    if not todo:
        return unusable
    used = {cell.dataset: corpora[cell.dataset] for cell in todo}
    with store.sweep(used, _title(sweep)):
        try:
            cells_run = engine.run(todo, corpora, jobs, watcher.started, watcher.step, trace_every)
            with closing(cells_run) as running:
                for result in running:
                    store.log(result, definitions[result.cell], corpora[result.cell.dataset])
                    results.append(result)
                    watcher.done(result)
            report(used)
        finally:
            store.summarise(definitions[result.cell] for result in results)
    return unusable + results


def define(
    cells: Sequence[Cell], corpora: Mapping[str, Corpus], watcher: Watcher
) -> tuple[dict[Cell, dict[str, str]], list[Result]]:
    """Return the definitions of cells, and a failed result of each cell whose detector cannot be identified.

    The latter are not run, because the store could not tell them apart. Each reason is one message.
    """
    definitions: dict[Cell, dict[str, str]] = {}
    failed: list[Result] = []
    for cell in cells:
        try:
            definitions[cell] = definition(cell, corpora[cell.dataset])
        except PluginError as error:
            if str(error) not in {result.reason for result in failed}:
                watcher.message(f"failed: {cell} and its other splits: {error}")
            failed.append(Result(cell, time.time(), {}, reason=str(error)))
    return definitions, failed


def check_contamination(cells: Sequence[Cell], corpora: dict[str, Corpus]) -> None:
    """Raise InvalidValueError if a split has too few outliers for a share that is asked for."""
    for (dataset, inlier), levels in _levels(cells).items():
        contaminate(one_vs_rest(corpora[dataset], inlier), max(levels), seed=0)
    for dataset, inlier, share in dict.fromkeys((c.dataset, c.inlier, c.test_outliers) for c in cells):
        if share is not None:
            thinned(one_vs_rest(corpora[dataset], inlier).outlier, share, seed=0)


def _levels(cells: Sequence[Cell]) -> dict[tuple[str, str], set[float]]:
    levels: dict[tuple[str, str], set[float]] = {}
    for cell in cells:
        levels.setdefault((cell.dataset, cell.inlier), set()).add(cell.contamination)
    return levels


def load_corpora(sweep: Sweep, watcher: Watcher) -> dict[str, Corpus]:
    """Load the corpus of each dataset of a sweep."""
    corpora = {}
    for name in sweep.datasets:
        watcher.message(f"loading {name}")
        corpora[name] = load(registry.dataset(name), sweep.limit)
        watcher.message(f"{name}: {corpora[name].edition}; {corpora[name].counts()}")
    return corpora


@preserved()
def prepare(cells: Sequence[Cell], corpora: dict[str, Corpus], watcher: Watcher) -> None:
    """Let each configuration look up vectors or word pieces of complete corpora, before anything is run."""
    for cell in {(c.detector, c.configuration, c.dataset): c for c in cells}.values():
        corpus = corpora[cell.dataset]
        detector = f"{cell.detector} {cell.configuration}".strip()
        notice = f"preparing the documents of {cell.dataset} for {detector}, once; this may take minutes"
        timer = Timer(_PATIENCE, watcher.message, [notice])
        timer.start()
        try:
            built = build_detector(cell)
            with as_plugin_error(f"{detector} cannot be prepared", built.implementation.__module__):
                built.prepare(corpus.train.texts + corpus.test.texts)
        except PluginError as error:  # it may do without; otherwise its cells fail
            watcher.message(f"{error}")
        finally:
            timer.cancel()


def _title(sweep: Sweep) -> str:
    names = ", ".join(dict.fromkeys(choice.name for choice in sweep.detectors))
    levels = ", ".join(percent(level) for level in sweep.contamination)
    return f"{names} at {levels}{of_test_set(sweep.test_outliers)}"
