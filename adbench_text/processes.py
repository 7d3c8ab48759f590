"""Call functions elsewhere, with the interface of `concurrent.futures`.

`Processes` calls them in processes that can be killed and limited. `adbench_text.cluster.Cluster` calls them
on the workers of a Dask cluster.

A process guards against accidents of the code that it runs: a crash, a hang, too much memory, a patched
library. It does not guard against malice.
"""

import gc
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import psutil
from joblib import cpu_count
from threadpoolctl import threadpool_limits

from adbench_text import interrupts
from adbench_text.errors import AdbenchTextError
from adbench_text.failures import FAILURES, described
from adbench_text.isolation import environment_with

_LOOK_SECONDS = 0.2  # between two checks of the limits
_NO_PROCESS = -1  # a number that `shutdown` gives to each thread that waits for a process
_LONGEST_FOLDER = 75  # bytes: multiprocessing puts a socket two folders below, whose path has at most 107
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Limits:
    """The time and memory that a call may use; None for no limit."""

    seconds: float | None = None  # wall time
    # resident memory of its process, with libraries and data, in 10^6 bytes
    megabytes: float | None = None


#: Why a process may end before its call is done.
STOPPED = "killed", "timed out", "out of memory"


class CallError(AdbenchTextError):
    """A call did not return.

    `stopped` is one of `STOPPED` if its process ended, otherwise empty.
    """

    def __init__(self, reason: str, stopped: str = "") -> None:
        super().__init__(reason)
        self.stopped = stopped


class Workers(Executor):
    """Calls functions somewhere. The end of its block ends the calls that still run."""

    def share(self, value: Any, name: str) -> Any:
        """Return a handle for a large value, to pass to `submit`; the value is sent only once.

        Errors call the value `name`. Raise AdbenchTextError if it cannot be sent.
        """
        raise NotImplementedError

    def sees(self, file: str) -> bool:
        """Return whether all workers can read a file of this machine."""
        return True


class Processes(Workers):
    """Calls functions in processes of this machine.

    They start when they are needed, and a new one replaces a process that has ended. On Linux, they are
    forked from a process that has loaded the module `preload`, which the functions need.
    """

    def __init__(
        self,
        n: int,
        preload: str,
        *,
        limits: Limits = Limits(),  # for each call; a process that exceeds them is killed
        variables: Sequence[Mapping[str, str]] = ({},),  # environment variables, for the processes in turn
        on_notice: Callable[[Any], object] = lambda value: None,  # takes notices of a function, in a thread
        is_spent: Callable[[], bool] | None = None,  # called in a process: must it end after this call?
    ) -> None:
        self._n, self._preload = n, preload
        self._limits, self._variables = limits, variables
        self._on_notice, self._is_spent = on_notice, is_spent
        self._files = ExitStack()
        self._threads = ThreadPoolExecutor(n)  # each waits for a process
        self._processes: dict[int, _Process] = {}
        self._idle: SimpleQueue[int] = SimpleQueue()

    def share(self, value: Any, name: str) -> Any:
        """Write a value to a temporary file; each process reads it once."""
        content = pickled(value, name)
        with _starting():
            folder = self._files.enter_context(TemporaryDirectory())
            file = _File(str(Path(folder) / "value.pickle"), name)
            Path(file.path).write_bytes(content)
        return file

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> "Future[Any]":  # type: ignore[override]
        """Let a process call a function; start a process first if there are fewer than allowed.

        Raise AdbenchTextError if the system starts none. The future raises CallError if the process ends
        during the call. It raises AdbenchTextError if the process ends before it is ready, or if the
        function raises an error.
        """
        free = set(range(self._n)) - self._processes.keys()
        if free:
            number = min(free)
            variables = self._variables[number % len(self._variables)]
            # a process that has begun must be known, so that `shutdown` ends it
            with _starting(), interrupts.held_back():
                self._processes[number] = _Process(self._preload, variables, self._is_spent)
            self._idle.put(number)
        return self._threads.submit(self._call, pickle.dumps((function, arguments)))

    def _call(self, payload: bytes) -> Any:
        """Let the next idle process make a call; return the result of the function."""
        number = self._idle.get()
        if number == _NO_PROCESS:
            raise CallError("the processes have ended", "killed")
        process = self._processes[number]
        answer = None
        try:
            process.wait_for_start()  # the time of the call begins afterwards
            process.send(payload)
            answer = self._answer(process)
        finally:
            if answer is None:  # the process may still work, so it takes no other call
                process.kill()
            if process.is_over:
                del self._processes[number]
            else:
                self._idle.put(number)
        if answer.error is not None:
            raise answer.error
        return answer.value

    def _answer(self, process: "_Process") -> "_Message":
        """Return the answer of a process. Until it comes, pass on notices and enforce the limits."""
        begin = time.monotonic()
        while True:
            message = process.received(_LOOK_SECONDS)
            if message is not None and message.is_answer:
                return message
            if message is not None:
                self._on_notice(message.value)
            self._enforce_limits(process, time.monotonic() - begin)

    def _enforce_limits(self, process: "_Process", seconds: float) -> None:
        """Kill a process and raise CallError if its call exceeds a limit."""
        limits = self._limits
        if limits.seconds is not None and seconds > limits.seconds:
            process.kill()
            raise CallError(f"stopped after {limits.seconds:g} s (--cell-timeout)", "timed out")
        if limits.megabytes is not None and process.megabytes() > limits.megabytes:
            process.kill()
            reason = f"stopped at more than {limits.megabytes:g} MB (--cell-memory)"
            raise CallError(reason, "out of memory")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes, whatever they do."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in list(self._processes.values()):
            process.kill()
        for _ in range(self._n):  # release threads that wait for a process
            self._idle.put(_NO_PROCESS)
        self._threads.shutdown()
        self._files.close()


