"""Sweeps by real processes that find damaged files of an earlier one."""

import pytest
from sweep_processes import CELLS, assert_complete, free_port, kill, printed, query, server, start, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def cut(path, share):
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])


@pytest.mark.parametrize("share", [0, 0.5, 0.99])
def test_caches_cut_short_between_two_runs_cost_nothing(tmp_path, share, undisturbed):
    process = start(tmp_path, "--jobs=2")
    wait_for(tmp_path, "[5/60]", process)
    kill(process)
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert files
    for path in files:
        cut(path, share)
    assert start(tmp_path, "--jobs=2").wait() == 0
    assert "Traceback" not in printed(tmp_path)
    assert_complete(tmp_path, undisturbed)


def test_a_journal_cut_short_costs_the_cells_in_it(tmp_path, undisturbed):
    port = free_port()
    address = f"--tracking-uri=http://127.0.0.1:{port}"
    with server(tmp_path, port):
        process = start(tmp_path, address)
        wait_for(tmp_path, "[5/60]", process)
    assert process.wait() == 1
    entries = sorted((tmp_path / "cache" / "journals").rglob("*.json"))
    assert len(entries) > 50
    for path in entries[:20]:
        cut(path, 0.5)
    with server(tmp_path, port):
        assert start(tmp_path, address).wait() == 0, printed(tmp_path)
    assert "20 cells to run, 40 finished before" in printed(tmp_path)
    assert "Traceback" not in printed(tmp_path)
    assert sorted(query(tmp_path, CELLS)) == undisturbed
