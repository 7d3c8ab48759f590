"""Run the cells of a sweep that are not finished yet."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any

from adbench_text.contract.protocols import REDRAWN
from adbench_text.corpora.corpus import Corpus, load
from adbench_text.corpora.split import Split, draw
from adbench_text.corpora.split_key import SplitKey, percent
from adbench_text.errors import AdbenchTextError, InvalidValueError, TrackingError
from adbench_text.plugins import registry
from adbench_text.processes import Limits
from adbench_text.run.cell import Cell
from adbench_text.run.definition import cell_id
from adbench_text.run.engine import Engine, Work
from adbench_text.run.measure import measured
from adbench_text.run.preparation import prepare
from adbench_text.run.progress import Progress
from adbench_text.run.result import Result
from adbench_text.run.running import run_cells
from adbench_text.run.sweep import Sweep

_RETRY_SECONDS = 60.0  # between two attempts to reach a lost store
_NO_LIMITS = Limits()
_N_SPLITS = 16  # drawn splits to keep; the cells on one split are neighbours


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
    report: Callable[[Mapping[str, Corpus], Sequence[Cell]], object] = lambda corpora, cells: None,
) -> list[Result]:
    """Run the cells of a sweep that have not ended yet, log each when it ends, and return the results.

    `store` is an `adbench_text.store.store.Store`. After all cells are logged, before the run of the sweep
    ends, `report` is called with the corpora of these cells, and with all cells of the sweep that can run.
    It is not called if nothing is left to run. TrackingError means that the store is lost for good; the next
    sweep logs the results in the journal.
    """
    corpora = load_corpora(sweep, progress)
    cells = _possible(cells, corpora, progress)
    definitions, unusable = prepare(cells, corpora, progress, sweep.built)
    _log_kept(store, progress, {})  # results of earlier sweeps
    ids = {cell: cell_id(definition) for cell, definition in definitions.items()}
    ended_before = {} if rerun else store.ended(corpora)
    statuses = {cell: ended_before.get(name, "") for cell, name in ids.items()}
    todo = [cell for cell, status in statuses.items() if not status or (retry_failed and status != "ok")]
    n_failed = 0 if retry_failed else sum(status not in ("", "ok") for status in statuses.values())
    progress.begin(todo, len(statuses) - len(todo), n_failed)
    if not todo:
        store.summarise(definitions.values())  # a killed run may have left stale summaries
        return unusable

    @lru_cache(_N_SPLITS)
    def split_of(key: SplitKey) -> Split:
        """Draw a split again, for the metrics."""
        return draw(corpora[key.dataset], key)

    def keep(returned: Result, cell: Cell) -> Result:
        """Measure the result of a cell, and write it to the journal."""
        corpus = corpora[cell.split.dataset]
        # not in the process of the cell, because a detector may have changed its libraries
        result = measured(returned, cell, split_of(cell.split), corpus)
        store.keep(result, definitions[cell], corpus)
        return result

    work = Work(todo, corpora, definitions=definitions, progress=progress, limits=limits)
    refused: dict[str, str] = {}  # cells whose results the store refused, by id
    log_kept = partial(_log_kept, store, progress, refused)
    results, due = list[Result](), 0.0
    used = {cell.split.dataset: corpora[cell.split.dataset] for cell in todo}
    with store.sweep(used, _title(sweep, cells)):
        try:
            with closing(run_cells(engine, work, keep)) as ended:
                for result in ended:
                    results.append(result.without_data())
                    progress.done(result)
                    due = _next_attempt(log_kept, progress, due)
            log_kept()
            report(used, cells)
        finally:
            log_kept()
            store.summarise(definitions.values())
    return unusable + [
        replace(result, reason=refused.get(ids[result.cell]) or result.reason) for result in results
    ]


def _log_kept(store: Any, progress: Progress, refused: dict[str, str]) -> None:
    """Log the results in the journal; report refused results, and add their reasons by cell to `refused`."""
    reasons = store.log_kept()
    for reason in reasons.values():
        progress.message(f"A result is not logged: {reason}", "error")
    refused |= reasons


def _next_attempt(log_kept: Callable[[], None], progress: Progress, due: float) -> float:
    """Log the results in the journal, unless it is before the time `due`; return the next `due`.

    It is 0 if the store answers: then the next result is logged at once.
    """
    if time.monotonic() < due:
        return due
    try:
        log_kept()
    except TrackingError as error:
        if not due:
            progress.message(f"{error} Until then, results are kept and logged later.", "error")
        return time.monotonic() + _RETRY_SECONDS
    return 0.0


def impossible(splits: Iterable[SplitKey], corpora: Mapping[str, Corpus]) -> dict[SplitKey, str]:
    """Return the splits that these corpora cannot have, with the reasons: too few outliers, or none.

    Only labels are read. For known outliers, texts are also read, because the test part must not have them.
    """

    @cache
    def reason(key: SplitKey) -> str:
        try:
            draw(corpora[key.dataset], key)
        except AdbenchTextError as error:
            return str(error)
        return ""

    # one look is enough for all seeds, unless the seed chooses the documents to learn from or to test
    reasons = {
        key: reason(key if corpora[key.dataset].protocol == REDRAWN else replace(key, seed=0))
        for key in splits
    }
    return {key: why for key, why in reasons.items() if why}


def _possible(cells: Sequence[Cell], corpora: Mapping[str, Corpus], progress: Progress) -> list[Cell]:
    """Return the cells that can run; report the others, with one message for each dataset and level.

    Raise InvalidValueError if no cell can run.
    """
    refused = impossible((cell.split for cell in cells), corpora)
    left_out: dict[tuple[str, float], list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.split in refused:
            left_out[cell.split.dataset, cell.split.contamination].append(cell)
    for of_level in left_out.values():
        first, n = of_level[0], f"{len(of_level):,} of {len(cells):,}"
        progress.message(f"{n} cells left out, such as {first}: {refused[first.split]}", "error")
    possible = [cell for cell in cells if cell.split not in refused]
    if not possible and cells:
        raise InvalidValueError(f"No cell can be run: {next(iter(refused.values()))}")
    return possible


def load_corpora(sweep: Sweep, progress: Progress) -> dict[str, Corpus]:
    """Load the corpora of a sweep, with a message before and after each."""
    corpora = {}
    for name in sweep.datasets:
        progress.message(f"loading {name}")
        corpora[name] = load(registry.dataset(name), sweep.limit)
        progress.message(f"{name}: {corpora[name].edition}; {corpora[name].counts()}")
    return corpora


def _title(sweep: Sweep, cells: Sequence[Cell]) -> str:
    """Return the title of a sweep: its detectors, levels, and variants of splits."""
    names = ", ".join(dict.fromkeys(choice.name for choice in sweep.detectors))
    keys = [cell.split for cell in cells]
    levels = [percent(level) for level in sorted({key.contamination for key in keys})]
    return f"{names} at {', '.join(filter(None, [*levels, *dict.fromkeys(key.variant for key in keys)]))}"
