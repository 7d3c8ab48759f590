"""Puts back what code of a plug-in changes in its process, after its import and after its cell.

This is for comfort. A plug-in that is in no release can change anything, so its process ends after its cell:
see `adbench_text.run.worker`.
"""

import os
import random
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

from adbench_text.interrupts import ignored

_LONGEST_FOLDER = 75  # bytes: multiprocessing puts a socket two folders below, whose path has at most 107


@contextmanager
def starting(module: str) -> Iterator[Any]:
    """Yield the context of `multiprocessing` to start processes with, which all need a module.

    On Linux they are forked from one that has loaded it: they start at once and share its memory. On other
    systems, and if the path of the folder of temporary files is too long for that, each loads it by itself.
    They ignore Ctrl-C. This process ignores it only while one begins, not while it loads the module.
    """
    is_forked = sys.platform == "linux" and len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_FOLDER
    context: Any = get_context("forkserver" if is_forked else "spawn")
    # no adbench_text of the working directory, and not the script of the user once more
    with environment_with({"PYTHONSAFEPATH": "1"}), _without_main(), ExitStack() as stack:
        stack.enter_context(ignored())
        if is_forked:
            from multiprocessing import forkserver  # not on Windows

            context.set_forkserver_preload([module])
            forkserver.ensure_running()
            stack.close()
        yield context


@contextmanager
def preserved() -> Iterator[None]:
    """Restore the environment, working directory, standard streams and warning filters after a block."""
    folder, streams = _folder(), (sys.stdin, sys.stdout, sys.stderr)
    filters, shown = list(warnings.filters), warnings.showwarning
    # None: no console
    sys.stdout, sys.stderr = (_Unclosable(stream) if stream else stream for stream in streams[1:])
    try:
        with environment_with({}):
            yield
    finally:
        if folder is not None and folder != _folder():
            with suppress(OSError):
                os.chdir(folder)
        sys.stdin, sys.stdout, sys.stderr = streams
        warnings.showwarning = shown
        if filters != warnings.filters:  # changing the filters shows old warnings again
            warnings.resetwarnings()
            warnings.filters[:] = filters  # type: ignore[index]


@contextmanager
def environment_with(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables in a block, also for processes that it starts; restore all afterwards."""
    previous = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.update(previous)
        for name in os.environ.keys() - previous.keys():
            del os.environ[name]


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the script of the user: a process that is started in the block does not run it once more."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def seed_generators(seed: int) -> None:
    """Seed the global random generators of Python, numpy and torch; none of them is imported for this."""
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)


class _Unclosable:
    """A standard stream that cannot be closed: other code still uses it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None: ...


def _folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # it was deleted
        return None
