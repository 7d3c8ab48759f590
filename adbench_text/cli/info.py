"""``adbench-text info``: Describe a detector or a dataset."""

import inspect
import sys
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import Name
from adbench_text.cli.show import json_option, show
from adbench_text.errors import AdbenchTextError
from adbench_text.escaping import one_line
from adbench_text.failures import as_plugin_error
from adbench_text.isolation import preserved
from adbench_text.plugins import registry
from adbench_text.storage import forbid_downloads

if TYPE_CHECKING:
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
    with preserved():
        forbid_downloads()
        name = registry.with_files(name)
        is_detector = name in registry.names("detectors")
        facts = _of_detector(name) if is_detector else _of_dataset(name)
    show(facts, as_json)


def _of_detector(name: str) -> dict[str, Any]:
    """Return the facts about a detector."""
    detector = registry.detector(name)
    wrapped = getattr(detector, "wrapped", None) or detector
    with as_plugin_error(f"{name} cannot be described", detector.__module__):
        built = detector()
        resources: dict[str, str] | str
        try:
            resources = {str(key): str(value) for key, value in built.resources().items()}
        except AdbenchTextError as error:  # a file that is not downloaded
            resources = str(error)
        return {
            **_general("detector", name, detector, wrapped.__module__),
            "citation": citation_of(name),
            "regime": built.regime or "not stated",
            "oracle": built.is_oracle,
            "reads_raw": built.reads_raw,
            "resources": resources,
            "presets": presets_of(name),
            "parameters": _parameters(detector),
            "documentation": inspect.cleandoc(wrapped.__doc__ or "").splitlines(),
        }


def _parameters(detector: "type[TextDetector]") -> list[dict[str, Any]]:
    """Return the hyper-parameters with their defaults and their ranges, as far as these are known."""
    from adbench_text.checks import Range

    ranges, rows = detector.parameter_ranges(), []
    for name, default in detector.default_params().items():
        values = ranges.get(name, Range())
        parts = [", ".join(values.choices), values.text, "null" if values.nullable else ""]
        rows.append({"name": name, "default": default, "range": " or ".join(filter(None, parts))})
    return rows


def presets_of(name: str) -> list[dict[str, Any]]:
    """Return the presets of a detector; a preset that differs between datasets has several rows."""
    from adbench_text.plugins.configure import presets

    detector, datasets = registry.detector(name), registry.names("datasets")
    rows: list[dict[str, Any]] = []
    for dataset in datasets:
        for preset, grid in presets(detector, dataset).items():
            same = [row for row in rows if (row["name"], row["settings"]) == (preset, grid)]
            if not same:
                same = [{"name": preset, "datasets": [], "settings": grid}]
                rows += same
            same[0]["datasets"].append(dataset)
    return [row | {"datasets": "all"} if row["datasets"] == datasets else row for row in rows]


def _of_dataset(name: str) -> dict[str, Any]:
    """Return the facts about a dataset."""
    from adbench_text.corpora import corpus

    dataset = registry.dataset(name)
    facts = {
        **_general("dataset", name, type(dataset), type(dataset).__module__),
        "source": getattr(dataset, "source", ""),
        "licence": getattr(dataset, "licence", ""),
        "citation": citation_of(name),
        "language": dataset.language,
    }
    try:
        loaded = corpus.load(dataset)
    except AdbenchTextError as error:
        edition = f"not downloaded; run: adbench-text fetch {name}"
        return {**facts, "edition": edition, "problem": str(error), "classes": list(dataset.classes)}
    return {**facts, "edition": loaded.edition, "digest": loaded.digest, "documents": loaded.counts()}


def citation_of(name: str) -> str:
    """Return the publications that a detector or dataset states, or the family that it belongs to."""
    kind = "detectors" if name in registry.names("detectors") else "datasets"
    plugin = registry.plugins(kind).get(name)
    if plugin is not None and not plugin.is_member:
        return stated_by(registry.load(kind, name))
    return stated_by(import_module(registry.module_of(kind, name)))


def stated_by(part: Any) -> str:
    """Return the publications that a class, an object or a module states.

    They are its `citation`, or `CITATION` of its module, and the References in the docstring of the module.
    """
    module = part if inspect.ismodule(part) else sys.modules.get(part.__module__)
    stated = getattr(part, "citation", getattr(module, "CITATION", ""))
    references = (getattr(module, "__doc__", "") or "").partition("References\n----------\n")[2]
    return one_line(f"{stated} {references}".strip())


def _general(kind: str, name: str, described: type, module: str) -> dict[str, Any]:
    """Return the facts about any plug-in."""
    plugin = registry.plugins(f"{kind}s").get(name)
    summary = one_line((described.__doc__ or "").strip().partition("\n")[0])
    if plugin is not None and not plugin.is_foreign:
        summary = plugin.summary
    package = module.partition(".")[0]
    with suppress(PackageNotFoundError):
        facts = metadata(package.replace("_", "-")).json
        licence = one_line(str(facts.get("license_expression") or facts.get("license") or ""))[:100]
        package = f"{facts['name']} {facts['version']}, {licence or 'no licence stated'}"
    return {"name": name, "kind": kind, "summary": summary, "package": package}
