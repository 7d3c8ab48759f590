"""Facts about a detector or a dataset, as JSON holds them."""

import json
import sys
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

from adbench_text import storage
from adbench_text.corpora import corpus
from adbench_text.errors import AdbenchTextError
from adbench_text.escaping import one_line
from adbench_text.isolation import preserved
from adbench_text.places import as_plugin_error
from adbench_text.plugins import registry
from adbench_text.plugins.documentation import citations, parameters
from adbench_text.sweep.construct import presets


def of_detector(name: str) -> dict[str, Any]:
    """Return the facts about a detector.

    Raises
    ------
    PluginError
        If it cannot be loaded, or fails when it is asked.
    """
    detector = registry.detector(name)
    wrapped = getattr(detector, "wrapped", None) or detector
    module = sys.modules.get(wrapped.__module__)
    with preserved(), as_plugin_error(f"{name} cannot be described", detector.__module__):
        storage.forbid_downloads()
        built = detector()
        described = [vars(each) for each in parameters(detector)]
        regime, is_oracle = built.regime, built.is_oracle
        resources: dict[str, str] | str
        try:
            resources = {str(key): str(value) for key, value in built.resources().items()}
        except AdbenchTextError as error:  # a file that is not downloaded
            resources = str(error)
    return {
        "name": name,
        "kind": "detector",
        "summary": _summary(name, detector),
        "regime": regime,
        "oracle": is_oracle,
        "package": _package(wrapped.__module__),
        "citations": citations(wrapped, (module and module.__doc__) or ""),
        "presets": _presets(name),
        "resources": resources,
        "parameters": described,
    }


def of_dataset(name: str) -> dict[str, Any]:
    """Return the facts about a dataset; nothing is downloaded for it.

    Raises
    ------
    PluginError
        If it cannot be loaded.
    """
    dataset = registry.dataset(name)
    facts = {
        "name": name,
        "kind": "dataset",
        "summary": _summary(name, type(dataset)),
        "classes": list(dataset.classes),
        "source": getattr(dataset, "source", ""),
        "licence": getattr(dataset, "licence", ""),
        "citations": [citation] if (citation := getattr(dataset, "citation", "")) else [],
        "package": _package(type(dataset).__module__),
    }
    try:
        with preserved():
            storage.forbid_downloads()
            loaded = corpus.load(dataset)
    except AdbenchTextError as error:
        return {**facts, "edition": None, "problem": str(error)}
    parts = {"training": loaded.train, "test": loaded.test}
    counts = {
        label: {part: int((documents.labels == index).sum()) for part, documents in parts.items()}
        for index, label in enumerate(loaded.classes)
    }
    edition = {"name": loaded.edition, "published": loaded.is_published, "digest": loaded.digest}
    return {**facts, "edition": edition, "documents": counts, "empty": loaded.n_empty}


def _summary(name: str, kind: type) -> str:
    plugin = registry.plugins("detectors").get(name) or registry.plugins("datasets").get(name)
    if plugin is not None and not plugin.is_foreign:
        return plugin.summary
    return one_line((kind.__doc__ or "").strip().partition("\n")[0])


def _presets(name: str) -> list[dict[str, Any]]:
    """Return the presets; one that differs between datasets is there several times."""
    detector, datasets = registry.detector(name), registry.names("datasets")
    grouped: dict[tuple[str, str], dict[str, Any]] = {}
    for dataset in datasets:
        for preset, grid in presets(detector, dataset).items():
            key = preset, json.dumps(grid, sort_keys=True, default=str)
            entry = grouped.setdefault(key, {"name": preset, "datasets": [], "settings": grid})
            entry["datasets"].append(dataset)
    for entry in grouped.values():
        if entry["datasets"] == datasets:
            entry["datasets"] = None  # all
    return list(grouped.values())


def _package(module: str) -> dict[str, str]:
    """Return name, version and licence of the package that a module belongs to."""
    top = module.partition(".")[0]
    try:
        facts = metadata(top.replace("_", "-"))
    except PackageNotFoundError:
        return {"name": top}
    stated = [facts[key] for key in ("License-Expression", "License") if key in facts]
    licence = next(filter(None, stated), "")
    package = {"name": facts["Name"], "version": facts["Version"], "licence": one_line(licence)[:100]}
    return {key: value for key, value in package.items() if value}
