"""Isolates plug-ins: their changes to the global state of the process are undone."""

import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

# Settings of torch that affect scores or seconds, named as in its functions get_... and set_...
_TORCH = (
    "default_dtype",
    "default_device",
    "deterministic_debug_mode",
    "float32_matmul_precision",
    "num_threads",
    "rng_state",
)


@contextmanager
def preserved() -> Iterator[None]:
    """Restore the global state of this process after a block that runs code of a plug-in.

    The state consists of the random generators of Python, numpy and torch, the warning filters, numpy's
    error state, scikit-learn's configuration, torch's defaults and number of threads, the working
    directory, the environment and the standard streams. No library is imported for this.
    """
    states = [(restore, read()) for read, restore in _STATES]
    sys.stdout, sys.stderr = (
        _Unclosable(s) if s else s for s in (sys.stdout, sys.stderr)
    )  # None: no console
    try:
        yield
    finally:
        for restore, state in states:
            restore(state)


def seed_generators(seed: int) -> None:
    """Seed the global random generators of Python, numpy and torch."""
    random.seed(seed)
    if numpy := _library("numpy"):
        numpy.random.seed(seed)
    if torch := _library("torch"):
        torch.manual_seed(seed)


class _Unclosable:
    """A standard stream that cannot be closed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Do nothing: other code still uses the stream."""


def _streams() -> tuple[Any, Any, Any]:
    return sys.stdin, sys.stdout, sys.stderr


def _set_streams(streams: tuple[Any, Any, Any]) -> None:
    sys.stdin, sys.stdout, sys.stderr = streams


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:  # the folder was deleted
        return None


def _set_folder(folder: str | None) -> None:
    if folder is not None and folder != _folder():
        with suppress(OSError):
            os.chdir(folder)


def _set_environment(variables: dict[str, str]) -> None:
    if variables != os.environ:
        for name in os.environ.keys() - variables.keys():
            del os.environ[name]
        os.environ.update(variables)


def _warnings() -> tuple[Any, Any]:
    return list(warnings.filters), warnings.showwarning


def _set_warnings(state: tuple[Any, Any]) -> None:
    filters, warnings.showwarning = state
    if filters != warnings.filters:  # changing the filters shows old warnings again
        warnings.resetwarnings()
        warnings.filters[:] = filters  # type: ignore[index]


def _library(name: str) -> Any:
    """Return a library, or None if it is not loaded."""
    return sys.modules.get(name)


def _numpy() -> tuple[Any, Any, Any] | None:
    numpy = _library("numpy")
    return (numpy.random.get_state(), numpy.geterr(), numpy.geterrcall()) if numpy else None


def _set_numpy(state: tuple[Any, Any, Any] | None) -> None:
    if state is not None:
        numpy, (generator, errors, call) = _library("numpy"), state
        numpy.random.set_state(generator)
        numpy.seterr(**errors)
        numpy.seterrcall(call)


def _sklearn() -> dict[str, Any] | None:
    sklearn = _library("sklearn")
    return sklearn.get_config() if sklearn else None


def _set_sklearn(configuration: dict[str, Any] | None) -> None:
    if configuration is not None:
        _library("sklearn").set_config(**configuration)


def _torch() -> dict[str, Any] | None:
    torch = _library("torch")
    if torch is None:
        return None
    state = {name: getattr(torch, f"get_{name}")() for name in _TORCH}
    return {**state, "grad_enabled": torch.is_grad_enabled()}


def _set_torch(state: dict[str, Any] | None) -> None:
    torch, current = _library("torch"), _torch()
    if current is None:
        return
    cpu = torch.device("cpu")
    if state is None:  # torch was loaded in the block, which may have changed these
        state = {"default_dtype": torch.float32, "default_device": cpu, "grad_enabled": True}
    else:
        torch.set_rng_state(state.pop("rng_state"))
    for name, value in state.items():
        if current[name] != value:  # setting a device, even the default one, slows down every call
            getattr(torch, f"set_{name}")(None if value == cpu else value)


_STATES: tuple[tuple[Callable[[], Any], Callable[[Any], object]], ...] = (
    (random.getstate, random.setstate),
    (_streams, _set_streams),
    (_folder, _set_folder),
    (lambda: dict(os.environ), _set_environment),
    (_warnings, _set_warnings),
    (_numpy, _set_numpy),
    (_sklearn, _set_sklearn),
    (_torch, _set_torch),
)
