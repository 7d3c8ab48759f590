"""Ctrl-C at moments when it would do harm: between processes, and inside a database library."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def _is_active() -> bool:
    """Return whether Ctrl-C raises KeyboardInterrupt in this thread."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler


@contextmanager
def ignored() -> Iterator[None]:
    """Ignore Ctrl-C; processes started in the block inherit this and ignore it as long as they live."""
    if not _is_active():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def held_back() -> Iterator[None]:
    """Delay Ctrl-C until the block is done; a second one interrupts at once."""
    if not _is_active():
        yield
        return
    pending = False

    def delay(number: int, frame: FrameType | None) -> None:
        nonlocal pending
        if pending:
            raise KeyboardInterrupt
        pending = True

    signal.signal(signal.SIGINT, delay)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if pending:
            raise KeyboardInterrupt