@contextmanager
def _starting() -> Iterator[None]:
    """Raise AdbenchTextError, with one line, for an error of the system in the block."""
    try:
        yield
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or described(error)
        raise AdbenchTextError(f"Cannot start other processes: {reason}. Give --jobs 1.") from error


def n_threads(n_processes: int) -> int:
    """Return the number of threads for one of `n_processes` that share the cores."""
    return max(1, int(cpu_count()) // n_processes)


def threads(n_processes: int, is_override: bool = False) -> dict[str, str]:
    """Return the environment variables that let processes share the cores.

    Leave out variables that are already set, unless `is_override`.
    """
    n = str(n_threads(n_processes))
    return {name: n for name in _THREADS if is_override or name not in os.environ}


# Processes, seen from the process that starts them

_lock = threading.RLock()  # a start changes the environment, and also checks how other processes ended


class _Process:
    """A process that makes one call after the other.

    It loads the module `preload` before the first call, or is forked from a process that has loaded it.
    `variables` are added to its environment. After each call the process asks `is_spent` whether it must end;
    None stands for a process that goes on. `is_over` says whether it was killed.
    """

    def __init__(
        self, preload: str, variables: Mapping[str, str], is_spent: Callable[[], bool] | None
    ) -> None:
        with _lock, _context(preload) as context:
            self._pipe, far = context.Pipe()
            environment = {**os.environ, **variables}
            self._process = context.Process(target=_work, args=(far, environment, is_spent))
            self._process.start()
        far.close()  # so that the pipe ends when the process ends
        self._is_ready = self.is_over = False

    def wait_for_start(self) -> None:
        """Wait until the process is ready; raise AdbenchTextError if it ends before that."""
        try:
            while not self._is_ready:
                self._is_ready = self.received(_LOOK_SECONDS) is not None
        except CallError as error:
            reason = f"{error}. Its message is above."
            raise AdbenchTextError(f"A worker process did not start: {reason}") from error

    def send(self, payload: bytes) -> None:
        """Send a pickled function with its arguments."""
        with suppress(BrokenPipeError):  # it has just ended, which `received` notices
            self._pipe.send_bytes(payload)

    def received(self, timeout: float) -> "_Message | None":
        """Return the next message, or None if it does not come in time.

        Raise CallError if the process has ended.
        """
        connection.wait([self._pipe, self._process.sentinel], timeout)
        with _lock:
            has_ended = not self._process.is_alive()  # checked before its last message is read
        try:
            if self._pipe.poll():
                message: _Message = pickle.loads(self._pipe.recv_bytes())
                if message.is_last:
                    self.kill()
                return message
        except (EOFError, OSError):
            has_ended = True
        except Exception as error:  # the class of an object in its result cannot be imported here
            self.kill()
            raise CallError(f"its result cannot be read: {described(error)}") from error
        if has_ended:  # a process that it left behind may hold the pipe open
            raise CallError(self._end(), "killed")
        return None

    def megabytes(self) -> float:
        """Return the resident memory of the process and its children, in 10^6 bytes."""
        total = 0.0
        with suppress(psutil.Error):  # it has ended
            process = psutil.Process(self._process.pid)
            for member in (process, *process.children(recursive=True)):
                with suppress(psutil.Error):
                    total += member.memory_info().rss / 1e6
        return total

    def _end(self) -> str:
        """Wait until the process ends, kill its children, and return how it ended."""
        with _lock:
            self._process.join(10)
            code = self._process.exitcode
        self.kill()
        if code is None:
            return "its process did not end by itself, and was killed"
        if code < 0:
            return f"its process was killed (signal {-code}), perhaps for lack of memory"
        return f"it ended its process (exit code {code})"

    def kill(self) -> None:
        """Kill the process, its children, and the processes that these left behind."""
        with _lock:
            if self.is_over:
                return
            self.is_over = True
            children = []
            with suppress(psutil.Error, ValueError):
                children = psutil.Process(self._process.pid).children(recursive=True)
            self._process.kill()
            for child in children:
                with suppress(psutil.Error):
                    child.kill()
            if hasattr(os, "killpg") and self._process.pid is not None:
                with suppress(OSError):  # no process is left in its group
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.join()


def prepare(preload: str) -> None:
    """Begin to load the module for processes that start later, if this is possible; this does not wait."""
    with suppress(OSError, EOFError), _lock, _context(preload):
        pass


@contextmanager
def _context(preload: str) -> Iterator[Any]:
    """Yield a context of `multiprocessing`, to start processes that all need the module `preload`.

    On Linux they are forked from a process that has loaded it: they start at once and share its memory. On
    other systems each process loads the module, and also if the path for temporary files is too long for a
    fork server. The processes ignore Ctrl-C. This process ignores it only while it starts one, not while the
    module is loaded.
    """
    is_forked = sys.platform == "linux" and len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_FOLDER
    context: Any = get_context("forkserver" if is_forked else "spawn")
    # import no adbench_text from the working directory, and do not run the user's script again
    with environment_with({"PYTHONSAFEPATH": "1"}), _without_main(), ExitStack() as stack:
        stack.enter_context(interrupts.ignored())
        if is_forked:
            from multiprocessing import forkserver  # not on Windows

            context.set_forkserver_preload([preload])
            forkserver.ensure_running()
            stack.close()
        yield context


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the script of the user, so that processes that start in the block do not run it again."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


# Shared values


def pickled(value: Any, name: str) -> bytes:
    """Pickle a value for another process; errors call it `name`."""
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # of many kinds, also of plug-ins
        raise _not_sent(name, error) from error


def unpickled(content: bytes, name: str) -> Any:
    """Return the value that `pickled` has pickled."""
    try:
        return pickle.loads(content)
    except Exception as error:  # of many kinds, also of plug-ins
        raise _not_sent(name, error) from error


def _not_sent(name: str, error: Exception) -> AdbenchTextError:
    """Return the error for a value that cannot be pickled or unpickled."""
    return AdbenchTextError(
        f"{name} cannot be sent to another process: {described(error)}. Give --jobs 1 and no --address."
    )


@dataclass(frozen=True)
class _File:
    """A shared value."""

    path: str
    name: str


@lru_cache(2)  # a process needs one corpus at a time
def _read(file: _File) -> Any:
    """Return a shared value; a process reads its file once."""
    return unpickled(Path(file.path).read_bytes(), file.name)


# The rest runs in the processes.


@dataclass(frozen=True)
class _Message:
    """A message of a process: it is ready, a notice during a call, or the answer to a call."""

    value: Any = None
    error: AdbenchTextError | None = None
    is_answer: bool = False
    is_last: bool = False  # the process is killed after this answer


_pipes: dict[int, Connection] = {}  # by process id: a process that a call has forked has no pipe


def notify(value: Any) -> None:
    """Send a value to the process that waits for the current call, if there is one."""
    if os.getpid() in _pipes:
        _pipes[os.getpid()].send_bytes(pickle.dumps(_Message(value)))


def _work(pipe: Connection, environment: Mapping[str, str], is_spent: Callable[[], bool] | None) -> None:
    """Make the calls that arrive until the pipe is closed."""
    _prepare(environment)
    _pipes[os.getpid()] = pipe
    notify(None)
    with suppress(EOFError, OSError):  # the waiting process has ended
        while True:
            payload = pipe.recv_bytes()
            value, error = None, None
            try:
                function, arguments = pickle.loads(payload)
                value = function(*(_read(each) if isinstance(each, _File) else each for each in arguments))
            except AdbenchTextError as raised:
                error = raised
            except FAILURES as raised:  # the exception of a plug-in may not be picklable
                error = AdbenchTextError(f"Another process failed: {described(raised)}")
            if os.getpid() not in _pipes:  # the function forked
                os._exit(0)
            is_last = is_spent is not None and is_spent()
            try:
                message = _Message(value, error, is_answer=True, is_last=is_last)
                answer = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
            except Exception as raised:  # the result cannot be pickled
                error = CallError(f"its result cannot be passed on: {described(raised)}")
                answer = pickle.dumps(_Message(None, error, is_answer=True, is_last=is_last))
            pipe.send_bytes(answer)


def _prepare(environment: Mapping[str, str]) -> None:
    """Set the environment of this process, and let it end with the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it decides
    if hasattr(os, "setsid"):
        os.setsid()  # a new group, so that its children end with it
    os.environ.clear()  # a forked process has the environment of the fork server
    os.environ.update(environment)
    gc.freeze()  # garbage collection would copy the memory that it shares with the fork server
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threadpool_limits(_limits(environment))  # loaded libraries have read the old values


def _limits(environment: Mapping[str, str]) -> dict[str, int]:
    """Return the numbers of threads that environment variables set, by kinds of libraries."""
    openmp = environment.get("OMP_NUM_THREADS", "")  # may be a list, with a number for each level
    given = {"openmp": openmp, "blas": environment.get("OPENBLAS_NUM_THREADS", openmp)}
    first = {kind: text.partition(",")[0].strip() for kind, text in given.items()}
    return {kind: int(text) for kind, text in first.items() if text.isdecimal() and int(text)}


def _end_with_parent() -> None:
    """End this process when its parent ends, even in the middle of a call."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        for child in psutil.Process().children(recursive=True):
            child.kill()
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)
