"""Sweeps by real processes that lose their tracking server."""

import os
import signal

import pytest
from sweep_processes import CELLS, free_port, printed, query, server, start, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


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
        log = printed(tmp_path)
        assert "[60/60]" in log
        assert "Until then, results are kept and logged later." in log
    with server(tmp_path, port):
        assert start(tmp_path, address, **quickly).wait() == 0
        assert "0 cells to run, 60 finished before" in printed(tmp_path)
    assert sorted(query(tmp_path, CELLS)) == undisturbed
