"""The types of options that take names, lists and ranges, and complete them in a shell."""

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from adbench_text.errors import AdbenchTextError, InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Iterable

DEVICES = ("auto", "cpu", "cuda")
_SEED = click.IntRange(0, 2**32 - 1)


class Name(click.ParamType[str]):
    """A name that the shell can complete; the command itself checks it.

    Parameters
    ----------
    kind : str
        ``"inliers"``, ``"sweeps"``, ``"vectors"``, ``"fetchable"``, ``"checkable"``, ``"encoders"``,
        ``"presets"``, ``"devices"``, or a kind of plug-in.
    several : bool, default False
        Whether the option takes lists with commas too.
    metavar : str, optional
        What the help shows for the value, if it is not the name of the type.
    """

    name = "name"

    def __init__(self, kind: str, several: bool = False, metavar: str | None = None) -> None:
        self.kind = kind
        self.several = several
        self._metavar = metavar

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Return what the help shows for the value."""
        return self._metavar

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin with the incomplete word, or with what follows its last comma."""
        before, comma, last = incomplete.rpartition(",") if self.several else ("", "", incomplete)
        try:
            names = self._names(ctx)
        except AdbenchTextError:  # a dataset that is misspelt or broken: no suggestions
            names = []
        if self.several:
            names = ["all", *names]
        return [
            CompletionItem(f"{before}{comma}{name}") for name in dict.fromkeys(names) if name.startswith(last)
        ]

    def _names(self, ctx: click.Context) -> list[str]:
        from adbench_text.plugins import registry

        if self.kind == "inliers":
            from adbench_text.sweep.names import expand

            datasets = expand("dataset", ctx.params.get("datasets") or ["all"])
            return [name for dataset in datasets for name in registry.dataset(dataset).classes]
        if self.kind == "presets":
            return _presets(ctx)
        if self.kind == "devices":
            return list(DEVICES)
        if self.kind == "sweeps":
            from adbench_text.sweep import file

            return file.names()
        if self.kind == "encoders":
            from adbench_text.text.encoders import METHODS

            return list(METHODS)
        if self.kind in ("vectors", "fetchable"):
            from adbench_text.text import vectors, wordpiece

            if self.kind == "vectors":
                return [vectors.LOCAL, *vectors.DOWNLOADS]
            return [*registry.names("datasets"), *vectors.DOWNLOADS, wordpiece.FETCHED]
        if self.kind == "checkable":
            return [*registry.names("detectors"), *registry.names("datasets")]
        return registry.names(self.kind)


def _presets(ctx: click.Context) -> list[str]:
    """Return the presets of the detectors that are given; all detectors would take seconds to import."""
    from adbench_text.plugins import registry
    from adbench_text.sweep.construct import presets
    from adbench_text.sweep.names import expand

    given = ctx.params.get("detectors") or ctx.params.get("detector") or ()
    detectors = expand("detector", [given] if isinstance(given, str) else given)
    datasets = expand("dataset", ctx.params.get("datasets") or ["all"])
    names = (presets(registry.detector(name), dataset) for name in detectors for dataset in datasets)
    return list(dict.fromkeys(["default", *(preset for named in names for preset in named)]))


class Seeds(click.ParamType[list[int]]):
    """A seed, a list such as ``0,2,5``, or a range such as ``0-4``."""

    name = "seeds"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what the help shows for the value."""
        return "SEEDS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """Return the seeds."""
        from adbench_text.sweep.names import parse_seeds

        try:
            seeds = parse_seeds(value) if isinstance(value, str) else value
        except InvalidValueError as error:
            self.fail(str(error), param, ctx)
        try:
            return [_SEED.convert(seed, None, None) for seed in ([value] if seeds is None else seeds)]
        except click.BadParameter:
            self.fail(
                f"expected a number of at most {_SEED.max}, a list such as 0,2,5 or a range such as 0-4, "
                f"got {value!r}.",
                param,
                ctx,
            )


class Shares(click.ParamType[list[float]]):
    """A number, or a list such as ``0,0.05``."""

    name = "numbers"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what the help shows for the value."""
        return "SHARES"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[float]:
        """Return the numbers."""
        if isinstance(value, list):
            return value
        try:
            return [float(part) for part in str(value).split(",")]
        except ValueError:
            self.fail(f"expected numbers such as 0.05 or 0,0.1, got {value!r}.", param, ctx)


def flat(values: "Iterable[Iterable[Any]]") -> list[Any]:
    """Return the entries of several lists in one."""
    return [entry for each in values for entry in each]
