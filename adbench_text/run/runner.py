"""Runs the cells of a sweep that are not finished yet."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from statistics import median
from threading import Timer
from typing import Any

from adbench_text.corpora.corpus import Corpus, load
from adbench_text.errors import AdbenchTextError, PluginError, TrackingError
from adbench_text.isolation import preserved
from adbench_text.places import as_plugin_error
from adbench_text.plugins import registry
from adbench_text.plugins.detector import TextDetector
from adbench_text.plugins.foreign import SIGN, TURNED
from adbench_text.run.engine import Engine, Limits, Work
from adbench_text.run.evaluate import measured, split_of
from adbench_text.run.progress import Progress
from adbench_text.run.result import Result
from adbench_text.sweep.cell import Cell, of_splits, percent
from adbench_text.sweep.construct import build_detector, cell_id, definition, identified
from adbench_text.sweep.sweep import Sweep
from adbench_text.text.pretrained import caching

_PATIENCE = 2.0  # seconds until a user gets a notice of a slow preparation
_RETRY_SECONDS = 60.0  # between two attempts to reach a store that was lost
_SILENT, _NO_LIMITS = Progress(), Limits()


def run_sweep(
    sweep: Sweep,
    cells: Sequence[Cell],
    store: Any,
    progress: Progress,
    engine: Engine,
    *,
    rerun: bool = False,
    retry_failed: bool = False,
    limits: Limits = _NO_LIMITS,
    trace_every: int = 0,
    report: Callable[[Mapping[str, Corpus]], object] = lambda corpora: None,
) -> list[Result]:
    """Run the cells of a sweep that have not ended yet, log each as soon as it has, and return the results.

    `store` is an `adbench_text.store.store.Store`. `report` is called once all cells are logged, within the
    sweep, with the corpora of the datasets that were run. TrackingError means that the store is lost for
    good; the next sweep logs what is kept.
    """
    engine.check(limits)
    corpora = load_corpora(sweep, progress)
    definitions, unusable = prepare(cells, corpora, progress)
    store.log_kept()
    was_killed = store.close_abandoned(corpora)
    before = {} if rerun else store.ended(corpora)
    statuses = {cell: before.get(cell_id(of_cell), "") for cell, of_cell in definitions.items()}
    todo = [cell for cell, status in statuses.items() if not status or (retry_failed and status != "ok")]
    n_failed = 0 if retry_failed else sum(status not in ("", "ok") for status in statuses.values())
    progress.begin(todo, len(statuses) - len(todo), n_failed)
    if not todo and not was_killed:
        return unusable

    def keep(result: Result) -> Result:
        corpus = corpora[result.cell.dataset]
        result = measured(result, corpus)  # here: no detector has run in this process
        store.keep(result, definitions[result.cell], corpus)
        return result

    work = Work(
        *(todo, corpora, progress, limits, trace_every, definitions),
        seconds=lambda: _remembered_seconds(todo, store),
        keep=keep,
    )
    results: list[Result] = []
    used = {cell.dataset: corpora[cell.dataset] for cell in (definitions if was_killed else todo)}
    with store.sweep(used, _title(sweep, cells)):
        try:
            _run(engine, work, store, results)
            store.log_kept()
            report(used)
        finally:
            store.log_kept()
            changed = definitions if was_killed else [result.cell for result in results]
            store.summarise(definitions[cell] for cell in changed)
    return unusable + results


def _run(engine: Engine, work: Work, store: Any, results: list[Result]) -> None:
    """Run cells, append their results and log them as they come; while the store is lost, they wait."""
    lost_at: float | None = None
    try:
        with closing(engine.run(work)) as ended:
            for result in ended:
                results.append(result.without_data())
                work.progress.done(result)
                if lost_at is not None and time.monotonic() - lost_at < _RETRY_SECONDS:
                    continue
                try:
                    store.log_kept()
                    lost_at = None
                except TrackingError as error:
                    if lost_at is None:
                        text = f"{error} Until then, results are kept and logged later."
                        work.progress.message(text, "error")
                    lost_at = time.monotonic()
    finally:
        _fail_if_changed(work, results)


def _fail_if_changed(work: Work, results: list[Result]) -> None:
    """Let all cells of a corpus fail that has changed since the start: code can edit its cache."""
    for name in {result.cell.dataset for result in results}:
        if work.corpora[name].has_changed():
            reason = f"the cached documents of {name} were edited during the sweep"
            work.progress.message(f"all its cells failed: {reason}. Run them with --retry failed.", "error")
            for i, result in enumerate(results):
                if result.cell.dataset == name and not result.reason:
                    results[i] = work.keep(Result(result.cell, time.time(), {}, reason=reason))


def _median_seconds(records: Iterable[Any]) -> dict[tuple[str, ...], float]:
    """Return how long cells took, by detector, configuration and dataset, and by detector alone."""
    taken: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for record in records:
        seconds = record.metrics.get("fit_seconds", 0.0) + record.metrics.get("score_seconds", 0.0)
        taken[record.detector, record.configuration, record.dataset].append(seconds)
        taken[record.detector,].append(seconds)
    return {key: median(values) for key, values in taken.items()}


def _remembered_seconds(cells: Sequence[Cell], store: Any) -> dict[Cell, float]:
    """Return how long similar cells took: the same configuration and dataset, else the same detector."""
    try:
        medians = _median_seconds(store.cells({cell.dataset for cell in cells}))
    except TrackingError:  # somebody changed the store; this is for the order of the cells only
        return {}
    return {
        cell: medians.get((cell.detector, cell.configuration, cell.dataset), medians.get((cell.detector,), 0))
        for cell in cells
    }


def impossible(cells: Iterable[Cell], corpora: Mapping[str, Corpus]) -> dict[Cell, str]:
    """Return the cells that cannot run on these corpora, and why: a split has too few outliers, or none."""
    reasons: dict[tuple[object, ...], str] = {}
    for cell in cells:
        key = cell.dataset, cell.inlier, cell.contamination, of_splits(cell)
        if key not in reasons:
            try:
                split_of(replace(cell, seed=0), corpora[cell.dataset])
                reasons[key] = ""
            except AdbenchTextError as error:
                reasons[key] = str(error)
    by_cell = {c: reasons[c.dataset, c.inlier, c.contamination, of_splits(c)] for c in cells}
    return {cell: reason for cell, reason in by_cell.items() if reason}


def load_corpora(sweep: Sweep, progress: Progress = _SILENT) -> dict[str, Corpus]:
    """Load the corpus of each dataset of a sweep, with a message before and after each."""
    corpora = {}
    for name in sweep.datasets:
        progress.message(f"loading {name}")
        corpora[name] = load(registry.dataset(name), sweep.limit)
        progress.message(f"{name}: {corpora[name].edition}; {corpora[name].counts()}")
    return corpora


@preserved()
def prepare(
    cells: Sequence[Cell], corpora: Mapping[str, Corpus], progress: Progress = _SILENT
) -> tuple[dict[Cell, dict[str, str]], list[Result]]:
    """Let each configuration look up vectors or word pieces of complete corpora, before anything is run.

    Return the definition of each cell, and failed results of the cells whose detector cannot be identified:
    they are not run, because the store could not distinguish them.
    """
    configured: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        configured[cell.detector, cell.configuration].append(cell)
    definitions: dict[Cell, dict[str, str]] = {}
    reasons: dict[Cell, str] = {}
    turned: set[str] = set()
    for of_configuration in configured.values():
        first = of_configuration[0]
        try:
            built = build_detector(first)
            for name in dict.fromkeys(cell.dataset for cell in of_configuration):
                _prepare(built, first.name, corpora[name], progress)
            identity = identified(built, first)
        except PluginError as error:
            if str(error) not in reasons.values():
                progress.message(f"failed: {first} and its other splits: {error}", "error")
            reasons |= dict.fromkeys(of_configuration, str(error))
            continue
        # of a member, the name of the resource follows its number
        is_turned = any(name.startswith("resource.") and name.endswith(f".{SIGN}") for name in identity)
        if is_turned and first.detector not in turned:
            turned.add(first.detector)
            progress.message(f"{first.detector}: {TURNED}")
        definitions |= {cell: definition(cell, corpora[cell.dataset], identity) for cell in of_configuration}
    failed = [Result(cell, time.time(), {}, reason=reasons[cell]) for cell in cells if cell in reasons]
    return {cell: definitions[cell] for cell in cells if cell in definitions}, failed


def _prepare(built: TextDetector, name: str, corpus: Corpus, progress: Progress) -> None:
    """Let a detector look up resources of a corpus; it may do without, otherwise its cells fail."""
    notice = f"preparing the documents of {corpus.name} for {name}, once; this may take minutes"
    timer = Timer(_PATIENCE, progress.message, [notice])
    timer.start()
    try:
        with (
            caching(),
            as_plugin_error(f"{name} cannot be prepared", built.implementation.__module__),
        ):
            documents = corpus.read_by(built)
            built.prepare([*documents.train.texts, *documents.test.texts])
    except PluginError as error:
        progress.message(f"{error}", "error")
    finally:
        timer.cancel()


def _title(sweep: Sweep, cells: Sequence[Cell]) -> str:
    names = ", ".join(dict.fromkeys(choice.name for choice in sweep.detectors))
    levels = ", ".join(percent(level) for level in sorted({cell.contamination for cell in cells}))
    return f"{names} at {levels}{of_splits(sweep)}"
