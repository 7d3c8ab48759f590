"""Names and their completion in a shell, and lists of numbers."""

from collections.abc import Iterable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from adbench_text.errors import AdbenchTextError, InvalidValueError, UnknownNameError

DEVICES = ("auto", "cpu", "cuda")
_LARGEST_SEED = 2**32 - 1
_NOUNS = {"checkable": "detector or dataset", "fetchable": "dataset, word vectors or vocabulary"}


class Name(click.ParamType[str]):
    """A name of a kind that the shell can complete, or `several` with commas; the command checks it."""

    name = "name"

    def __init__(self, kind: str, several: bool = False) -> None:
        self.kind, self.several = kind, several

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin with the incomplete word, or with what follows its last comma."""
        before, comma, last = incomplete.rpartition(",") if self.several else ("", "", incomplete)
        try:
            names = _names(self.kind, ctx.params)
        except AdbenchTextError:  # a dataset that is misspelt or broken: no suggestions
            names = []
        if self.several:
            names = ["all", *names]
        return [
            CompletionItem(f"{before}{comma}{name}") for name in dict.fromkeys(names) if name.startswith(last)
        ]


def check_names(kind: str, names: Iterable[str]) -> None:
    """Raise UnknownNameError if one of the names is not of this kind."""
    known = _names(kind, {})
    for name in names:
        if name not in known:
            raise UnknownNameError(_NOUNS[kind], name, known)


def _names(kind: str, given: dict[str, Any]) -> list[str]:
    """Return the names of a kind; classes and presets are those of the detectors and datasets given."""
    from adbench_text.plugins import registry

    if kind in ("inliers", "presets", "settings"):
        from adbench_text.sweep.names import expand

        datasets = expand("dataset", given.get("datasets") or ["all"])
        if kind == "inliers":
            return classes_of(datasets)
        from adbench_text.sweep.construct import presets

        named = given.get("detectors") or given.get("detector") or ()  # all would take seconds to import
        detectors = expand("detector", [named] if isinstance(named, str) else named)
        if kind == "settings":
            from adbench_text.plugins.documentation import parameters

            known = [param for name in detectors for param in parameters(registry.detector(name))]
            return [f"{param.name}={choice}" for param in known for choice in param.choices or ("",)]
        each = (presets(registry.detector(name), dataset) for name in detectors for dataset in datasets)
        return ["default", *(preset for presets in each for preset in presets)]
    if kind == "devices":
        return list(DEVICES)
    if kind == "sweeps":
        from adbench_text.sweep import file

        return file.names()
    if kind == "encoders":
        from adbench_text.text.encoders import METHODS

        return list(METHODS)
    if kind == "checkable":
        return [*registry.names("detectors"), *registry.names("datasets")]
    if kind in ("vectors", "fetchable"):
        from adbench_text.text import vectors, wordpiece

        if kind == "vectors":
            return [vectors.LOCAL, *vectors.DOWNLOADS]
        return [*registry.names("datasets"), *vectors.DOWNLOADS, wordpiece.FETCHED]
    return registry.names(kind)


def classes_of(datasets: Iterable[str]) -> list[str]:
    """Return the names of the classes of datasets."""
    from adbench_text.plugins import registry

    return [name for dataset in datasets for name in registry.dataset(dataset).classes]


def seeds(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> list[int]:
    """Return the seeds that texts stand for: a number, a list such as ``0,2,5``, a range such as ``0-4``."""
    from adbench_text.sweep.names import parse_seeds

    found: list[int] = []
    for value in values:
        try:
            numbers = parse_seeds(value)
        except InvalidValueError as error:
            raise click.BadParameter(str(error)) from error
        if numbers is None or max(numbers) > _LARGEST_SEED:
            raise click.BadParameter(
                f"expected a number of at most {_LARGEST_SEED}, a list such as 0,2,5 or a range such as 0-4, "
                f"got {value!r}."
            )
        found += numbers
    return found


def shares(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> list[float]:
    """Return the numbers that texts stand for: a number, or a list such as ``0,0.05``."""
    try:
        return [float(part) for value in values for part in value.split(",")]
    except ValueError as error:
        got = ", ".join(map(repr, values))
        raise click.BadParameter(f"expected numbers such as 0.05 or 0,0.1, got {got}.") from error


def number_of_jobs(ctx: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    """Return a number of processes, ``"auto"`` or None as it is given."""
    if value is None or value == "auto":
        return value
    if not value.isdecimal():
        raise click.BadParameter(f"expected a number of at least 0, or auto, got {value!r}.")
    return int(value)
