"""``adbench-text doctor``: what is installed, and what works."""

import os
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires
from typing import TYPE_CHECKING, Any

import click

from adbench_text import provenance, storage
from adbench_text.cli.options import TRACKING, adding
from adbench_text.cli.show import json_option, line, show, table
from adbench_text.code_version import installed
from adbench_text.errors import AdbenchTextError, TrackingError
from adbench_text.escaping import one_line, without_password
from adbench_text.isolation import preserved
from adbench_text.plugins import registry
from adbench_text.store.client import check_reachable, sqlite_file

if TYPE_CHECKING:
    from rich.console import RenderableType

_HIDDEN_EXTRAS = ("test", "docs")  # for developers of this package


@click.command("doctor")
@json_option
@adding(*TRACKING)
def command(as_json: bool, tracking_uri: str, experiment: str) -> None:
    """Report versions, devices, downloaded data, folders, the store and broken plug-ins.

    Add the output to a bug report. Nothing is downloaded and nothing is written. The exit code is 1 if there
    is a problem. Data that is not downloaded is not a problem.
    """
    foreign = {
        kind: [plugin.name for plugin in registry.plugins(kind).values() if plugin.is_foreign]
        for kind in registry.KINDS
    }
    broken = {
        row.name: row.problem for kind in registry.KINDS for row in registry.listing(kind) if row.problem
    }
    report: dict[str, Any] = {
        "versions": provenance.environment(),
        "extras": _extras(),
        "devices": provenance.devices(),
        "data": _data(),
        "cache": _cache(),
        "store": {"experiment": experiment, **_store(tracking_uri)},
        "plugins": {"foreign": foreign, "broken": broken},
    }
    problems = [report[section].get("problem") for section in ("devices", "cache", "store")]
    report["problems"] = [one_line(problem) for problem in (*problems, *broken.values()) if problem]
    show(report, _blocks(report), as_json)
    if report["problems"]:
        click.get_current_context().exit(1)


def _extras() -> dict[str, str | None]:
    """Return the packages of the extras of this package, with their versions; None if not installed."""
    try:
        requirements = requires("adbench-text") or []
    except PackageNotFoundError:  # it runs from a folder
        return {}
    pattern = re.compile(r"([\w.-]+).*extra == ['\"]([\w-]+)['\"]")
    extras = [found.groups() for found in map(pattern.match, requirements) if found]
    return {
        f"{name} [{extra}]": installed(name) or None for name, extra in extras if extra not in _HIDDEN_EXTRAS
    }


def _data() -> dict[str, Any]:
    """Return the data directory, and the states of datasets, word vectors and vocabularies in it."""
    from adbench_text.corpora.corpus import edition_of
    from adbench_text.text import vectors, wordpiece

    folder, is_offline = storage.data_dir(), storage.is_offline()
    states: dict[str, str | None] = {}
    with preserved():
        storage.forbid_downloads()
        for name in registry.names("datasets"):
            try:
                states[name] = edition_of(registry.dataset(name)).name
            except AdbenchTextError:  # not downloaded, or broken: that is a problem of the plug-in
                states[name] = None
    states |= {name: vectors.state(name) or None for name in vectors.DOWNLOADS}
    states[wordpiece.FETCHED] = "downloaded" if wordpiece.BERT_FILE.is_here else None
    return {"folder": str(folder), "exists": folder.is_dir(), "offline": is_offline, "states": states}


def _cache() -> dict[str, Any]:
    """Return the folder of caches with its size; ``problem`` if it cannot be written."""
    path = storage.cache_dir()
    parent = next((each for each in (path, *path.parents) if each.exists()), path)
    can_write = parent.is_dir() and os.access(parent, os.W_OK)
    try:
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    except OSError:
        size = 0
    problem = "" if can_write else f"Cannot write to {parent}."
    return {"folder": str(path), "megabytes": size // 10**6, "problem": problem}


def _store(uri: str) -> dict[str, str]:
    """Return whether the store can be used; MLflow is not imported for it."""
    state, problem, path = "reachable", "", sqlite_file(uri)
    try:
        check_reachable(uri)
        if path is not None and not path.exists():
            state = "not created yet; the first run creates it"
    except TrackingError as error:
        state, problem = "not usable", str(error)
    return {"uri": without_password(uri), "state": state, "problem": problem}


def _blocks(report: Mapping[str, Any]) -> "Iterator[RenderableType]":
    devices, data, cache, store = (report[key] for key in ("devices", "data", "cache", "store"))
    versions = dict(report["versions"])
    machine = {"machine": versions.pop("platform")}
    if "torch" in devices:
        cuda = f"CUDA {devices['cuda']}" if devices["cuda"] else "without CUDA"
        gpus = [f"{gpu['name']}, {gpu['gigabytes']} GB" for gpu in devices["gpus"]]
        machine["torch"] = f"{devices['torch']}, {cuda}, {devices['threads']} threads"
        machine["GPUs"] = "; ".join(gpus) or "none"
    extras = [(name, version or "not installed") for name, version in report["extras"].items()]
    yield line("Versions")
    yield table([*versions.items(), *extras])
    yield line("Devices")
    yield table(machine.items())
    yield line(f"Data: {data['folder']}{'' if data['exists'] else ' (does not exist)'}")
    yield table((name, state or "not downloaded") for name, state in data["states"].items())
    yield line("adbench-text fetch NAME downloads what is missing.", 2)
    if data["offline"]:
        yield line("Downloads are off (--offline).", 2)
    yield line(f"Cache: {cache['folder']}, {cache['megabytes']:,} MB")
    yield line(f"Store: {store['uri']}, {store['state']}")
    for kind, names in report["plugins"]["foreign"].items():
        if names:
            yield line(f"Other packages offer these {kind}: {', '.join(names)}")
    yield line()
    yield from (line(f"Problem: {problem}") for problem in report["problems"])
    if not report["problems"]:
        yield line("No problems.")
