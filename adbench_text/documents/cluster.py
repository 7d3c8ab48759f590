"""Work on many documents by the workers of a Dask cluster."""

import logging
import pickle
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from threading import Lock
from typing import Any

from adbench_text.documents.chunks import in_order, pickled
from adbench_text.errors import AdbenchTextError
from adbench_text.escaping import without_password
from adbench_text.places import described

_AHEAD = 3  # chunks that wait for each worker
_PATIENCE = 30  # seconds to wait for a first worker
_PACKAGE = "adbench-text"


class Cluster:
    """The workers of a Dask cluster; each process works on one chunk at a time.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``"tcp://10.0.0.1:8786"``.
    """

    def __init__(self, address: str) -> None:
        self._address = address

    def map(self, function: Callable[[Any], Any], chunks: Iterable[Any]) -> Generator[Any]:
        """Yield the results in the order of the chunks; closing the generator ends the work."""
        from distributed import Client
        from distributed.comm.core import CommClosedError

        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # errors are one line here
        client = None
        try:
            client = Client(self._address, set_as_default=False, timeout=_PATIENCE)  # type: ignore[no-untyped-call]
            client.wait_for_workers(1, timeout=_PATIENCE)
            self._check_versions(client.run(version, _PACKAGE, on_error="return"))
            state = client.scatter(  # type: ignore[no-untyped-call]
                pickled(function), broadcast=True, hash=False
            )
            n_ahead = _AHEAD * len(client.scheduler_info(n_workers=-1)["workers"])
            yield from in_order(lambda chunk: client.submit(_call, state, chunk, pure=False), chunks, n_ahead)
        except (AdbenchTextError, GeneratorExit):
            raise
        except (CancelledError, CommClosedError) as error:
            raise AdbenchTextError(
                f"The Dask cluster at {without_password(self._address)} has lost its scheduler, or all "
                "workers that had the detector, perhaps for lack of memory."
            ) from error
        except Exception as error:  # of many kinds: no scheduler, no worker, one that was lost several times
            reason = without_password(f"{self._address}: {described(error)}")
            raise AdbenchTextError(f"The Dask cluster failed at {reason}") from error
        finally:
            if client is not None:
                with suppress(Exception):
                    client.close(timeout=2)  # type: ignore[no-untyped-call]

    def _check_versions(self, versions: dict[str, Any]) -> None:
        own = version(_PACKAGE)
        for address, found in versions.items():
            if found != own:
                raise AdbenchTextError(
                    f"The Dask worker {without_password(address)} has {_PACKAGE} {found}, this command has "
                    f"{own}; install the same version there."
                )


_lock = Lock()


@lru_cache(maxsize=1)
def _loaded(function: bytes) -> Callable[[Any], Any]:
    found: Callable[[Any], Any] = pickle.loads(function)
    return found


def _call(function: bytes, chunk: Any) -> Any:
    with _lock:  # detectors are not made for several threads
        return _loaded(function)(chunk)
