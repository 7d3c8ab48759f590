"""Calls functions on the workers of a Dask cluster, with the interface of `concurrent.futures`.

Dask chooses the worker of each call, and repeats a call whose worker was lost.
"""

import asyncio
import logging
import os
import pickle
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import cached_property
from importlib.metadata import version
from multiprocessing import current_process
from threading import Thread
from typing import Any

import dask
from distributed import Client, get_worker
from distributed.comm.core import CommClosedError, connect
from distributed.scheduler import KilledWorker
from distributed.security import Security

from adbench_text.errors import AdbenchTextError
from adbench_text.escaping import without_password
from adbench_text.failures import described
from adbench_text.processes import CallError, Workers, pickled, unpickled

_PATIENCE = 10.0  # seconds to wait for the scheduler, which may be starting
_WORKER_PATIENCE = 30  # seconds to wait for a first worker
_PACKAGE = "adbench-text"


class Cluster(Workers):
    """The workers of a Dask cluster; a thread of a worker makes one call at a time.

    Raise AdbenchTextError if no scheduler answers. A call raises it if the scheduler is lost, or if a worker
    has another version.
    """

    def __init__(self, address: str) -> None:
        self.address = without_password(address)
        self.n_gpus = 0.0  # GPUs that the workers declared, as ``--resources GPU=1``
        # by our futures; Dask cancels a task if nobody holds its future
        self._dask_futures: dict[Future[Any], Any] = {}
        for name in ("distributed", "distributed.client"):  # the other loggers inherit the level of the first
            logging.getLogger(name).setLevel(logging.CRITICAL)  # we print one line for an error
        check(address)  # before `Client`, which would wait long for another program
        try:
            self._client = Client(address, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError, pickle.PickleError) as error:
            reason = without_password(f"No Dask scheduler answers at {address}: {error}")
            raise AdbenchTextError(reason) from error

    def size(self) -> int:
        """Return the number of threads of all workers, 0 without a worker; also update `n_gpus`.

        `n_gpus` keeps its last value while no worker declares a GPU: a worker that was lost may come back,
        and cells that need its GPU wait for it.
        """
        try:
            # -1: all workers; by default, Dask returns only a few
            workers: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        except Exception as error:  # of many kinds, and without the address of the scheduler
            raise self._lost() from error
        self.n_gpus = sum(worker["resources"].get("GPU", 0) for worker in workers.values()) or self.n_gpus
        return sum(worker["nthreads"] for worker in workers.values())

    def wait_for_a_worker(self) -> None:
        """Wait for a worker; raise AdbenchTextError if none comes in time."""
        try:
            self._client.wait_for_workers(1, timeout=_WORKER_PATIENCE)
        except Exception as error:  # of many kinds
            raise self._failed(error) from error

    def share(self, value: Any, name: str) -> Any:
        """Send a value to the scheduler, which hands it to each worker that needs it."""
        shared = _Shared(pickled(value, name), name)
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            # not `scatter`: it loses the value when the last worker with it ends
            return self._client.submit(_kept, shared, pure=False)

    def sees(self, file: str) -> bool:
        """Return whether all workers that are there now can read a file of this machine."""
        try:
            found: dict[str, bool] = self._client.run(os.path.exists, file)
        except Exception:  # of many kinds, if a worker is lost
            return False
        return len(found) > 0 and all(found.values())

    def submit(  # type: ignore[override]
        self, function: Callable[..., Any], /, *arguments: Any, gpus: float = 0
    ) -> "Future[Any]":
        """Let a worker call a function. If `gpus` is given, take a worker that declares so many GPUs.

        The future raises CallError if the call lost worker after worker.
        """
        there = self._client.submit(
            _called,
            version(_PACKAGE),
            function,
            *arguments,
            resources={"GPU": gpus} if gpus else None,
            pure=False,
        )
        future: Future[Any] = Future()
        self._dask_futures[future] = there
        there.add_done_callback(lambda _: self._pass_on(future))  # type: ignore[no-untyped-call]
        return future

    def _pass_on(self, future: "Future[Any]") -> None:
        """Pass the result or the error of a Dask task to our future."""
        try:
            result = self._dask_futures.pop(future).result()
        except AdbenchTextError as error:
            future.set_exception(error)
        except KilledWorker as error:
            n_lost = error.allowed_failures + 1  # by Dask's configuration
            future.set_exception(CallError(f"all {n_lost} workers were lost that ran it", "killed"))
        except (CancelledError, CommClosedError):
            future.set_exception(self._lost())
        except Exception as error:
            future.set_exception(self._failed(error))
        else:
            future.set_result(result)

    def _failed(self, error: Exception) -> AdbenchTextError:
        """Return our error for an error of Dask."""
        return AdbenchTextError(f"The Dask cluster failed at {self.address}: {described(error)}")

    def _lost(self) -> AdbenchTextError:
        """Return the error for a scheduler that does not answer any more."""
        return AdbenchTextError(
            f"The Dask scheduler at {self.address} does not answer any more. When it does, run the same "
            "command again; finished cells of a sweep are kept."
        )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel all calls and disconnect from the cluster; both arguments are ignored."""
        ending = Thread(target=self._end, daemon=True)
        ending.start()
        ending.join(10)  # a lost scheduler never answers

    def _end(self) -> None:
        """Cancel all calls and disconnect; this may take forever."""
        with suppress(Exception):  # a lost scheduler raises many kinds
            self._client.cancel(list(self._dask_futures.values()))  # type: ignore[no-untyped-call]
            self._client.close()  # type: ignore[no-untyped-call]


def check(address: str) -> None:
    """Raise AdbenchTextError if no scheduler answers in some seconds."""
    refusals = ["another program answers."]
    # in a thread, because `connect` waits for ever for a server with another protocol
    greeting = Thread(target=lambda: refusals.append(_refusal(address)), daemon=True)
    greeting.start()
    greeting.join(_PATIENCE + 1)
    if refusal := refusals[-1]:
        raise AdbenchTextError(without_password(f"No Dask scheduler answers at {address}: {refusal}"))


def _refusal(address: str) -> str:
    """Return why a connection to a scheduler fails; an empty string if it does not."""

    async def greet() -> None:
        arguments = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
        comm = await connect(address, timeout=_PATIENCE, **arguments)  # type: ignore[no-untyped-call]
        await comm.close()

    try:
        asyncio.run(greet())
    except Exception as error:  # wrong address, no answer, wrong certificate, or another kind of server
        return described(error)
    return ""


# The rest runs in the workers of the cluster.


class _Shared:
    """A shared value; it is unpickled once in each worker, and only there."""

    def __init__(self, content: bytes, name: str) -> None:
        self._content, self._name = content, name

    def __reduce__(self) -> Any:
        return _Shared, (self._content, self._name)

    @cached_property
    def value(self) -> Any:
        """The value, unpickled at the first access."""
        return unpickled(self._content, self._name)


def _kept(shared: _Shared) -> _Shared:
    """Return a shared value: as the result of a task, Dask keeps it and hands it to workers."""
    return shared


def _called(expected: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a worker of the cluster, with shared values in place of their handles.

    Raise AdbenchTextError if the worker has another version of this package than the `expected` one.
    """
    worker = get_worker()
    if (own := version(_PACKAGE)) != expected:
        raise AdbenchTextError(
            f"The Dask worker {without_password(worker.address)} has {_PACKAGE} {own}, this command has "
            f"{expected}; install the same version there."
        )
    # Under a nanny, a worker is a daemon, and a daemon may not start processes. Our processes end with it.
    current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    return function(*(each.value if isinstance(each, _Shared) else each for each in arguments))


def is_wanted() -> bool:
    """Return whether the client still waits for the current call."""
    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state == "executing"


def n_threads() -> int:
    """Return how many calls this worker makes at the same time."""
    return int(get_worker().state.nthreads)
