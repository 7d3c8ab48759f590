"""Sweeps by real processes that are killed, or race each other."""

import random
import subprocess
import time

import pytest
from sweep_processes import CELLS, assert_complete, kill, printed, query, start, wait_for

from adbench_text.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_twenty_kills_cost_no_cell(tmp_path, jobs, undisturbed):
    draw = random.Random(jobs)
    for number in range(20):
        process = start(tmp_path, f"--jobs={jobs}", TOY_SECONDS="0.2")
        # most kills come while cells are run and logged, some before the first of them
        text = "cells to run" if number % 4 == 0 else "AUROC"
        before = printed(tmp_path).count(text)
        while printed(tmp_path).count(text) == before and process.poll() is None:
            time.sleep(0.02)
        try:
            process.wait(draw.uniform(0, 2))  # about ten cells and their logging
        except subprocess.TimeoutExpired:
            kill(process)
    assert start(tmp_path, f"--jobs={jobs}").wait() == 0, printed(tmp_path)
    assert_complete(tmp_path, undisturbed)


def test_a_kill_while_the_report_is_written_loses_no_summaries(tmp_path, undisturbed):
    process = start(tmp_path, "--report")
    wait_for(tmp_path, "writing the report", process)
    kill(process)
    assert start(tmp_path, "--report").wait() == 0
    assert_complete(tmp_path, undisturbed)
    summaries = "SELECT 1 FROM tags WHERE key = 'adbench_text.kind' AND value = 'summary'"
    assert len(query(tmp_path, summaries)) == 4


@pytest.mark.parametrize("n_runs", [2, 4])
def test_runs_that_race_count_each_cell_once(tmp_path, n_runs, undisturbed):
    racing = [start(tmp_path) for _ in range(n_runs)]
    assert [process.wait() for process in racing] == [0] * n_runs, printed(tmp_path)
    assert sorted(set(query(tmp_path, CELLS))) == undisturbed
    cells = Store(f"sqlite:///{tmp_path / 'mlflow.db'}", create=False).cells(["tiny"])
    assert sorted(zip(cells["cell"], cells["auroc"], strict=True)) == undisturbed


def test_a_detector_that_hangs_or_dies_costs_its_cells_alone(tmp_path, undisturbed):
    options = ["-d", "faulty", "--jobs=2", "--cell-timeout=3", "--set"]
    assert start(tmp_path, *options, "fault=hangs", "--inlier=sea", "--contamination=0").wait() == 3
    assert start(tmp_path, *options, "fault=leaves", "--inlier=sea", "--contamination=0").wait() == 3
    assert start(tmp_path).wait() == 0
    assert_complete(tmp_path, undisturbed)
