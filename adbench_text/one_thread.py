"""Limit numerical libraries to one thread where more threads would change the last bits of a result."""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS and OpenMP use one thread."""
    limit: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Find the loaded libraries; again only after an import, because the search takes milliseconds."""
    return ThreadpoolController()
