"""Chunks that a Dask cluster works on; tests/faults has those of lost workers and of other versions."""

import pytest
import sent_functions

from adbench_text.documents.chunks import results_of
from adbench_text.errors import AdbenchTextError, DataError

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def address():
    """A scheduler and a worker, in threads of this process."""
    options = {"processes": False, "protocol": "tcp", "dashboard_address": None}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, **options) as cluster:
        yield cluster.scheduler_address


def test_the_results_come_in_the_order_of_the_chunks(address):
    results = results_of(sent_functions.square, iter(range(20)), address)
    assert [square for square, _ in results] == [number * number for number in range(20)]


def test_a_cluster_sees_the_files_of_a_folder_that_it_shares(address, tmp_path):
    from adbench_text.cluster import Cluster  # needs distributed

    (tmp_path / "a.arrow").touch()
    with Cluster(address) as cluster:
        cluster.wait_for_a_worker()
        assert cluster.sees(str(tmp_path / "a.arrow"))
        assert not cluster.sees(str(tmp_path / "b.arrow"))


def test_closing_the_results_ends_the_work(address):
    numbers = iter(range(1000))
    results = results_of(abs, numbers, address)
    assert next(results) == 0
    results.close()
    assert next(numbers) < 100
    assert list(results) == []


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (sent_functions.dislike, DataError, "^1 is odd$"),
        (sent_functions.divide, AdbenchTextError, "Dask .*tcp:.*: ZeroDivisionError: "),
        (sent_functions.lose, AdbenchTextError, "scheduler at tcp:"),
        (lambda chunk: chunk, AdbenchTextError, "detector .*pickle.*--address"),
    ],
)
def test_what_fails_there_is_one_error_of_one_line(address, function, kind, message):
    with pytest.raises(kind, match=message) as error:
        list(results_of(function, range(9), address))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1:9"])
def test_an_address_without_a_scheduler_is_one_line(address, monkeypatch):
    monkeypatch.setattr("adbench_text.cluster._PATIENCE", 0.2)
    with pytest.raises(AdbenchTextError, match=f"scheduler .*{address}: "):
        list(results_of(abs, range(3), address))
