"""``adbench-text ui``: the web pages of MLflow."""

import os
import sys

import click

from adbench_text.cli.options import tracking_options


@click.command("ui")
@click.option("--port", default=5000, type=click.IntRange(1, 65535), help="Port of the web interface.")
@tracking_options
def command(port: int, tracking_uri: str, experiment: str) -> None:
    """Start MLflow's web interface for the store."""
    from adbench_text.store.address import mlflow_uri, without_password
    from adbench_text.store.store import Store

    Store(tracking_uri, experiment, create=False)
    if tracking_uri.startswith(("http://", "https://")):
        click.echo(f"The store is a server; open {without_password(tracking_uri)} in a browser.")
        return
    click.echo(
        f"Open http://127.0.0.1:{port} in a browser (press Ctrl-C to stop); experiments: {experiment}/..."
    )
    store = ["--backend-store-uri", mlflow_uri(tracking_uri)]
    command = [sys.executable, "-m", "mlflow", "ui", *store, "--port", str(port)]
    sys.stdout.flush()
    os.execv(sys.executable, command)  # replaces this process, so that ending it ends the server
