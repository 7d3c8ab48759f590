"""``adbench-text info``: facts about a detector or a dataset."""

import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.names import Name
from adbench_text.cli.show import json_option, line, next_command, show, table
from adbench_text.errors import AdbenchTextError
from adbench_text.escaping import one_line
from adbench_text.isolation import preserved
from adbench_text.places import as_plugin_error
from adbench_text.plugins import registry
from adbench_text.plugins.configure import text_of_settings, text_of_value
from adbench_text.storage import forbid_downloads

if TYPE_CHECKING:
    from rich.console import RenderableType

    from adbench_text.plugins.detector import TextDetector


@click.command("info")
@click.argument("name", type=Name("checkable"))
@json_option
def command(name: str, as_json: bool) -> None:
    """Describe the detector or dataset NAME.

    For a detector: its hyper-parameters with default and range; its presets; what it knows besides the
    training documents; the files it reads; its package and licence; its documentation. For a dataset: its
    classes, source, licence, publication, edition and numbers of documents. Nothing is downloaded.
    """
    described: list[dict[str, Any]] = []
    blocks: list[RenderableType] = []
    with preserved():
        forbid_downloads()
        if name in registry.names("detectors"):
            described.append(_of_detector(name))
            blocks += _detector(described[-1])
        if name in registry.names("datasets"):
            described.append(_of_dataset(name))
            blocks += _dataset(described[-1])
    show(described[0] if len(described) == 1 else described, blocks, as_json)
    if not as_json:
        next_command("list", "datasets" if name in registry.names("detectors") else "detectors")


def _of_detector(name: str) -> dict[str, Any]:
    """Return the facts about a detector, ready for JSON."""
    detector = registry.detector(name)
    wrapped = getattr(detector, "wrapped", None) or detector
    module = sys.modules.get(wrapped.__module__)
    with as_plugin_error(f"{name} cannot be described", detector.__module__):
        built = detector()
        resources: dict[str, str] | str
        try:
            resources = {str(key): str(value) for key, value in built.resources().items()}
        except AdbenchTextError as error:  # a file that is not downloaded
            resources = str(error)
        return {
            **_general("detector", name, detector, wrapped.__module__),
            "regime": built.regime,
            "oracle": built.is_oracle,
            "reads_raw": built.reads_raw,
            "citation": getattr(wrapped, "citation", getattr(module, "CITATION", "")),
            "presets": presets_of(name),
            "resources": resources,
            "parameters": _parameters(detector),
            "documentation": inspect.cleandoc(wrapped.__doc__ or ""),
        }


def _parameters(detector: "type[TextDetector]") -> list[dict[str, Any]]:
    """Return the hyper-parameters with their defaults and their ranges, as far as these are known."""
    from adbench_text.checks import Range

    ranges = detector.parameter_ranges()
    rows = []
    for name, default in detector.default_params().items():
        values = ranges.get(name, Range())
        facts = {"range": values.text, "nullable": values.nullable, "choices": list(values.choices)}
        rows.append({"name": name, "default": default, **facts})
    return rows


_MOST_DATASETS = 4  # that a preset is listed with


def _of_dataset(name: str) -> dict[str, Any]:
    """Return the facts about a dataset, ready for JSON."""
    from adbench_text.corpora import corpus

    dataset = registry.dataset(name)
    facts = {
        **_general("dataset", name, type(dataset), type(dataset).__module__),
        "classes": list(dataset.classes),
        "source": getattr(dataset, "source", ""),
        "licence": getattr(dataset, "licence", ""),
        "citation": getattr(dataset, "citation", ""),
    }
    try:
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
    from adbench_text.plugins.configure import presets

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


def _general(kind: str, name: str, described: type, module: str) -> dict[str, Any]:
    """Return the facts about any plug-in."""
    plugin = registry.plugins(f"{kind}s").get(name)
    summary = one_line((described.__doc__ or "").strip().partition("\n")[0])
    if plugin is not None and not plugin.is_foreign:
        summary = plugin.summary
    package = {"name": module.partition(".")[0]}
    try:
        facts = metadata(package["name"].replace("_", "-")).json
        licence = one_line(str(facts.get("license_expression") or facts.get("license") or ""))[:100]
        stated = {"name": str(facts["name"]), "version": str(facts["version"]), "licence": licence}
        package = {key: value for key, value in stated.items() if value}
    except PackageNotFoundError:
        pass
    return {"name": name, "kind": kind, "summary": summary, "package": package}


def _detector(facts: Mapping[str, Any]) -> "Iterator[RenderableType]":
    resources = facts["resources"]
    if not isinstance(resources, str):
        resources = "; ".join(f"{key}: {value}" for key, value in resources.items())
    yield from _head(
        facts,
        Regime=facts["regime"] or "not stated",
        Oracle="its scores are chosen by the test labels" if facts["oracle"] else "",
        Reads="documents as they were written" if facts["reads_raw"] else "",
        Package=_named(facts["package"]),
        Citation=facts["citation"],
        Resources=resources,
    )
    yield line()
    yield line("Presets (--preset):")
    rows = []
    for preset in facts["presets"]:
        where = f" on {', '.join(preset['datasets'])}" if preset["datasets"] else ""
        if len(preset["datasets"] or ()) > _MOST_DATASETS:
            where = " on the other datasets"
        rows.append((f"{preset['name']}{where}", content_of(preset["settings"]) or "the defaults below"))
    yield table(rows)
    yield line()
    yield line("Hyper-parameters (--set NAME=VALUE):")
    yield table((each["name"], text_of_value(each["default"]), _values(each)) for each in facts["parameters"])
    yield line()
    for text in facts["documentation"].splitlines():
        yield line(text.lstrip(), len(text) - len(text.lstrip()))


def _dataset(facts: Mapping[str, Any]) -> "Iterator[RenderableType]":
    edition = facts["edition"]
    yield from _head(
        facts,
        Source=facts["source"] or "not stated",
        Licence=facts["licence"] or "not stated",
        Citation=facts["citation"] or "not stated",
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


def _head(facts: Mapping[str, Any], **values: str) -> "Iterator[RenderableType]":
    yield line(f"{facts['name']} ({facts['kind']}): {facts['summary']}")
    yield line()
    yield table(((f"{name}:", value) for name, value in values.items() if value), indent=0)


def content_of(grid: list[dict[str, Any]]) -> str:
    """Return the settings of a preset in one line, or their number."""
    return f"{len(grid)} configurations" if len(grid) > 1 else " ".join(map(text_of_settings, grid))


def _values(parameter: Mapping[str, Any]) -> str:
    """Return the values that a hyper-parameter may have."""
    parts = [", ".join(parameter["choices"]), parameter["range"], "null" if parameter["nullable"] else ""]
    return " or ".join(filter(None, parts))


def _named(package: Mapping[str, str]) -> str:
    licence = f", {package['licence']}" if "licence" in package else ""
    return f"{package['name']} {package.get('version', '')}".strip() + licence
