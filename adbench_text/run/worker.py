"""A worker process: scores the cells that it is sent, one after the other.

A process that has run code which is in no release of ours ends after its cell, and the parent measures the
scores by its own labels. So a plug-in that changes something in its process changes no figure of others.
"""

import io
import os
import pickle
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from multiprocessing import connection, parent_process
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import psutil
from threadpoolctl import threadpool_limits

from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import AdbenchTextError
from adbench_text.isolation import environment_with, starting
from adbench_text.places import described
from adbench_text.plugins import registry
from adbench_text.run.engine import Limits
from adbench_text.run.evaluate import scored
from adbench_text.run.progress import Progress
from adbench_text.run.result import Result
from adbench_text.sweep.cell import Cell

READY, STEP, RESULT, LAST = "ready", "step", "result", "last"  # LAST: a result, after which the process ends
_STEP_SECONDS = 0.1  # minimum time between two messages about a training
_START_SECONDS = 120.0  # until a process that does not answer counts as one that did not start


class Worker:
    """A process that evaluates cells, seen from the process that started it.

    `variables` are environment variables for it, such as those of `threads`.
    """

    def __init__(self, variables: Mapping[str, str], trace_every: int) -> None:
        with _starting, environment_with(variables):
            environment = dict(os.environ)
            with starting(__name__) as context:  # this module has loaded the harness, and no plug-in
                self.connection, far = context.Pipe()
                self._process = context.Process(target=_work, args=(far, trace_every, environment))
                self._process.start()
        far.close()
        self.cell: Cell | None = None  # that it evaluates
        self.began = time.monotonic()  # with its start, then with its cell
        self.split: Any = None  # of its last cell, whose values it remembers; or the one to begin with
        self.is_ready = self.is_dead = False
        self._sent: set[str] = set()  # datasets whose corpora it has

    @property
    def handles(self) -> list[Any]:
        """What `multiprocessing.connection.wait` takes: the pipe, and the end of the process."""
        return [self.connection, self._process.sentinel]

    def send(self, cell: Cell, corpus: Corpus, is_oracle: bool | None = None) -> None:
        """Let the process score a cell, see `evaluate.scored`; it must be idle."""
        self.cell, self.split, self.began = cell, cell.split, time.monotonic()
        with suppress(BrokenPipeError):  # it has just ended; its end is noticed later
            if cell.dataset not in self._sent:
                self.connection.send_bytes(_pickled(corpus))
                self._sent.add(cell.dataset)
            self.connection.send((cell, is_oracle))

    def outcome(self, limits: Limits, progress: Progress) -> Result | None:
        """Return the result of its cell, not measured, if that has ended in any way; pass on its steps."""
        has_ended = not self._process.is_alive()  # before its last messages are read
        try:
            while self.connection.poll():
                kind, value = self.connection.recv()
                if kind in (RESULT, LAST) and self.cell is not None and value.cell == self.cell:
                    result: Result = replace(value, cell=self.cell)
                    self.cell = None
                    if kind == LAST:
                        self.kill()
                    return result
                if kind == STEP and self.cell is not None:
                    progress.step(self.cell, *value)
                self.is_ready = self.is_ready or kind == READY
        except (EOFError, OSError):
            has_ended = True
        except Exception as error:  # its result holds an object of a class that is not here
            self.kill()
            return self._failed("", f"its result cannot be read: {described(error)}")
        if has_ended:  # a process that it left behind may hold the pipe open
            reason = self._wait_for_end()
            if not self.is_ready:
                raise AdbenchTextError(
                    f"A worker process did not start: {reason}. Its message is above; --jobs 0 uses none."
                )
            return self._failed("killed", reason)
        if not self.is_ready and time.monotonic() - self.began > _START_SECONDS:
            self.kill()
            raise AdbenchTextError(
                f"A worker process did not start: no answer for {_START_SECONDS:g} s. Was it stopped, or is "
                "the machine overloaded? Finished cells are kept; run the same command again to continue."
            )
        if self.cell is not None:
            if limits.seconds is not None and time.monotonic() - self.began > limits.seconds:
                self.kill()
                return self._failed("timed out", f"stopped after {limits.seconds:g} s (--cell-timeout)")
            if limits.megabytes is not None and self._megabytes() > limits.megabytes:
                self.kill()
                reason = f"stopped at more than {limits.megabytes:g} MB (--cell-memory)"
                return self._failed("out of memory", reason)
        return None

    def _megabytes(self) -> float:
        """Return the resident memory of the process and its children, in 10^6 bytes."""
        try:
            process = psutil.Process(self._process.pid)
            return sum(_rss(each) for each in (process, *process.children(recursive=True))) / 1e6
        except psutil.Error:  # it has ended
            return 0.0

    def _failed(self, stopped: str, reason: str) -> Result | None:
        """Return the result of its cell, whose process was ended; None if it has no cell."""
        if self.cell is None:
            return None
        began = time.time() - (time.monotonic() - self.began)
        return Result(self.cell, began, {}, reason=reason, stopped=stopped)

    def _wait_for_end(self) -> str:
        """Return how the process ended, for people, after it closed its pipe."""
        self._process.join(10)
        code = self._process.exitcode
        self.kill()
        if code is None or code < 0:
            return f"its process was killed (signal {-(code or -9)}), perhaps for lack of memory"
        return f"it ended its process (exit code {code})"

    def kill(self) -> None:
        """End the process, its children, and what these left behind, at once."""
        if self.is_dead:
            return
        self.is_dead = True
        try:
            children = psutil.Process(self._process.pid).children(recursive=True)
        except (psutil.Error, ValueError):
            children = []
        self._process.kill()
        for child in children:
            with suppress(psutil.Error):
                child.kill()
        if hasattr(os, "killpg") and self._process.pid is not None:
            with suppress(OSError):  # no process is left in its group
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.join()
        self.connection.close()


