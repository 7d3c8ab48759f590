"""``adbench-text doctor``: what is installed, and what works."""

import os
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires
from typing import Any

import click

from adbench_text import provenance, storage
from adbench_text.cli.options import TRACKING, adding
from adbench_text.cli.show import json_option, line, show
from adbench_text.code_version import installed
from adbench_text.errors import AdbenchTextError, TrackingError
from adbench_text.escaping import one_line, without_password
from adbench_text.isolation import preserved
from adbench_text.plugins import registry
from adbench_text.store.client import check_reachable, sqlite_file

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
    show(report, map(line, _lines(report)), as_json)
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


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the facts of a report for people."""
    devices, data, cache, store = (report[key] for key in ("devices", "data", "cache", "store"))
    yield f"Versions: {_listed(report['versions'])}"
    yield f"Extras: {_listed(report['extras'], 'not installed')}"
    if "torch" in devices:
        gpus = "; ".join(f"{gpu['name']}, {gpu['gigabytes']} GB" for gpu in devices["gpus"])
        of_torch = f"torch {devices['torch']}, CUDA {devices['cuda'] or 'none'}, {devices['threads']} threads"
        yield f"Devices: {of_torch}, GPUs {gpus or 'none'}"
    yield f"Data: {data['folder']}{'' if data['exists'] else ' (does not exist)'}"
    yield from (f"{name}: {state}" for name, state in data["states"].items() if state)
    missing = [name for name, state in data["states"].items() if not state]
    if missing:
        yield f"Not downloaded (adbench-text fetch NAME): {', '.join(missing)}"
    if data["offline"]:
        yield "Downloads are off (--offline)."
    yield f"Cache: {cache['folder']}, {cache['megabytes']:,} MB"
    yield f"Store: {store['uri']}, {store['state']}"
    for kind, names in report["plugins"]["foreign"].items():
        if names:
            yield f"Other packages offer these {kind}: {', '.join(names)}"
    yield from (f"Problem: {problem}" for problem in report["problems"])
    if not report["problems"]:
        yield "No problems."


def _listed(facts: Mapping[str, str | None], missing: str = "") -> str:
    return "; ".join(f"{name} {value or missing}" for name, value in facts.items())
