"""Undo the changes that a plug-in makes in its process, after its import and after its cell.

This is only for comfort. A plug-in of another package can change anything, so its process ends after its
cell: see `adbench_text.run.engine`.
"""

import os
import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def preserved() -> Iterator[None]:
    """Restore the environment and the working directory after a block."""
    folder = None
    with suppress(OSError):  # the folder was deleted
        folder = Path.cwd()
    try:
        with environment_with({}):
            yield
    finally:
        if folder is not None:
            with suppress(OSError):
                os.chdir(folder)


@contextmanager
def environment_with(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables in a block, also for processes that start in it; then restore them."""
    previous = dict(os.environ)
    try:
        os.environ.update(variables)
        yield
    finally:
        os.environ.update(previous)
        for name in os.environ.keys() - previous.keys():
            del os.environ[name]


def seed_generators(seed: int) -> None:
    """Seed the global random generators of Python, and of numpy and torch if they are imported."""
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)