_starting = threading.Lock()  # a start changes the environment for a moment
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def threads(n_threads: int) -> dict[str, str]:
    """Return the environment variables that limit the threads of libraries, where the user has not."""
    return {name: str(n_threads) for name in THREADS if name not in os.environ}


class _Pickler(pickle.Pickler):
    """Pickles an array that is mapped from a file as the place in this file, for the same machine."""

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, np.memmap):
            return NotImplemented
        mapping = str(value.filename), value.dtype, value.offset, value.shape
        try:
            is_same = np.array_equal(_mapped(*mapping), value)  # the file may have changed or gone
        except (OSError, ValueError):
            is_same = False
        return (_mapped, mapping) if is_same else NotImplemented


def _mapped(path: str, dtype: Any, offset: int, shape: tuple[int, ...]) -> "np.memmap[Any, Any]":
    return np.memmap(path, dtype, "r", offset, shape)


def _pickled(corpus: Corpus) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(corpus)
    return buffer.getvalue()


def _rss(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:  # it has ended
        return 0


def _work(pipe: Connection, trace_every: int, environment: Mapping[str, str]) -> None:
    """Evaluate the cells that arrive until the pipe is closed, or code of another package has run."""
    if hasattr(os, "setsid"):
        os.setsid()  # a group of its own, which ends with it
    os.environ.clear()  # a forked process has the environment of the server
    os.environ.update(environment)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threadpool_limits(_limits(environment))  # libraries that are loaded already have read other values
    registry.plugins.cache_clear()  # the server had another path
    own, progress = os.getpid(), _Steps(pipe)
    corpora: dict[str, Corpus] = {}
    pipe.send((READY, None))
    while True:
        try:
            received = pipe.recv()
        except (EOFError, OSError):
            return
        if isinstance(received, Corpus):
            corpora[received.name] = received
        else:
            cell, is_oracle = received
            result = scored(cell, corpora[cell.dataset], progress, trace_every, is_oracle)
            if os.getpid() != own:  # the detector forked
                os._exit(0)
            kind = LAST if registry.has_loaded_others() else RESULT
            try:
                pipe.send((kind, result))
            except BrokenPipeError:
                return
            except Exception as error:  # a table of a detector that cannot be sent
                reason = f"its result cannot be passed on: {described(error)}"
                pipe.send((kind, Result(result.cell, result.started, {}, reason=reason)))


class _Steps(Progress):
    """Sends the steps of a training to the process that started this one, not too often."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._own, self._last = pipe, os.getpid(), 0.0

    def step(self, cell: Cell, step: int, steps: int, losses: Mapping[str, float]) -> None:
        # a process that the detector forked has no say
        if os.getpid() == self._own and time.monotonic() - self._last >= _STEP_SECONDS:
            self._last = time.monotonic()
            self._pipe.send((STEP, (step, steps, dict(losses))))


def _limits(environment: Mapping[str, str]) -> dict[str, int]:
    """Return the numbers of threads that environment variables set, by kinds of libraries."""
    openmp = environment.get("OMP_NUM_THREADS", "")  # perhaps a list: a number for each level
    given = {"openmp": openmp, "blas": environment.get("OPENBLAS_NUM_THREADS", openmp)}
    first = {kind: text.partition(",")[0].strip() for kind, text in given.items()}
    return {kind: int(text) for kind, text in first.items() if text.isdecimal() and int(text)}


def _end_with_parent() -> None:
    """End this process when the one that started it ends, even in the middle of a cell."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        for child in psutil.Process().children(recursive=True):
            child.kill()
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)
