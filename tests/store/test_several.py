"""Several stores are read as if they were one."""

import pytest
from stores import STARTED, log, result

from adbench_text.store.store import Store, opened


@pytest.fixture
def stores(new_store) -> list[Store]:
    """Two empty stores."""
    return [new_store("laptop"), new_store("node")]


def uris(stores: list[Store]) -> list[str]:
    return [store.uri for store in stores]


def test_of_equal_cells_the_newest_counts_wherever_it_is(stores):
    laptop, node = stores
    log(laptop, result(0.9), result(0.5, seed=1, started=STARTED + 9))
    log(node, result(0.8, started=STARTED + 5), result(0.6, seed=1), result(0.7, dataset="other"))
    together = opened(uris(stores))
    assert together.datasets() == ["other", "tiny"]
    assert [r.metrics["auroc"] for r in together.cells(["tiny", "other"])] == [0.7, 0.8, 0.5]
    assert [r.metrics["auroc"] for r in together.cells(["tiny"])] == [0.8, 0.5]
    log(laptop, result(None, started=STARTED + 20))
    assert [r.status for r in together.cells(["tiny"])] == ["ok", "failed"]


def test_the_newest_holds_the_older_results_of_all_stores(stores):
    laptop, node = stores
    log(laptop, result(0.5), result(0.9, started=STARTED + 2))
    log(node, result(0.7, started=STARTED + 5), result(None, started=STARTED - 5))
    for uris_of in (uris(stores), uris(stores)[::-1]):
        (record,) = opened(uris_of).cells(["tiny"])
        assert record.metrics["auroc"] == 0.7
        assert sorted(older.metrics.get("auroc", 0) for older in record.older) == [0, 0.5, 0.9]


def test_artifacts_are_those_of_the_store_that_the_cell_is_from(stores):
    laptop, node = stores
    for store, figure in ((laptop, 0.9), (node, 0.8)):
        log(store, result(figure, seed=int(10 * figure)))
    together = opened(uris(stores))
    for record in together.cells(["tiny"]):
        (owner,) = [s for s in stores if record.run_id in {r.run_id for r in s.cells(["tiny"])}]
        assert together.artifact(record, "scores.csv") == owner.artifact(record, "scores.csv") is not None


def test_all_stores_are_named(stores):
    laptop, node = stores
    assert opened(uris(stores)).shown == f"{laptop.shown} and {node.shown}"


def test_a_store_that_is_given_twice_is_read_once(stores):
    assert opened([stores[0].uri] * 2).others == []
