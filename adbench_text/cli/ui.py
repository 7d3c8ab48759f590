"""``adbench-text ui``: Start the web pages of MLflow."""

import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from adbench_text.cli.options import TRACKING_URI
from adbench_text.errors import AdbenchTextError
from adbench_text.escaping import one_line
from adbench_text.store.client import check_reachable

_PORT = 5000
_HOST = "127.0.0.1"


@click.command("ui", params=[TRACKING_URI])
@click.option("--port", default=_PORT, type=click.IntRange(1, 65535), help="Port of the web interface.")
def command(port: int, tracking_uri: str) -> None:
    """Start MLflow's web interface, and print for each dataset the address of its comparison of detectors."""
    from adbench_text.store.store import Store

    store = Store(tracking_uri, create=False)
    check_reachable(tracking_uri)  # MLflow's server writes to its store
    comparisons = store.comparisons()
    if tracking_uri.startswith(("http://", "https://")):
        click.echo("The store is a server. Open in a browser:")
        _print_addresses(store.redacted.rstrip("/"), comparisons)
        return
    with socket.socket() as connection:
        connection.settimeout(1)
        if connection.connect_ex((_HOST, port)) == 0:
            raise AdbenchTextError(f"Port {port} is used by another program; choose another with --port.")
    # one worker is enough for one user; MLflow would start four
    server = ["mlflow", "server", "--backend-store-uri", tracking_uri, "--workers", "1"]
    click.echo("Once it has started, open in a browser (press Ctrl-C to stop):")
    _print_addresses(f"http://{_HOST}:{port}", comparisons)
    process = subprocess.Popen([sys.executable, "-m", *server, "--host", _HOST, "--port", str(port)])
    try:
        code = process.wait()
    finally:
        _terminate(process)
        process.wait()
    if code:
        raise AdbenchTextError(f"MLflow has ended with exit code {code}; its message is above.")


def _print_addresses(server: str, comparisons: Mapping[str, str]) -> None:
    """Print the address of each comparison with its experiment, and the address of all experiments."""
    for experiment, page in comparisons.items():
        click.echo(f"{one_line(experiment)}: {server}/{page}")
    click.echo(f"all experiments: {server}/#/experiments")
    if not comparisons:
        click.echo("The store compares no detectors yet: adbench-text run writes a comparison when it ends.")


def _terminate(process: "subprocess.Popen[Any]") -> None:
    """End a server and its workers."""
    import psutil

    if process.poll() is not None:
        return  # its number may now belong to another process
    with suppress(psutil.Error):
        server = psutil.Process(process.pid)
        for member in (*server.children(recursive=True), server):
            with suppress(psutil.Error):
                member.terminate()
