"""``adbench-text ui``: the web pages of MLflow."""

import os
import shlex
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import TRACKING, adding
from adbench_text.cli.show import link
from adbench_text.errors import AdbenchTextError
from adbench_text.escaping import printable, without_password
from adbench_text.store.client import DEFAULT_URI, check_reachable, mlflow_uri

if TYPE_CHECKING:
    from adbench_text.store.store import Store

_PORT = 5000
_HOST = "127.0.0.1"
_SECONDS = 0.2  # between two attempts to reach the server


@click.command("ui")
@click.option("--port", default=_PORT, type=click.IntRange(1, 65535), help="Port of the web interface.")
@click.option("--no-open", is_flag=True, help="Print the links, but open no browser.")
@adding(*TRACKING)
def command(port: int, no_open: bool, tracking_uri: str, experiment: str) -> None:
    """Start MLflow's web interface for the store, and open the comparison of the first dataset.

    The links of all datasets are printed. No browser is opened in a pipe, or where there is no display.
    """
    from adbench_text.store.store import Store

    store = Store(tracking_uri, experiment, create=False)
    check_reachable(tracking_uri)  # MLflow's server writes to its store
    if tracking_uri.startswith(("http://", "https://")):
        click.echo(f"The store is a server; open {without_password(tracking_uri)} in a browser:")
        _show(store, without_password(tracking_uri), no_open)
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
            _show(store, f"http://{_HOST}:{port}", no_open)
        code = process.wait()
    finally:
        _terminate(process)
        process.wait()
    if code:
        raise AdbenchTextError(f"MLflow has ended with exit code {code}; its message is above.")


def _show(store: "Store", server: str, no_open: bool) -> None:
    """Print the link to the comparison of each dataset, and open the first."""
    addresses = {dataset: f"{server.rstrip('/')}{path}" for dataset, path in store.comparisons().items()}
    for dataset, address in addresses.items():
        click.echo(f"  {_linked(dataset, address)}")
    sys.stdout.flush()
    # without a display the browser would be one of text, in this terminal
    is_seen = sys.platform in ("darwin", "win32") or {"DISPLAY", "WAYLAND_DISPLAY"}.intersection(os.environ)
    if addresses and not no_open and sys.stdout.isatty() and is_seen:
        webbrowser.open(next(iter(addresses.values())))


def _linked(name: str, address: str, err: bool = False) -> str:
    """Return a name that is a link where that is possible, else both."""
    linked = link(name, address, err)
    return linked if linked != printable(name) else f"{linked}: {address}"


def links(store: "Store", datasets: Iterable[str]) -> list[str]:
    """Return lines on where MLflow compares results: a link for each dataset if the store is a server."""
    if not store.uri.startswith(("http://", "https://")):
        return [f"Compare in MLflow: {shlex.join(['adbench-text', 'ui', *options_of(store)])}"]
    paths, before = store.comparisons(), store.shown.rstrip("/")
    return [
        _linked(f"Compare {name} in MLflow", f"{before}{paths[name]}", err=True)
        for name in datasets
        if name in paths
    ]


def options_of(store: "Store") -> list[str]:
    """Return the options by which other commands find a store."""
    from adbench_text.store.store import DEFAULT_EXPERIMENT

    words = ["--tracking-uri", store.shown] if store.uri != DEFAULT_URI else []
    return words + (["--experiment", store.experiment] if store.experiment != DEFAULT_EXPERIMENT else [])


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
