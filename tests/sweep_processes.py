"""Real processes for tests of faults: sweeps of sixty short cells, and MLflow servers."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest
import requests
from servers import Handler, Server

PLUGINS = Path(__file__).parent / "toy"
SWEEP = "run -s tiny -d counting --no-report --verbose".split() + [f"--seed={seed}" for seed in range(5)]
N_CELLS = 60  # three classes, four levels, five seeds
CELLS = """
    SELECT c.value, m.value FROM runs r
    JOIN tags k ON k.run_uuid = r.run_uuid AND k.key = 'adbench_text.kind' AND k.value = 'cell'
    JOIN tags c ON c.run_uuid = r.run_uuid AND c.key = 'adbench_text.cell'
    JOIN latest_metrics m ON m.run_uuid = r.run_uuid AND m.key = 'auroc'
    WHERE r.lifecycle_stage = 'active' AND r.status = 'FINISHED'
"""


def start(folder: Path, *options: str, command=SWEEP, **variables: str) -> subprocess.Popen:
    """Start a command of adbench-text in a folder; what it prints is appended to the file ``log`` there."""
    path = os.pathsep.join([str(PLUGINS), os.environ.get("PYTHONPATH", "")])
    shared = {"PYTHONPATH": path, "TOY_SECONDS": "0.05", "ADBENCH_TEXT_CACHE": str(folder / "cache")}
    with (folder / "log").open("a") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "adbench_text.cli", *command, *options],
            cwd=folder,
            env=os.environ | shared | variables,
            stdout=log,
            stderr=log,
        )


def query(folder: Path, text: str) -> list:
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        return database.execute(text).fetchall()


def kill(process: subprocess.Popen) -> None:
    """Kill a process, but none of its children: they must end by themselves."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        children = []
    process.kill()
    process.wait()
    assert psutil.wait_procs(children, timeout=20)[1] == []


def printed(folder: Path) -> str:
    return (folder / "log").read_text()


def wait_for(folder: Path, text: str, process: subprocess.Popen | None = None) -> None:
    while text not in printed(folder):
        assert process is None or process.poll() is None, printed(folder)
        time.sleep(0.05)


def assert_complete(folder: Path, expected: list) -> None:
    """Every cell is there once, equal to that of an undisturbed sweep; a killed sweep alone stays open."""
    assert sorted(query(folder, CELLS)) == expected
    open_runs = "SELECT name FROM runs WHERE status = 'RUNNING' AND lifecycle_stage = 'active'"
    assert query(folder, f"{open_runs} AND name NOT LIKE 'sweep: %'") == []
    assert (folder / "mlflow.db.cells").is_dir()
    assert list((folder / "mlflow.db.cells").rglob("*.json")) == []


@contextmanager
def server(folder: Path, port: int, database="sqlite:///mlflow.db"):
    """A real MLflow server with one worker."""
    options = f"--backend-store-uri {database} --artifacts-destination artifacts --port {port}"
    process = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "server", *options.split(), "--workers", "1"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until(lambda: requests.get(f"http://127.0.0.1:{port}/health", timeout=1).ok)
        yield process
    finally:
        os.killpg(process.pid, signal.SIGCONT)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(answers: Callable[[], bool]) -> None:
    """Wait until something is true, such as that a server answers, for two minutes at most."""
    for _ in range(2400):
        try:
            if answers():
                return
        except OSError:  # those of requests and of sockets
            pass
        time.sleep(0.05)
    raise AssertionError("no answer for two minutes")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Proxy(Server):
    """Passes requests on to a server; where `is_ill` returns True for a path, the answer is 500."""

    def __init__(self, target_port: int) -> None:
        self.target = f"http://127.0.0.1:{target_port}"
        self.is_ill: Callable[[str], bool] = lambda path: False
        super().__init__()

    def answer(self, request: Handler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        if self.is_ill(request.path):
            request.send_error(500)
            return
        headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
        address = self.target + request.path
        answer = requests.request(request.command, address, data=body, headers=headers, timeout=60)
        kind = answer.headers.get("Content-Type", "application/json")
        request.send(answer.content, answer.status_code, kind)


@contextmanager
def postgres(folder: Path, port: int):
    """A PostgreSQL server of its own; yields the address of a database, or None without its programs."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not programs or (is_root and shutil.which("runuser") is None):
        yield None
        return
    user = ["runuser", "-u", "postgres", "--"] if is_root else []  # PostgreSQL refuses to run as root
    with TemporaryDirectory() as temporary:  # below a folder of pytest no other user may write
        data = Path(temporary) / "data"
        data.mkdir()
        if is_root:
            Path(temporary).chmod(0o755)
            shutil.chown(data, "postgres")
        shared = {"check": True, "cwd": data, "stdout": subprocess.DEVNULL}
        subprocess.run([*user, programs[-1] / "initdb", "-D", data, "-A", "trust", "-U", "mlflow"], **shared)
        control = [*user, programs[-1] / "pg_ctl", "-D", data, "-w"]
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={data}"
        subprocess.run([*control, "-l", data / "log", "-o", options, "start"], **shared)
        try:
            yield f"postgresql+psycopg2://mlflow@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **shared)


def worker_process(nanny: subprocess.Popen) -> psutil.Process:
    """The process below a nanny that runs cells; it is started anew when it dies."""
    return next(each for each in psutil.Process(nanny.pid).children() if "spawn_main" in str(each.cmdline()))


FULL = "No space left on device"


@contextmanager
def disk(folder, megabytes=8):
    """A small disk at a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no command mount")
    if done.returncode:
        pytest.skip(f"a file system cannot be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def filled(folder, left=0):
    """Fill a disk, except for some bytes, until the block ends."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as stream:
        try:
            while stream.write(bytes(4096)):
                pass
        except OSError:
            pass
        stream.truncate(stream.tell() - left)
    yield
    filler.unlink()
