"""Puts back what code of a plug-in changes in its process, after its import and after its cell.

This is for comfort. A plug-in that is in no release can change anything, so its process ends after its cell:
see `adbench_text.run.engine`.
"""

import os
import random
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


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
