"""``adbench-text info``: Describe a detector, a dataset or a file of vectors."""

import inspect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING

import click

from adbench_text.cli.options import Name
from adbench_text.cli.show import print_lines, print_table, room
from adbench_text.errors import AdbenchTextError, InvalidValueError, NotDownloadedError, UnknownNameError
from adbench_text.escaping import one_line
from adbench_text.failures import as_plugin_error
from adbench_text.isolation import preserved
from adbench_text.plugins import registry
from adbench_text.plugins.citations import citation_of
from adbench_text.plugins.configure import DetectorChoice
from adbench_text.storage import forbid_downloads
from adbench_text.text.sources import SOURCES

if TYPE_CHECKING:
    from adbench_text.contract.detector import TextDetector


@click.command("info")
@click.argument("name", type=Name("describable"))
def command(name: str) -> None:
    """Describe the detector, dataset, word vectors or encoder NAME; llr:robust is a detector with a preset.

    For a detector: its knowledge besides the training documents; the files it reads; its package and licence;
    its presets; its hyper-parameters with default and range; its documentation. For a dataset: its classes,
    source, licence, publication, edition and numbers of documents. For vectors and encoders: their training
    data, licence, source and publication. Nothing is downloaded.
    """
    with preserved():
        forbid_downloads()
        name = registry.with_known_files(name)
        is_dataset = registry.find("datasets", name) is not None
        if registry.find("detectors", name) or not (is_dataset or name in SOURCES):
            choice = DetectorChoice.parse(name)
            if choice.name in SOURCES:
                raise InvalidValueError(f"{choice.name} is not a detector and has no presets, got {name!r}.")
            if choice.settings:
                raise InvalidValueError(f"Expected NAME or NAME:PRESET, got {name!r}.")
            _print_detector(choice.name, choice.preset)
        elif is_dataset:
            print_table(_of_dataset(name).items(), indent=0)
        else:
            print_table(_of_source(name).items(), indent=0)


def _print_detector(name: str, preset: str | None) -> None:
    """Print the facts about a detector, with the values of a preset, or with all presets and the defaults."""
    from adbench_text.checks import Range
    from adbench_text.plugins.configure import build, presets, text_of_settings, text_of_value

    detector = registry.detector(name)
    grids = presets(detector, "")
    if preset is not None and preset not in grids:
        raise UnknownNameError(f"preset of {name}", preset, grids)
    wrapped = getattr(detector, "wrapped", None) or detector
    with as_plugin_error(f"{name} cannot be described", detector.__module__):
        built = build(name, {} if preset is None else grids[preset][0])
        try:
            resources = text_of_settings(built.resources())
        except AdbenchTextError as error:  # a file is not downloaded
            resources = str(error)
        configured = _configured(name, built) if preset is None else {preset: built}
        facts = {
            **_general("detector", name, detector, wrapped.__module__),
            "regime": _regimes(name, configured),
            "oracle": str(built.is_oracle),
            "reads raw": str(built.reads_raw),
            "resources": resources,
        }
        configurations = {
            name_of_preset: "; ".join(map(text_of_settings, grid))
            for name_of_preset, grid in grids.items()
            if preset in (None, name_of_preset)
        }
        knowledge = {
            name: f"{SOURCES[name].made_of}; {SOURCES[name].licence}" for name in _sources_of(configured)
        }
        ranges, parameters = detector.parameter_ranges(), []
        for key, default in detector.default_params().items():
            values, default = ranges.get(key, Range()), built.get_params().get(key, default)
            parts = [", ".join(values.choices), values.text, "null" if values.nullable else ""]
            parameters.append((key, text_of_value(default), " or ".join(filter(None, parts))))
    print_table(facts.items(), indent=0)
    print_lines(f"\npresets (a dataset may have its own; run -d {name} means {detector.default_preset}):")
    print_table(configurations.items())
    if knowledge:
        print_lines("\nknowledge that it reads, by default or in a preset:")
        print_table(knowledge.items())
    print_lines(f"\nparameters, {'defaults' if preset is None else f'values of {preset}'} and ranges:")
    print_table(_fitting(parameters))
    print_lines(f"\n{inspect.cleandoc(wrapped.__doc__ or '')}")


