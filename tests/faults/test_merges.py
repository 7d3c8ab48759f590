"""Merges by real processes that run at once, or are killed."""

import time

import pytest
from sweep_processes import CELLS, kill, printed, query, start

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

PARENTS = """
    SELECT status FROM runs JOIN tags USING (run_uuid)
    WHERE key = 'adbench_text.kind' AND value = 'merge'
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory) -> list[str]:
    """A merge of a store of sixty cells."""
    folder = tmp_path_factory.mktemp("source")
    assert start(folder).wait() == 0
    return ["merge", f"sqlite:///{folder}/mlflow.db"]


def test_two_merges_at_once_copy_each_cell_once(tmp_path, command, undisturbed):
    merging = [start(tmp_path, command=command) for _ in range(2)]
    assert [process.wait() for process in merging] == [0, 0], printed(tmp_path)
    log = printed(tmp_path)
    assert log.count("60 cells copied, 0 already in") == log.count("0 cells copied, 60 already in") == 1
    assert "Another merge into sqlite:///mlflow.db is running; waiting for its end." in log
    assert sorted(query(tmp_path, CELLS)) == undisturbed
    assert query(tmp_path, PARENTS) == [("FINISHED",)]


def test_a_merge_goes_on_where_another_one_is_killed(tmp_path, command, undisturbed):
    first = start(tmp_path, command=command)
    while not (tmp_path / "mlflow.db").exists() or len(query(tmp_path, CELLS)) < 5:
        time.sleep(0.05)
        assert first.poll() is None, printed(tmp_path)
    second = start(tmp_path, command=command)
    while "waiting" not in printed(tmp_path) and first.poll() is None:
        time.sleep(0.01)
    kill(first)
    assert second.wait() == 0, printed(tmp_path)
    assert sorted(query(tmp_path, CELLS)) == undisturbed
    assert sorted(query(tmp_path, PARENTS)) == [("FINISHED",), ("KILLED",)]
