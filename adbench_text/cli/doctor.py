"""``adbench-text doctor``: Report versions, folders, devices and problems."""

import json
import os
import re
from importlib.metadata import requires
from typing import Any

import click

from adbench_text import provenance, storage
from adbench_text.cli.options import TRACKING
from adbench_text.code_version import installed
from adbench_text.errors import TrackingError
from adbench_text.escaping import without_password
from adbench_text.plugins import registry
from adbench_text.store.client import check_reachable

_NO_PACKAGE = re.compile(r"[^\w.-]")  # the first character after the name of a required package


@click.command("doctor", params=[*TRACKING])
def command(tracking_uri: str, experiment: str) -> None:
    """Report versions, devices, folders, the store and broken plug-ins, as JSON.

    Add the output to a bug report. Nothing is downloaded and nothing is written. The exit code is 1 if there
    is a problem.
    """
    # packages that the extras require
    optional = [_NO_PACKAGE.split(text)[0] for text in requires("adbench-text") or [] if "extra" in text]
    devices = provenance.devices()
    problems = [devices.pop("problem", "")]
    cache = storage.cache_dir()
    existing = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK)):
        problems.append(f"Cannot write to {existing}.")
    try:
        check_reachable(tracking_uri)
    except TrackingError as error:
        problems.append(str(error))
    problems += [row.problem for kind in registry.KINDS for row in registry.listing(kind)]
    report: dict[str, Any] = {
        "cache": str(cache),
        "data": str(storage.data_dir()),
        "offline": storage.is_offline(),
        "store": without_password(tracking_uri),
        "experiment": experiment,
        "versions": provenance.environment()
        | {name: installed(name) for name in optional if installed(name)},
        "devices": devices,
        "plug-ins of other packages": [
            plugin.place
            for kind in registry.KINDS
            for plugin in registry.plugins(kind).values()
            if plugin.is_foreign
        ],
        "problems": [problem for problem in problems if problem],
    }
    click.echo(json.dumps(report, indent=2))
    if report["problems"]:
        click.get_current_context().exit(1)
