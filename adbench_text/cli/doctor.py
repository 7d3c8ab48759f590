"""``adbench-text doctor``: what is installed, and what works."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import tracking_options
from adbench_text.cli.show import json_option, line, show, table
from adbench_text.escaping import one_line, without_password

if TYPE_CHECKING:
    from rich.console import RenderableType

_HIDDEN_EXTRAS = ("test", "docs")  # for developers of this package


@click.command("doctor")
@json_option
@tracking_options
def command(as_json: bool, tracking_uri: str, experiment: str) -> None:
    """Report versions, devices, downloaded data, folders, the store and broken plug-ins.

    Add the output to a bug report. Nothing is downloaded and nothing is written. The exit code is 1 if there
    is a problem. Data that is not downloaded is not a problem.
    """
    from adbench_text.provenance import devices, environment
    from adbench_text.storage import cache_dir

    report: dict[str, Any] = {
        "versions": environment(),
        "extras": _extras(),
        "devices": devices(),
        "data": _data(),
        "cache": _folder(cache_dir()),
        "store": _store(tracking_uri, experiment),
        "plugins": _plugins(),
    }
    sections = (report["devices"], report["cache"], report["store"])
    problems = [section["problem"] for section in sections if section.get("problem")]
    problems += report["plugins"]["broken"].values()
    report["problems"] = problems
    show(report, _blocks(report), as_json)
    if problems:
        click.get_current_context().exit(1)


def _extras() -> dict[str, dict[str, str | None]]:
    """Return the packages of each extra of this package, with their versions; None if not installed."""
    import re
    from importlib.metadata import PackageNotFoundError, requires

    from adbench_text.code_version import installed

    extras: dict[str, dict[str, str | None]] = {}
    try:
        requirements = requires("adbench-text") or []
    except PackageNotFoundError:  # it runs from a folder
        requirements = []
    for requirement in requirements:
        found = re.match(r"([\w.-]+).*extra == ['\"]([\w-]+)['\"]", requirement)
        if found and found[2] not in _HIDDEN_EXTRAS:
            extras.setdefault(found[2], {})[found[1]] = installed(found[1]) or None
    return extras


def _data() -> dict[str, Any]:
    """Return the data directory, and which datasets, word vectors and vocabularies are there."""
    from adbench_text import storage
    from adbench_text.corpora.corpus import edition_of
    from adbench_text.errors import AdbenchTextError
    from adbench_text.isolation import preserved
    from adbench_text.plugins import registry
    from adbench_text.text import vectors, wordpiece

    folder = storage.data_dir()
    datasets: dict[str, str | None] = {}
    with preserved():
        storage.forbid_downloads()
        for name in registry.names("datasets"):
            try:
                datasets[name] = edition_of(registry.dataset(name)).name
            except AdbenchTextError:  # not downloaded, or broken: that is a problem of the plug-in
                datasets[name] = None
    return {
        "folder": str(folder),
        "exists": folder.is_dir(),
        "offline": storage.is_offline(),
        "datasets": datasets,
        "vectors": {name: vectors.state(name) or None for name in vectors.DOWNLOADS},
        "vocabularies": {wordpiece.FETCHED: "downloaded" if wordpiece.BERT_FILE.is_here else None},
    }


def _folder(path: Any) -> dict[str, Any]:
    """Return a folder that is written to, with its size; ``problem`` if it cannot be written."""
    import os

    parent = next((each for each in (path, *path.parents) if each.exists()), path)
    problem = "" if parent.is_dir() and os.access(parent, os.W_OK) else f"Cannot write to {parent}."
    try:
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    except OSError:
        size = 0
    return {"folder": str(path), "exists": path.is_dir(), "megabytes": size // 10**6, "problem": problem}


def _store(uri: str, experiment: str) -> dict[str, Any]:
    """Return whether the store can be used; MLflow is not imported for it."""
    from adbench_text.errors import TrackingError
    from adbench_text.store.client import check_reachable, sqlite_file

    facts = {"uri": without_password(uri), "experiment": experiment, "state": "reachable", "problem": ""}
    try:
        check_reachable(uri)
    except TrackingError as error:
        return {**facts, "state": "not usable", "problem": str(error)}
    path = sqlite_file(uri)
    if path is not None and not path.exists():
        facts["state"] = "not created yet; the first run creates it"
    return facts


def _plugins() -> dict[str, Any]:
    """Return the plug-ins of other packages, and the problems of those that cannot be loaded."""
    from adbench_text.plugins import registry

    foreign: dict[str, list[str]] = {}
    broken: dict[str, str] = {}
    for kind in registry.KINDS:
        if names := [name for name, plugin in registry.plugins(kind).items() if plugin.is_foreign]:
            foreign[kind] = names
        broken |= {row.name: one_line(row.problem) for row in registry.listing(kind) if row.problem}
    return {"foreign": foreign, "broken": broken}


def _blocks(report: Mapping[str, Any]) -> "Iterator[RenderableType]":
    versions, devices, data = report["versions"], report["devices"], report["data"]
    yield line("Versions")
    rows = [(name, version) for name, version in versions.items() if name != "platform"]
    rows += [
        (f"{name} [{extra}]", version or "not installed")
        for extra, packages in report["extras"].items()
        for name, version in packages.items()
    ]
    yield table(rows)
    yield line("Devices")
    rows = [("machine", versions["platform"])]
    if "torch" in devices:
        cuda = f"CUDA {devices['cuda']}" if devices["cuda"] else "without CUDA"
        gpus = [f"{gpu['name']}, {gpu['gigabytes']} GB" for gpu in devices["gpus"]]
        rows.append(("torch", f"{devices['torch']}, {cuda}, {devices['threads']} threads"))
        rows.append(("GPUs", "; ".join(gpus) or "none"))
    yield table(rows)
    yield line(f"Data: {data['folder']}{'' if data['exists'] else ' (does not exist)'}")
    yield table(
        (name, state or "not downloaded")
        for kind in ("datasets", "vectors", "vocabularies")
        for name, state in data[kind].items()
    )
    yield line("adbench-text fetch NAME downloads what is missing.", 2)
    if data["offline"]:
        yield line("Downloads are off (--offline).", 2)
    cache, store = report["cache"], report["store"]
    yield line(f"Cache: {cache['folder']}, {cache['megabytes']:,} MB")
    yield line(f"Store: {store['uri']}, {store['state']}")
    for kind, names in report["plugins"]["foreign"].items():
        yield line(f"Other packages offer these {kind}: {', '.join(names)}")
    yield line()
    yield from (line(f"Problem: {problem}") for problem in report["problems"])
    if not report["problems"]:
        yield line("No problems.")
