"""``adbench-text ui``: Start the web pages of MLflow."""

import socket
import subprocess
import sys
from contextlib import suppress
from typing import Any

import click

from adbench_text.cli.options import tracking_uri_option
from adbench_text.errors import AdbenchTextError
from adbench_text.store.client import check_reachable

_PORT = 5000
_HOST = "127.0.0.1"
_PAGE = "/#/experiments"


@click.command("ui", params=[tracking_uri_option()])
@click.option("--port", default=_PORT, type=click.IntRange(1, 65535), help="Port of the web interface.")
def command(port: int, tracking_uri: str) -> None:
    """Start MLflow's web interface for the store, and print the address of its experiments, one a dataset."""
    from adbench_text.store.store import Store

    store = Store(tracking_uri, create=False)
    check_reachable(tracking_uri)  # MLflow's server writes to its store
    if tracking_uri.startswith(("http://", "https://")):
        click.echo(f"The store is a server; open in a browser: {store.shown.rstrip('/')}{_PAGE}")
        return
    with socket.socket() as connection:
        connection.settimeout(1)
        if connection.connect_ex((_HOST, port)) == 0:
            raise AdbenchTextError(f"Port {port} is used by another program; choose another with --port.")
    # one process is enough for one reader; MLflow would start four
    server = ["mlflow", "server", "--backend-store-uri", tracking_uri, "--workers", "1"]
    address = f"http://{_HOST}:{port}{_PAGE}"
    click.echo(f"Once it has started, open in a browser (press Ctrl-C to stop): {address}")
    process = subprocess.Popen([sys.executable, "-m", *server, "--host", _HOST, "--port", str(port)])
    try:
        code = process.wait()
    finally:
        _terminate(process)
        process.wait()
    if code:
        raise AdbenchTextError(f"MLflow has ended with exit code {code}; its message is above.")


def _terminate(process: "subprocess.Popen[Any]") -> None:
    """End a server and its workers."""
    import psutil

    with suppress(psutil.Error):
        server = psutil.Process(process.pid)
        for each in (*server.children(recursive=True), server):
            with suppress(psutil.Error):
                each.terminate()
