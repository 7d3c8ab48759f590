"""Signals that end a program: turned into KeyboardInterrupt, and delayed where they would do harm."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]

#: Ctrl-C, the request of a system to end, and the end of a terminal (which Windows does not send).
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(KeyboardInterrupt):
    """A signal asks the program to end; its exit code is 128 and the number of the signal, as in shells."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


@contextmanager
def _handled(handlers: dict[int, Any]) -> Iterator[None]:
    previous = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def raised() -> Iterator[None]:
    """Raise `Ended` when a signal asks the program to end; a second signal ends the process at once."""
    is_main = threading.current_thread() is threading.main_thread()
    # a signal that is ignored, as SIGHUP under nohup, stays ignored
    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    with _handled(dict.fromkeys(heard, _raise) if is_main else {}):
        yield


def _raise(number: int, frame: FrameType | None) -> None:
    for each in _SIGNALS:
        if signal.getsignal(each) is _raise:
            signal.signal(each, signal.SIG_DFL)
    raise Ended(number)


def _active() -> dict[int, Handler]:
    """Return the handlers that raise KeyboardInterrupt in this thread, by their signals."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    handlers: dict[int, Any] = {number: signal.getsignal(number) for number in _SIGNALS}
    raising = (signal.default_int_handler, _raise)
    return {number: handler for number, handler in handlers.items() if handler in raising}


@contextmanager
def ignored() -> Iterator[None]:
    """Ignore Ctrl-C; processes started in the block inherit this and ignore it as long as they live."""
    is_main = threading.current_thread() is threading.main_thread()
    is_ours = is_main and signal.getsignal(signal.SIGINT) is not None  # None: a handler of a C library
    with _handled({signal.SIGINT: signal.SIG_IGN} if is_ours else {}):
        yield


@contextmanager
def held_back() -> Iterator[None]:
    """Delay Ctrl-C and the other signals until the block is done; a second one interrupts at once."""
    active = _active()
    pending: list[int] = []

    def delay(number: int, frame: FrameType | None) -> None:
        if pending:
            active[number](number, frame)
        pending.append(number)

    try:
        with _handled(dict.fromkeys(active, delay)):
            yield
    finally:
        if pending:
            active[pending[0]](pending[0], None)
