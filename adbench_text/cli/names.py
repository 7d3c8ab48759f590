"""The names that options can take, by kind."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT


def names_of(kind: str, given: Mapping[str, Any]) -> Sequence[str]:
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
