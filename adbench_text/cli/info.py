"""``adbench-text info``: facts about a detector or a dataset."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.names import Name, check_names
from adbench_text.cli.show import json_option, line, show, table
from adbench_text.escaping import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType


@click.command("info")
@click.argument("name", type=Name("checkable"))
@json_option
def command(name: str, as_json: bool) -> None:
    """Describe the detector or dataset NAME.

    For a detector: its hyper-parameters with default, meaning and range; its presets; what it knows besides
    the training documents; the files it reads; its package, licence and publications. For a dataset: its
    classes, source, licence, publication, edition and numbers of documents. Nothing is downloaded.
    """
    from adbench_text.plugins import registry

    check_names("checkable", [name])
    described = [_of_detector(name)] if name in registry.names("detectors") else []
    described += [_of_dataset(name)] if name in registry.names("datasets") else []
    blocks = [block for facts in described for block in _BLOCKS[facts["kind"]](facts)]
    show(described[0] if len(described) == 1 else described, blocks, as_json)


def _of_detector(name: str) -> dict[str, Any]:
    """Return the facts about a detector, ready for JSON."""
    from adbench_text.errors import AdbenchTextError
    from adbench_text.isolation import preserved
    from adbench_text.places import as_plugin_error
    from adbench_text.plugins import registry
    from adbench_text.plugins.documentation import citations, parameters
    from adbench_text.storage import forbid_downloads

    detector = registry.detector(name)
    wrapped = getattr(detector, "wrapped", None) or detector
    module = sys.modules.get(wrapped.__module__)
    with preserved(), as_plugin_error(f"{name} cannot be described", detector.__module__):
        forbid_downloads()
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
        "summary": _summary("detectors", name, detector),
        "regime": regime,
        "oracle": is_oracle,
        "package": _package(wrapped.__module__),
        "citations": citations(wrapped, (module and module.__doc__) or ""),
        "presets": presets_of(name),
        "resources": resources,
        "parameters": described,
    }


def _of_dataset(name: str) -> dict[str, Any]:
    """Return the facts about a dataset, ready for JSON; nothing is downloaded for it."""
    from adbench_text.corpora import corpus
    from adbench_text.errors import AdbenchTextError
    from adbench_text.isolation import preserved
    from adbench_text.plugins import registry
    from adbench_text.storage import forbid_downloads

    dataset = registry.dataset(name)
    facts = {
        "name": name,
        "kind": "dataset",
        "summary": _summary("datasets", name, type(dataset)),
        "classes": list(dataset.classes),
        "source": getattr(dataset, "source", ""),
        "licence": getattr(dataset, "licence", ""),
        "citations": [citation] if (citation := getattr(dataset, "citation", "")) else [],
        "package": _package(type(dataset).__module__),
    }
    try:
        with preserved():
            forbid_downloads()
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


def presets_of(name: str) -> list[dict[str, Any]]:
    """Return the presets of a detector; one that differs between datasets is there several times."""
    from adbench_text.plugins import registry
    from adbench_text.sweep.construct import presets

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


def _summary(kind: str, name: str, described: type) -> str:
    from adbench_text.plugins import registry

    plugin = registry.plugins(kind).get(name)
    if plugin is not None and not plugin.is_foreign:
        return plugin.summary
    return one_line((described.__doc__ or "").strip().partition("\n")[0])


def _package(module: str) -> dict[str, str]:
    """Return name, version and licence of the package that a module belongs to."""
    from importlib.metadata import PackageNotFoundError, metadata

    top = module.partition(".")[0]
    try:
        facts = metadata(top.replace("_", "-"))
    except PackageNotFoundError:
        return {"name": top}
    stated = [facts[key] for key in ("License-Expression", "License") if key in facts]
    licence = next(filter(None, stated), "")
    package = {"name": facts["Name"], "version": facts["Version"], "licence": one_line(licence)[:100]}
    return {key: value for key, value in package.items() if value}


def _detector(facts: Mapping[str, Any]) -> "Iterator[RenderableType]":
    from adbench_text.sweep.cell import text_of_value

    resources = facts["resources"]
    if not isinstance(resources, str):
        resources = "; ".join(f"{key}: {value}" for key, value in resources.items())
    yield line(f"{facts['name']} (detector): {facts['summary']}")
    yield line()
    yield _fields(
        Regime=facts["regime"] or "not stated",
        Oracle="its scores are chosen by the test labels" if facts["oracle"] else "",
        Package=_named(facts["package"]),
        Citation="; ".join(facts["citations"]),
        Resources=resources,
    )
    yield line()
    yield line("Presets (--preset):")
    rows = []
    for preset in facts["presets"]:
        where = f" on {', '.join(preset['datasets'])}" if preset["datasets"] else ""
        rows.append((f"{preset['name']}{where}", content_of(preset["settings"]) or "the defaults below"))
    yield table(rows)
    yield line()
    yield line("Hyper-parameters (--set NAME=VALUE):")
    for each in facts["parameters"]:
        yield line(f"{each['name']} = {text_of_value(each['default'])}", 2)
        meaning = (each["meaning"] or each["type"]).replace("``", "")
        yield from (line(text, 6) for text in (meaning, _values(each)) if text)


def _dataset(facts: Mapping[str, Any]) -> "Iterator[RenderableType]":
    edition = facts["edition"]
    yield line(f"{facts['name']} (dataset): {facts['summary']}")
    yield line()
    yield _fields(
        Source=facts["source"] or "not stated",
        Licence=facts["licence"] or "not stated",
        Citation="; ".join(facts["citations"]) or "not stated",
        Package=_named(facts["package"]),
        Edition=edition["name"] if edition else f"not downloaded; run: adbench-text fetch {facts['name']}",
        Classes="" if edition else ", ".join(facts["classes"]),
    )
    if edition is None:
        return
    yield line()
    rows = ((label, parts["training"], parts["test"]) for label, parts in facts["documents"].items())
    yield table(rows, header=("class", "training", "test"))
    if facts["empty"]:
        yield line(f"{facts['empty']:,} more documents are empty after cleaning.", 2)


_BLOCKS = {"detector": _detector, "dataset": _dataset}


def content_of(grid: list[dict[str, Any]]) -> str:
    """Return the settings of a preset in one line, or their number."""
    from adbench_text.sweep.cell import text_of_settings

    return f"{len(grid)} configurations" if len(grid) > 1 else " ".join(map(text_of_settings, grid))


def _values(parameter: Mapping[str, Any]) -> str:
    """Return the sentence on the values that a hyper-parameter may have."""
    if parameter["choices"]:
        others = f"; or {parameter['range']}" if parameter["range"] else ""
        return f"Choices: {', '.join(parameter['choices'])}{others}."
    if not parameter["range"]:
        return ""
    null = " or null" if parameter["nullable"] else ""
    return f"Must be {parameter['range']}{null}."


def _named(package: Mapping[str, str]) -> str:
    licence = f", {package['licence']}" if "licence" in package else ""
    return f"{package['name']} {package.get('version', '')}".strip() + licence


def _fields(**values: str) -> "RenderableType":
    return table(((f"{name}:", value) for name, value in values.items() if value), indent=0)
