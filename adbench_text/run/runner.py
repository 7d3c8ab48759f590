"""Runs the cells of a sweep that are not finished yet."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from threading import Timer
from typing import Protocol

from adbench_text.corpora.corpus import Corpus, load
from adbench_text.corpora.split import contaminate, one_vs_rest, thinned
from adbench_text.errors import AdbenchTextError, PluginError, TrackingError
from adbench_text.isolation import preserved
from adbench_text.places import as_plugin_error
from adbench_text.plugins import registry
from adbench_text.plugins.foreign import SIGN, TURNED
from adbench_text.run.engine import Engine, Hooks, Limits, Work
from adbench_text.run.expected import Expected, Remembered, expected_seconds
from adbench_text.run.result import Result
from adbench_text.sweep.cell import Cell, of_test_set, percent
from adbench_text.sweep.construct import build_detector
from adbench_text.sweep.definition import cell_id, definition
from adbench_text.sweep.sweep import Sweep
from adbench_text.text import vectors

_PATIENCE = 2.0  # seconds until a user gets a notice of a slow preparation
_RETRY_SECONDS = 60.0  # between two attempts to reach a store that was lost


class Watcher(Protocol):
    """Receives progress events of a sweep."""

    def message(self, text: str) -> None:
        """Print a line."""

    def begin(self, todo: int, finished: int, failed: int) -> None:
        """Receive the numbers of cells to run, of those that have ended before, and of these that failed."""

    def expect(self, seconds: Mapping[Cell, Expected]) -> None:
        """Receive the time that each cell to run is expected to take; empty if that cannot be read."""

    def started(self, cell: Cell) -> None:
        """Receive a cell that begins."""

    def step(self, cell: Cell, step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Receive the state of the training of a cell."""

    def done(self, result: Result) -> None:
        """Receive a cell that has ended."""


class ResultStore(Protocol):
    """Keeps results; `adbench_text.store.store.Store` is one."""

    def ended(self, datasets: Iterable[str]) -> Mapping[str, str]:
        """Return the status of all cells of these datasets that have ended, by their ids."""

    def close_abandoned(self, datasets: Iterable[str]) -> bool:
        """Close sweeps whose processes were killed; return whether there were any."""

    def cells(self, datasets: Iterable[str]) -> Iterable[Remembered]:
        """Return all cells of these datasets that have ended."""

    def sweep(self, corpora: Mapping[str, Corpus], title: str) -> AbstractContextManager[None]:
        """Open a sweep; `keep` works inside."""

    def claim(self, cell: str) -> bool | None:
        """Return whether a cell may run, by its id; None while another process runs it."""

    def keep(self, result: Result, definition: Mapping[str, str], corpus: Corpus) -> None:
        """Make the result of a cell durable, at once."""

    def log_kept(self) -> None:
        """Log all that is kept, also by processes that were killed; raise TrackingError if that fails."""

    def summarise(self, definitions: Iterable[Mapping[str, str]]) -> None:
        """Renew the means of the cells with these definitions."""


def run_sweep(
    sweep: Sweep,
    cells: Sequence[Cell],
    store: ResultStore,
    watcher: Watcher,
    engine: Engine,
    *,
    rerun: bool = False,
    retry_failed: bool = False,
    limits: Limits | None = None,
    trace_every: int = 0,
    report: Callable[[Mapping[str, Corpus]], object] = lambda corpora: None,
) -> list[Result]:
    """Run the cells of a sweep that have not ended yet, and log each as soon as it has.

    Parameters
    ----------
    sweep : Sweep
    cells : sequence of Cell
        ``sweep.expand()``.
    store : ResultStore
    watcher : Watcher
    engine : Engine
    rerun : bool
        Run cells again that have ended.
    retry_failed : bool
        Run cells again that have failed.
    limits : Limits, optional
        Of each cell.
    trace_every : int
        See `adbench_text.run.evaluate.evaluate`.
    report : callable
        Called once all cells are logged, within the sweep, with the corpora of the datasets that were run.

    Returns
    -------
    list of Result
        Of the cells that were run, in the order in which they ended; see `Result.without_data`.

    Raises
    ------
    TrackingError
        If the store is lost and does not come back. Results that are not logged then are kept: they are
        logged by the next sweep.
    """
    getattr(engine, "check", lambda: None)()
    corpora = load_corpora(sweep, watcher.message)
    prepare(cells, corpora, watcher.message)
    definitions, unusable = define(cells, corpora, watcher)
    cells = list(definitions)
    store.log_kept()
    was_killed = store.close_abandoned(corpora)
    before = {} if rerun else store.ended(corpora)
    statuses = {cell: before.get(cell_id(definitions[cell]), "") for cell in cells}
    todo = [cell for cell, status in statuses.items() if not status or (retry_failed and status != "ok")]
    n_failed = 0 if retry_failed else sum(status not in ("", "ok") for status in statuses.values())
    watcher.begin(len(todo), len(cells) - len(todo), n_failed)
    results: list[Result] = []
    if not todo and not was_killed:
        return unusable
    expected = _expected(todo, corpora, store)
    watcher.expect(expected)
    used = {cell.dataset: corpora[cell.dataset] for cell in (cells if was_killed else todo)}
    logging = _Logging(store, watcher)
    hooks = Hooks(
        watcher.started,
        watcher.step,
        lambda cell: store.claim(cell_id(definitions[cell])),
        lambda result: store.keep(result, definitions[result.cell], corpora[result.cell.dataset]),
        watcher.message,
    )
    work = Work(
        *(todo, corpora, hooks, limits or Limits(), trace_every),
        lambda: {cell: seconds.total for cell, seconds in expected.items()},
        definitions,
    )
    with store.sweep(used, _title(sweep)):
        try:
            with closing(engine.run(work)) as ended:
                for result in ended:
                    results.append(result.without_data())
                    watcher.done(result)
                    logging.attempt()
            store.log_kept()
            report(used)
        finally:
            store.log_kept()
            ended_now = [result.cell for result in results]
            store.summarise(definitions[cell] for cell in (cells if was_killed else ended_now))
    return unusable + results


