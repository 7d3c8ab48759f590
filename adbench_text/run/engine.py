"""Runs cells, in this process or in several."""

import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from itertools import groupby

from adbench_text import interrupts
from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import AdbenchTextError
from adbench_text.run.evaluate import OnStep, evaluate
from adbench_text.run.result import Result
from adbench_text.sweep.cell import Cell


def run(
    cells: Sequence[Cell],
    corpora: Mapping[str, Corpus],
    jobs: int = 1,
    on_start: Callable[[Cell], object] = lambda cell: None,
    on_step: OnStep = lambda *_: None,
    trace_every: int = 0,
) -> Generator[Result]:
    """Run cells and yield each result as it is finished.

    Parameters
    ----------
    cells : sequence of Cell
        Cells that share a split should be neighbours: they run in one process, one after the
        other, and share the values computed from the split's texts.
    corpora : mapping of str to Corpus
        The corpus of each dataset.
    jobs : int
        Number of processes; with one, everything runs in this process.
    on_start : callable
        Called with each cell that begins (with several processes: with the first cell of each split).
    on_step : callable
        Called with the progress of each training; with several processes, never.
    trace_every : int
        See `evaluate`.

    Raises
    ------
    AdbenchTextError
        If a worker process dies, for example for lack of memory. Results yielded before are valid.
    """
    if jobs == 1:
        for cell in cells:
            on_start(cell)
            yield evaluate(cell, corpora[cell.dataset], on_step, trace_every)
    else:
        yield from _run_in_processes(cells, corpora, jobs, on_start, trace_every)


def _run_in_processes(
    cells: Sequence[Cell],
    corpora: Mapping[str, Corpus],
    jobs: int,
    on_start: Callable[[Cell], object],
    trace_every: int,
) -> Generator[Result]:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    groups = [list(group) for _, group in groupby(cells, key=lambda cell: cell.split)]
    # loky replaces a worker that has grown after a split, which is of no interest to the user
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    # loky divides the cores between the workers, so that no two of them compete for one
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)
    tasks = (
        delayed(_evaluate_all)(_announced(group, on_start), corpora[group[0].dataset], trace_every)
        for group in groups
    )
    outputs = None
    try:
        with interrupts.ignored():  # by the workers; this process receives Ctrl-C and ends them
            outputs = parallel(tasks)
        for results in outputs:
            yield from results
    except TerminatedWorkerError as error:
        raise AdbenchTextError(
            "A worker process died, perhaps for lack of memory. Finished cells are kept: "
            "run the same command again with fewer --jobs."
        ) from error
    finally:
        if outputs is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # closing stops running tasks on purpose
                outputs.close()


def _announced(group: list[Cell], on_start: Callable[[Cell], object]) -> list[Cell]:
    """Return the group itself, after calling `on_start` with its first cell."""
    on_start(group[0])
    return group


def _evaluate_all(cells: list[Cell], corpus: Corpus, trace_every: int) -> list[Result]:
    return [evaluate(cell, corpus, trace_every=trace_every) for cell in cells]
