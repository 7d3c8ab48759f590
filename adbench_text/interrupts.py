"""Turn signals that end a program into KeyboardInterrupt, and delay them where they would do harm."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]

#: Ctrl-C, a request of the system to end, and a closed terminal (Windows does not send the last).
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(KeyboardInterrupt):
    """A signal asks the program to end. The exit code is 128 plus the signal's number, as in shells."""

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
    # an ignored signal stays ignored, as SIGHUP under nohup
    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    with _handled(dict.fromkeys(heard, _raise) if is_main else {}):
        yield


def _raise(number: int, frame: FrameType | None) -> None:
    for each in _SIGNALS:
        if signal.getsignal(each) is _raise:
            signal.signal(each, signal.SIG_DFL)
    raise Ended(number)


def _active() -> dict[int, Handler]:
    """Return the handlers that raise KeyboardInterrupt in this thread, by signal."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    handlers: dict[int, Any] = {number: signal.getsignal(number) for number in _SIGNALS}
    raising = (signal.default_int_handler, _raise)
    return {number: handler for number, handler in handlers.items() if handler in raising}


@contextmanager
def ignored() -> Iterator[None]:
    """Ignore Ctrl-C in a block. Processes that start in it ignore Ctrl-C as long as they live."""
    is_main = threading.current_thread() is threading.main_thread()
    is_ours = is_main and signal.getsignal(signal.SIGINT) is not None  # None: a C library handles it
    with _handled({signal.SIGINT: signal.SIG_IGN} if is_ours else {}):
        yield


@contextmanager
def held_back() -> Iterator[None]:
    """Delay Ctrl-C and the other signals until the block is done; a second signal interrupts at once."""
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
