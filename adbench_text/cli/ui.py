"""``adbench-text ui``: the web pages of MLflow."""

import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import TRACKING, adding
from adbench_text.errors import AdbenchTextError
from adbench_text.escaping import without_password
from adbench_text.store.client import DEFAULT_URI, check_reachable, mlflow_uri

if TYPE_CHECKING:
    from adbench_text.store.store import Store

_PORT = 5000
_HOST = "127.0.0.1"
_SECONDS = 0.2  # between two attempts to reach the server


@click.command("ui")
@click.option("--port", default=_PORT, type=click.IntRange(1, 65535), help="Port of the web interface.")
@adding(*TRACKING)
def command(port: int, tracking_uri: str, experiment: str) -> None:
    """Start MLflow's web interface for the store, and print a link to the comparison of each dataset."""
    from adbench_text.store.store import Store

    store = Store(tracking_uri, experiment, create=False)
    check_reachable(tracking_uri)  # MLflow's server writes to its store
    if tracking_uri.startswith(("http://", "https://")):
        click.echo(f"The store is a server; open {without_password(tracking_uri)} in a browser:")
        _print_links(store, without_password(tracking_uri))
        return
    if _is_used(port):
        raise AdbenchTextError(f"Port {port} is used by another program; choose another with --port.")
    # one process is enough for one reader; MLflow would start four
    server = ["mlflow", "server", "--backend-store-uri", mlflow_uri(tracking_uri), "--workers", "1"]
    click.echo("Starting MLflow ...")
    process = subprocess.Popen([sys.executable, "-m", *server, "--host", _HOST, "--port", str(port)])
    try:
        while process.poll() is None and not _is_used(port):
            time.sleep(_SECONDS)
        if process.returncode is None:
            click.echo("Open in a browser (press Ctrl-C to stop):")
            _print_links(store, f"http://{_HOST}:{port}")
            sys.stdout.flush()
        code = process.wait()
    finally:
        _terminate(process)
        process.wait()
    if code:
        raise AdbenchTextError(f"MLflow has ended with exit code {code}; its message is above.")


def _print_links(store: "Store", server: str) -> None:
    for dataset, path in store.comparisons().items():
        click.echo(f"  {dataset}: {server.rstrip('/')}{path}")


def links(store: "Store", datasets: Iterable[str]) -> list[str]:
    """Return a line per dataset: where MLflow compares its results."""
    from adbench_text.store.store import DEFAULT_EXPERIMENT

    paths = store.comparisons()
    if store.uri.startswith(("http://", "https://")):
        before = store.shown.rstrip("/")
    else:
        words = ["adbench-text", "ui"]
        words += ["--tracking-uri", store.shown] if store.uri != DEFAULT_URI else []
        words += ["--experiment", store.experiment] if store.experiment != DEFAULT_EXPERIMENT else []
        before = f"{shlex.join(words)}, then http://{_HOST}:{_PORT}"
    return [f"Compare {name} in MLflow: {before}{paths[name]}" for name in datasets if name in paths]


def _is_used(port: int) -> bool:
    """Return whether a program listens at a port of this machine."""
    with socket.socket() as connection:
        connection.settimeout(1)
        return connection.connect_ex((_HOST, port)) == 0


def _terminate(process: "subprocess.Popen[Any]") -> None:
    """End a server and its workers."""
    import psutil

    with suppress(psutil.Error):
        server = psutil.Process(process.pid)
        for each in (*server.children(recursive=True), server):
            with suppress(psutil.Error):
                each.terminate()
