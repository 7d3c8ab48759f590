"""``adbench-text info``: facts about a detector or a dataset."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import click

from adbench_text.cli.names import Name
from adbench_text.escaping import encodable, printable


@click.command("info")
@click.argument("name", type=Name("checkable"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def command(name: str, as_json: bool) -> None:
    """Describe the detector or dataset NAME.

    For a detector: its hyper-parameters with default, meaning and range; its presets; what it knows besides
    the training documents; the files it reads; its package, licence and publications. For a dataset: its
    classes, source, licence, publication, edition and numbers of documents. Nothing is downloaded.
    """
    from adbench_text.errors import UnknownNameError
    from adbench_text.plugins import registry

    detectors, datasets = registry.names("detectors"), registry.names("datasets")
    if name not in detectors and name not in datasets:
        raise UnknownNameError("detector or dataset", name, [*detectors, *datasets])
    from adbench_text.cli import facts  # slow to import

    described = [facts.of_detector(name)] if name in detectors else []
    described += [facts.of_dataset(name)] if name in datasets else []
    if as_json:
        click.echo(json.dumps(described[0] if len(described) == 1 else described, indent=2, default=str))
        return
    for each in described:
        lines = _detector(each) if each["kind"] == "detector" else _dataset(each)
        click.echo(printable(encodable("\n".join(lines))))


def _detector(facts: Mapping[str, Any]) -> Iterable[str]:
    yield f"{facts['name']} (detector): {facts['summary']}"
    yield ""
    yield from _field("Regime", facts["regime"] or "not stated")
    if facts["oracle"]:
        yield from _field("Oracle", "its scores are chosen by the test labels")
    yield from _field("Package", _package(facts["package"]))
    if facts["citations"]:
        yield from _field("Citation", "; ".join(facts["citations"]))
    resources = facts["resources"]
    if isinstance(resources, str):
        yield from _field("Resources", resources)
    elif resources:
        yield from _field("Resources", "; ".join(f"{key}: {value}" for key, value in resources.items()))
    yield ""
    yield "Presets (--preset):"
    for preset in facts["presets"]:
        where = f" on {', '.join(preset['datasets'])}" if preset["datasets"] else ""
        grid = preset["settings"]
        settings = " ".join(f"{key}={_value(value)}" for key, value in grid[0].items()) if grid else ""
        content = f"{len(grid)} configurations" if len(grid) > 1 else settings or "the defaults below"
        yield from _wrapped(f"{preset['name']}{where}: {content}", 2, 6)
    yield ""
    yield "Hyper-parameters (--set NAME=VALUE):"
    for each in facts["parameters"]:
        yield f"  {each['name']} = {_value(each['default'])}"
        described = each["meaning"] or each["type"]
        for paragraph in filter(None, (described.replace("``", ""), _values(each))):
            yield from _wrapped(paragraph, 6)


def _values(parameter: Mapping[str, Any]) -> str:
    """Return the sentence on the values that a hyper-parameter may have."""
    if parameter["choices"]:
        return f"Choices: {', '.join(parameter['choices'])}."
    if not parameter["range"]:
        return ""
    null = " or null" if parameter["default"] is None and "None" not in parameter["range"] else ""
    return f"Must be {parameter['range']}{null}."


def _dataset(facts: Mapping[str, Any]) -> Iterable[str]:
    yield f"{facts['name']} (dataset): {facts['summary']}"
    yield ""
    yield from _field("Source", facts["source"])
    yield from _field("Licence", facts["licence"])
    yield from _field("Citation", "; ".join(facts["citations"]))
    yield from _field("Package", _package(facts["package"]))
    edition = facts["edition"]
    if edition is None:
        yield from _field("Edition", f"not downloaded; run: adbench-text fetch {facts['name']}")
        yield from _field("Classes", ", ".join(facts["classes"]))
        return
    yield from _field("Edition", edition["name"])
    yield ""
    counts = facts["documents"]
    width = max(len(label) for label in [*counts, "class"])
    yield f"  {'class':{width}}  {'training':>8}  {'test':>8}"
    for label, parts in counts.items():
        yield f"  {label:{width}}  {parts['training']:>8,}  {parts['test']:>8,}"
    if facts["empty"]:
        yield f"  {facts['empty']:,} more documents are empty after cleaning."


def _value(value: Any) -> str:
    """Return a value as ``--set`` takes it."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _package(facts: Mapping[str, str]) -> str:
    licence = f", {facts['licence']}" if "licence" in facts else ""
    return f"{facts['name']} {facts.get('version', '')}".strip() + licence


def _field(name: str, text: str) -> Iterable[str]:
    first, *rest = list(_wrapped(text or "not stated", 11)) or [""]
    yield f"{name + ':':11}{first.strip()}"
    yield from rest


def _wrapped(text: str, indent: int, hanging: int = 0) -> Iterable[str]:
    from shutil import get_terminal_size
    from textwrap import wrap

    width = min(get_terminal_size((100, 24)).columns, 110)
    return wrap(
        text,
        max(width, 40),
        initial_indent=" " * indent,
        subsequent_indent=" " * (hanging or indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
