"""The workers of a Dask cluster; a cell whose worker is lost runs on another one."""

import pickle
from collections.abc import Generator
from dataclasses import dataclass

from adbench_text.checks import check_whole
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.run.engine import Work
from adbench_text.run.result import Result


@dataclass(frozen=True)
class Dask:
    """Runs cells on an existing Dask cluster, one for each thread of its workers.

    Each cell runs in a process of its own below a worker, as on one machine. Cells on a GPU go to workers
    that were started with ``--resources GPU=1``; if there are such workers, the others take the other cells.

    Parameters
    ----------
    address : str, optional
        Of the scheduler, such as ``tcp://10.0.0.1:8786``; if None, that of Dask's own configuration,
        ``scheduler-address`` or the environment variable DASK_SCHEDULER_ADDRESS.
    gpu_jobs : int
        Number of cells that share a GPU.
    """

    address: str | None = None
    gpu_jobs: int = 1

    def __post_init__(self) -> None:
        check_whole("gpu_jobs", self.gpu_jobs, 1)

    def run(self, work: Work) -> Generator[Result]:
        """Run cells and yield each result as it is finished; see `Engine`.

        Raises
        ------
        InvalidValueError
            If there is no address.
        AdbenchTextError
            If the scheduler does not answer, is lost, or all of its workers are unsuitable.
        """
        import dask
        from distributed import Client

        from adbench_text.run.engines._cluster import Cluster

        address = self.address or dask.config.get("scheduler-address", None)
        if not address:
            raise InvalidValueError(
                "The engine dask needs the address of a scheduler: give --address tcp://HOST:8786."
            )
        try:
            client = Client(address, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError, pickle.PickleError) as error:
            raise AdbenchTextError(f"No Dask scheduler answers at {address}: {error}") from error
        cluster = Cluster(client, address, work, self.gpu_jobs)
        try:
            yield from cluster.run()
        finally:
            cluster.close()