def _fitting(parameters: "list[tuple[str, str, str]]") -> "Sequence[tuple[str, ...]]":
    """Return parameters with two columns for value and range, or one if the terminal is too narrow."""
    longest = [max((len(row[i]) for row in parameters), default=0) for i in (0, 1)]
    longest.append(max((len(word) for row in parameters for word in row[2].split()), default=0))
    if 2 * len(longest) + sum(longest) <= room():
        return parameters
    return [(name, f"{value}; {values}" if values else value) for name, value, values in parameters]


def _configured(name: str, built: "TextDetector") -> "dict[str, TextDetector]":
    """Return the detector with its defaults, and with the first configuration of each valid preset."""
    from adbench_text.plugins.configure import DEFAULT, build, presets

    configured = {DEFAULT: built}
    for preset, grid in presets(type(built), "").items():
        if preset != DEFAULT and grid:
            with suppress(AdbenchTextError):  # ``check`` reports wrong settings of a plug-in
                configured[preset] = build(name, grid[0])
    return configured


def _regimes(name: str, configured: "Mapping[str, TextDetector]") -> str:
    """Return the knowledge of a detector by default, and the presets that know something else."""
    named: dict[str, list[str]] = {}
    for preset, detector in configured.items():
        named.setdefault(detector.regime or "not stated", []).append(f"{name}:{preset}")
    first, *others = named
    return "; ".join([first, *(f"{each}: {', '.join(named[each])}" for each in others)])


def _sources_of(configured: "Mapping[str, TextDetector]") -> list[str]:
    """Return the names in `SOURCES` that a detector reads by default or in a preset."""
    names: dict[str, None] = {}
    for detector in configured.values():
        for member in detector.build_members() if hasattr(detector, "build_members") else [detector]:
            params = member.get_params()
            with suppress(AdbenchTextError):  # a file is not downloaded
                # a resource has the name of its source, or of the parameter that names the source
                names |= {str(params.get(each, each)): None for each in member.resources()}
    return [name for name in names if name in SOURCES]


def _of_source(name: str) -> dict[str, str]:
    """Return the facts about vectors, an encoder or word frequencies."""
    return {"name": name, **{key.replace("_", " "): text for key, text in SOURCES[name]._asdict().items()}}


def _of_dataset(name: str) -> dict[str, str]:
    """Return the facts about a dataset."""
    from adbench_text.corpora import corpus

    dataset = registry.dataset(name)
    facts = {
        **_general("dataset", name, type(dataset), type(dataset).__module__),
        "source": getattr(dataset, "source", ""),
        "licence": getattr(dataset, "licence", ""),
        "language": dataset.language,
        "classes": ", ".join(dataset.classes),
    }
    try:
        loaded = corpus.load(dataset)
    except NotDownloadedError:  # `info` forbids downloads
        return {**facts, "edition": f"not downloaded; run: adbench-text fetch {name}"}
    except AdbenchTextError as error:
        return {**facts, "edition": f"not downloaded; run: adbench-text fetch {name}", "problem": str(error)}
    return {**facts, "edition": loaded.edition, "digest": loaded.digest, "documents": loaded.counts()}


def _general(kind: str, name: str, described: type, module: str) -> dict[str, str]:
    """Return the facts that all kinds of plug-ins have."""
    plugin = registry.find(f"{kind}s", name)
    summary = (described.__doc__ or "").strip().partition("\n")[0]
    if plugin is not None and not plugin.is_foreign:
        summary = plugin.summary
    package = module.partition(".")[0]
    with suppress(PackageNotFoundError):
        facts = metadata(package.replace("_", "-")).json
        licence = one_line(str(facts.get("license_expression") or facts.get("license") or ""))[:100]
        package = f"{facts['name']} {facts['version']}, {licence or 'no licence stated'}"
    return {"name": name, "summary": summary, "package": package, "citation": citation_of(name)}
