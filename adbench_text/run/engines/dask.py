"""The workers of a Dask cluster; a cell whose worker is lost runs on another one."""

import asyncio
import pickle
from collections.abc import Generator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread

from adbench_text.checks import check_whole
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.escaping import without_password
from adbench_text.run.engine import Work
from adbench_text.run.result import Result

_PATIENCE = 10.0  # seconds to wait for the scheduler, which may be starting
_NO_SCHEDULER = "what answers is no scheduler."


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

    def check(self) -> None:
        """Raise an error if no scheduler answers; see `Engine`.

        Raises
        ------
        InvalidValueError
            If there is no address.
        AdbenchTextError
            If nothing at the address answers as a scheduler does.
        """
        address = self._found_address()
        answer: SimpleQueue[str] = SimpleQueue()
        # a thread: `connect` waits for ever for a server that speaks another protocol
        Thread(target=lambda: answer.put(_refusal(address)), daemon=True).start()
        try:
            refusal = answer.get(timeout=_PATIENCE + 1)
        except Empty:
            refusal = _NO_SCHEDULER
        if refusal:
            raise AdbenchTextError(without_password(f"No Dask scheduler answers at {address}: {refusal}"))

    def _found_address(self) -> str:
        import dask

        address: str | None = self.address or dask.config.get("scheduler-address", None)
        if not address:
            raise InvalidValueError(
                "The engine dask needs the address of a scheduler: give --address tcp://HOST:8786."
            )
        return address

    def run(self, work: Work) -> Generator[Result]:
        """Run cells and yield each result as it is finished; see `Engine`.

        Raises
        ------
        InvalidValueError
            If there is no address.
        AdbenchTextError
            If the scheduler does not answer, is lost, or all of its workers are unsuitable.
        """
        from distributed import Client

        from adbench_text.run.engines._cluster import Cluster

        address = self._found_address()
        try:
            client = Client(address, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError, pickle.PickleError) as error:
            reason = without_password(f"No Dask scheduler answers at {address}: {error}")
            raise AdbenchTextError(reason) from error
        cluster = Cluster(client, without_password(address), work, self.gpu_jobs)
        try:
            yield from cluster.run()
        finally:
            cluster.close()


def _refusal(address: str) -> str:
    """Return why no connection to a scheduler can be made; an empty string if it can."""
    from distributed.comm.core import connect
    from distributed.security import Security

    async def greet() -> None:
        arguments = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
        comm = await connect(address, timeout=_PATIENCE, **arguments)  # type: ignore[no-untyped-call]
        await comm.close()

    try:
        asyncio.run(greet())
    except (OSError, ValueError) as error:  # a wrong address, nobody there, or a certificate
        return str(error)
    except Exception:  # of any kind, even a lack of memory: it took another protocol for its own
        return _NO_SCHEDULER
    return ""
