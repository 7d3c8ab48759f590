"""Names, and their completion in a shell."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from adbench_text.errors import AdbenchTextError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT

DEVICES = ("auto", "cpu", "cuda")
PROTOCOLS = ("one-vs-rest", "leave-one-out", "unlabelled", "redrawn")  # of corpora.split, which needs numpy
# What a name of these kinds is; those of other kinds are checked by the code that uses them.
_NOUNS = {"checkable": "detector or dataset", "fetchable": "dataset, word vectors or vocabulary"}


class Name(click.ParamType[str]):
    """A name of a kind that the shell can complete, or `several` with commas."""

    name = "name"

    def __init__(self, kind: str, several: bool = False) -> None:
        self.kind, self.several = kind, several

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; raise UnknownNameError if it is not of its kind."""
        if self.kind in _NOUNS and value not in (known := _names(self.kind, {})):
            raise UnknownNameError(_NOUNS[self.kind], value, known)
        return value

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


def _names(kind: str, given: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of a kind; some depend on the datasets and detectors that are given."""
    if kind in registry.KINDS:
        return registry.names(kind)
    if kind == "checkable":
        return [*registry.names("detectors"), *registry.names("datasets")]
    if kind == "fetchable":
        from adbench_text.text import vectors, wordpiece

        return [*registry.names("datasets"), *vectors.DOWNLOADS, wordpiece.FETCHED]
    if kind in ("inliers", "presets", "settings"):
        return _names_within(kind, given)
    from adbench_text.cli.list import ROWS

    return [name for name, _ in ROWS[kind]()]


def _names_within(kind: str, given: Mapping[str, Any]) -> list[str]:
    """Return splits of the datasets given, or presets or settings of the detectors given."""
    from adbench_text.plugins.configure import presets
    from adbench_text.sweep.names import expand

    datasets = expand("dataset", given.get("datasets") or ["all"])
    if kind == "inliers":
        return names_of_splits(datasets, given.get("protocol"))
    named = given.get("detectors") or [given.get("detector")]  # all would take seconds to import
    detectors = [registry.detector(name) for name in expand("detector", filter(None, named))]
    if kind == "presets":
        return [DEFAULT, *(name for each in detectors for of in datasets for name in presets(each, of))]
    ranges = [
        (name, each.parameter_ranges().get(name)) for each in detectors for name in each.default_params()
    ]
    return [f"{name}={choice}" for name, values in ranges for choice in (values and values.choices) or [""]]


def names_of_splits(datasets: Iterable[str], protocol: str | None) -> list[str]:
    """Return the names of the splits of datasets."""
    from adbench_text.corpora.split import protocol_of, splits

    sources = map(registry.dataset, datasets)
    return [name for source in sources for name in splits(source, protocol_of(source, protocol))]
