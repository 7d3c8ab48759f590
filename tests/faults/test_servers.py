"""Sweeps by real processes that lose their tracking server."""

import os
import signal
import time

import pytest
from servers import serving
from sweep_processes import CELLS, Proxy, free_port, printed, query, server, start, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_server_costs_no_cell(tmp_path, fault, undisturbed):
    port = free_port()
    address = f"--tracking-uri=http://127.0.0.1:{port}"
    quickly = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "3", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}
    with server(tmp_path, port) as running:
        process = start(tmp_path, address, **quickly)
        wait_for(tmp_path, "[5/60]", process)
        os.killpg(running.pid, fault)
        assert process.wait() == 1
        log = printed(tmp_path)
        assert "[60/60]" in log
        assert "logged later" in log
    with server(tmp_path, port):
        assert start(tmp_path, address, **quickly).wait() == 0
        assert "\n0 cells to run, 60 finished before" in printed(tmp_path)
    assert sorted(query(tmp_path, CELLS)) == undisturbed


ILL = {
    "everything": lambda path: True,
    "all but /health": lambda path: path != "/health",  # its database is lost, for example
    "artifacts": lambda path: "mlflow-artifacts" in path,
}


@pytest.mark.parametrize("ill", ILL)
def test_a_server_that_answers_500_costs_no_cell(tmp_path, ill, undisturbed):
    port = free_port()
    with server(tmp_path, port), serving(Proxy(port)) as before:
        address = f"--tracking-uri=http://127.0.0.1:{before.server_port}"
        process = start(tmp_path, address, TOY_SECONDS="0.5")
        wait_for(tmp_path, "[5/60]", process)
        before.is_ill = ILL[ill]
        wait_for(tmp_path, "[40/60]", process)
        before.is_ill = lambda path: False
        assert process.wait() == 0
        assert printed(tmp_path).count("logged later") == 1
        assert sorted(query(tmp_path, CELLS)) == undisturbed


def test_a_server_that_answers_500_to_the_end_costs_no_cell(tmp_path, undisturbed):
    port = free_port()
    with server(tmp_path, port), serving(Proxy(port)) as before:
        address = f"--tracking-uri=http://127.0.0.1:{before.server_port}"
        process = start(tmp_path, address)
        wait_for(tmp_path, "[5/60]", process)
        before.is_ill = ILL["all but /health"]
        wait_for(tmp_path, "[60/60]", process)
        ended = time.monotonic()
        assert process.wait() == 1
        assert time.monotonic() - ended < 60
        assert printed(tmp_path).count("logged later") == 1
        assert "Traceback" not in printed(tmp_path)
        assert start(tmp_path, address).wait() == 1
        assert "\n0 cells to run" not in printed(tmp_path)
        before.is_ill = lambda path: False
        assert start(tmp_path, address).wait() == 0
        assert "\n0 cells to run, 60 finished before" in printed(tmp_path)
        assert sorted(query(tmp_path, CELLS)) == undisturbed
