"""Functions that tests send to other processes, which import them by name."""

import os
import signal
import time
from multiprocessing import parent_process

from adbench_text.errors import DataError
from adbench_text.processes import notify


def square(number: int) -> tuple[int, int]:
    """Return the square, later for some numbers than for others, and the process."""
    time.sleep(number % 3 / 200)
    return number * number, os.getpid()


def n_characters(texts: list[str]) -> int:
    """Return the number of characters; fail in the process that has started the others."""
    assert parent_process()
    return sum(map(len, texts))


class UnequalError(Exception):
    """Cannot be unpickled."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} is not {other}")


def complain(number: int) -> None:
    if parent_process():
        raise DataError("not here")


def fail(number: int) -> None:
    if parent_process():
        raise UnequalError("this", "that")


def end(number: int) -> None:
    if parent_process():
        os.kill(os.getpid(), signal.SIGTERM)


def hang(number: int) -> int:
    """Return 0, once the others have a process each, which end never."""
    if parent_process():
        time.sleep(600 if number else 1)
    return number


def chatter(seconds: float) -> None:
    """Tell something all the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        notify("still here")
        time.sleep(0.05)


def dislike(number: int) -> None:
    if number % 2:
        raise DataError(f"{number} is odd")


def divide(number: int) -> float:
    return 1 / number


def lose(number: int) -> None:
    """Raise what a client raises whose scheduler has gone."""
    from distributed.comm import CommClosedError

    raise CommClosedError("in <TCP (closed)>: Stream is closed")


def refuse() -> None:
    raise RuntimeError("not in this process")


class Unloadable:
    """Can be pickled, but not unpickled."""

    def __reduce__(self) -> tuple:
        return refuse, ()

    def __call__(self, number: int) -> int:
        return number
