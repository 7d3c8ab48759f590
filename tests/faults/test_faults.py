"""Sweeps by real processes that are killed, race each other, or lose their tracking server."""

import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest
import requests

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

PLUGINS = Path(__file__).parents[1] / "toy"
SWEEP = "run -s tiny -d counting --no-report".split() + [f"--seed={seed}" for seed in range(5)]
N_CELLS = 60  # three classes, four levels, five seeds
CELLS = """
    SELECT c.value, m.value FROM runs r
    JOIN tags k ON k.run_uuid = r.run_uuid AND k.key = 'adbench_text.kind' AND k.value = 'cell'
    JOIN tags c ON c.run_uuid = r.run_uuid AND c.key = 'adbench_text.cell'
    JOIN latest_metrics m ON m.run_uuid = r.run_uuid AND m.key = 'auroc'
    WHERE r.lifecycle_stage = 'active' AND r.status = 'FINISHED'
"""


def start(folder: Path, *options: str, **variables: str) -> subprocess.Popen:
    path = os.pathsep.join([str(PLUGINS), os.environ.get("PYTHONPATH", "")])
    shared = {"PYTHONPATH": path, "TOY_SECONDS": "0.05", "ADBENCH_TEXT_CACHE": str(folder / "cache")}
    with (folder / "log").open("a") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "adbench_text.cli", *SWEEP, *options],
            cwd=folder,
            env=os.environ | shared | variables,
            stdout=log,
            stderr=log,
        )


def query(folder: Path, text: str) -> list:
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        return database.execute(text).fetchall()


def kill(process: subprocess.Popen) -> None:
    """Kill a process, but none of its children: they must end by themselves."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        children = []
    process.kill()
    process.wait()
    assert psutil.wait_procs(children, timeout=20)[1] == []


def n_printed(folder: Path, text: str) -> int:
    return (folder / "log").read_text().count(text)


def assert_complete(folder: Path, expected: list) -> None:
    """Every cell is there once, equal to that of an undisturbed sweep, and nothing remains."""
    assert sorted(query(folder, CELLS)) == expected
    open_runs = "SELECT name FROM runs WHERE status = 'RUNNING' AND lifecycle_stage = 'active'"
    assert query(folder, open_runs) == []
    assert (folder / "mlflow.db.cells").is_dir()
    assert list((folder / "mlflow.db.cells").rglob("*.json")) == []


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> list:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert start(folder).wait() == 0
    cells = sorted(query(folder, CELLS))
    assert len(cells) == N_CELLS
    return cells


@pytest.mark.parametrize("jobs", [1, 2])
def test_twenty_kills_cost_no_cell(tmp_path, jobs, undisturbed):
    draw = random.Random(jobs)
    for number in range(20):
        process = start(tmp_path, f"--jobs={jobs}", TOY_SECONDS="0.2")
        # most kills come while cells are run and logged, some before the first of them
        text = "cells to run" if number % 4 == 0 else "AUROC"
        before = n_printed(tmp_path, text)
        while n_printed(tmp_path, text) == before and process.poll() is None:
            time.sleep(0.02)
        try:
            process.wait(draw.uniform(0, 2))  # about ten cells and their logging
        except subprocess.TimeoutExpired:
            kill(process)
    assert start(tmp_path, f"--jobs={jobs}").wait() == 0, (tmp_path / "log").read_text()
    assert_complete(tmp_path, undisturbed)


def test_a_kill_while_the_report_is_written_loses_neither_report_nor_summaries(tmp_path, undisturbed):
    process = start(tmp_path, "--report")
    while "writing the report" not in (tmp_path / "log").read_text():
        time.sleep(0.05)
        assert process.poll() is None
    kill(process)
    assert start(tmp_path, "--report").wait() == 0
    assert_complete(tmp_path, undisturbed)
    summaries = "SELECT 1 FROM tags WHERE key = 'adbench_text.kind' AND value = 'summary'"
    assert len(query(tmp_path, summaries)) == 4
    assert len(list(tmp_path.glob("mlruns/**/report.html"))) == 1


@pytest.mark.parametrize("n_runs", [2, 4])
def test_runs_that_race_do_no_cell_twice(tmp_path, n_runs, undisturbed):
    racing = [start(tmp_path) for _ in range(n_runs)]
    assert [process.wait() for process in racing] == [0] * n_runs, (tmp_path / "log").read_text()
    assert_complete(tmp_path, undisturbed)


def test_a_detector_that_hangs_or_dies_costs_its_cells_alone(tmp_path, undisturbed):
    options = ["-d", "faulty", "--jobs=2", "--cell-timeout=3", "--set"]
    assert start(tmp_path, *options, "fault=hangs", "--inlier=sea", "--contamination=0").wait() == 3
    assert start(tmp_path, *options, "fault=leaves", "--inlier=sea", "--contamination=0").wait() == 3
    assert start(tmp_path).wait() == 0
    assert_complete(tmp_path, undisturbed)


@contextmanager
def server(folder: Path, port: int):
    """A real MLflow server with one worker."""
    options = f"--backend-store-uri sqlite:///mlflow.db --artifacts-destination artifacts --port {port}"
    process = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "server", *options.split(), "--workers", "1"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        for _ in range(240):
            try:
                if requests.get(f"http://127.0.0.1:{port}/health", timeout=1).ok:
                    break
            except requests.RequestException:
                time.sleep(0.5)
        yield process
    finally:
        os.killpg(process.pid, signal.SIGCONT)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(folder: Path, text: str) -> None:
    while text not in (folder / "log").read_text():
        time.sleep(0.1)


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_server_costs_no_cell(tmp_path, fault, undisturbed):
    port = free_port()
    address = f"--tracking-uri=http://127.0.0.1:{port}"
    quickly = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "3", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}
    with server(tmp_path, port) as running:
        process = start(tmp_path, address, **quickly)
        wait_for(tmp_path, "[5/60]")
        os.killpg(running.pid, fault)
        assert process.wait() == 1
        log = (tmp_path / "log").read_text()
        assert "[60/60]" in log
        assert "Until then, results are kept and logged later." in log
    with server(tmp_path, port):
        assert start(tmp_path, address, **quickly).wait() == 0
        assert "0 cells to run, 60 finished before" in (tmp_path / "log").read_text()
    assert sorted(query(tmp_path, CELLS)) == undisturbed
