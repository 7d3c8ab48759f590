"""Run cells on an engine, and yield each result when its cell is finished."""

import time
from collections.abc import Callable, Generator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from adbench_text.processes import CallError
from adbench_text.run.cell import Cell
from adbench_text.run.engine import Engine, Local, Work
from adbench_text.run.evaluate import scored
from adbench_text.run.result import Result

_LOOK_SECONDS = 1.0  # interval at which the number of workers is checked


def run_cells(
    engine: Engine, work: Work, keep: Callable[[Result, Cell], Result] = lambda result, cell: result
) -> Generator[Result]:
    """Run cells and yield each result when its cell is finished; closing the generator ends all processes.

    `keep` takes the result from the process of a cell, and the cell, and returns the result with metrics. It
    runs in this process, before another cell starts. An AdbenchTextError ends the sweep.
    """
    if isinstance(engine, Local) and not engine.jobs:
        for cell in work.cells:
            work.progress.started(cell)
            corpus, is_oracle = work.corpora[cell.split.dataset], work.is_oracle(cell)
            yield keep(scored(cell, corpus, work.progress, is_oracle), cell)
        return
    waiting = dict.fromkeys(work.cells)
    running: dict[Future[Result], tuple[Cell, float]] = {}  # with the time when the cell was submitted
    with engine.start(work) as started:

        def submit() -> None:
            """Submit cells to the workers that are free."""
            n, n_on_gpu = started.sizes()
            while len(running) < n:
                is_gpu_free = sum(work.may_use_gpu(cell) for cell, _ in running.values()) < n_on_gpu
                ready = (cell for cell in waiting if is_gpu_free or not work.may_use_gpu(cell))
                if (next_cell := next(ready, None)) is None:
                    return
                del waiting[next_cell]
                work.progress.started(next_cell)
                running[started.submit(next_cell)] = next_cell, time.time()

        def next_result() -> Result | None:
            """Wait a moment for a cell to finish; return its result, or None."""
            if not running:  # a cluster without workers
                time.sleep(_LOOK_SECONDS)
                return None
            future = next(iter(wait(running, _LOOK_SECONDS, FIRST_COMPLETED).done), None)
            if future is None:
                return None
            cell, began = running.pop(future)
            try:
                result = future.result()
            except CallError as error:
                result = Result(cell, began, {}, reason=str(error), stopped=error.stopped)
            return keep(result, cell)

        submit()
        while waiting or running:
            result = next_result()
            submit()  # first, so that no process waits while the caller logs the result
            if result is not None:
                yield result
