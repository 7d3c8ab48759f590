"""``adbench-text doctor``: Report what is installed, and what works."""

import os
import re
from contextlib import suppress
from importlib.metadata import requires
from typing import Any

import click

from adbench_text import provenance, storage
from adbench_text.cli.options import TRACKING, section
from adbench_text.cli.show import json_option, show
from adbench_text.code_version import installed
from adbench_text.errors import AdbenchTextError, TrackingError
from adbench_text.escaping import one_line, without_password
from adbench_text.isolation import preserved
from adbench_text.plugins import registry
from adbench_text.store.client import check_reachable


@click.command("doctor")
@json_option
@section("Options", *TRACKING)
def command(as_json: bool, tracking_uri: str, experiment: str) -> None:
    """Report versions, devices, downloaded data, folders, the store and broken plug-ins.

    Add the output to a bug report. Nothing is downloaded and nothing is written. The exit code is 1 if there
    is a problem. Data that is not downloaded is not a problem.
    """
    # the packages of extras that are installed
    optional = [re.split(r"[^\w.-]", text)[0] for text in requires("adbench-text") or [] if "extra" in text]
    devices = provenance.devices()
    problems = [devices.pop("problem", "")]
    cache = storage.cache_dir()
    parent = next(each for each in (cache, *cache.parents) if each.exists())
    if not (parent.is_dir() and os.access(parent, os.W_OK)):
        problems.append(f"Cannot write to {parent}.")
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
        "downloads": _downloads(),
        "plug-ins of other packages": [
            plugin.place
            for kind in registry.KINDS
            for plugin in registry.plugins(kind).values()
            if plugin.is_foreign
        ],
        "problems": [one_line(problem) for problem in problems if problem],
    }
    show(report, as_json)
    if report["problems"]:
        click.get_current_context().exit(1)


def _downloads() -> dict[str, str]:
    """Return the states of datasets, word vectors and vocabularies."""
    from adbench_text.corpora.corpus import edition_of
    from adbench_text.text import vectors, wordpiece

    states = dict.fromkeys([*registry.names("datasets"), *vectors.DOWNLOADS, wordpiece.FETCHED], "")
    with preserved():
        storage.forbid_downloads()
        for name in registry.names("datasets"):
            with suppress(AdbenchTextError):  # not downloaded, or broken: that is a problem of the plug-in
                states[name] = edition_of(registry.dataset(name)).name
    states |= {name: vectors.state(name) for name in vectors.DOWNLOADS}
    states[wordpiece.FETCHED] = "downloaded" if wordpiece.BERT_FILE.is_here else ""
    return {name: state or f"no (adbench-text fetch {name})" for name, state in states.items()}
