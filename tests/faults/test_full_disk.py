"""Sweeps by real processes that meet a full disk."""

import pytest
from sweep_processes import FULL, assert_complete, disk, filled, printed, start, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("left", [0, 40_000, 90_000])
def test_a_full_disk_of_the_store_costs_at_most_the_cell_in_flight(tmp_path, left, undisturbed):
    with disk(tmp_path / "disk") as small:
        address = f"--tracking-uri=sqlite:///{small}/mlflow.db"
        process = start(tmp_path, address)
        wait_for(tmp_path, "[5/60]", process)
        with filled(small, left):
            assert process.wait() == 1
            assert FULL in printed(tmp_path)
            assert str(small) in printed(tmp_path)
            assert "Traceback" not in printed(tmp_path)
            assert start(tmp_path, address).wait() == 1
        assert start(tmp_path, address).wait() == 0
        assert_complete(small, undisturbed)


def test_a_full_disk_of_artifacts_costs_no_cell(tmp_path, undisturbed):
    with disk(tmp_path / "mlruns") as small:
        process = start(tmp_path)
        wait_for(tmp_path, "[5/60]", process)
        with filled(small):
            assert process.wait() == 1
            assert "[60/60]" in printed(tmp_path)
            assert FULL in printed(tmp_path)
            assert str(small) in printed(tmp_path)
            assert "Traceback" not in printed(tmp_path)
        assert start(tmp_path).wait() == 0
        assert "0 cells to run, 60 finished before" in printed(tmp_path)
        assert_complete(tmp_path, undisturbed)


def test_a_full_cache_is_one_line_and_costs_nothing(tmp_path, undisturbed):
    with disk(tmp_path / "cache") as small, filled(small):
        assert start(tmp_path, "--jobs=2").wait() == 0
        assert printed(tmp_path).count(FULL) == 1
        assert str(small) in printed(tmp_path)
    assert_complete(tmp_path, undisturbed)


def test_a_disk_that_is_full_from_the_beginning_leaves_no_half_of_a_store(tmp_path, undisturbed):
    with disk(tmp_path / "disk") as small:
        address = f"--tracking-uri=sqlite:///{small}/mlflow.db"
        for number, left in enumerate([0, 8_000, 200_000]):
            with filled(small, left):
                assert start(tmp_path, address).wait() == 1
            assert printed(tmp_path).count(FULL) == number + 1
            assert "Traceback" not in printed(tmp_path)
        assert start(tmp_path, address).wait() == 0
        assert_complete(small, undisturbed)