def _expected(
    todo: Sequence[Cell], corpora: Mapping[str, Corpus], store: ResultStore
) -> dict[Cell, Expected]:
    """Return the time that each cell is expected to take; empty if somebody changed the store."""
    try:
        return expected_seconds(todo, corpora, store.cells({cell.dataset for cell in todo}))
    except TrackingError:
        return {}


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


class _Logging:
    """Logs results as they come; while the store is lost, they wait."""

    def __init__(self, store: ResultStore, watcher: Watcher) -> None:
        self._store, self._watcher = store, watcher
        self._lost_at: float | None = None

    def attempt(self) -> None:
        """Log all that is kept, unless that has just failed."""
        if self._lost_at is not None and time.monotonic() - self._lost_at < _RETRY_SECONDS:
            return
        try:
            self._store.log_kept()
        except TrackingError as error:
            if self._lost_at is None:
                self._watcher.message(f"{error} Until then, results are kept and logged later.")
            self._lost_at = time.monotonic()
        else:
            self._lost_at = None


def impossible(cells: Iterable[Cell], corpora: Mapping[str, Corpus]) -> dict[Cell, str]:
    """Return the cells that cannot run on these corpora, and why: a split has too few outliers, or none."""
    reasons: dict[tuple[object, ...], str] = {}
    refused = {}
    for cell in cells:
        key = cell.dataset, cell.inlier, cell.contamination, cell.test_outliers
        if key not in reasons:
            reasons[key] = ""
            try:
                clean = one_vs_rest(corpora[cell.dataset], cell.inlier)
                split = contaminate(clean, cell.contamination, seed=0)
                if cell.test_outliers is not None:
                    thinned(split.outlier, cell.test_outliers, seed=0)
            except AdbenchTextError as error:
                reasons[key] = str(error)
        if reasons[key]:
            refused[cell] = reasons[key]
    return refused


def load_corpora(sweep: Sweep, message: Callable[[str], object] = lambda text: None) -> dict[str, Corpus]:
    """Load the corpus of each dataset of a sweep; `message` receives a line before and after each."""
    corpora = {}
    for name in sweep.datasets:
        message(f"loading {name}")
        corpora[name] = load(registry.dataset(name), sweep.limit)
        message(f"{name}: {corpora[name].edition}; {corpora[name].counts()}")
    return corpora


@preserved()
def prepare(
    cells: Sequence[Cell], corpora: Mapping[str, Corpus], message: Callable[[str], object] = lambda text: None
) -> None:
    """Let each configuration look up vectors or word pieces of complete corpora, before anything is run.

    `message` receives a line about what takes long, fails, or must be known to read the scores.
    """
    turned: set[str] = set()
    for cell in {(c.detector, c.configuration, c.dataset): c for c in cells}.values():
        corpus = corpora[cell.dataset]
        notice = f"preparing the documents of {cell.dataset} for {cell.name}, once; this may take minutes"
        timer = Timer(_PATIENCE, message, [notice])
        timer.start()
        try:
            built = build_detector(cell)
            with (
                vectors.caching(),
                as_plugin_error(f"{cell.name} cannot be prepared", built.implementation.__module__),
            ):
                # of a member, the name of the resource follows its number
                is_turned = any(name.rpartition(".")[2] == SIGN for name in built.resources())
                if is_turned and cell.detector not in turned:
                    turned.add(cell.detector)
                    message(f"{cell.detector}: {TURNED}")
                built.prepare([*corpus.train.texts, *corpus.test.texts])
        except PluginError as error:  # it may do without; otherwise its cells fail
            message(f"{error}")
        finally:
            timer.cancel()


def _title(sweep: Sweep) -> str:
    names = ", ".join(dict.fromkeys(choice.name for choice in sweep.detectors))
    levels = ", ".join(percent(level) for level in sweep.contamination)
    return f"{names} at {levels}{of_test_set(sweep.test_outliers)}"
