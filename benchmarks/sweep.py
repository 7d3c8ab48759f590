"""Benchmarks of sweeps: the costs of a cell without its detector, and the speed of two processes."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import ClassVar
from unittest.mock import patch

import numpy as np
import psutil

from adbench_text.cli.main import main
from adbench_text.cli.progress import ProgressDisplay
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DetectorChoice
from adbench_text.run.cell import Cell
from adbench_text.run.engine import Local
from adbench_text.run.progress import Progress
from adbench_text.run.result import Result
from adbench_text.run.runner import run_sweep
from adbench_text.run.sweep import Sweep
from adbench_text.store.store import Store

TOY = Path(__file__).parents[1] / "tests" / "toy"  # the plug-ins of the tests
N_SEEDS, N_CLASSES = 334, 3
N_CELLS = N_SEEDS * N_CLASSES
N_RUNS = 4  # seeds of the sweep for one and two jobs


class Meter(Progress):
    """Records the time of each cell, and the CPU time and memory of this process and its workers."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.cpu_seconds: dict[int, float] = {}
        self.megabytes: dict[int, float] = {}

    def done(self, result: object) -> None:
        self.times.append(time.perf_counter())
        n = len(self.times)
        if n in (1, 100, N_CELLS - 99, N_CELLS):
            process = psutil.Process()
            processes = [process, *process.children(recursive=True)]
            self.cpu_seconds[n] = sum(sum(each.cpu_times()[:2]) for each in processes)
            self.megabytes[n] = sum(each.memory_info().rss for each in processes) / 1e6

    def milliseconds(self, first: int, last: int) -> tuple[float, float]:
        """Return the median time between two cells, and the mean CPU time of one."""
        cpu = (self.cpu_seconds[last] - self.cpu_seconds[first]) / (last - first)
        return 1e3 * float(np.median(np.diff(self.times[first - 1 : last]))), 1e3 * cpu


def measure_tiny_cells(jobs, folder):
    """Measure cells with 20 training and 30 test documents, and a detector that takes a millisecond."""
    sweep = Sweep([DetectorChoice("counting")], ["tiny"], (), [0.0], range(N_SEEDS))
    store, meter = Store(f"sqlite:///{folder / 'mlflow.db'}"), Meter()
    results = run_sweep(sweep, sweep.expand(), store, meter, Local(jobs))
    assert len(store.cells(["tiny"])) == len(results) == N_CELLS
    assert all(result.status == "ok" for result in results)
    first, last = meter.milliseconds(1, 100), meter.milliseconds(N_CELLS - 99, N_CELLS)
    print(
        f"\n{N_CELLS} tiny cells, --jobs {jobs}: {first[0]:.1f} ms a cell, {first[1]:.1f} of CPU, for "
        f"the first 100; {last[0]:.1f} ms, {last[1]:.1f} of CPU, for the last 100 "
        f"({last[1] / first[1]:.2f} times as much); {meter.megabytes[100]:.0f} MB after 100 cells, "
        f"{meter.megabytes[N_CELLS]:.0f} at the end"
    )


class Timed(ProgressDisplay):
    """Records the start and the end of each cell."""

    times: ClassVar[list[float]] = []

    def started(self, cell: Cell) -> None:
        self.times.append(time.perf_counter())
        super().started(cell)

    def done(self, result: Result) -> None:
        self.times.append(time.perf_counter())
        super().done(result)


def run_timed(words: Sequence[str]) -> None:
    """Run a command; print the number of starts and ends of cells, and the time between first and last."""
    with patch("adbench_text.cli.run.ProgressDisplay", Timed):
        main(words, standalone_mode=False)
    print(len(Timed.times), Timed.times[-1] - Timed.times[0])


def seconds_of_a_sweep(jobs: int, threads: str | None, folder: Path) -> float:
    """Return the time of the real command from the first start to the last end of a cell."""
    words = "--offline run -d ocsvm --encoder svd -s pydocs --contamination 0 --contamination 0.1 --no-report"
    seeds = [word for seed in range(N_RUNS) for word in ("--seed", str(seed))]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads) if threads else {}
    done = subprocess.run(
        [sys.executable, __file__, *words.split(), *seeds, "--jobs", str(jobs)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    n_events, seconds = done.stdout.split()[-2:]
    assert int(n_events) == 2 * 2 * N_RUNS * len(registry.dataset("pydocs").classes)
    return float(seconds)


def compare_jobs(threads, folders):
    """Compare one job and two. By default one worker has a thread per core, and two share the cores."""
    one, two = (seconds_of_a_sweep(jobs, threads, next(folders)) for jobs in (1, 2))
    print(
        f"\nocsvm on pydocs, {threads or 'the default number of'} threads: "
        f"--jobs 2 is {one / two:.2f} times as fast as --jobs 1 ({one:.1f} and {two:.1f} s)"
    )


def folders_with_stores(parent):
    """Yield folders with copies of an empty store, because it takes seconds to make one."""
    made = parent / "empty.db"
    Store(f"sqlite:///{made}").datasets()
    for number in count():
        folder = parent / str(number)
        folder.mkdir()
        shutil.copy(made, folder / "mlflow.db")
        yield folder


def measure() -> None:
    """Run all measurements."""
    sys.path.insert(0, str(TOY))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(TOY), os.environ.get("PYTHONPATH")]))
    with tempfile.TemporaryDirectory() as name:
        os.environ["ADBENCH_TEXT_CACHE"] = str(Path(name) / "cache")
        folders = folders_with_stores(Path(name))
        for jobs in (0, 1):
            measure_tiny_cells(jobs, next(folders))
        for threads in (None, "1"):
            compare_jobs(threads, folders)


if __name__ == "__main__":
    if words := sys.argv[1:]:
        run_timed(words)
    else:
        measure()
