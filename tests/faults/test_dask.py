"""Sweeps on a real Dask cluster: a scheduler and its workers on 127.0.0.1."""

import logging
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from sweep_processes import (
    CELLS,
    assert_complete,
    kill,
    printed,
    query,
    start,
    wait_for,
    worker_process,
)

from adbench_text.cluster import Cluster
from adbench_text.corpora import corpus
from adbench_text.corpora.split_key import SplitKey
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.plugins import registry
from adbench_text.processes import Limits
from adbench_text.run.cell import Cell
from adbench_text.run.definition import definition
from adbench_text.run.engine import Dask, Local, Work
from adbench_text.run.progress import Progress
from adbench_text.run.running import run_cells

pytest.importorskip("distributed")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def here(tmp_path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def cells_of(nanny: subprocess.Popen) -> list[psutil.Process]:
    """The processes below a worker in which cells run, or their scores are measured."""
    servers = [each for each in worker_process(nanny).children() if "forkserver" in str(each.cmdline())]
    return [each for server in servers for each in server.children()]


def test_a_cluster_gives_the_same_figures(cluster, here, undisturbed):
    for _ in range(2):
        cluster.add_worker()
    assert start(here, *cluster.options).wait() == 0, printed(here)
    assert_complete(here, undisturbed)


def test_the_cells_of_a_killed_worker_run_elsewhere(cluster, here, undisturbed):
    nannies = [cluster.add_worker() for _ in range(2)]
    process = start(here, *cluster.options)
    for n_cells, nanny in ((5, nannies[0]), (20, nannies[1])):
        wait_for(here, f"[{n_cells}/60]", process)
        children = cells_of(nanny)
        worker_process(nanny).kill()
        assert psutil.wait_procs(children, timeout=20)[1] == []
    assert process.wait() == 0, printed(here)
    assert_complete(here, undisturbed)


@pytest.fixture
def run(cluster, toy_path):
    """Runs cells on the cluster, from this process."""
    corpora = {"tiny": corpus.load(registry.dataset("tiny"))}

    def run(cells, engine=None, message=lambda text: None, **options):
        progress = Progress()
        progress.message = message
        definitions = {cell: definition(cell, corpora[cell.split.dataset]) for cell in cells}
        work = Work(cells, corpora, definitions, progress, **options)
        return list(run_cells(engine or Dask(cluster.address), work))

    return run


def cells(n: int, detector="counting", **settings) -> list[Cell]:
    return [Cell(detector, "default", settings, SplitKey("tiny", "sea", seed=seed)) for seed in range(n)]


@pytest.mark.parametrize(
    ("fault", "quoted"),
    [("dies", "(exit code 9)"), ("kills", "all 4 workers ")],
)
def test_a_killer_costs_at_most_the_cells_that_are_beside_it_each_time(cluster, run, fault, quoted):
    for _ in range(2):
        cluster.add_worker("--nthreads=2", TOY_SECONDS="0.5")
    innocent, (killer,) = cells(9), cells(1, "faulty", fault=fault)
    results = run([*innocent[:4], killer, *innocent[4:]])
    assert len(results) == 10
    failed = {result.cell: result for result in results if result.reason}
    assert quoted in failed[killer].reason
    assert {result.status for result in failed.values()} == {"killed"}
    assert len(failed) <= (1 if fault == "dies" else 4)
    expected = {result.cell: result.scores for result in run(innocent, Local(0))}
    for result in results:
        if result.cell not in failed:
            np.testing.assert_array_equal(result.scores, expected[result.cell])


def test_a_cell_over_its_time_is_stopped_on_the_worker(cluster, run):
    cluster.add_worker()
    (hanging,), (good,) = cells(1, "faulty", fault="hangs"), cells(1)
    results = run([hanging, good], limits=Limits(seconds=8))
    assert {result.cell: result.status for result in results} == {hanging: "timed out", good: "ok"}


def test_memory_is_limited_by_dask():
    with pytest.raises(InvalidValueError, match=r"--cell-memory .*Dask's workers"):
        Dask("tcp://127.0.0.1:1").check(Limits(megabytes=1000))


def test_cells_on_a_gpu_go_to_its_worker_one_at_a_time_and_the_others_do_not_wait(cluster, run):
    cluster.add_worker("--nthreads=2", "--resources", "GPU=1", TOY_WORKER="gpu", TOY_SECONDS="1")
    cluster.add_worker(TOY_WORKER="cpu")
    on_gpu, other = cells(3, "on-gpu"), cells(6)
    results = run([*on_gpu, *other])
    assert {result.ran_on["worker"] for result in results if result.cell in on_gpu} == {"gpu"}
    turns = sorted(
        (result.started, result.metrics["fit_seconds"]) for result in results if result.cell in on_gpu
    )
    ends = [began + seconds for began, seconds in turns]
    assert all(end <= began for end, (began, _) in zip(ends, turns[1:], strict=False))
    assert min(result.started for result in results if result.cell in other) < ends[0]  # meanwhile


def test_a_worker_with_another_version_ends_the_sweep(cluster, run, tmp_path):
    other = tmp_path / "other" / "adbench_text-0.0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: adbench-text\nVersion: 0.0.1\n")
    cluster.add_worker(PYTHONPATH=str(other.parent))
    with pytest.raises(AdbenchTextError, match=r"worker tcp://.* adbench-text 0\.0\.1, "):
        run(cells(1))


def test_a_worker_with_other_resources_ends_the_sweep(cluster, run):
    cluster.add_worker(TOY_RESOURCE="2")
    with pytest.raises(AdbenchTextError, match=r"these cells: counting has resource\.words 2 there, 1 here"):
        run(cells(1))


def test_a_command_waits_for_workers_and_a_killed_one_leaves_no_cell_running(cluster, here, undisturbed):
    process = start(here, *cluster.options)
    wait_for(here, "waiting for a worker of tcp://", process)
    nanny = cluster.add_worker(TOY_SECONDS="2")
    wait_for(here, "[3/60]", process)
    time.sleep(1)  # the next cell has been sent
    children = cells_of(nanny)
    kill(process)
    assert psutil.wait_procs(children, timeout=20)[1] == []
    process = start(here, *cluster.options)
    wait_for(here, "[5/", process)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert cells_of(nanny) == []
    cluster.add_worker()
    assert start(here, *cluster.options).wait() == 0, printed(here)
    assert_complete(here, undisturbed)


@pytest.mark.parametrize("name", ["batched", "client", "comm.tcp", "core"])
def test_errors_of_the_library_are_not_printed_beside_ours(cluster, name):
    Cluster(cluster.address).shutdown()
    assert not logging.getLogger(f"distributed.{name}").isEnabledFor(logging.ERROR)


def test_a_lost_scheduler_ends_the_sweep_and_costs_no_finished_cell(cluster, here, undisturbed):
    cluster.add_worker()
    process = start(here, *cluster.options)
    wait_for(here, "[9/60]", process)
    cluster.scheduler.kill()
    assert process.wait(120) == 1
    line = printed(here).splitlines()[-1]
    assert re.search(f"^Error: .*scheduler .*{re.escape(cluster.address)} ", line), line
    assert "Traceback" not in printed(here)
    assert "distributed.client" not in printed(here)
    assert len(query(here, CELLS)) >= 9
    assert start(here, "--jobs=2").wait() == 0, printed(here)
    assert_complete(here, undisturbed)
