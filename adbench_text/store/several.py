"""Several stores, read as if they were merged."""

from collections.abc import Callable, Iterable, Sequence

from adbench_text.store.reading import Results
from adbench_text.store.record import Record
from adbench_text.store.repeats import newest_of
from adbench_text.store.store import DEFAULT_EXPERIMENT, Store


def opened(uris: Sequence[str], experiment: str = DEFAULT_EXPERIMENT) -> Results:
    """Return the results of one store, or of several; each must exist.

    Raises
    ------
    TrackingError
        If a store does not exist or cannot be used.
    """
    stores = [Store(uri, experiment, create=False) for uri in dict.fromkeys(uris)]
    return stores[0] if len(stores) == 1 else Stores(stores)


class Stores:
    """The results of several stores: of equal definitions the newest counts, wherever it is.

    Parameters
    ----------
    stores : sequence of Store
        At least one, all with the same prefix of their experiments.

    Attributes
    ----------
    experiment : str
        What the names of the experiments begin with.
    shown : str
        Names all stores in messages.
    """

    def __init__(self, stores: Sequence[Store]) -> None:
        self._stores = stores
        self.experiment = stores[0].experiment
        names = [store.shown for store in stores]
        self.shown = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        self._store_of: dict[str, Store] = {}  # of each run

    def datasets(self) -> list[str]:
        """Return the datasets that a store has an experiment for."""
        return sorted({name for store in self._stores for name in store.datasets()})

    def cells(
        self, datasets: Iterable[str], leave_out: Callable[[str], object] = lambda message: None
    ) -> list[Record]:
        """Return all logged cells, oldest first; see `Store.cells`."""
        datasets = list(datasets)
        records = []
        for store in self._stores:
            of_store = store.cells(datasets, leave_out)
            self._store_of = {record.run_id: store for record in of_store} | self._store_of
            records += of_store
        return newest_of(records)

    def artifact(self, record: Record, name: str) -> str | None:
        """Return a text artifact of a cell, None if it has none of that name."""
        return self._store_of[record.run_id].artifact(record, name)

    def curve(self, record: Record, metric: str) -> list[tuple[int, float]]:
        """Return the steps and values of a metric of a cell; empty if it has none."""
        return self._store_of[record.run_id].curve(record, metric)
